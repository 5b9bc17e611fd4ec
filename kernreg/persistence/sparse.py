"""Sparse matrices and arrays of scipy: a format, a shape and a few arrays.

The arrays of a file are checked here once, entry by entry: compiled code indexes memory with them and does not look.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

_PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}
_CLASSES = {
    (form, is_array): getattr(sp, f"{form}_{'array' if is_array else 'matrix'}")
    for form in _PARTS
    for is_array in (True, False)
}


def write_sparse(value: Any) -> dict[str, Any] | None:
    """Return what is to be kept of a sparse matrix; None if it is of a format (lil, dok) or class that is not."""
    form = value.format
    if form not in _PARTS or value.ndim != 2 or type(value) not in _CLASSES.values():
        return None
    return {
        "format": form,
        "is_array": isinstance(value, sp.sparray),
        "shape": tuple(map(int, value.shape)),
        "parts": [getattr(value, part) for part in _PARTS[form]],
    }


def read_sparse(kept: dict[str, Any]) -> Any:
    """Return the matrix, or raise ValueError where its arrays do not fit together."""
    form, shape, parts = kept["format"], kept["shape"], kept["parts"]
    cls = _CLASSES[form, kept["is_array"]]
    if len(shape) != 2 or not all(type(length) is int and 0 <= length < 2**62 for length in shape):
        raise ValueError(f"a sparse matrix cannot have the shape {shape}")
    data, *index = parts
    if not all(isinstance(part, np.ndarray) for part in parts) or data.dtype.kind not in "biufc":
        raise ValueError("a sparse matrix is not made of arrays of numbers")
    if any(part.ndim != 1 or part.dtype not in (np.int32, np.int64) for part in index):
        raise ValueError("the indices of a sparse matrix are not integers")
    if form == "coo":
        _check_coordinates(shape, data, *index)
        return cls((data, tuple(index)), shape=shape)
    if form == "dia":
        _check_diagonals(data, *index)
        return cls((data, *index), shape=shape)
    _check_compressed(form, shape, data, *index)
    made = cls((data, *index), shape=shape, copy=False)
    made.indices, made.indptr = index  # the constructor may have made shorter integers of them
    return made


def _check_coordinates(shape: tuple[int, int], data: np.ndarray, row: np.ndarray, col: np.ndarray) -> None:
    if not len(data) == len(row) == len(col):
        raise ValueError("a sparse matrix does not have a row and a column for each entry")
    if not (_within(row, shape[0]) and _within(col, shape[1])):
        raise ValueError("the indices of a sparse matrix do not fit its shape")


def _check_diagonals(data: np.ndarray, offsets: np.ndarray) -> None:
    if data.ndim != 2 or len(data) != len(offsets) or len(np.unique(offsets)) != len(offsets):
        raise ValueError("the diagonals of a sparse matrix do not fit its shape")


def _check_compressed(
    form: str, shape: tuple[int, int], data: np.ndarray, indices: np.ndarray, indptr: np.ndarray
) -> None:
    """Check rows (csr), columns (csc) or rows of blocks (bsr), one after the other."""
    rows, columns = shape
    if data.ndim != (3 if form == "bsr" else 1):
        raise ValueError("the blocks of a sparse matrix do not fit its shape")
    height, width = data.shape[1:] or (1, 1)
    if not height or not width or rows % height or columns % width:
        raise ValueError("the blocks of a sparse matrix do not fit its shape")
    major, minor = (columns, rows) if form == "csc" else (rows // height, columns // width)
    if len(indptr) != major + 1 or np.any(np.diff(indptr) < 0):
        raise ValueError("the indices of a sparse matrix do not fit its shape")
    if not indptr[0] == 0 or not indptr[-1] == len(indices) == len(data) or not _within(indices, minor):
        raise ValueError("the indices of a sparse matrix do not fit its shape")


def _within(index: np.ndarray, length: int) -> bool:
    return not index.size or bool(index.min() >= 0 and index.max() < length)
