"""Checked sample sets: when two are the same, and what a combination holds whose kernels see different samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.engine.arrays import is_sparse


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

    def __getitem__(self, rows: slice) -> SampleParts:
        return SampleParts(tuple(part[rows] for part in self.parts))


def same_samples(X: Any, Z: Any) -> bool:
    """Return whether two checked sample sets are the same rows in the same order."""
    if X is Z:
        return True
    if isinstance(X, SampleParts) and isinstance(Z, SampleParts):
        return len(X.parts) == len(Z.parts) and all(map(same_samples, X.parts, Z.parts))
    if isinstance(X, SampleParts) or isinstance(Z, SampleParts):
        return False
    if X.shape != Z.shape or X.dtype != Z.dtype or is_sparse(X) != is_sparse(Z):
        return False
    if is_sparse(X):
        return X.nnz == Z.nnz and (X != Z).nnz == 0
    return bool(np.array_equal(X, Z))
