"""k(x, x) of every sample: the diagonal of K(X) without the rest of it."""

from __future__ import annotations

import numpy as np

from kernreg.engine.arrays import Samples, is_sparse, result_dtype
from kernreg.engine.compiler.compile import compilation_errors
from kernreg.engine.program import Program
from kernreg.engine.separable import squared_rows
from kernreg.engine.tiles.blocks import BlockFiller, function_dtype, function_values
from kernreg.engine.tiles.grid import STEP

_SIDE = 16  # of the blocks that functions of two rows and of blocks fill; sums of terms fill no narrower one than STEP


def diagonal(program: Program, X: Samples, normalizers: np.ndarray | None = None) -> np.ndarray:
    """Return k(x_i, x_i), divided by the normalisers of the rows where there are any."""
    dtype = result_dtype(X, X) if X.ndim == 2 else np.dtype(np.float64)
    with compilation_errors(program.name):
        if program.statistic in ("dot", "sqeuclidean", "l1"):
            precision = function_dtype(program, X, dtype)
            own = function_values(
                program.name, program.function, _own_statistic(program, X), program.parameters, precision
            )
        else:
            own = _from_blocks(program, X)
    if normalizers is not None:
        weights = own.astype(np.float64)
        own = np.exp(weights - normalizers) if program.log else weights / normalizers
    with np.errstate(over="ignore"):
        return own.astype(dtype, copy=False)


def _own_statistic(program: Program, X: Samples) -> np.ndarray:
    """Return |x|², or the distance of a sample from itself: zero, or infinite where identical samples do not count."""
    if program.statistic != "dot":
        return np.full(X.shape[0], 0.0 if program.self_term else np.inf)
    with np.errstate(over="ignore"):  # as all compiled code
        if is_sparse(X):
            return squared_rows(X.astype(np.float64))
        return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def _from_blocks(program: Program, X: Samples) -> np.ndarray:
    filler, n = BlockFiller(program, X, X), X.shape[0]
    values = np.empty(n, dtype=filler.weight_dtype)
    side = STEP if program.statistic == "term" else _SIDE
    for start in range(0, n, side):
        stop = min(start + side, n)
        values[start:stop] = filler.block(start, stop, start, stop).diagonal()[: stop - start]
    return values
