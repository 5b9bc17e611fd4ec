"""Samples as they enter a solver: tables, sample indices, pairs of tables, or whatever a feature map takes.

Samples of a fit (``reset``) are never the caller's own memory, which may change afterwards: what validation does not
copy anyway is copied here, once.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from kernreg.engine import Handle, is_row_source, whole
from kernreg.engine.arrays import as_reals, check_finite, check_readable, is_sparse
from kernreg.engine.sources.views import as_row_source
from kernreg.errors import DataError
from kernreg.kernels import Kernel, Structure
from kernreg.kernels.ownership import own_samples
from kernreg.solvers.elsewhere import brought_here, check_handle, reader_of
from kernreg.solvers.streamed import check_source, in_memory, some_rows
from kernreg.solvers.tables import check_table

_LARGEST_WEIGHT = 1e140
_LARGEST_TARGET = 1e140


def count_samples(samples: Any) -> int:
    """Return how many samples there are: rows of arrays, entries of what has no shape.

    >>> count_samples(["a", "b"]), count_samples(np.zeros((3, 2)))
    (2, 3)
    """
    return samples.shape[0] if hasattr(samples, "shape") else len(samples)


def input_kind(kernel: Kernel) -> str:
    """Return what samples of a kernel are: ``"table"``, ``"index"``, ``"structured"`` or ``"any"``.

    Structured samples are packed by the kernel; any samples are left to its feature map.

    >>> from kernreg import make_kernel
    >>> input_kind(make_kernel("rbf") + make_kernel("linear"))
    'table'
    """
    if kernel.name == "compose":
        return "any"
    inner = [value for value in kernel.get_params(deep=False).values() if isinstance(value, Kernel)]
    kinds = {input_kind(part) for part in inner}
    if "any" in kinds:
        return "any"
    inputs = getattr(kernel.family, "inputs", None)
    if "structured" in kinds or isinstance(inputs, Structure):
        return "structured"
    if "index" in kinds or inputs == "index":
        return "index"
    return "table"


def check_samples(
    estimator: Any, X: Any, kernel: Kernel, *, reset: bool, name: str = "X", streamed: bool = False
) -> Any:
    """Return one set of samples, checked in scikit-learn's way as far as the kernel's inputs allow it.

    Of a row source, and of a collection that the configured engine reads, comes a handle, where the samples are new
    ones or a fit can work with it (`streamed`); other fits get the samples in memory.

    Examples
    --------
    >>> import kernreg as kr
    >>> solver = kr.make_solver("ls-svm")
    >>> check_samples(solver, [[1, 2], [3, 4]], kr.make_kernel("rbf"), reset=True).dtype
    dtype('float64')
    >>> solver.n_features_in_
    2
    """
    if isinstance(X, Handle) or reader_of(X) is not None:
        handle = check_handle(estimator, X, kernel, reset=reset, name=name)
        return handle if streamed or not reset else whole(handle)
    if is_row_source(X):
        if streamed or not reset:
            return check_source(estimator, X, kernel, reset=reset, name=name)
        X = in_memory(X, type(estimator).__name__)
    kind = input_kind(kernel)
    if kind == "structured":
        return _packed(kernel, X, name, reset)
    if kind != "any":
        check_readable(X, name)
    if kind == "any":
        if np.ndim(X) < 1 and not sp.issparse(X):
            raise DataError(f"{name} is {type(X).__name__}, not a collection of samples")
        return deepcopy(X) if reset else X
    if kind == "index":
        if sp.issparse(X):
            raise DataError(
                f"{name} is sparse; the kernel {kernel.name!r} takes sample indices such as numpy.arange(n)"
            )
        index = np.asarray(X)
        if index.dtype.kind in "US" or (index.dtype == object and any(isinstance(one, str) for one in index.flat)):
            raise DataError(
                f"{name} holds text; samples of the kernel {kernel.name!r} are node numbers 0 … n-1, or row numbers of "
                "its matrix: give the place of each name"
            )
        index = index[:, None] if index.ndim == 1 else index
        return validate_data(estimator, index, reset=reset, dtype="numeric", copy=reset)
    return check_table(estimator, X, reset=reset)


def _packed(kernel: Kernel, X: Any, name: str, reset: bool) -> Any:
    """Return structured samples packed, those of a fit in memory of their own."""
    samples = kernel.check_samples(X, name)
    if samples.shape[0] == 0:
        raise DataError(f"{name} has no samples; at least one is needed")
    return own_samples(samples) if reset else samples


def has_features(kernel: Kernel, X: Any) -> bool:
    """Whether the samples of a fit are rows of numbers, one for each feature: not indices, pairs, text or graphs."""
    if isinstance(X, tuple) or input_kind(kernel) in ("index", "structured"):
        return False
    return sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f")


def check_second(target: Any, kernel: Kernel, *, reset: bool, name: str, streamed: bool = False) -> Any:
    """Return the other side of a pair, whose features may be other ones than those the estimator remembers."""
    if isinstance(target, Handle) or reader_of(target) is not None:
        handle = kernel.check_samples(target, name)
        return handle if streamed or not reset else whole(handle)
    if is_row_source(target):
        if streamed or not reset:
            return kernel.check_samples(target, name)
        target = in_memory(target, "this fit")
    kind = input_kind(kernel)
    if kind == "structured":
        return _packed(kernel, target, name, reset)
    if kind == "any":
        return deepcopy(target) if reset else target
    check_readable(target, name)
    if kind == "index":
        index = np.array(target, copy=True if reset else None)
        return index[:, None] if index.ndim == 1 else index
    return check_array(target, accept_sparse="csr", dtype=[np.float64, np.float32], input_name=name, copy=reset)


def check_pair(
    estimator: Any, X: tuple[Any, Any], kernel: Kernel, *, reset: bool, streamed: bool = False
) -> tuple[Any, Any]:
    """Return source and target samples, as many of the one as of the other."""
    source = check_samples(estimator, X[0], kernel, reset=reset, name="X[0]", streamed=streamed)
    target = check_second(X[1], kernel, reset=reset, name="X[1]", streamed=streamed)
    if source.shape[0] != target.shape[0]:
        raise DataError(
            f"X is a pair of {source.shape[0]} source and {target.shape[0]} target samples; row i of both describes "
            "sample i, so they must be as many"
        )
    return source, target


def take(X: Any, rows: np.ndarray) -> Any:
    """Return some rows of samples, of a pair from both sides."""
    if isinstance(X, tuple):
        return tuple(take(side, rows) for side in X)
    return X[rows]


def rows_of(X: Any, rows: np.ndarray) -> Any:
    """Return some samples of what a caller gave: a table, a frame, a list, a row source, or a pair of these.

    >>> rows_of(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    if isinstance(X, tuple):
        return tuple(rows_of(side, rows) for side in X)
    if is_row_source(X):
        return as_row_source(X)[rows]
    return X.tocsr()[rows] if is_sparse(X) else _safe_indexing(X, rows)  # not every sparse form can be sliced


def check_real_targets(y: Any) -> np.ndarray:
    """Return targets of a regression as float64 in memory of their own; raise DataError where that would change any.

    Parameters
    ----------
    y : array-like of shape (m,) or (m, outputs)
        Real numbers. Text, complex numbers, dates, missing values and integers beyond 2**53 are refused, and so is a
        column whose largest number has a square that is infinite or zero.

    Examples
    --------
    >>> check_real_targets([1, 2.5]).tolist()
    [1.0, 2.5]
    >>> check_real_targets(["1.5", None])
    Traceback (most recent call last):
    kernreg.errors.DataError: y holds objects that are not numbers (text); encode text and categories as numbers first
    """
    if y is None:
        raise DataError("requires y to be passed, but the target y is None; a regressor needs y with numbers")
    numbers = as_reals(y, "y")
    if numbers.ndim not in (1, 2):
        raise DataError(f"y has shape {numbers.shape}; give one number for each sample, or a row of them")
    check_finite(numbers, "y")
    sizes = np.abs(np.atleast_1d(numbers)).max(axis=0, initial=0.0)
    beyond = sizes[(sizes > _LARGEST_TARGET) | ((sizes > 0.0) & (sizes < 1.0 / _LARGEST_TARGET))]
    if beyond.size:
        where = " in a column" if numbers.ndim == 2 else ""
        raise DataError(
            f"y holds numbers of size {beyond.flat[0]:.3g} at most{where}, and squares of targets above "
            f"{_LARGEST_TARGET:g} or below {1.0 / _LARGEST_TARGET:g} are infinite or zero; divide y by its largest "
            "number, and multiply predictions by it"
        )
    return numbers


def check_weights(sample_weight: Any, m: int) -> np.ndarray:
    """Return m non-negative finite weights, not all zero; a number stands for m equal ones.

    >>> check_weights([1, 0, 2], 3).tolist()
    [1.0, 0.0, 2.0]
    """
    weights = as_reals(sample_weight, "sample_weight")
    weights = np.full(m, float(weights)) if weights.ndim == 0 else weights
    if weights.shape != (m,):
        raise DataError(f"sample_weight has shape {weights.shape}; give one weight for each of the {m} samples")
    if not np.all(np.isfinite(weights)) or np.any(weights < 0):
        raise DataError("sample_weight has negative or infinite entries or NaN; weights are finite and not negative")
    if np.max(weights, initial=0.0) > _LARGEST_WEIGHT:
        raise DataError(
            f"sample_weight is as large as {weights.max():.3g}, and products with weights above {_LARGEST_WEIGHT:g} "
            "overflow; divide the weights by their mean, and multiply gamma by it"
        )
    if not np.any(weights > 0):
        raise DataError("sample_weight is zero for every sample; at least one must be positive")
    return weights


def without_zero_weights(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, np.ndarray | None]:
    """Return samples, targets (or None) and checked weights: samples of zero weight left out, unit weights as None."""
    if sample_weight is None:
        return X, y, None
    sample_weight = brought_here(sample_weight, X, "sample_weight")
    weights = check_weights(sample_weight, X.shape[0] if y is None else len(y))
    if np.any(weights == 0):
        kept = np.flatnonzero(weights)
        X, y, weights = some_rows(X, kept), None if y is None else y[kept], weights[kept]
    return X, y, None if np.all(weights == 1.0) else weights


def check_fitted(estimator: Any) -> None:
    """Raise NotFittedError unless the estimator has been fitted."""
    check_is_fitted(estimator, "dual_coef_")
