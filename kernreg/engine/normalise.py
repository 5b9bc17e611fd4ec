"""Row normalisation: each row of K divided by its sum over the reference set, safely in logarithms.

A *normaliser* is the logarithm of a row's sum (programs with ``log``) or the sum itself. Whoever has the normalisers
of the rows can compute any column of K later: that is what binding a kernel to its training set keeps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernreg.engine.blocks import BlockFiller
from kernreg.engine.compile import compiled
from kernreg.engine.statistics import BLOCK
from kernreg.engine.store import Store
from kernreg.engine.threads import ThreadBuffers, run_tasks, single_threaded_blas
from kernreg.jit import exp, log, wide

# Sums and maxima of whole rows may be taken in vector order: it depends on the length of the row alone.
REDUCTION = {"contract", "arcp", "reassoc", "nnan", "nsz"}


def make_normalize_rows() -> Callable[..., None]:
    """Driver: whole rows of (log-)weights become rows that sum to one; the normalisers are kept.

    ``self_column`` is the column of the first row's own sample, or negative; that entry is left out and set to zero.
    """

    def normalize_rows(K, i0, i1, is_log, self_column, normalizers, n0):
        wide()
        m = K.shape[1]
        for i in range(i0, i1):
            r = K[i]
            own = self_column + (i - i0) if self_column >= 0 else -1
            if is_log:
                if own >= 0:
                    r[own] = -np.inf
                top = r[0]
                for j in range(m):
                    top = max(top, r[j])
                for j in range(m):
                    r[j] = exp(r[j] - top)
            else:
                top = r[0] * 0
                if own >= 0:
                    r[own] = 0.0
            total = 0.0
            for j in range(m):
                total += r[j]
            inverse = 1.0 / total
            for j in range(m):
                r[j] = r[j] * inverse
            normalizers[n0 + i - i0] = float(top) + log(total) if is_log else total

    return normalize_rows


def make_apply_normalizers() -> Callable[..., None]:
    """Driver: a block of (log-)weights becomes values of K, with the normalisers of its rows given."""

    def apply_normalizers(B, rows, columns, i0, is_log, normalizers, self_column):
        wide()
        for i in range(rows):
            r, c = B[i], normalizers[i0 + i]
            if is_log:
                for j in range(columns):
                    r[j] = exp(r[j] - c)
            else:
                inverse = 1.0 / c
                for j in range(columns):
                    r[j] = r[j] * inverse
            own = self_column + i
            if self_column > -rows and 0 <= own < columns:
                r[own] = 0.0

    return apply_normalizers


NO_SELF = -(1 << 40)  # a self column no block ever reaches


def normalized_rows(filler: BlockFiller, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
    """Fill ``out`` (if given) with K, each row normalised over all of Z, and return the normalisers."""
    program, (n, m) = filler.program, filler.shape
    store = None if out is None else Store(out)
    buffers = ThreadBuffers()
    normalize = compiled(make_normalize_rows, "rows", fastmath=REDUCTION)
    normalizers = np.empty(n)
    strip = filler.rows_per_strip

    def task(number: int) -> None:
        i0, i1 = number * strip, min((number + 1) * strip, n)
        rows = buffers.get((strip, m), filler.dtype)
        filler.fill_rows(i0, i1, rows, 0)
        own = -1 if self_start is None or program.self_term else self_start + i0
        normalize(rows, 0, i1 - i0, program.log, own, normalizers, i0)
        if store is not None:
            store.put(rows, i1 - i0, m, i0, 0)

    with single_threaded_blas():
        run_tasks(task, -(-n // strip))
    return normalizers


def row_normalizers(filler: BlockFiller, self_start: int | None) -> np.ndarray:
    """Return the normalisers of all rows without keeping K."""
    return normalized_rows(filler, None, self_start)


def scaled_blocks(filler: BlockFiller, out: np.ndarray, normalizers: np.ndarray, self_start: int | None) -> None:
    """Fill ``out`` with K by given normalisers of the rows."""
    program, (n, m) = filler.program, filler.shape
    apply = compiled(make_apply_normalizers, "rows")

    def task(number: int) -> None:
        i0, i1 = number * BLOCK, min((number + 1) * BLOCK, n)
        filler.fill_rows(i0, i1, out, i0)
        own = NO_SELF if self_start is None or program.self_term else self_start + i0
        apply(out[i0:i1], i1 - i0, m, i0, program.log, normalizers, own)

    with single_threaded_blas():
        run_tasks(task, -(-n // BLOCK))
