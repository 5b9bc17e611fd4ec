"""Checked sample sets: when two are the same, and what a combination holds whose kernels see different samples."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from kernreg.engine import Handle
from kernreg.engine.arrays import is_sparse
from kernreg.kernels.packed import PackedSamples


class SampleParts:
    """The samples as each kernel of a combination sees them: mapped by a feature map, or read as indices.

    ``rbf + compose(linear, f)`` sees X on the left and f(X) on the right. Rows are taken from all parts together.
    """

    ndim = 2

    def __init__(self, parts: tuple[Any, ...]):
        self.parts = parts
        self.shape = (parts[0].shape[0], -1)  # rows are common to all parts, columns are not
        single = all(part.dtype == np.float32 for part in parts)
        self.dtype = np.dtype(np.float32 if single else np.float64)

    def astype(self, dtype: Any) -> SampleParts:
        """Return the samples with all parts of numbers in that dtype."""
        return SampleParts(tuple(part.astype(dtype) if hasattr(part, "astype") else part for part in self.parts))

    def __getitem__(self, rows: slice) -> SampleParts:
        some = object.__new__(SampleParts)  # its type is known: blocks are cut often
        some.parts = tuple([part[rows] for part in self.parts])
        some.shape, some.dtype = (some.parts[0].shape[0], -1), self.dtype
        return some


def same_samples(X: Any, Z: Any) -> bool:
    """Return whether two checked sample sets are the same rows in the same order."""
    if X is Z:
        return True
    if isinstance(X, Handle) and isinstance(Z, Handle):
        source = getattr(X, "samples", None)  # two handles of one set of samples
        return source is not None and source is getattr(Z, "samples", None)
    if isinstance(X, Handle) or isinstance(Z, Handle):
        return False  # as far as one can tell without moving them
    if isinstance(X, SampleParts) and isinstance(Z, SampleParts):
        return len(X.parts) == len(Z.parts) and all(map(same_samples, X.parts, Z.parts))
    if isinstance(X, PackedSamples) and isinstance(Z, PackedSamples):
        if X.key != Z.key or len(X.arrays) != len(Z.arrays):
            return False
        return all(np.array_equal(*pair, equal_nan=True) for pair in zip(X.arrays, Z.arrays, strict=True))
    if isinstance(X, SampleParts | PackedSamples) or isinstance(Z, SampleParts | PackedSamples):
        return False
    if X.shape != Z.shape or X.dtype != Z.dtype or is_sparse(X) != is_sparse(Z):
        return False
    if is_sparse(X):
        return X.nnz == Z.nnz and (X != Z).nnz == 0
    return bool(np.array_equal(X, Z))


def row_start(X: Any, Z: Any, self_start: int | None) -> int | None:
    """Return where the rows of X start among those of Z, None where ``self_start`` does not say that they do.

    Of two sets that begin with the same row, ``self_start=0``, the shorter one is the slice.
    """
    if self_start is None or self_start < 0 or (self_start == 0 and X.shape[0] > Z.shape[0]):
        return None
    return self_start


def overlaps(out: np.ndarray, X: Any) -> bool:
    """Return whether writing to ``out`` may change the samples."""
    if isinstance(X, Handle):
        X = getattr(X, "samples", None)  # where the samples of a handle are in this process
        if not isinstance(X, np.ndarray):
            return False
    if isinstance(X, SampleParts):
        return any(overlaps(out, part) for part in X.parts)
    if isinstance(X, PackedSamples):
        return any(overlaps(out, array) for array in X.arrays)
    return bool(np.may_share_memory(out, X.data if is_sparse(X) else X))


def identical_pairs(X: Any, Z: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of X and of Z that are equal, as two index arrays."""
    places: dict[bytes, list[int]] = {}
    for j, key in enumerate(_row_keys(Z)):
        places.setdefault(key, []).append(j)
    pairs = [(i, j) for i, key in enumerate(_row_keys(X)) for j in places.get(key, ())]
    rows, columns = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return rows, columns


def _row_keys(X: Any) -> list[bytes]:
    if isinstance(X, SampleParts):
        return [b"".join(keys) for keys in zip(*map(_row_keys, X.parts), strict=True)]
    if isinstance(X, PackedSamples):
        return [(sample + 0.0).tobytes() for sample in X]
    if is_sparse(X):
        X = X.copy()
        X.eliminate_zeros()
        data, indices = X.data.astype(np.float64), X.indices.astype(np.int64)
        return [indices[a:b].tobytes() + data[a:b].tobytes() for a, b in pairwise(X.indptr)]
    table = np.ascontiguousarray(X, dtype=np.float64)
    if table.ndim == 1:
        return [value.tobytes() for value in table + 0.0]  # -0.0 and 0.0 are one number
    # The same key as of a sparse row: a dense one may be compared with it.
    places = [np.flatnonzero(row) for row in table]
    return [at.astype(np.int64).tobytes() + row[at].tobytes() for at, row in zip(places, table, strict=True)]
