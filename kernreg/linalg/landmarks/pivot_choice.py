"""Landmarks as the pivots of randomly pivoted Cholesky, for every kind of kernel, within the memory budget.

positive semi-definite   pivots of K itself: p columns of it are evaluated
symmetric                rows of K by what is left of their norms in 2p columns, drawn uniformly
asymmetric               the same, a sample's row being its row and its column of K in 2p columns and 2p rows

All samples are candidates where the factor (and the columns looked at) take no more than a quarter of the memory
budget, else as many as do so, drawn uniformly, and at least twice the landmarks. For kernels that are not positive
semi-definite that takes 2p (symmetric) or 4p (asymmetric) kernel values for each candidate in place of p, and three to
five times the operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kernreg.engine.budget import rows_within
from kernreg.kernels.base import Kernel
from kernreg.linalg.landmarks.pivoted_cholesky import KernelMatrix, PivotedCholesky, RowProducts, pivoted_cholesky

_WITNESSES = 2  # columns looked at for each landmark, where the kernel is not positive semi-definite
_PILOTS, _PER_DIRECTION = 300, 4  # rows and columns that are chosen first, to see the others by


class Selection(NamedTuple):
    """Landmarks: indices that ascend, and the share of the trace (or of squared row norms) they leave, if known."""

    indices: np.ndarray
    trace_error: float | None = None


def choose_pivots(
    kernel: Kernel, X: Any, Z: Any, p: int, rng: np.random.Generator, *, definite: bool | None = None
) -> Selection:
    """Return p landmarks; where fewer leave nothing of the others, any of these in addition.

    Parameters
    ----------
    kernel : Kernel
        Bound to its reference set.
    X, Z : array, CSR or handle
        The samples, and the second features of the same samples or None.
    p : int
    rng : numpy Generator
    definite : bool, optional
        Whether K is positive semi-definite; the kernel's own word by default.
    """
    n = X.shape[0]
    definite = bool(kernel.definite if definite is None else definite) and Z is None
    symmetric = kernel.symmetric and Z is None
    width = 1 if definite else 1 + _WITNESSES * (1 if symmetric else 2)
    pool = candidates(n, p, width, rng)
    everyone = len(pool) == n
    if definite:
        matrix: Any = KernelMatrix(kernel, X if everyone else X[pool])
    else:
        witnesses = np.sort(rng.choice(n, min(n, _WITNESSES * p), replace=False))
        matrix = RowProducts(_seen_by(kernel, X, X if Z is None else Z, pool, witnesses, symmetric))
    found = pivoted_cholesky(matrix, p, random_state=rng)
    return Selection(np.sort(pool[filled(found.pivots, len(pool), p, rng)]), found.trace_error)


def choose_pivots_of_both(
    block: Callable[[np.ndarray, np.ndarray], np.ndarray],
    shape: tuple[int, int],
    sizes: tuple[int, int],
    rank: int,
    rng: np.random.Generator,
) -> tuple[Selection, Selection]:
    """Return rows and columns of a rectangular matrix, each by what is left of their norms in the others.

    The first columns are uniform; rows are chosen by them, columns by these rows, and both once more, as leverage
    scores do it.

    Parameters
    ----------
    block : callable
        ``block(rows, columns)`` gives that part of the matrix.
    shape, sizes : tuple of int
        Of the whole matrix; how many rows and columns.
    rank : int
        How many directions matter: the first choice is of four times as many, at least 300.
    rng : numpy Generator
    """
    pools = [candidates(n, p, 2, rng) for n, p in zip(shape, sizes, strict=True)]
    pilots = [min(p, max(_PILOTS, _PER_DIRECTION * rank)) for p in sizes]
    columns = np.sort(rng.choice(shape[1], min(shape[1], _WITNESSES * pilots[0]), replace=False))
    for last in (False, True):
        counts = sizes if last else pilots
        rows, row_error = _pivots_in(block(pools[0], columns), pools[0], counts[0], rng)
        columns, column_error = _pivots_in(block(rows, pools[1]).T, pools[1], counts[1], rng)
    return Selection(rows, row_error), Selection(columns, column_error)


def candidates(n: int, p: int, width: int, rng: np.random.Generator) -> np.ndarray:
    """Return all of n samples, or as many as fit a quarter of the memory budget with p · width numbers each.

    >>> len(candidates(1000, 10, 1, np.random.default_rng(0)))
    1000
    """
    size = max(2 * p, rows_within(p * width, 8))
    return np.arange(n) if size >= n else np.sort(rng.choice(n, size, replace=False))


def filled(pivots: np.ndarray, n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    """Return the pivots and, where they are fewer than p, any others of n samples.

    >>> filled(np.array([2]), 3, 3, np.random.default_rng(0)).tolist() in ([2, 0, 1], [2, 1, 0])
    True
    """
    missing = p - len(pivots)
    if not missing:
        return pivots
    return np.append(pivots, rng.choice(np.setdiff1d(np.arange(n), pivots), missing, replace=False))


def _pivots_in(M: np.ndarray, pool: np.ndarray, p: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    found: PivotedCholesky = pivoted_cholesky(RowProducts(M), p, random_state=rng)
    return np.sort(pool[filled(found.pivots, len(pool), p, rng)]), found.trace_error


def _seen_by(kernel: Kernel, X: Any, Z: Any, pool: np.ndarray, witnesses: np.ndarray, symmetric: bool) -> np.ndarray:
    """Return K[pool, witnesses], of an asymmetric kernel beside K[witnesses, pool]ᵀ."""
    rows = np.asarray(kernel(X[pool], Z[witnesses]), dtype=np.float64)
    if symmetric:
        return rows
    return np.hstack([rows, np.asarray(kernel(X[witnesses], Z[pool]), dtype=np.float64).T])
