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
    rows, columns = shape
    if not all(type(length) is int and 0 <= length < 2**62 for length in shape):
        raise ValueError(f"a sparse matrix cannot have the shape {shape}")
    data, index = parts[0], parts[1:]
    if not all(isinstance(part, np.ndarray) for part in parts) or data.dtype.kind not in "biufc":
        raise ValueError("a sparse matrix is not made of arrays of numbers")
    if any(part.ndim != 1 or part.dtype not in (np.int32, np.int64) for part in index):
        raise ValueError("the indices of a sparse matrix are not integers")
    if form == "coo":
        row, col = index
        if not len(data) == len(row) == len(col) or not (_within(row, rows) and _within(col, columns)):
            raise ValueError("the indices of a sparse matrix do not fit its shape")
        return cls((data, (row, col)), shape=shape)
    if form == "dia":
        (offsets,) = index
        if data.ndim != 2 or len(data) != len(offsets) or len(np.unique(offsets)) != len(offsets):
            raise ValueError("the diagonals of a sparse matrix do not fit its shape")
        return cls((data, offsets), shape=shape)
    indices, indptr = index
    height, width = (data.shape[1], data.shape[2]) if form == "bsr" else (1, 1)
    if data.ndim != (3 if form == "bsr" else 1) or not height or not width or rows % height or columns % width:
        raise ValueError("the blocks of a sparse matrix do not fit its shape")
    major, minor = (columns, rows) if form == "csc" else (rows // height, columns // width)
    counts = len(indptr) == major + 1 and indptr[0] == 0 and indptr[-1] == len(indices) == len(data)
    if not counts or np.any(np.diff(indptr) < 0) or not _within(indices, minor):
        raise ValueError("the indices of a sparse matrix do not fit its shape")
    made = cls((data, indices, indptr), shape=shape, copy=False)
    made.indices, made.indptr = indices, indptr  # the constructor may have made shorter integers of them
    return made


def _within(index: np.ndarray, length: int) -> bool:
    return not index.size or bool(index.min() >= 0 and index.max() < length)
