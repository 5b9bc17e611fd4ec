"""The same data in other forms: every solver gives the same answers."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from torture.attack import Attack, Case, Outcome
from torture.samples import FORMS, in_form
from torture.solvers import answers, make, subjects
from torture.targets import FLAGS, LABELS, NUMBERS, WEIGHTS

#: Further forms of samples: sparse ones of other numbers, with zeros that are stored, with entries in several parts.
MORE = ("sparse float32", "sparse int", "sparse zeros", "sparse parts", "opened npy", "opened sparse")
#: Forms in which compiled code or BLAS computes in float32.
COARSE = ("float32", "float16", "sparse float32")
#: Forms that a solver may refuse, with a message.
REFUSABLE = ("longdouble", "object", "opened")
KERNELS = (
    None,
    None,
    "rbf(sigma=3.0)",
    "laplacian(sigma=4.0)",
    "sne(sigma=3.0)",
    "t(sigma=2.0)",
    "poly(degree=2, c=1.0)",
)

#: What machines say of themselves.
OF_ITSELF: dict[str, Callable[[Any, Any], dict[str, Any]]] = {
    "loo_views_": lambda model, X: model.loo_views_ or {},
    "loo_score_": lambda model, X: {"": model.loo_score_},
    "loo_residuals_": lambda model, X: {"": model.loo_residuals_},
    "left_out_views": lambda model, X: model.left_out_views(X),
    "influence": lambda model, X: numbers_of(model.influence()),
    "explain": lambda model, X: numbers_of(model.explain(X)),
    "permutation_importance": lambda model, X: numbers_of(model.permutation_importance(2)),
    "gaussian_process": lambda model, X: {"": model.gaussian_process().predict(X, return_std=True)[1]},
    "signature_": lambda model, X: {"": model.signature_},
}


def numbers_of(record: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if isinstance(value, float | np.ndarray)}


def kind(case: Case) -> str:
    """What a solver takes for y: "labels", "numbers", or "nothing" but codes of classes."""
    from sklearn.base import is_classifier, is_regressor

    solver = make(case)
    return "labels" if is_classifier(solver) else "numbers" if is_regressor(solver) else "nothing"


def with_kernel(case: Case) -> Any:
    """The solver of a case, with its kernel where it has one."""
    solver = make(case)
    if case.get("kernel") and "kernel" in solver.get_params(deep=False):
        solver.set_params(kernel=case["kernel"])
    return solver


def drawn(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Samples, codes of classes or whole numbers, new samples, and weights; every number fits in float16."""
    rng = np.random.default_rng(case["seed"])
    n, classes = case["rows"], case.get("classes", 2)
    X = rng.standard_normal((n + 9, case["features"]))
    X = (
        X
        if case["numbers"] == "normal"
        else {"eighths": np.round(np.abs(X) * 8) / 8, "whole": np.round(np.abs(X) * 3), "bits": (X > 0) * 1.0}[
            case["numbers"]
        ]
    )
    X[: n // 8] *= 0.0 if case["numbers"] in ("eighths", "whole") else 1.0
    score = X[:, 0] - 0.5 * X[:, -1] + 0.4 * rng.standard_normal(n + 9)
    y = np.round(score * 8)
    if case.get("outputs", 1) == 2:
        y = np.column_stack([y, np.round(8 * rng.standard_normal(n + 9) + y)])
    if kind(case) != "numbers":
        y = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    return X[:n], y[:n], X[n:], rng.integers(0, 4, n).astype(np.float64)


def common(rng: Random) -> Case:
    return {
        "kernel": rng.choice(KERNELS),
        "numbers": "eighths",
        "rows": rng.choice([24, 40, 70]),
        "features": rng.choice([1, 3, 6]),
        "classes": rng.choice([2, 2, 3]),
        "seed": rng.randrange(10**6),
    }


def form_cases(rng: Random) -> Iterator[Case]:
    while True:
        order = [(name, params, form) for name, params in subjects() for form in (*FORMS, *MORE) if form != "broadcast"]
        rng.shuffle(order)
        for name, params, form in order:
            case = common(rng) | {"solver": name, "params": params, "form": form}
            if form == "bool":
                case |= {"numbers": "bits", "features": 6}
            elif "int" in form:
                case["numbers"] = "whole"
            which = kind(case)
            if which == "numbers":
                case |= {"y": rng.choice(list(NUMBERS)), "outputs": rng.choice([1, 1, 2])}
            elif which == "labels":
                case["y"] = rng.choice([*LABELS, *(FLAGS if case["classes"] == 2 else {})])
            yield case | {"weights": rng.choice([None, None, "ones", *WEIGHTS])}


def sample_form(X: np.ndarray, form: str, folder: str) -> Any:
    """The samples in a form of `torture.samples`, or in one of those above."""
    import scipy.sparse as sp

    import kernreg as kr

    if form not in MORE:
        return in_form(X, form, folder)
    path = Path(tempfile.mkdtemp(dir=folder)) / ("samples.npz" if form == "opened sparse" else "samples.npy")
    if form == "opened npy":
        np.save(path, X)
        return kr.open_samples(path)
    if form == "opened sparse":
        sp.save_npz(path, sp.csr_array(X))
        return kr.open_samples(path.parent)
    rows = sp.csr_array(X)
    if form == "sparse zeros":  # every entry is stored
        indices = np.tile(np.arange(X.shape[1]), len(X))
        return sp.csr_array((X.ravel().copy(), indices, np.arange(len(X) + 1) * X.shape[1]), shape=X.shape)
    if form == "sparse parts":  # every entry is the sum of two
        halves = sp.coo_array(X)
        row, column = halves.coords
        both = (np.tile(halves.data / 2, 2), (np.tile(row, 2), np.tile(column, 2)))
        return sp.coo_array(both, shape=X.shape)
    return rows.astype(np.float32 if form == "sparse float32" else np.int64)


def run_forms(case: Case) -> Outcome:
    with warnings.catch_warnings(record=True) as heard, tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("always")
        X, y, new, weights = drawn(case)
        which = kind(case)
        forms = NUMBERS if which == "numbers" else LABELS | FLAGS
        ones = np.ones(len(X)) if case["weights"] == "ones" else weights
        plain_weights = None if case["weights"] in (None, "ones") else weights
        given_weights = None if case["weights"] is None else WEIGHTS.get(case["weights"], np.array)(ones)
        given_y = forms[case["y"]](y) if "y" in case else y
        try:
            plain = said(fitted(with_kernel(case), X, y, plain_weights), new)
        except (ValueError, TypeError) as error:
            if not str(error):
                return f"refusal: {error!r} says nothing"
            plain = None
        try:
            model = fitted(with_kernel(case), sample_form(X, case["form"], folder), given_y, given_weights)
            found = said(model, sample_form(new, case["form"], folder))
        except (ValueError, TypeError) as error:
            if plain is None or (str(error) and may_refuse(case, str(error))):
                return None
            return f"refusal: {case['form']}, y {case.get('y')}, weights {case['weights']}: {error!r}"
        if plain is None:
            return f"accepted: {case['form']}, y {case.get('y')}, weights {case['weights']}, and refused plain ones"
        if told(heard):
            return 0
        tolerance = 2e-3 if case["form"] in COARSE else 1e-6
        if "predict" in found and which == "labels":
            found["predict"] = codes_of(found["predict"], given_y)
        wrong = different(found, plain, tolerance, optional=may_refuse(case, ""))
        if wrong:
            return f"wrong: {wrong} ({case['form']}, y {case.get('y')}, weights {case['weights']})"
    return None


def said(model: Any, X: Any) -> dict[str, np.ndarray]:
    """What a model answers about samples, and what it says of itself."""
    found = answers(model, X)
    for name, ask in OF_ITSELF.items():
        if hasattr(type(model), name):  # properties are computed when a model is asked for them
            try:
                values = ask(model, X)
            except (AttributeError, ValueError, TypeError) as refusal:
                found[f"{name} refuses"] = np.array(type(refusal).__name__)
                continue
            found |= {f"{name} {key}": np.array(value) for key, value in values.items() if value is not None}
    return found


def fitted(model: Any, X: Any, y: Any, weights: Any) -> Any:
    """The model fitted; TypeError where weights are given to one that takes none."""
    return model.fit(X, y) if weights is None else model.fit(X, y, sample_weight=weights)


def told(heard: list[Any]) -> bool:
    """Whether somebody was warned that rounding may be a part of the answers that matters."""
    from scipy.linalg import LinAlgWarning
    from sklearn.exceptions import ConvergenceWarning

    return any(issubclass(warning.category, LinAlgWarning | ConvergenceWarning) for warning in heard)


def may_refuse(case: Case, message: str) -> bool:
    if case["weights"] is not None and "sample_weight" in message:
        return True
    return (
        case["form"].startswith((*REFUSABLE, "sparse"))
        or "objects" in case.get("y", "")
        or (case["solver"] == "conformal classifier" and case["y"] == "column")
    )


def codes_of(predicted: np.ndarray, given: Any) -> np.ndarray:
    """Which of the labels that were given each prediction is."""
    labels = sorted(set(np.asarray(given).ravel().tolist()))
    return np.array([labels.index(label) for label in np.asarray(predicted).ravel().tolist()])


def different(
    found: dict[str, np.ndarray], plain: dict[str, np.ndarray], tolerance: float, *, optional: bool = False
) -> str | None:
    """What differs by more than rounding: of decisions, and of classes where the decision is clear."""
    for name, expected in plain.items():
        value = found.get(name)
        if name.endswith("refuses") and value is not None:
            continue  # both
        if value is None:
            if optional and f"{name} refuses" in found:
                continue
            if optional and any(key.startswith(name[:6]) and key.endswith("refuses") for key in found):
                continue
            return f"no {name}: {sorted(found)}"
        if name.startswith("signature") and tolerance > 1e-5:
            continue  # counts what is above rounding
        if value.size == expected.size and value.shape != expected.shape and 1 in value.shape:
            value = value.reshape(expected.shape)  # targets in a column
        if name.startswith("transform") and tolerance > 1e-5:  # the last components are lost to rounding
            width = min(value.shape[1], expected.shape[1])
            value, expected = value[:, :width], expected[:, :width]
        if value.shape != expected.shape:
            return f"{name} has shape {value.shape}, expected {expected.shape}"
        if expected.dtype.kind not in "fc" or value.dtype.kind not in "fc":
            share = float(np.mean(value != expected)) if value.size else 0.0
            if share > (0.15 if tolerance > 1e-5 else 0.0):
                return f"{name} differs in {share:.0%}"
            continue
        finite = np.isfinite(expected)
        if not np.array_equal(finite, np.isfinite(value)):
            return f"{name} is not finite elsewhere"
        scale = float(np.abs(expected[finite]).max(initial=0.0)) or 1.0
        with np.errstate(invalid="ignore"):
            error = float(np.abs(value - expected)[finite].max(initial=0.0)) / scale
        if (
            error > tolerance and name.startswith("transform") and tolerance > 1e-5
        ):  # the sign of a component is rounded
            error = float(np.abs(np.abs(value) - np.abs(expected)).max(initial=0.0)) / scale
        if not error <= tolerance:
            return f"{name} differs by {error:.3g} of the largest"
    return None


ATTACKS = [
    Attack(
        "solver-samples",
        "every solver on samples, targets and weights of every form: the answers of plain ones, or a refusal",
        form_cases,
        run_forms,
        full=1500,
        ci=30,
        minutes=4.0,
    ),
]
