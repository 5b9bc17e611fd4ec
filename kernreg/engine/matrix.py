"""K as an array: blocks on a fixed grid, half of them where the kernel is declared symmetric."""

from __future__ import annotations

import numpy as np

from kernreg.engine import memory
from kernreg.engine.arrays import Samples, check_out
from kernreg.engine.budget import check_fits
from kernreg.engine.compiler.compile import compilation_errors
from kernreg.engine.program import Program
from kernreg.engine.threads import run_tasks, single_threaded_blas
from kernreg.engine.tiles.blocks import BlockFiller
from kernreg.engine.tiles.row_normalisation import normalized_rows
from kernreg.engine.tiles.store import Store, streams


def matrix(
    program: Program,
    X: Samples,
    Z: Samples | None = None,
    out: np.ndarray | None = None,
    normalizers: np.ndarray | None = None,
) -> np.ndarray:
    """Return K(X, Z), or K(X, X) when Z is None.

    Parameters
    ----------
    program, X, Z
        What to evaluate; the arrays come from `kernreg.engine.arrays.as_samples`.
    out : ndarray, optional
        Written and returned instead of a new array; its dtype and shape must fit exactly.
    normalizers : ndarray, optional
        Normalisers of the rows of X (row-normalised programs); computed over Z when absent.
    """
    square = Z is None
    if square:
        Z = X
    filler = BlockFiller(program, X, Z)
    if out is None:
        check_fits(filler.shape, filler.dtype, program.name)
        out = memory.empty(filler.shape, filler.dtype)
    else:
        check_out(out, filler.shape, filler.dtype)
        if not out.flags.c_contiguous:
            out[...] = matrix(program, X, None if square else Z, None, normalizers)
            return out
    if out.size == 0:
        return out
    with compilation_errors(program.name):
        if program.normalize and normalizers is None:
            normalized_rows(filler, out)
        elif program.normalize:
            _all_blocks(filler, out, normalizers)
        elif square and program.symmetric:
            _lower_and_mirror(filler, out)
        elif filler.sparse:
            _all_strips(filler, out)
        else:
            _all_blocks(filler, out)
    return out


def _all_blocks(filler: BlockFiller, out: np.ndarray, normalizers: np.ndarray | None = None) -> None:
    (n, m), (high, long) = filler.shape, filler.panel
    across = -(-m // long)
    store = Store(out)
    in_place = _filled_in_place(filler, out) and normalizers is None

    def task(number: int) -> None:
        i0, j0 = number // across * high, number % across * long
        i1, j1 = min(i0 + high, n), min(j0 + long, m)
        if in_place:
            filler.fill(i0, i1, j0, j1, out[i0:i1, j0:j1])
            return
        store.put(filler.block(i0, i1, j0, j1, normalizers), i1 - i0, j1 - j0, i0, j0)

    with single_threaded_blas(filler.uses_blas):
        run_tasks(task, -(-n // high) * across)


def _filled_in_place(filler: BlockFiller, out: np.ndarray) -> bool:
    """Return whether blocks are computed where they stay: those of a result that is written past the cache are not."""
    return filler.program.fills and not streams(out)


def _all_strips(filler: BlockFiller, out: np.ndarray) -> None:
    """Whole rows at once: a sparse row is then walked once, not once per block of columns."""
    (n, m), rows = filler.shape, filler.strip_shape[0]
    store = Store(out)

    def task(number: int) -> None:
        i0, i1 = number * rows, min((number + 1) * rows, n)
        store.put(filler.strip(i0, i1), i1 - i0, m, i0, 0)

    run_tasks(task, -(-n // rows))


def _lower_and_mirror(filler: BlockFiller, out: np.ndarray) -> None:
    n, side = filler.shape[0], filler.side
    starts = range(0, n, side)
    blocks = [(i0, j0) for i0 in starts for j0 in starts if j0 <= i0]
    store, in_place = Store(out), _filled_in_place(filler, out)

    def task(number: int) -> None:
        i0, j0 = blocks[number]
        i1, j1 = min(i0 + side, n), min(j0 + side, n)
        if in_place:
            filler.fill(i0, i1, j0, j1, out[i0:i1, j0:j1], lower=i0 == j0)
            store.mirror(i1 - i0, j1 - j0, i0, j0)
            return
        store.put_with_mirror(filler.seen_block(i0, i1, j0, j1), i1 - i0, j1 - j0, i0, j0)

    with single_threaded_blas(filler.uses_blas):
        run_tasks(task, len(blocks))
