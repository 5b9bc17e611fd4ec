"""The one gate through which sample arrays enter: everything below may trust what it gets."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from kernreg.errors import DataError

# A dense ndarray or a csr_array: the stubs of scipy do not narrow such a union by issparse().
Samples: TypeAlias = Any

_EXACT_INTEGER = 2**53


def is_sparse(value: Any) -> bool:
    """Return whether the value is a scipy sparse array or matrix (a plain bool, which narrows no type)."""
    return bool(sp.issparse(value))


def as_samples(X: Any, name: str = "X", *, inputs: str = "real") -> Samples:
    """Return X as C-contiguous writable float64/float32 rows, canonical CSR, or (``inputs="index"``) int64 indices.

    Integers and booleans become float64, float16 becomes float32; both conversions are exact or refused.

    Raises
    ------
    DataError
        For anything that is not a finite two-dimensional numeric table of the declared kind.
    """
    check_readable(X, name)
    if inputs == "index":
        return _as_indices(X, name)
    table: Any = _as_csr(X, name) if is_sparse(X) else _as_dense(X, name)
    values = table.data if is_sparse(table) else table
    if inputs in ("nonnegative", "distribution") and values.size and values.min() < 0:
        raise DataError(
            f"{name} has a negative value ({values.min()!s}); this kernel accepts non-negative entries only"
        )
    if inputs == "distribution":
        _check_distribution(table, name)
    if inputs == "gaussian":
        _check_gaussians(table, name)
    return table


def as_reals(values: Any, name: str) -> np.ndarray:
    """Return real numbers in an array of any shape, in memory of their own, in rows, as float64; NaN stays what it is.

    Raises
    ------
    DataError
        Where a value is none, or would be another one as float64.
    """
    check_readable(values, name)
    try:
        array = np.asarray(values.toarray() if is_sparse(values) else values)
    except (ValueError, TypeError) as cause:
        raise DataError(f"{name} cannot be read as numbers: {cause}") from cause
    return np.array(_as_float(array, name), dtype=np.float64, order="C")


def check_pair(X: Samples, Z: Samples) -> None:
    """Raise DataError unless the rows of X and Z can be compared feature by feature."""
    if X.ndim == 2 and Z.ndim == 2 and X.shape[1] != Z.shape[1]:
        raise DataError(
            f"X has {X.shape[1]} features and Z has {Z.shape[1]}; a kernel compares rows of equal length. "
            "Give both sample sets the same columns, make them comparable with kernreg.kernels.compose, or write a "
            "kernel between two spaces: of='blocks', symmetric=False"
        )


def result_dtype(X: Samples, Z: Samples) -> np.dtype:
    """Return float32 when both sample sets are float32, float64 otherwise."""
    both_single = X.dtype == np.float32 and Z.dtype == np.float32
    return np.dtype(np.float32 if both_single else np.float64)


def in_double(X: Samples) -> Samples:
    """Return float32 samples as float64, any others as they are."""
    return X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 and hasattr(X, "astype") else X


def check_out(out: np.ndarray, shape: tuple[int, int], dtype: np.dtype) -> None:
    """Raise DataError unless ``out`` can hold the result exactly."""
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype or not out.flags.writeable:
        given = f"{type(out).__name__} of shape {getattr(out, 'shape', None)}, dtype {getattr(out, 'dtype', None)}"
        raise DataError(
            f"out= is a {given}; needed is a writable ndarray of shape {shape} and dtype {dtype}, for example "
            f"numpy.empty({shape}, dtype={dtype.name!r})"
        )


def check_readable(X: Any, name: str) -> None:
    """Raise DataError where reading X as numbers would change some, or read beyond its memory.

    That is: masked values, also of rows in a list; integers beyond 2**53; sparse arrays whose indices point outside.
    """
    if is_sparse(X):
        _check_structure(X, name)
        X = X.data if isinstance(getattr(X, "data", None), np.ndarray) else ()
    require_unmasked(X, name)
    # Columns one by one: a table of integers and others becomes one of float64 as a whole.
    parts = [np.asarray(X[name]) for name in X.columns] if hasattr(X, "columns") else [X]
    if any(map(_holds_wide_integers, parts)):
        raise DataError(f"{name} holds integers beyond 2**53, which float64 cannot represent; rescale them first")


def require_unmasked(values: Any, name: str) -> None:
    """Raise DataError where values, or rows in a list of them, are masked: NumPy would read what is under the mask."""
    rows = values if isinstance(values, list | tuple) else (values,)
    if any(isinstance(row, np.ma.MaskedArray) and np.ma.is_masked(row) for row in rows):
        raise DataError(
            f"{name} has masked values; leave these samples out, or fill them first, for example with "
            f"{name}.filled(0.0)"
        )


def _holds_wide_integers(values: Any) -> bool:
    if isinstance(values, list | tuple):
        try:
            values = np.asarray(values, dtype=object)  # [1.5, 2**60 + 1] would become float64 at once
        except (ValueError, TypeError):  # ragged: whoever reads it says so
            return False
    if not isinstance(values, np.ndarray) or not values.size:
        return False
    if values.dtype.kind in "iu":
        return values.dtype.itemsize > 4 and max(-int(values.min()), int(values.max())) > _EXACT_INTEGER
    return values.dtype.kind == "O" and any(
        isinstance(value, int | np.integer) and abs(int(value)) > _EXACT_INTEGER for value in values.ravel()
    )


def _check_structure(X: Any, name: str) -> None:
    """Raise DataError unless the indices of a sparse array are within it: compiled code trusts them."""
    try:
        if X.format in ("csr", "csc", "bsr"):
            lengths = X.indptr, X.indices
            if any(part.ndim != 1 or part.dtype.kind not in "iu" for part in lengths):
                raise ValueError("its index arrays are not vectors of integers")
            if len(X.indptr) and (X.indptr[0] != 0 or (X.indptr[1:] < X.indptr[:-1]).any()):
                raise ValueError("its index pointers do not go up from 0")  # not looked at below where the last is < 0
            # A wrapper of the same arrays: the check may cut off what is stored in vain.
            type(X)((X.data, X.indices, X.indptr), shape=X.shape, copy=False).check_format(full_check=True)
        elif X.format == "coo":
            for index, size in zip(X.coords if hasattr(X, "coords") else (X.row, X.col), X.shape, strict=True):
                if len(index) != len(X.data) or (len(index) and not 0 <= int(index.min()) <= int(index.max()) < size):
                    raise ValueError("an index is outside its shape")
    except (ValueError, IndexError) as cause:
        raise DataError(
            f"{name} is a damaged sparse array of shape {X.shape}: {cause}. Rebuild it from its entries"
        ) from None


def _as_dense(X: Any, name: str) -> np.ndarray:
    try:
        table = np.asarray(X)
    except (ValueError, TypeError) as cause:
        raise DataError(f"{name} cannot be read as a numeric table: {cause}") from cause
    if table.ndim != 2:
        raise DataError(
            f"{name} has {table.ndim} dimension(s), shape {table.shape}; samples are the rows of a 2-D table. "
            f"Use {name}.reshape(-1, 1) for one feature, {name}.reshape(1, -1) for one sample"
        )
    if table.shape[1] == 0:
        raise DataError(f"{name} has no features, shape {table.shape}; at least one column is needed")
    table = np.ascontiguousarray(_as_float(table, name))
    if not table.flags.writeable or not table.flags.aligned:
        # Numba types read-only arrays differently: one copy of the samples is cheaper than a second compilation.
        table = table.copy()
    check_finite(table, name)
    return table


def _as_csr(X: Any, name: str) -> sp.csr_array:
    if X.ndim != 2:
        raise DataError(f"{name} is a {X.ndim}-D sparse array; samples are the rows of a 2-D table")
    if X.shape[1] == 0:
        raise DataError(f"{name} has no features, shape {X.shape}; at least one column is needed")
    table = sp.csr_array(X)
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    data = _as_float(table.data, name)
    if data is not table.data or not data.flags.writeable:
        table = sp.csr_array((np.array(data), table.indices, table.indptr), shape=table.shape)
    check_finite(table.data, name)
    return table


def _as_float(values: np.ndarray, name: str) -> np.ndarray:
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "f" and size in (4, 8):
        return values.astype(values.dtype.newbyteorder("="), copy=False)
    if kind == "f" and size == 2:
        return values.astype(np.float32)
    if kind == "b":
        return values.astype(np.float64)
    if kind in "iu":
        return values.astype(np.float64)
    if kind == "O":
        try:
            if any(isinstance(value, str | bytes) for value in values.flat):
                raise TypeError("text")
            return values.astype(np.float64)
        except (ValueError, TypeError) as cause:
            raise DataError(
                f"{name} holds objects that are not numbers ({cause}); encode text and categories as numbers first"
            ) from cause
    what = "Complex data not supported: " if kind == "c" else ""
    raise DataError(
        f"{what}{name} has dtype {values.dtype}; accepted are numbers: float64, float32, float16, integers and "
        "booleans. Complex, long double, dates and text are not converted silently"
    )


def check_finite(values: np.ndarray, name: str) -> None:
    """Raise DataError where a value is NaN or infinite."""
    # The sum is finite whenever all values are moderate: the full scan runs only when something may be wrong.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return
    bad = ~np.isfinite(values)
    if bad.any():
        where = np.argwhere(bad)[0]
        raise DataError(
            f"{name} contains NaN or infinity ({int(bad.sum())} value(s), first at {tuple(map(int, where))}); "
            "remove those rows, or impute them, for example with sklearn.impute.SimpleImputer"
        )


def _check_distribution(table: Samples, name: str) -> None:
    sums = np.asarray(table.sum(axis=1, dtype=np.float64)).ravel()
    off = np.abs(sums - 1.0) > 1e-6
    if off.any():
        row = int(np.argmax(off))
        raise DataError(
            f"row {row} of {name} sums to {sums[row]:.6g}; this kernel compares probability distributions. "
            f"Divide each row by its sum: {name} / {name}.sum(axis=1, keepdims=True)"
        )


def _check_gaussians(table: Samples, name: str) -> None:
    if table.shape[1] % 2:
        raise DataError(
            f"{name} has {table.shape[1]} columns; a row is a diagonal Gaussian, as many variances as means: "
            "numpy.hstack([means, variances])"
        )
    if is_sparse(table):
        return  # refused by the kernel itself, which sees dense rows
    variances = table[:, table.shape[1] // 2 :]
    if variances.size and variances.min() <= 0:
        raise DataError(
            f"{name} has a variance of {variances.min()!s}; the second half of the columns are variances, > 0. "
            "Add a small number to variances estimated as zero"
        )


def _as_indices(X: Any, name: str) -> np.ndarray:
    index = np.asarray(X)
    if index.ndim == 2 and index.shape[1] == 1:
        index = index[:, 0]
    if index.ndim != 1:
        raise DataError(
            f"{name} has shape {index.shape}; this kernel takes sample indices, a vector or a single column such as "
            "numpy.arange(n)"
        )
    if index.dtype.kind == "f" and np.array_equal(index, np.floor(index)) and (np.abs(index) <= _EXACT_INTEGER).all():
        index = index.astype(np.int64)
    if index.dtype.kind not in "iu":
        raise DataError(
            f"{name} has dtype {index.dtype}; this kernel takes integer sample indices such as numpy.arange(n)"
        )
    if index.size and index.min() < 0:
        raise DataError(f"{name} has the negative index {int(index.min())}; indices count from 0")
    return np.ascontiguousarray(index, dtype=np.int64)
