"""Row normalisation: each row of K divided by its sum over the reference set, safely in logarithms.

A *normaliser* is the logarithm of a row's sum (programs with ``log``) or the sum itself. Whoever has the normalisers
of the rows can compute any column of K later: that is what binding a kernel to its training set keeps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernreg.engine.compiler.compile import compiled
from kernreg.engine.threads import ThreadBuffers, run_tasks, single_threaded_blas
from kernreg.engine.tiles.blocks import BlockFiller
from kernreg.engine.tiles.store import copy_row, streams
from kernreg.jit import exp, log, wide

# Sums and maxima of whole rows may be taken in vector order: it depends on the length of the row alone.
LANES = 64
REDUCTION = {"contract", "arcp", "reassoc", "nnan", "nsz"}


def make_normalize_rows(copy: Callable[..., None]) -> Callable[..., None]:
    """Driver: whole rows of (log-)weights W become rows of K that sum to one; the normalisers are kept.

    With ``keep`` false only the normalisers are wanted.
    """

    def normalize_rows(W, rows, m, is_log, normalizers, K, i0, keep, stream, lanes, chunk):
        wide()
        for i in range(rows):
            w = W[i]
            top = w[0] * 0
            total = 0.0
            if is_log:
                # Lane by lane, because a maximum kept in one variable is not vectorised.
                for lane in range(LANES):
                    lanes[lane] = -np.inf
                for j in range(0, m - LANES + 1, LANES):
                    for lane in range(LANES):
                        lanes[lane] = w[j + lane] if w[j + lane] > lanes[lane] else lanes[lane]
                for j in range(m // LANES * LANES, m):
                    lanes[0] = w[j] if w[j] > lanes[0] else lanes[0]
                top = lanes[0]
                for lane in range(LANES):
                    top = lanes[lane] if lanes[lane] > top else top
                if top == -np.inf:  # nothing to sum: a lone sample without its self term
                    lanes[0] = 0.0
                    top = lanes[0]
                for j in range(m):
                    w[j] = exp(w[j] - top)
                    total += w[j]
            else:
                for j in range(m):
                    total += w[j]
            # A row without any weight is a row of zeros, whatever it is compared with.
            normalizers[i0 + i] = np.inf if total == 0.0 else np.float64(top) + log(total) if is_log else total
            if keep:
                inverse = 1.0 / total if total != 0.0 else 0.0
                for j0 in range(0, m, len(chunk)):
                    count = min(len(chunk), m - j0)
                    for j in range(count):
                        chunk[j] = w[j0 + j] * inverse
                    copy(K[i0 + i], j0, chunk, count, stream)

    return normalize_rows


def normalized_rows(filler: BlockFiller, out: np.ndarray | None) -> np.ndarray:
    """Fill ``out`` (if given) with K, each row normalised over all of Z, and return the normalisers."""
    program, (n, m) = filler.program, filler.shape
    normalize = compiled(make_normalize_rows, "rows", copy_row, fastmath=REDUCTION)
    normalizers = np.full(n, np.inf)
    if m == 0:
        return normalizers
    chunks, tops = ThreadBuffers(), ThreadBuffers()
    strip = filler.strip_shape[0]
    target = np.empty((1, 1), dtype=filler.dtype) if out is None else out

    def task(number: int) -> None:
        i0, i1 = number * strip, min((number + 1) * strip, n)
        rows = filler.strip(i0, i1)
        buffers = tops.get((LANES,), filler.weight_dtype), chunks.get((1024,), filler.dtype)
        normalize(rows, i1 - i0, m, program.log, normalizers, target, i0, out is not None, streams(target), *buffers)

    with single_threaded_blas(filler.uses_blas):
        run_tasks(task, -(-n // strip))
    return normalizers


def row_normalizers(filler: BlockFiller) -> np.ndarray:
    """Return the normalisers of all rows without keeping K."""
    return normalized_rows(filler, None)
