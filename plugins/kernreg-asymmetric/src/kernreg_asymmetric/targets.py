"""Targets as columns of numbers, and dense tables, for the machines of this package."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from kernreg.errors import DataError
from kernreg.solvers import check_real_targets, check_table


def class_codes(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes and the position of each label among them; raise DataError where there is one only."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None; a classifier needs y with classes")
    check_array(y, ensure_2d=False, dtype=None, input_name="y")  # neither NaN nor infinity
    check_classification_targets(y)
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        (only,) = classes.tolist()
        raise DataError(f"y has one class only ({only!r}, {len(y)} samples); a classifier needs at least 2 classes")
    return classes, codes


def one_vs_rest(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return a ±1 column for each class; of two classes the second is +1, in a single column.

    >>> one_vs_rest(np.array([0, 1, 1]), 2).ravel().tolist()
    [-1.0, 1.0, 1.0]
    """
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)


def real_targets(X: Any, y: Any) -> np.ndarray:
    """Return real outputs, (n,) or (n, outputs), as many as samples; a column vector stays two-dimensional."""
    y = check_real_targets(y)
    check_consistent_length(X, y)
    return y


def check_features(kernel: str, samples: Any, features: int, what: str) -> None:
    """Raise DataError where samples have another number of features than what a kernel holds.

    >>> check_features("lab-rbf", np.ones((2, 1)), 3, "centres")
    Traceback (most recent call last):
    kernreg.errors.DataError: lab-rbf: samples of 1 features, and its centres have 3; give the features they were ...
    """
    if samples.shape[1] != features:
        raise DataError(
            f"{kernel}: samples of {samples.shape[1]} features, and its {what} have {features}; give the features they "
            "were learned on"
        )


def dense_table(estimator: Any, X: Any, *, reset: bool = True) -> np.ndarray:
    """Return rows of features as `check_table` does; sparse ones are refused."""
    if sp.issparse(X):
        raise TypeError(
            f"Sparse data was passed for X, and {type(estimator).__name__} takes dense tables only: bandwidths "
            "differ from feature to feature. Use X.toarray(), or reduce the features first"
        )
    return check_table(estimator, X, reset=reset)
