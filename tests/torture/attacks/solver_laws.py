"""The same data in parts, in another order, under other names, scaled; models kept: the same answers."""

from __future__ import annotations

import copy
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from torture.attack import Attack, Case, Outcome
from torture.attacks.solver_samples import common, different, drawn, fitted, kind, told, with_kernel
from torture.solvers import COMPOSED, answers, same, subjects

#: Solvers that do not depend on the order of samples, but for landmarks.
ORDERLESS = (
    *("ls-svm", "ls-svr", "ask-ls", "ask-lsr", "kpca", "ksvd", "krein-svm", "krein-ridge", "krein-ridge-regressor"),
    *("iksvm-dc", "scg-ldk", "scg-osk", "ideal-regularized", "ldk", "osk", "simple-npk"),
    *("chain of a decomposition", "chain of a learned kernel"),
)
#: Classifiers whose probabilities are calibrated on leave-one-out values, not on folds dealt class by class.
EXACT = ("ls-svm", "ask-ls", "ask-rff-ls")
#: Solvers for which an integer weight is the same as repeating the sample.
COUNTING = (
    *("ls-svm", "ls-svr", "ask-ls", "ask-lsr", "kpca", "krein-svm", "krein-ridge", "krein-ridge-regressor"),
    "iksvm-dc",
)


def uses_some(case: Case) -> bool:
    """Whether landmarks, folds or random numbers depend on the order and on the number of samples."""
    params = case["params"]
    return (
        not params.keys().isdisjoint({"n_landmarks", "compatibility"})
        or params.get("ensembler") == "stack"
        or params.get("strategy") == "iterative"
    )


def normalised(case: Case) -> bool:
    return any(str(kernel).startswith(("sne", "t(")) for kernel in (case["kernel"], case["params"].get("kernel")))


