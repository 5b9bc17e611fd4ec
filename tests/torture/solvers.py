"""Solvers under attack: every registered one with its defaults, and variants that take other roads to the answer."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

#: What solvers need beside their defaults.
NEEDED: dict[str, dict[str, Any]] = {
    "bicluster": {"n_clusters": 2},
    "simple-npk": {"n_neighbors": 5},
    "cells": {"cell_size": 30},
    "cells-regression": {"cell_size": 30},
    "relevance": {"max_iter": 5},
}
#: Other roads: a name and parameters.
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("ls-svm", {"gamma": "loo"}),
    ("ls-svm", {"gamma": "loo", "strategy": "lowrank", "n_landmarks": 10}),
    ("ls-svm", {"strategy": "sketched", "n_landmarks": 10}),
    ("ls-svm", {"strategy": "iterative"}),
    ("ls-svr", {"gamma": 3.0, "strategy": "iterative"}),
    ("ask-ls", {"ensembler": "stack"}),
    ("ask-ls", {"ensembler": "best", "gamma": "loo"}),
    ("ask-ls", {"strategy": "lowrank", "n_landmarks": 10}),
    ("ask-lsr", {"gamma": 3.0, "strategy": "iterative", "ensembler": "average"}),
    ("ask-lsr", {"kernel": "sne(sigma=2.0)", "gamma": "loo"}),
    ("kpca", {"fit_inverse_transform": True}),
    ("ksvd", {"compatibility": "a2"}),
    ("nystrom", {"n_landmarks": 20, "compatibility": "a1"}),
    ("scg-ldk", {"gamma": "loo"}),
    ("bicluster", {"n_clusters": 2, "lengths": "projected", "embedding": "directions"}),
]
#: What is made of solvers, and how.
COMPOSED: dict[str, Callable[[], Any]] = {
    "chain of a decomposition": lambda: _chain("kpca(n_components=3)", "ls-svm"),
    "chain of a learned kernel": lambda: _chain("scg-ldk", "ask-ls", "average"),
    "chain of views": lambda: _chain("ask-ls", "stack"),
    "chain of two machines": lambda: _chain(_parallel("ls-svm", "ask-ls(kernel='sne(sigma=2.0)')"), "average"),
    "conformal classifier": lambda: _of_solvers("CrossConformalClassifier", "ls-svm"),
    "conformal regressor": lambda: _of_solvers("CrossConformalRegressor", "ask-lsr"),
}
#: Whatever an estimator says about samples.
METHODS = (
    *("predict", "decision_function", "predict_proba", "decision_views", "predict_set", "predict_interval"),
    *("transform", "transform_right", "transform_target", "decision_gradients"),
)


@functools.cache
def subjects() -> list[tuple[str, dict[str, Any]]]:
    """All solvers that are installed, plugins' too, and the variants of some."""
    from kernreg.registry import get_registry

    names = sorted({entry.name for entry in get_registry("solver").entries()})
    return [*((name, NEEDED.get(name, {})) for name in names), *VARIANTS, *((name, {}) for name in COMPOSED)]


def make(case: dict[str, Any]) -> Any:
    """The solver of a case, or what is made of solvers."""
    import kernreg as kr

    composed = COMPOSED.get(case["solver"])
    return kr.make_solver(case["solver"], **case["params"]) if composed is None else composed()


def _chain(*parts: Any) -> Any:
    import kernreg as kr

    return kr.make_chain(*parts, kernel="rbf(sigma=1.5)")


def _parallel(*parts: str) -> Any:
    import kernreg as kr

    return kr.parallel(*parts)


def _of_solvers(name: str, solver: str) -> Any:
    import kernreg.solvers
    from kernreg.factory import make_solver

    return getattr(kernreg.solvers, name)(make_solver(solver, kernel="rbf(sigma=1.5)"))


def problem(case: dict[str, Any], seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples and targets of the kind that the solver of a case takes; classes overlap."""
    from sklearn.base import is_classifier

    rng = np.random.default_rng([case.get("seed", 0), seed])
    X = rng.standard_normal((n, 4))
    score = X[:, 0] - 0.5 * X[:, 1] + 0.3 * rng.standard_normal(n)
    solver = make(case)
    if getattr(solver, "learns_kernel", False) or case["solver"] == "chain of a learned kernel":
        return X, np.where(score > 0, 1, 0)
    return X, np.where(score > 0, 1, -1) if is_classifier(solver) else score


def answers(solver: Any, X: Any) -> dict[str, np.ndarray]:
    """Everything that a fitted solver says about samples, and values of the kernel that it has learnt."""
    from sklearn.exceptions import NotFittedError

    found: dict[str, np.ndarray] = {}
    for method in METHODS:
        if hasattr(solver, method):
            try:
                value = getattr(solver, method)(X)
            except NotFittedError:
                raise
            except (AttributeError, ValueError) as refusal:  # what this fit, or this form of samples, does not have
                found[f"{method} refuses"] = np.array(type(refusal).__name__)
                continue
            views = value if isinstance(value, dict) else {"": value}
            found |= {f"{method}{view}": np.array(array) for view, array in views.items()}
    if hasattr(solver, "kernel_") and callable(solver.kernel_):
        rows = X.tocsr() if hasattr(X, "tocsr") else X  # not every sparse form can be sliced
        found["kernel_"] = np.array(solver.kernel_(rows[:5], rows))
    return found


def same(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> bool:
    """Whether all answers are the same, to the last bit."""
    return left.keys() == right.keys() and all(
        left[name].dtype == right[name].dtype
        and np.array_equal(left[name], right[name], equal_nan=_inexact(left[name]))
        for name in left
    )


def alike(left: dict[str, np.ndarray], right: dict[str, np.ndarray], rtol: float = 1e-7) -> bool:
    """Whether two fits to the same samples gave these answers, up to rounding."""
    if left.keys() != right.keys():
        return False
    for name, values in left.items():
        if values.shape != right[name].shape:
            return False
        if _inexact(values):
            scale = float(np.abs(right[name]).max(initial=0.0)) or 1.0
            if not np.allclose(values, right[name], rtol=rtol, atol=rtol * scale):
                return False
        elif not np.array_equal(values, right[name]):
            return False
    return True


def _inexact(values: np.ndarray) -> bool:
    return values.dtype.kind in "fc"
