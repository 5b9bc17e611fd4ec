"""Pairs of samples, and matrices about them, as users give them: what is accepted, and what is refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kernreg.engine.arrays import is_sparse
from kernreg.errors import AsymmetryError, DataError

_LARGEST = 100.0  # entries of T: beyond, exp(T) leaves nothing of the rest


def index_pairs(given: Any, n: int, kind: str) -> np.ndarray:
    """Return pairs i < j, each once."""
    if given is None:
        return np.zeros((0, 2), dtype=np.int64)
    if not hasattr(given, "__array__") and isinstance(given, Iterable):  # a set, zip(…) or generator of pairs, too
        given = list(given)
    index = rectangular(given, f"{kind} pairs")
    if index.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if index.ndim != 2 or index.shape[1] != 2 or index.dtype.kind not in "iu":
        raise DataError(
            f"{kind} pairs have shape {index.shape} and type {index.dtype}; give integers of shape (pairs, 2), the "
            "indices of two samples in each row"
        )
    if index.min() < 0 or index.max() >= n:
        raise DataError(
            f"{kind} pairs name sample {int(index.min() if index.min() < 0 else index.max())}; with n={n} samples "
            f"indices are 0 … {n - 1}"
        )
    alone = np.flatnonzero(index[:, 0] == index[:, 1])
    if len(alone):
        raise DataError(
            f"{kind} pair {int(alone[0])} is ({int(index[alone[0], 0])}, {int(index[alone[0], 0])}), a sample with "
            "itself, which says nothing; leave it out"
        )
    return np.unique(np.sort(index.astype(np.int64), axis=1), axis=0)


def refuse_contradictions(together: np.ndarray, apart: np.ndarray, n: int) -> None:
    """Raise DataError where a pair is given as similar and as dissimilar."""
    shared = np.intersect1d(together @ [n, 1], apart @ [n, 1])
    if len(shared):
        i, j = divmod(int(shared[0]), n)
        raise DataError(
            f"{len(shared)} pair(s) are given as similar and as dissimilar, for example ({i}, {j}); decide which they "
            "are, or leave them out"
        )


def rectangular(given: Any, what: str) -> np.ndarray:
    """Return an array, or say that rows differ in length."""
    try:
        return np.asarray(given)
    except ValueError as error:
        raise DataError(f"{what}: rows differ in length; give a rectangular array of numbers") from error


def check_target(T: Any, values: np.ndarray) -> None:
    """Raise unless T is a square symmetric matrix of finite values that says something about some pair."""
    if T.ndim != 2 or T.shape[0] != T.shape[1] or T.shape[0] < 2:
        raise DataError(f"T has shape {T.shape}; give a square matrix, samples by samples, for at least 2 samples")
    if not np.isfinite(values).all():
        raise DataError("T has infinite entries or NaN; 0 stands for an unknown pair")
    if values.size and np.abs(values).max() > _LARGEST:
        raise DataError(
            f"T has an entry of size {np.abs(values).max():g}, beyond the range of exp(T); give degrees of similarity "
            "between -1 and 1, or near them"
        )
    gap = abs(T - T.T).max() if T.shape[0] else 0.0
    if gap > 0.0:
        raise AsymmetryError(
            f"T is not symmetric, the largest |T - Tᵀ| is {gap:g}; whether i and j are similar has one answer. "
            "Decide between the two, for example by their mean"
        )
    if T.nnz == np.count_nonzero(T.diagonal()) if is_sparse(T) else not np.any(T - np.diag(T.diagonal())):
        raise DataError(
            "T is zero everywhere beside its diagonal, nothing is known about any pair of samples; there is nothing to "
            "learn from it"
        )