def leading(found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Answers with the first components only: the last ones hang on rounding."""
    return {
        name: values[..., :3] if name.startswith("transform") else values
        for name, values in found.items()
        if not name.endswith("refuses")
    }


def parts(case: Case, model: Any, X: Any, y: Any, new: Any, weights: Any) -> Outcome:
    """Some samples have the answers that they have among all: one alone, a slice, repeated, in another order."""
    rng = np.random.default_rng(case["seed"])
    whole = answers(model, new)
    asked = {
        "one": np.array([rng.integers(len(new))]),
        "a slice": np.arange(len(new))[2:7],
        "backwards": np.arange(len(new))[::-1],
        "repeated": rng.integers(0, len(new), 23),
    }
    for how, rows in asked.items():
        expected = {
            name: values if name.endswith("refuses") else values[:, rows] if name == "kernel_" else values[rows]
            for name, values in whole.items()
        }
        found = answers(model, new[rows])
        found.pop("kernel_", None)
        expected.pop("kernel_", None)
        wrong = different(found, expected, 1e-7)
        if wrong:
            return f"parts: {how}: {wrong}"
    return None


def permuted(case: Case, model: Any, X: Any, y: Any, new: Any, weights: Any) -> Outcome:
    """Training samples in another order."""
    order = np.random.default_rng(case["seed"]).permutation(len(X))
    other = fitted(with_kernel(case), X[order], y[order], None if weights is None else weights[order])
    found, expected = answers(other, new), answers(model, new)
    for answer in (found, expected):
        for name in {"predict_proba", *(("transform",) if getattr(model, "learns_kernel", False) else ())}:
            answer.pop(name, None)  # calibrated by folds; values of the kernel with each training sample
        if not getattr(model, "learns_kernel", False):
            answer.pop("kernel_", None)
    return different(leading(found), leading(expected), 1e-3 if case["solver"] == "ldk" else 1e-5)


def renamed(case: Case, model: Any, X: Any, y: Any, new: Any, weights: Any) -> Outcome:
    """Classes whose order is another one have the same samples."""
    names = np.array(["z", "m", "b"])[: int(y.max()) + 1]
    other = fitted(with_kernel(case), X, names[y], weights)
    expected, found = answers(model, new), answers(other, new)
    if "predict" in found:
        clear = np.ones(len(new), dtype=bool)
        decision = expected.get("decision_function")
        if decision is not None:  # one that is as good as another is nobody's
            ranked = np.sort(np.column_stack([-decision, decision]) if decision.ndim == 1 else decision, axis=1)
            clear = ranked[:, -1] - ranked[:, -2] > 1e-7 * np.abs(decision).max()
        if (found["predict"] != names[expected["predict"]])[clear].any():
            return "predictions are not the renamed ones"
    for name in ("predict_proba", "predict_set") if not uses_some(case) and case["solver"] in EXACT else ():
        if name in expected and name in found:
            wrong = different({name: found[name][:, ::-1]}, {name: expected[name]}, 1e-6)
            if wrong:
                return wrong
    return None


def copies(case: Case, model: Any, X: Any, y: Any, new: Any, weights: Any) -> Outcome:
    """A sample of weight 2 is one that is there twice, one of weight 0 is not there."""
    counts = np.random.default_rng(case["seed"]).integers(0, 4, len(X))
    weighted = fitted(with_kernel(case), X, y, counts.astype(np.float64))
    rows = np.repeat(np.arange(len(X)), counts)
    repeated = fitted(with_kernel(case), X[rows], y[rows], None)
    found, expected = answers(repeated, new), answers(weighted, new)
    for answer in (found, expected):  # leaving out a sample leaves out all its weight, but one copy
        for name in ("predict_proba", "predict_set", "predict_interval"):
            answer.pop(name, None)
    return different(leading(found), leading(expected), 1e-6)


def kept(case: Case, model: Any, X: Any, y: Any, new: Any, weights: Any) -> Outcome:
    """Saved and loaded, pickled, copied, cloned and fitted, fitted once more: the same bits."""
    from sklearn.base import clone

    import kernreg as kr

    expected = answers(model, new)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.kern"
        ways: dict[str, Callable[[], Any]] = {
            "saved": lambda: (kr.save(model, path), kr.load(path))[1],
            "pickled": lambda: pickle.loads(pickle.dumps(model)),
            "copied": lambda: copy.deepcopy(model),
            "cloned": lambda: fitted(clone(model), X, y, weights),
            "refitted": lambda: fitted(fitted(with_kernel(case), X[::-1], y[::-1], None), X, y, weights),
        }
        for how, way in ways.items():
            if not same(answers(way(), new), expected):
                return f"{how}: other answers"
    return None


def scaled(case: Case, model: Any, X: Any, y: Any, new: Any, weights: Any) -> Outcome:
    """Samples times a number, with a width that is times this number or fits the samples: the same, or told."""
    from kernreg.errors import RangeWarning

    dtype = np.dtype(case["dtype"])
    factor = 2.0 ** case["exponent"]
    widths = {"rbf(sigma=3.0)": "rbf", "laplacian(sigma=4.0)": "laplacian", "t(sigma=2.0)": "t"}
    kernel = case["kernel"]
    if kernel in widths:
        sigma = float(kernel.split("=")[1][:-1])
        kernel = f"{widths[kernel]}(sigma={sigma * factor!r})"
    elif kernel is not None:
        return 0
    with np.errstate(over="ignore", under="ignore"):
        X2, new2 = (X * factor).astype(dtype), (new * factor).astype(dtype)
    if not np.array_equal(X2.astype(np.float64) / factor, X):
        return 0  # beyond the dtype
    with warnings.catch_warnings(record=True) as heard, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            found = answers(fitted(with_kernel(case | {"kernel": kernel}), X2, y, weights), new2)
        except (ValueError, TypeError) as error:
            return None if str(error) else f"{error!r} says nothing"
    if any(issubclass(warning.category, RangeWarning) for warning in heard):
        return None
    expected = answers(model, new)
    for name in EQUIVARIANT:
        for answer in (found, expected):
            answer.pop(name, None)
    for answer in (found, expected):
        for name in [name for name in answer if name.startswith("decision_gradients")]:
            del answer[name]
    return different(found, expected, 1e-6 if dtype == np.float64 else 2e-3)


def targets(case: Case, model: Any, X: Any, y: Any, new: Any, weights: Any) -> Outcome:
    """Targets times a number, and more by another: so are the predictions."""
    factor, shift = 2.0 ** case["exponent"], 32.0 * (case["seed"] % 3)
    try:
        other = fitted(with_kernel(case), X, (y + shift) * factor, weights)
    except (ValueError, TypeError) as error:
        return None if abs(case["exponent"]) > 400 else f"refusal: {error!r}"
    found = np.asarray(other.predict(new)) / factor - shift
    return different({"predict": found}, {"predict": np.asarray(model.predict(new))}, 1e-6)


#: Answers that change with the scale of the samples, as they have to.
EQUIVARIANT = ("kernel_",)
LAWS = {
    "parts": parts,
    "permuted": permuted,
    "renamed": renamed,
    "copies": copies,
    "kept": kept,
    "scaled": scaled,
    "targets": targets,
}


def law_cases(rng: Random) -> Iterator[Case]:
    while True:
        order = [(name, params, law) for name, params in subjects() for law in LAWS]
        rng.shuffle(order)
        for name, params, law in order:
            case = common(rng) | {"solver": name, "params": params, "law": law, "weighted": rng.random() < 0.3}
            which = kind(case)
            if (law == "renamed" and which != "labels") or (law == "targets" and which != "numbers"):
                continue
            if law in ("scaled", "targets"):
                case["exponent"] = rng.choice([-1000, -400, -100, -60, -30, -7, 3, 20, 50, 100, 400, 900])
                case["dtype"] = rng.choice(["float64", "float32"])
            elif law == "copies":
                case["weighted"] = True
                if name.startswith("ask-ls"):
                    case["params"] = {**params, "gamma": 2.0, "ensembler": "average"}
                elif "gamma" in params:
                    case["params"] = {**params, "gamma": 2.0}
            # Of neighbours that are as near as each other the first ones are taken.
            case["numbers"] = "normal" if rng.random() < 0.7 or law == "permuted" else "eighths"
            if applies(case):
                yield case


def applies(case: Case) -> bool:
    """Whether a solver keeps a law."""
    solver, law = case["solver"], case["law"]
    if law == "permuted":
        return solver in ORDERLESS and not uses_some(case)
    if law == "copies":  # rows of sne and t are normalised over samples, not weights
        return solver in COUNTING and not uses_some(case) and not normalised(case)
    if law == "scaled":  # else its width is fixed
        return solver not in COMPOSED and "kernel" not in case["params"]
    # With "stack" γ is chosen by folds, which are dealt class by class.
    return law != "renamed" or case["params"].get("ensembler") != "stack"


def run_laws(case: Case) -> Outcome:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        X, y, new, weights = drawn(case)
        try:
            model = fitted(with_kernel(case), X, y, weights if case["weighted"] else None)
            answers(model, new)
            if told(heard):
                return 0
        except (ValueError, TypeError) as error:
            return 0 if str(error) else f"refusal: {error!r} says nothing"
        wrong = LAWS[case["law"]](case, model, X, y, new, weights if case["weighted"] else None)
    return f"{case['law']}: {wrong}" if isinstance(wrong, str) else wrong


ATTACKS = [
    Attack(
        "solver-laws",
        "samples in parts, in another order, renamed, weighted, scaled, models saved and copied: the same answers",
        law_cases,
        run_laws,
        full=1500,
        ci=30,
        minutes=3.0,
    ),
]
