"""Solutions, residuals and leave-one-out values against brute force in fifty digits, for γ from 1e-3 to 1e14."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

from torture.attack import Attack, Case, Outcome

MATRICES = (
    "gaussian",
    "low rank",
    "indefinite",
    "asymmetric",
    "skewed",
    "duplicates",
    "large",
    "small",
    "shifted",
    "pole",
)
#: Relative to the largest target or value. Where it is more, there has to be a warning.
TOLERANCE = 1e-6


def cases(rng: Random) -> Iterator[Case]:
    while True:
        for solver in ("ls-svr", "ask-lsr"):
            for matrix in MATRICES:
                yield {
                    "solver": solver,
                    "matrix": matrix,
                    "n": rng.choice([2, 3, 6, 9]),
                    "exponent": round(rng.uniform(-3.0, 14.0), 3),
                    "weighted": rng.random() < 0.3,
                    "outputs": rng.choice([1, 1, 2]),
                    "on_path": rng.random() < 0.4,
                    "seed": rng.randrange(10**6),
                }


def matrix(case: Case, rng: np.random.Generator) -> np.ndarray:
    """A kernel matrix of a kind; symmetric for the solver that needs it."""
    n = case["n"]
    X = rng.normal(size=(n, 3))
    if case["matrix"] == "duplicates":
        X[n // 2 :] = X[: n - n // 2]
    gaussian = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 4)
    noise = rng.normal(size=(n, n))
    K = {
        "low rank": lambda: X[:, :1] @ X[:, :1].T,
        "indefinite": lambda: noise + noise.T,
        "asymmetric": lambda: gaussian / gaussian.sum(axis=1, keepdims=True),
        "skewed": lambda: noise - noise.T + 0.1 * gaussian,
        "large": lambda: 1e6 * gaussian,
        "small": lambda: 1e-6 * gaussian,
        "shifted": lambda: gaussian + 1e7,
        "pole": lambda: noise + noise.T,
    }.get(case["matrix"], lambda: gaussian)()
    return (K + K.T) / 2 if case["solver"] == "ls-svr" else K


def gamma_of(case: Case, K: np.ndarray, rng: np.random.Generator) -> float:
    """γ of a case; at a pole, or within some digits of it, where that is what is attacked."""
    if case["matrix"] != "pole":
        return float(10.0 ** case["exponent"])
    n = len(K)
    J = np.eye(n) - 1.0 / n
    if case["solver"] == "ls-svr":
        values = -np.linalg.eigvalsh(J @ K @ J)
    else:
        values = np.linalg.svd(J @ K @ J, compute_uv=False)
    values = values[values > 1e-6]
    pole = 1.0 / float(rng.choice(values)) if len(values) else 1.0
    return pole * (1.0 + 10.0 ** -abs(case["exponent"]))


def exact(K: np.ndarray, Y: np.ndarray, gamma: float, weights: np.ndarray | None, views: int) -> Any:
    """Coefficients (views, n, columns) and intercepts (views, columns) of the textbook's system, in fifty digits."""
    import mpmath

    n, columns = Y.shape
    ridge = [1 / (mpmath.mpf(gamma) * mpmath.mpf(float(w))) for w in (np.ones(n) if weights is None else weights)]
    k = mpmath.matrix(K.tolist())
    A = mpmath.zeros(views * (n + 1))
    right = mpmath.zeros(views * (n + 1), columns)
    for i in range(n):
        for j in range(n):
            if views == 1:
                A[i, j] = k[i, j] + (ridge[i] if i == j else 0)
            else:  # a/γ + K c + b₁ = y, c/γ + Kᵀ a + b₂ = y; unknowns c, a
                A[i, j], A[n + i, n + j] = k[i, j], k[j, i]
        if views == 2:
            A[i, n + i] = A[n + i, i] = ridge[i]
        for view in range(views):
            A[view * n + i, views * n + view] = A[views * n + view, view * n + i] = 1
            for column in range(columns):
                right[view * n + i, column] = mpmath.mpf(float(Y[i, column]))
    solutions = [mpmath.lu_solve(A, right[:, column]) for column in range(columns)]
    coefficients = np.array(
        [[[solutions[c][v * n + i] for c in range(columns)] for i in range(n)] for v in range(views)], dtype=object
    )
    intercepts = np.array([[solutions[c][views * n + v] for c in range(columns)] for v in range(views)], dtype=object)
    return coefficients, intercepts


