"""K @ V and Kᵀ @ V, block by block, without K.

Each task owns a strip of the result and runs through the other side in a fixed order, so there is nothing to
add up between threads and the result has the same bits for any number of them.
"""

from __future__ import annotations

import numpy as np

from kernreg.engine.budget import NEGLIGIBLE, recent_budget
from kernreg.engine.threads import run_tasks, single_threaded_blas
from kernreg.engine.tiles.blocks import BlockFiller

GROUPS = 16  # partial results of a symmetric product; more than threads, so that the work spreads evenly
PARTIAL_BYTES = 1 << 26  # the partial results take no more than this, else every block is computed,
_SHARE = 0.25  # and no more than this share of the memory budget, but for what any machine has


def mirrored_columns(n: int) -> int:
    """Return up to how many columns a product with a symmetric n × n matrix computes every block once, for two uses."""
    most = min(PARTIAL_BYTES, max(NEGLIGIBLE, int(_SHARE * recent_budget())))
    return most // (8 * GROUPS * max(1, n))


def product(
    filler: BlockFiller,
    V: np.ndarray,
    *,
    adjoint: bool = False,
    normalizers: np.ndarray | None = None,
) -> np.ndarray:
    """Return K @ V, or K.T @ V with ``adjoint``, for V of one or more columns."""
    (n, m), side = filler.shape, filler.side
    if filler.X is filler.Z and filler.program.symmetric and V.shape[1] <= mirrored_columns(n):
        return _symmetric_product(filler, V)
    owned, other = (m, n) if adjoint else (n, m)
    result = np.zeros((owned, V.shape[1]), dtype=np.result_type(filler.dtype, V.dtype))

    def task(number: int) -> None:
        a0, a1 = number * side, min((number + 1) * side, owned)
        total = result[a0:a1]
        for b0 in range(0, other, side):
            b1 = min(b0 + side, other)
            (i0, i1), (j0, j1) = ((b0, b1), (a0, a1)) if adjoint else ((a0, a1), (b0, b1))
            part = filler.block(i0, i1, j0, j1, normalizers)[: i1 - i0, : j1 - j0]
            total += (part.T if adjoint else part) @ V[b0:b1]

    with single_threaded_blas():
        run_tasks(task, -(-owned // side))
    return result


def _symmetric_product(filler: BlockFiller, V: np.ndarray) -> np.ndarray:
    """Return K @ V from the blocks on and below the diagonal: each serves twice.

    Block rows are dealt to a fixed number of groups with a partial result each, added up in order: the number of
    threads changes nothing.
    """
    n, side = filler.shape[0], filler.side
    dtype = np.result_type(filler.dtype, V.dtype)
    partial = np.zeros((GROUPS, n, V.shape[1]), dtype=dtype)
    starts = _dealt(n, side)

    def task(group: int) -> None:
        total = partial[group]
        for i0 in starts[group]:
            i1 = min(i0 + side, n)
            for j0 in range(0, i0 + 1, side):
                j1 = min(j0 + side, n)
                block = filler.block(i0, i1, j0, j1)[: i1 - i0, : j1 - j0]
                total[i0:i1] += block @ V[j0:j1]
                if j0 < i0:
                    total[j0:j1] += block.T @ V[i0:i1]

    with single_threaded_blas():
        run_tasks(task, GROUPS)
    return partial.sum(axis=0)


def _dealt(n: int, side: int) -> list[list[int]]:
    """Return where the block rows of each group start: dealt back and forth, so that all get long and short ones."""
    starts: list[list[int]] = [[] for _ in range(GROUPS)]
    for number, i0 in enumerate(range(0, n, side)):
        turn, place = divmod(number, GROUPS)
        starts[place if turn % 2 == 0 else GROUPS - 1 - place].append(i0)
    return starts


def both_products(filler: BlockFiller, V: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return K @ V and K.T @ U, every block computed once for both: what a part of a symmetric matrix gives."""
    (n, m), side = filler.shape, filler.side
    result = np.zeros((n, V.shape[1]), dtype=np.result_type(filler.dtype, V.dtype))
    partial = np.zeros((GROUPS, m, U.shape[1]), dtype=np.result_type(filler.dtype, U.dtype))
    starts = _dealt(n, side)

    def task(group: int) -> None:
        for i0 in starts[group]:
            i1 = min(i0 + side, n)
            for j0 in range(0, m, side):
                j1 = min(j0 + side, m)
                block = filler.block(i0, i1, j0, j1)[: i1 - i0, : j1 - j0]
                result[i0:i1] += block @ V[j0:j1]
                partial[group, j0:j1] += block.T @ U[i0:i1]

    with single_threaded_blas():
        run_tasks(task, GROUPS)
    return result, partial.sum(axis=0)
