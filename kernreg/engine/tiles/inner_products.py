"""Inner products and squared distances of a block by one matrix product.

For distances the rows are first moved so that the mean of Z is the origin, and |x - z|² = |x|² + |z|² - 2⟨x, z⟩; pairs
that are much closer than their norms, where that cancels, are computed again from their differences. Which pairs those
are depends on the pair and on Z alone, not on the block it stands in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernreg.engine import memory
from kernreg.engine.compiler.compile import compiled
from kernreg.engine.threads import run_tasks, single_threaded_blas
from kernreg.engine.tiles.accumulation import REAL
from kernreg.engine.tiles.grid import BLOCK
from kernreg.jit import wide

# A pair closer than this fraction of |x|² + |z|² is computed again from its differences: the others lose at most
# log2(1/fraction) bits to cancellation, 4 of 53 or 3 of 24.
CANCELLED = {np.dtype(np.float64): 1.0 / 16.0, np.dtype(np.float32): 1.0 / 8.0}

# Sums along a row may be taken in vector order: it depends on the length of the row alone.
REDUCTION = {"contract", "reassoc", "nsz"}


def make_recenter() -> Callable[..., None]:
    """Driver: rows minus the centre, in the precision of ``moved``, and the squared norms of what that gives."""

    def recenter(X, center, moved, norms, start, stop):
        wide()
        for i in range(start, stop):
            x, y = X[i], moved[i]
            total = 0.0
            for k in range(len(center)):
                y[k] = np.float64(x[k]) - center[k]
            for k in range(len(center)):
                total += np.float64(y[k]) * np.float64(y[k])
            norms[i] = total

    return recenter


def make_distances() -> Callable[..., None]:
    """Driver: inner products in S become squared distances; rows with cancelled pairs are marked."""

    def distances(S, x_norms, z_norms, i0, rows, j0, width, two, fraction, marks):
        wide()
        z_part = z_norms[j0 : j0 + width]
        for i in range(rows):
            s, xx = S[i], x_norms[i0 + i]
            cancelled = False
            for j in range(width):
                norms = xx + z_part[j]
                d2 = norms - two * s[j]
                cancelled |= not (d2 >= fraction * norms)  # also where infinities met
                s[j] = d2
            marks[i] = cancelled

    return distances


def make_recompute(real: Callable[..., Any]) -> Callable[..., None]:
    """Driver: the cancelled pairs of marked rows from their differences."""

    def recompute(S, X, Z, x_norms, z_norms, i0, rows, j0, columns, fraction, marks):
        wide()
        for i in range(rows):
            if marks[i]:
                s, x = S[i], X[i0 + i]
                for j in range(columns):
                    if not s[j] >= fraction * (x_norms[i0 + i] + z_norms[j0 + j]):
                        z = Z[j0 + j]
                        total = real(0.0)
                        for k in range(len(x)):
                            total += (real(x[k]) - real(z[k])) * (real(x[k]) - real(z[k]))
                        s[j] = total

    return recompute


class InnerProducts:
    """Blocks of inner products or squared distances between the rows of two dense arrays, in one precision."""

    def __init__(self, X: np.ndarray, Z: np.ndarray, squared: bool, dtype: np.dtype):
        self.X, self.Z, self.squared, self.dtype = X, Z, squared, dtype
        center = np.zeros(X.shape[1])
        if squared and len(Z):  # around the mean the products are as small as they can be
            with np.errstate(over="ignore", invalid="ignore"):  # as all compiled code
                center = Z.mean(axis=0, dtype=np.float64)
        recenter = compiled(make_recenter, "rows", fastmath=REDUCTION)
        self._x, self._x_norms = _moved(recenter, X, center, dtype)
        self._z, self._z_norms = (self._x, self._x_norms) if Z is X else _moved(recenter, Z, center, dtype)
        self._two, self._fraction = dtype.type(2.0), dtype.type(CANCELLED[dtype])
        if squared:
            self._distances = compiled(make_distances, "sqeuclidean")
            self._recompute = compiled(make_recompute, "sqeuclidean", REAL[dtype], fastmath=REDUCTION)

    def block(self, S: np.ndarray, marks: np.ndarray, i0: int, rows: int, j0: int, columns: int, width: int) -> None:
        """Fill the first rows of S, up to a width, with statistics; the product is of the shape of S."""
        height, length = S.shape
        with np.errstate(over="ignore", invalid="ignore"):  # as all compiled code
            np.dot(self._x[i0 : i0 + height], self._z[j0 : j0 + length].T, out=S)
        if self.squared:
            norms = self._x_norms, self._z_norms
            self._distances(S, *norms, i0, rows, j0, width, self._two, self._fraction, marks)
            if marks[:rows].any():
                self._recompute(S, self.X, self.Z, *norms, i0, rows, j0, columns, self._fraction, marks)

    def sampled_error(self, count: int) -> float:
        """Return the largest error among so many rows of Z, against float64.

        Of squared distances it is relative to the distance, of inner products to |x||z|.
        """
        n = len(self.Z)
        rows = np.unique(np.linspace(0, n - 1, min(n, count)).astype(np.intp)) if n else np.zeros(0, dtype=np.intp)
        if not len(rows):
            return 0.0
        part, norms = self._z[rows], self._z_norms[rows].astype(np.float64)
        with np.errstate(all="ignore"), single_threaded_blas():
            S = (part @ part.T).astype(np.float64)
            exact = np.dot(part.astype(np.float64), part.astype(np.float64).T)
            if not self.squared:
                lengths = np.sqrt(norms)
                return float(np.nan_to_num(np.abs(S - exact) / (lengths[:, None] * lengths), nan=0.0).max())
            around = norms[:, None] + norms
            d2 = around - 2.0 * exact
            kept = (d2 >= self._fraction * around) & (d2 > 0.0)
            return float((np.abs(2.0 * (S - exact))[kept] / d2[kept]).max(initial=0.0))


def _moved(recenter: Any, X: np.ndarray, center: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Return X minus the centre, zero rows after it so that every block is full, and its squared row norms."""
    moved = memory.empty((len(X) + BLOCK, X.shape[1]), dtype)
    moved[len(X) :] = 0.0
    norms = np.zeros(len(X) + BLOCK, dtype=dtype)

    def task(number: int) -> None:
        recenter(X, center, moved, norms, number * BLOCK, min((number + 1) * BLOCK, len(X)))

    run_tasks(task, -(-len(X) // BLOCK))
    return moved, norms
