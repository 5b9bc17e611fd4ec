"""Collections that only the configured engine reads, such as dask arrays: estimators take them as they take samples.

A fit works with a handle: the rows stay where they are, targets and weights come here. What is asked of each row
(predictions, scores) comes back as the engine gives it, a lazy collection.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from kernreg.engine import Engine, Handle
from kernreg.engine.dispatch import configured_engine
from kernreg.errors import DataError
from kernreg.kernels import Kernel

#: Methods whose results belong to one sample each.
ROW_METHODS = (
    "decision_function",
    "decision_views",
    "predict",
    "predict_log_proba",
    "predict_proba",
    "transform",
    "transform_right",
)


def reader_of(*values: Any) -> Engine | None:
    """Return the configured engine where one of the values is a collection that it reads, else None.

    >>> reader_of([[1.0]]) is None
    True
    """
    engine = configured_engine()
    return engine if engine is not None and any(engine.reads(value) for value in values) else None


def row_method(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method whose results belong to one sample each take collections, and give them back."""

    @wraps(method)
    def of_samples_or_collections(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        engine = None if isinstance(X, Handle) else reader_of(X)
        if engine is None:
            return method(self, X, *args, **options)
        return engine.lazily(self, method.__name__, X)

    return of_samples_or_collections


def check_handle(estimator: Any, X: Any, kernel: Kernel, *, reset: bool, name: str = "X") -> Handle:
    """Return a handle of a collection (or the handle that is given), each chunk checked as samples of the kernel.

    Parameters
    ----------
    estimator : estimator
        Remembers the number and the names of features, as scikit-learn wants.
    X : collection or Handle
    kernel : Kernel
    reset : bool
        Whether these are the samples of a fit.
    name : str
    """
    handle = kernel.check_samples(X, name)
    if handle.shape[0] == 0:
        raise DataError(f"{name} has no samples, shape {handle.shape}; at least one is needed")
    if handle.shape[1] < 0:  # what kernels of a combination see: features are theirs
        return handle
    if reset:
        estimator.n_features_in_ = handle.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
        columns = list(getattr(X, "columns", ()))
        if columns and all(isinstance(column, str) for column in columns):
            estimator.feature_names_in_ = np.asarray(columns, dtype=object)
    elif handle.shape[1] != getattr(estimator, "n_features_in_", handle.shape[1]):
        raise DataError(
            f"{name} has {handle.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    return handle


def brought_here(values: Any, samples: Any, name: str) -> Any:
    """Return targets or weights as an array of this process; those of a collection must lie as the samples do."""
    engine = reader_of(values)
    if engine is None:
        return values
    return engine.collected(values, samples if isinstance(samples, Handle) else None, name)
