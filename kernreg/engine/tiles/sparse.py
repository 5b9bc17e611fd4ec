"""The statistic of every pair of a block of CSR samples, without making either of them dense.

For any term function, and so for inner products, squared and l1 distances alike,

    Σ_d term(x_d, z_d) = d·t(0,0) + L(x) + R(z) + Σ over shared features of (t(x,z) - t(x,0) - t(0,z) + t(0,0))

with L(x) = Σ (t(x_d,0) - t(0,0)) and R(z) likewise: the work is the number of shared non-zeros. Pairs where the sum
cancels are recomputed by walking the two rows together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg.engine.arrays import Samples
from kernreg.engine.compiler.compile import compiled
from kernreg.engine.memory import empty
from kernreg.engine.tiles.accumulation import TERMS
from kernreg.engine.tiles.grid import BLOCK, STEP, padded
from kernreg.jit import wide

CANCELLED = 1.0 / 16.0  # a sum below this fraction of the sizes of its parts is computed again


def make_marginals(term: Callable[..., Any]) -> Callable[..., None]:
    """Driver: Σ over the stored entries of each row of t(v, 0) - t(0, 0), or of t(0, v) - t(0, 0)."""

    def marginals(pointers, values, left, out):
        for i in range(len(pointers) - 1):
            total = 0.0
            for p in range(pointers[i], pointers[i + 1]):
                v = np.float64(values[p])
                total += (term(v, 0.0) if left else term(0.0, v)) - term(0.0, 0.0)
            out[i] = total

    return marginals


def make_sparse_accumulator(term: Callable[..., Any]) -> Callable[..., None]:
    """Driver: the sum above for a block; ``c*`` is Z by columns, ``z*`` Z by rows."""

    def sparse_accumulate(
        xp, xi, xv, zp, zi, zv, cp, ci, cv, left, right, constant, check, i0, rows, j0, columns, width, S
    ):
        wide()
        zero = term(0.0, 0.0)
        for i in range(rows):
            s = S[i]
            base = constant + left[i0 + i]
            for j in range(columns):
                s[j] = base + right[j0 + j]
            for j in range(columns, width):
                s[j] = constant
            for p in range(xp[i0 + i], xp[i0 + i + 1]):
                feature, x = xi[p], np.float64(xv[p])
                alone = term(x, 0.0)
                low, high = cp[feature], cp[feature + 1]
                end = high
                while low < high and j0 > 0:  # the first stored row of this column that is in the block
                    middle = (low + high) // 2
                    if ci[middle] < j0:
                        low = middle + 1
                    else:
                        high = middle
                while low < end and ci[low] < j0 + columns:
                    z = np.float64(cv[low])
                    s[ci[low] - j0] += term(x, z) - alone - term(0.0, z) + zero
                    low += 1
            cancelled = 0
            if check:
                around = abs(constant) + abs(left[i0 + i])
                for j in range(columns):
                    cancelled += 0 if abs(s[j]) >= CANCELLED * (around + abs(right[j0 + j])) else 1
            if cancelled > 0:
                for j in range(columns):
                    size = abs(constant) + abs(left[i0 + i]) + abs(right[j0 + j])
                    if not abs(s[j]) >= CANCELLED * size:  # also where infinities met: NaN is not >= anything
                        total = 0.0
                        p, p_end, q, q_end = xp[i0 + i], xp[i0 + i + 1], zp[j0 + j], zp[j0 + j + 1]
                        while p < p_end and q < q_end:
                            if xi[p] == zi[q]:
                                total += term(np.float64(xv[p]), np.float64(zv[q])) - zero
                                p += 1
                                q += 1
                            elif xi[p] < zi[q]:
                                total += term(np.float64(xv[p]), 0.0) - zero
                                p += 1
                            else:
                                total += term(0.0, np.float64(zv[q])) - zero
                                q += 1
                        while p < p_end:
                            total += term(np.float64(xv[p]), 0.0) - zero
                            p += 1
                        while q < q_end:
                            total += term(0.0, np.float64(zv[q])) - zero
                            q += 1
                        s[j] = total + constant

    return sparse_accumulate


class SparseStatistic:
    """Blocks of a statistic between the rows of two CSR arrays."""

    gemm, fills_rows, dtype = False, True, np.dtype(np.float64)
    side, panel = BLOCK, (BLOCK, BLOCK)

    def __init__(self, statistic: str, term: Callable[..., Any] | None, X: Samples, Z: Samples, name: str):
        x, z = sp.csr_array(X), sp.csr_array(Z)
        self._columns = z.shape[0]
        columns = sp.csc_array(z)
        columns.sort_indices()
        chosen = TERMS[statistic] if term is None else term
        label = statistic if term is None else name
        marginals = compiled(make_marginals, label, chosen)
        left, right = np.empty(x.shape[0]), np.empty(z.shape[0])
        marginals(x.indptr, x.data, True, left)
        marginals(z.indptr, z.data, False, right)
        constant = x.shape[1] * float(chosen(0.0, 0.0))
        self._fixed = (
            *(x.indptr, x.indices, x.data),
            *(z.indptr, z.indices, z.data),
            *(columns.indptr, columns.indices, columns.data),
            *(left, right, constant, statistic != "dot"),
        )
        self._accumulate = compiled(make_sparse_accumulator, label, chosen)

    def scratch(self) -> tuple[np.ndarray, ...]:
        """Return the working memory one thread needs."""
        return (empty((BLOCK, BLOCK), np.float64),)

    def rows(self, scratch: tuple[np.ndarray, ...], i0: int, i1: int, strip: np.ndarray) -> int:
        """Fill a strip with the statistics of rows i0:i1 against all of Z and return the width that is filled."""
        width = padded(self._columns, STEP)
        self._accumulate(*self._fixed, i0, i1 - i0, 0, self._columns, width, strip)
        return width

    def block(self, scratch: tuple[np.ndarray, ...], i0: int, i1: int, j0: int, j1: int) -> tuple[np.ndarray, int]:
        """Return the statistics of rows i0:i1 against j0:j1 and the width up to which they are filled."""
        (S,) = scratch
        width = padded(j1 - j0, STEP)
        self._accumulate(*self._fixed, i0, i1 - i0, j0, j1 - j0, width, S)
        return S, width
