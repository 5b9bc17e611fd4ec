"""Kernels that are declared symmetric or definite, truly or falsely: the right machine of the formula, or a refusal."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from random import Random

import numpy as np

from torture.attack import Attack, Case, Outcome


def dot(x, z):
    """Definite."""
    return (x * z).sum() + 0.0


def bell(x, z):
    """Definite."""
    return 1.0 / (1.0 + ((x - z) ** 2).sum())


def saddle(x, z):
    """Symmetric, indefinite."""
    return x[0] * z[0] - x[1] * z[1]


def negative(x, z):
    """Symmetric, indefinite."""
    return -((x - z) ** 2).sum()


def slanted(x, z):
    """Asymmetric."""
    return (x * z).sum() + 0.5 * (x[0] * z[1] - x[1] * z[0])


def ahead(x, z):
    """Asymmetric, zero one way round."""
    return max(x[0] - z[0], 0.0)


FORMULAS = {function.__name__: function for function in (dot, bell, saddle, negative, slanted, ahead)}
ASYMMETRIC, DEFINITE = ("slanted", "ahead"), ("dot", "bell")
STRATEGIES = ("exact", "iterative", "lowrank", "sketched", "blocks")


def cases(rng: Random) -> Iterator[Case]:
    """Formulas with any declarations, strategies and values of γ."""
    while True:
        yield {
            "formula": rng.choice(list(FORMULAS)),
            "symmetric": rng.random() < 0.8,
            "definite": rng.choice([True, None]),
            "strategy": rng.choice(STRATEGIES),
            "gamma": 10.0 ** rng.uniform(-2, 2),
            "n": rng.randrange(8, 60),
            "seed": rng.randrange(1 << 32),
        }


def run(case: Case) -> Outcome:
    """Fit an LS-SVM, and compare it with the solution of its equations for the formula in plain Python."""
    import kernreg as kr
    from kernreg.errors import KernregError

    formula, n = FORMULAS[case["formula"]], case["n"]
    declared = {"symmetric": case["symmetric"], "definite": case["definite"]}
    family = kr.kernel(of="rows", name=f"declared-{case['formula']}", **declared)(formula)
    rng = np.random.default_rng(case["seed"])
    X = rng.normal(size=(n, 3))
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    truth = case["formula"] not in ASYMMETRIC and (case["definite"] is None or case["formula"] in DEFINITE)
    options = {"strategy": case["strategy"], "gamma": case["gamma"], "max_iter": 5000, "tol": 1e-9}
    if case["strategy"] in ("lowrank", "sketched"):
        options["n_landmarks"] = n
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            machine = kr.make_solver("ls-svm", kernel=family(), **options).fit(X, y)
        except KernregError as error:
            refusable = not truth or "pole" in str(error) or case["strategy"] == "blocks"
            return None if refusable else f"refused: {type(error).__name__}: {str(error)[:300]}"
        found = machine.decision_function(X)
    if heard:  # of rounding, of iterations that ended: the values are not promised
        return None
    K = np.array([[float(formula(x, z)) for z in X] for x in X])
    A = np.block([[K + np.eye(n) / case["gamma"], np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(A, np.append(y, 0.0))
    expected = K @ solution[:n] + solution[n]
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    return f"wrong value: {error:.3g} of the largest" if error > 1e-4 else None


ATTACKS = [
    Attack(
        "kernel-declarations",
        "kernels declared symmetric or definite, truly or not, in every strategy: the formula's solution, or refused",
        cases,
        run,
        full=3000,
        ci=150,
        minutes=2.0,
    )
]