def decisions(K: np.ndarray, coefficients: Any, intercepts: Any, kept: Any) -> np.ndarray:
    """Decision values of every sample in each view: K c + b₁, Kᵀ a + b₂, over the samples that were kept."""
    import mpmath

    sides = [K[:, kept], K.T[:, kept]][: len(coefficients)]
    exactly = np.vectorize(lambda x: mpmath.mpf(float(x)), otypes=[object])
    return np.array([exactly(side) @ c + b for side, c, b in zip(sides, coefficients, intercepts, strict=True)])


def run(case: Case) -> Outcome:
    import mpmath

    import kernreg as kr
    from kernreg.errors import KernregError

    mpmath.mp.dps = 50
    rng = np.random.default_rng(case["seed"])
    K = matrix(case, rng)
    gamma = gamma_of(case, K, rng)
    n, views = case["n"], 1 if case["solver"] == "ls-svr" else 2
    Y = rng.normal(size=(n, case["outputs"]))
    weights = rng.uniform(0.2, 3.0, n) if case["weighted"] else None
    options = {"ensembler": "average"} if views == 2 else {}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            asked = [gamma] if case["on_path"] else gamma
            model = kr.make_solver(case["solver"], kernel=kr.make_kernel("precomputed", K=K), gamma=asked, **options)
            model.fit(np.arange(n), Y if Y.shape[1] > 1 else Y[:, 0], sample_weight=weights)
            left_out = model.loo_views_ if n > 2 else None
            found = model.decision_views(np.arange(n))
        except KernregError as error:
            known = case["matrix"] in ("pole", "skewed", "indefinite") or is_pole_to_rounding(K, gamma, weights, views)
            return None if str(error) and known else f"refusal: {error!r}"
    names = ("decision",) if views == 1 else ("source", "target")
    try:
        truth = decisions(K, *exact(K, Y, gamma, weights, views), np.arange(n))
    except ZeroDivisionError:
        return None if heard or model.solver_report_.damped else "wrong: the system is singular, and nothing was said"
    if heard or model.solver_report_.damped:
        return None
    for name, values in zip(names, truth, strict=True):
        off = distance(found[name].reshape(n, -1), values, Y)
        if off > TOLERANCE:
            return f"wrong: {name} is off by {off:.3g} at gamma={gamma:.6g}, without a warning"
    return left_out_wrong(case, K, Y, gamma, weights, left_out, names) if left_out is not None else None


def is_pole_to_rounding(K: np.ndarray, gamma: float, weights: np.ndarray | None, views: int) -> bool:
    """Whether 1/γ is at a pole of a matrix that is K but for rounding; of low rank, every large γ is."""
    roots = np.sqrt(np.ones(len(K)) if weights is None else weights)
    centring = np.eye(len(K)) - np.outer(roots, roots) / (roots @ roots)
    weighted = roots[:, None] * K * roots
    centred = centring @ weighted @ centring
    poles = -np.linalg.eigvalsh(centred) if views == 1 else np.linalg.svd(centred, compute_uv=False)
    rounding = 16 * len(K) * np.finfo(float).eps * np.linalg.norm(weighted, 2)
    return bool(np.abs(poles - 1.0 / gamma).min() <= rounding)


def distance(values: np.ndarray, truth: Any, Y: np.ndarray) -> float:
    """The largest difference, relative to the largest target or value."""
    exactly = truth.astype(np.longdouble)
    scale = max(float(np.abs(Y).max()), float(np.abs(exactly).max()))
    return float(np.abs(values - exactly).max()) / scale


def left_out_wrong(case: Case, K: Any, Y: Any, gamma: float, weights: Any, found: Any, names: Any) -> str | None:
    """Compare leave-one-out values with fits to all samples but one."""
    n = len(K)
    truth = np.zeros((len(names), n, Y.shape[1]), dtype=object)
    for i in range(n):
        kept = np.arange(n) != i
        part = exact(K[np.ix_(kept, kept)], Y[kept], gamma, None if weights is None else weights[kept], len(names))
        truth[:, i] = decisions(K, *part, kept)[:, i]
    for name, values in zip(names, truth, strict=True):
        off = distance(found[name].reshape(n, -1), values, Y)
        if off > TOLERANCE:
            return f"wrong: leave-one-out of {name} is off by {off:.3g} at gamma={gamma:.6g}, without a warning"
    return None


ATTACKS = [
    Attack(
        "leave-one-out",
        "solutions and leave-one-out values, γ from 1e-3 to 1e14 and at poles, against refits in fifty digits: equal "
        "to 1e-6, or a warning",
        cases,
        run,
        full=6000,
        ci=100,
        minutes=8.0,
    ),
]
