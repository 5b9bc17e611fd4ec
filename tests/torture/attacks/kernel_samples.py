"""Every kernel on samples of every kind, against formulas in long double."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from torture.attack import Attack, Case, Outcome
from torture.oracles import ORACLES, draw
from torture.samples import FORMS, in_form

#: Forms that hold other numbers than they were given, or samples that have to be drawn for them.
COARSE = {"int64", "int8", "uint16", "bool", "float16", "float32"}


def kernel(case: Case) -> Any:
    import kernreg as kr

    return kr.make_kernel(case["kernel"], **case["params"])


def some_params(name: str, rng: Random) -> dict[str, Any]:
    return {param: rng.choice(values) for param, values in ORACLES[name].params.items()}


def as_numbers(X: Any) -> np.ndarray:
    """The numbers that samples hold, in long double, whatever form they have."""
    if hasattr(X, "toarray"):
        X = X.toarray()
    elif hasattr(X, "to_numpy"):
        X = X.to_numpy()
    return np.asarray(X).astype(np.longdouble)


# Forms ------------------------------------------------------------------------------------------------------


def form_cases(rng: Random) -> Iterator[Case]:
    while True:
        names = list(ORACLES)
        rng.shuffle(names)
        for name in names:
            yield {
                "kernel": name,
                "params": some_params(name, rng),
                "forms": [rng.choice(FORMS), rng.choice(FORMS)],
                "rows": rng.choice([1, 2, 7, 33, 60]),
                "columns": rng.choice([1, 3, 8, 40]),
                "features": rng.choice([1, 2, 5, 17]),
                "alone": rng.random() < 0.3,
                "seed": rng.randrange(10**6),
            }


def samples_of(case: Case, folder: str) -> tuple[Any, Any]:
    """Two sets of samples in their forms."""
    rng = np.random.default_rng(case["seed"])
    kind = ORACLES[case["kernel"]].samples
    both = draw(kind, case["rows"] + case["columns"], case["features"], rng)
    if any(form in COARSE - {"float16", "float32"} for form in case["forms"]) and kind != "distribution":
        both = np.round(np.abs(both) * 3) + (kind == "gaussian")
    X, Z = both[: case["rows"]], both[case["rows"] :]
    return in_form(X, case["forms"][0], folder), in_form(Z, case["forms"][1], folder)


def run_forms(case: Case) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        X, Z = samples_of(case, folder)
        Z = None if case["alone"] else Z
        numbers = as_numbers(X), None if Z is None else as_numbers(Z)
        try:
            K = kernel(case)(X, Z)
        except (ValueError, TypeError) as error:  # KernregErrors are one of them
            return None if expected_refusal(case, str(error)) else f"refusal: {error!r}"
        exact = ORACLES[case["kernel"]].values(*numbers, **case["params"])
        return judged(K, exact, single(X, Z), numbers)


def expected_refusal(case: Case, message: str) -> bool:
    """Whether a kernel may refuse these samples: forms that hold no distribution any more, objects, the long double."""
    forms = case["forms"][:1] if case["alone"] else case["forms"]
    odd = {"object", "longdouble", "float16", "bool"} | (
        COARSE if ORACLES[case["kernel"]].samples == "distribution" else set()
    )
    return bool(message) and any(form in odd or form.startswith("sparse") for form in forms)


def single(X: Any, Z: Any) -> bool:
    """Whether a result is float32: where all samples are."""
    return all(getattr(side, "dtype", None) in (np.float32, np.float16) for side in (X, Z) if side is not None)


def judged(K: Any, exact: np.ndarray, coarse: bool, numbers: tuple[np.ndarray, np.ndarray | None]) -> str | None:
    if not isinstance(K, np.ndarray) or K.shape != exact.shape:
        return f"shape: {type(K).__name__} of shape {np.shape(K)}, expected {exact.shape}"
    if K.dtype != (np.float32 if coarse else np.float64):
        return f"dtype: {K.dtype}, expected {'float32' if coarse else 'float64'}"
    scale = max(float(np.abs(exact).max(initial=0.0)), np.finfo(np.float64).tiny)
    size = max(1.0, *(float(np.abs(side).max(initial=0.0)) ** 2 for side in numbers if side is not None))
    tolerance = (3e-6 if coarse else 1e-13) * size ** (1.0 if coarse else 0.5)
    error = float(np.abs(K - exact).max(initial=0.0)) / scale
    return None if error <= tolerance else f"wrong: relative error {error:.3g}, expected at most {tolerance:.3g}"


# Sizes ------------------------------------------------------------------------------------------------------


#: Ways to all values of K(X, X).
MATRICES: dict[str, Callable[[Any, Any], Any]] = {
    "call": lambda k, X: k(X),
    "two": lambda k, X: k(X, X.copy()),
    "bind": lambda k, X: k.bind(X)(X[:4], X),
    "blocks": lambda k, X: np.vstack([block.copy() for _, block in k.blocks(X, X, block_rows=4)]),
    "rows": lambda k, X: k.rows(X, X, 2, 7),
    "operator": lambda k, X: k.operator(X) @ np.eye(X.shape[0], dtype=X.dtype),
    "adjoint": lambda k, X: (k.operator(X).T @ np.eye(X.shape[0], dtype=X.dtype)).T,
}
PARTS = {"bind": slice(4), "rows": slice(2, 7)}


def size_cases(rng: Random) -> Iterator[Case]:
    exponents = {
        "float64": [-320, -300, -200, -150, -100, -20, 20, 100, 150, 200, 300, 308, *range(-12, 13, 4)],
        "float32": [-18, -14, 14, 18, 37, *range(-40, 37, 4)],
    }
    while True:
        for name in ORACLES:
            for dtype in exponents:
                yield {
                    "kernel": name,
                    "params": some_params(name, rng),
                    "exponent": rng.choice(exponents[dtype]),
                    "widths": rng.random() < 0.6,
                    "sparse": rng.random() < 0.25,
                    "how": rng.choice(list(MATRICES)),
                    "seed": rng.randrange(10**6),
                    "dtype": dtype,
                }


def run_sizes(case: Case) -> Outcome:
    """Exact, or a warning, or a refusal: never another number in silence."""
    from kernreg.errors import RangeWarning

    oracle = ORACLES[case["kernel"]]
    factor = np.longdouble(10) ** case["exponent"]
    numbers = draw(oracle.samples, 9, 3, np.random.default_rng(case["seed"])).astype(np.longdouble) * factor
    with np.errstate(all="ignore"):
        X = numbers.astype(case["dtype"])
    given = csr_array(X) if case["sparse"] else X
    params = dict(case["params"])
    for width in oracle.widths if case["widths"] else ():
        params[width] = float(np.longdouble(params[width]) * factor)
    with warnings.catch_warnings(record=True) as heard, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            K = MATRICES[case["how"]](kernel(case | {"params": params}), given)
        except (ValueError, TypeError) as error:
            return None if str(error) else f"refusal: {error!r}"
        exact = oracle.values(X.astype(np.longdouble), **params)[PARTS.get(case["how"], slice(None))]
    if any(issubclass(warning.category, RangeWarning) for warning in heard):
        return None
    if not np.isfinite(K).all():
        return f"wrong: values that are not finite, without a warning, at 1e{case['exponent']}"
    with np.errstate(all="ignore"):
        scale = np.abs(exact).max()
        error = float(np.abs(K - exact).max() / (scale if scale > 0 else 1.0))
    allowed = 1e-11 if X.dtype == np.float64 else 1e-5
    if case["kernel"] == "ask-rff":  # the cosine of an angle is as good as the angle
        allowed = max(allowed, 1e-14 * float(np.abs(X).max()))
    return None if error <= allowed else f"wrong: relative error {error:.3g} without a warning at 1e{case['exponent']}"


# What no kernel can take ------------------------------------------------------------------------------------


def masked(X: np.ndarray, rng: Any) -> Any:
    mask = rng.random(X.shape) < 0.3
    mask.flat[0] = True  # one that masks nothing is an array like others
    return np.ma.masked_array(X, mask=mask)


def with_value(value: Any) -> Callable[[np.ndarray, Any], Any]:
    def change(X: np.ndarray, rng: Any) -> Any:
        X[rng.integers(X.shape[0]), rng.integers(X.shape[1])] = value
        return X

    return change


def bad_csr(part: str, value: int) -> Callable[[np.ndarray, Any], Any]:
    """A sparse matrix whose arrays do not fit together; scipy does not look when they are set one by one."""

    def make(X: np.ndarray, rng: Any) -> Any:
        import scipy.sparse as sp

        X = np.where(X == 0, 1.0, X)
        rows = sp.csr_array(X)
        array = getattr(rows, part)
        array[rng.integers(1, len(array))] = value
        rows.has_sorted_indices = rows.has_canonical_format = True
        return rows

    return make


def short(part: str) -> Callable[[np.ndarray, Any], Any]:
    def make(X: np.ndarray, rng: Any) -> Any:
        import scipy.sparse as sp

        rows = sp.csr_array(np.where(X == 0, 1.0, X))
        setattr(rows, part, getattr(rows, part)[: len(getattr(rows, part)) // 2].copy())
        return rows

    return make


HOPELESS: dict[str, Callable[[np.ndarray, Any], Any]] = {
    "nan": with_value(np.nan),
    "inf": with_value(np.inf),
    "minus inf": with_value(-np.inf),
    "masked": masked,
    "masked rows": lambda X, rng: [np.ma.masked_array(row, mask=np.arange(len(row)) == 0) for row in X],
    "complex": lambda X, rng: X + 1j,
    "text": lambda X, rng: X.astype(str),
    "dates": lambda X, rng: np.abs(X * 100).astype("M8[s]"),
    "huge integers": lambda X, rng: [[2**70 + 1] * X.shape[1]] * X.shape[0],
    "integers beyond floats": lambda X, rng: np.full(X.shape, 2**53 + 1, dtype=object),
    "ragged": lambda X, rng: [[1.0, 2.0], [3.0]],
    "one dimension": lambda X, rng: X[0],
    "three dimensions": lambda X, rng: X[None],
    "none": lambda X, rng: [[None] * X.shape[1]],
    "a dict": lambda X, rng: {"a": 1},
    "other features": lambda X, rng: np.hstack([X, X]),
    **{f"indices {value}": bad_csr("indices", value) for value in (-1, 10**6, 2**31 - 1, -(2**31))},
    **{f"indptr {value}": bad_csr("indptr", value) for value in (-1, 10**6, 2**31 - 1)},
    **{f"short {part}": short(part) for part in ("data", "indices", "indptr")},
}


def hopeless_cases(rng: Random) -> Iterator[Case]:
    grid = [
        {"kernel": name, "kind": kind, "side": side, "how": how}
        for name in ORACLES
        for kind in HOPELESS
        for side in (0, 1)
        for how in ("call", "operator", "blocks", "bind", "diagonal", "rows")
    ]
    rng.shuffle(grid)
    for case in grid:
        yield case | {"params": some_params(case["kernel"], rng), "seed": rng.randrange(10**6)}


def run_hopeless(case: Case) -> Outcome:
    rng = np.random.default_rng(case["seed"])
    X, Z = (draw(ORACLES[case["kernel"]].samples, n, 4, rng) for n in (6, 9))
    k = kernel(case)
    if case["kind"] == "other features" and case["how"] in ("bind", "diagonal"):
        return 0  # nothing to compare with
    sides = [X, Z]
    try:
        sides[case["side"]] = HOPELESS[case["kind"]](sides[case["side"]], rng)
    except ValueError:
        return 0  # scipy looks
    actions: dict[str, Callable[[], Any]] = {
        "call": lambda: k(*sides),
        "operator": lambda: k.operator(*sides) @ np.ones(9),
        "blocks": lambda: [block.copy() for _, block in k.blocks(*sides)],
        "bind": lambda: k.bind(sides[case["side"]])(sides[case["side"]]),
        "diagonal": lambda: k.diagonal(sides[case["side"]]),
        "rows": lambda: k.rows(*sides, 0, 1),
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = actions[case["how"]]()
    except (ValueError, TypeError) as error:
        return None if str(error) else f"refusal: {error!r} says nothing"
    return f"accepted: {case['kind']} gives {str(result)[:80]}"


ATTACKS = [
    Attack(
        "kernel-samples",
        "every kernel that has a formula on dtypes, layouts, tables, files, sparse forms, mixed: equal to long double",
        form_cases,
        run_forms,
        full=9000,
        ci=200,
        minutes=4.0,
    ),
    Attack(
        "kernel-sizes",
        "samples from 1e-320 to 1e308: the formula in long double, a RangeWarning, or a refusal",
        size_cases,
        run_sizes,
        full=6000,
        ci=120,
        minutes=1.0,
    ),
    Attack(
        "kernel-hopeless",
        "NaN, masks, text, huge integers, sparse matrices with bad indices: an error with a message, no crash",
        hopeless_cases,
        run_hopeless,
        full=8640,
        ci=400,
        minutes=1.0,
        memory=2 << 30,
    ),
]
