"""KᵀD(KV - 1sᵀ), strip by strip of whole rows, each kernel value computed once for both products.

The matrix of normal equations times V: a strip of some rows of K is evaluated, multiplied from the right, weighted,
multiplied from the left while it is still in cache, and forgotten. Strips are taken in order, so the result has the
same bits whoever computes it.
"""

from __future__ import annotations

import numpy as np

from kernreg.engine.threads import single_threaded_blas
from kernreg.engine.tiles.blocks import BlockFiller
from kernreg.engine.tiles.statistics import BLOCK

_STRIP = 1 << 20  # values of a strip, 8 MB
_FEWEST = 32  # rows of a strip


def normal_product(
    filler: BlockFiller,
    V: np.ndarray,
    shift: np.ndarray,
    weights: np.ndarray | None = None,
    normalizers: np.ndarray | None = None,
) -> np.ndarray:
    """Return KᵀD(KV - 1sᵀ), and below it the sums of the rows of D(KV - 1sᵀ).

    Parameters
    ----------
    filler : BlockFiller
        Of K, of shape (n, m).
    V : ndarray of shape (m, c)
    shift : ndarray of shape (c,)
        s.
    weights : ndarray of shape (n,), optional
        The diagonal of D, the identity by default.
    normalizers : ndarray of shape (n,), optional
        Of the rows of K.
    """
    n, m = filler.shape
    # Tiles of fewer rows are slower to evaluate by BLAS.
    height = BLOCK if filler.uses_blas else min(BLOCK, max(_FEWEST, _STRIP // max(1, m) // 8 * 8))
    # Long and thin operands are multiplied faster as rows than as columns.
    right, total, sums = np.ascontiguousarray(V.T), np.zeros((V.shape[1], m)), np.zeros(V.shape[1])
    strip = np.empty((height, m))
    with single_threaded_blas():
        for i0 in range(0, n, height):
            i1 = min(i0 + height, n)
            rows = strip[: i1 - i0]
            for j0 in range(0, m, BLOCK):
                j1 = min(j0 + BLOCK, m)
                rows[:, j0:j1] = filler.block(i0, i1, j0, j1, normalizers)[: i1 - i0, : j1 - j0]
            U = right @ rows.T
            U -= shift[:, None]
            if weights is not None:
                U *= weights[i0:i1]
            total += U @ rows
            sums += U.sum(axis=1)
    return np.vstack([total.T, sums])
