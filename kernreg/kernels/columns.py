"""Kernel matrices whose second samples do not fit into memory either: row blocks, filled some columns at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernreg.config import memory_budget
from kernreg.engine.arrays import result_dtype
from kernreg.engine.budget import chunks
from kernreg.engine.memory import empty
from kernreg.engine.running.handles import is_streamed
from kernreg.engine.running.row_blocks import streamed_rows

_SHARE = 4  # the part of the memory budget up to which second samples are read once and held


def are_wide(Z: Any) -> bool:
    """Return whether samples are read from a source, and too many to be held beside blocks of kernel values."""
    return is_streamed(Z) and Z.nbytes > memory_budget() // _SHARE


def blocks_by_columns(kernel: Any, X: Any, Z: Any, block_rows: int | None) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (rows, block) over K(X, Z); Z is read once for every block.

    Parameters
    ----------
    kernel : RowKernel
        One whose values need no other columns.
    X, Z : samples or handles
    block_rows : int, optional
    """
    dtype = result_dtype(X, Z)
    for rows in streamed_rows(X.shape[0], max(X.shape[1], Z.shape[0]), block_rows):
        some, block = X[rows], empty((rows.stop - rows.start, Z.shape[0]), dtype)
        for columns in chunks(Z):
            block[:, columns] = kernel.row_block(some, Z[columns], rows, False)
        yield rows, block
