"""The engine of one machine, and what any engine is.

An engine has one method, `map_rows`: apply a function to every row block of K(X, Z) and combine the results. Gram
matrices, products, ΦᵀΦ, Nyström extensions and predictions are all instances of it, so a plugin that runs `map_rows`
on a cluster runs all of them there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from kernreg.engine.budget import rows_within
from kernreg.engine.tiles.statistics import BLOCK
from kernreg.errors import ParameterError

COMBINE = ("concatenate", "add")


class RowSource(Protocol):
    """What an engine needs of a kernel: rows start:stop of K(X, Z) as an array."""

    def rows(self, X: Any, Z: Any, start: int, stop: int) -> np.ndarray:
        """Return rows start:stop of K(X, Z); Z None stands for X."""
        ...


class LocalEngine:
    """Row blocks one after the other, each filled by all threads, within the memory budget."""

    def map_rows(
        self,
        kernel: RowSource,
        X: Any,
        Z: Any,
        function: Callable[[slice, np.ndarray], Any],
        combine: str = "concatenate",
        *,
        block_rows: int | None = None,
    ) -> Any:
        """Return the combined results of ``function(rows, block)`` over the row blocks of K(X, Z).

        Parameters
        ----------
        kernel : Kernel
        X, Z : samples
            ``Z=None`` stands for K(X, X).
        function : callable
            Gets the slice of rows and the block of K; must not keep the block.
        combine : {"concatenate", "add"}
            Results are joined along the first axis, or added up, in the order of the rows.
        block_rows : int, optional
            Rows per block; by default as many as fit in a quarter of the memory budget.
        """
        if combine not in COMBINE:
            raise ParameterError(f"combine={combine!r}; accepted are {', '.join(map(repr, COMBINE))}")
        if X.shape[0] == 0:  # the function says what no rows give
            return function(slice(0, 0), kernel.rows(X, Z, 0, 0))
        results = (function(rows, block) for rows, block in row_blocks(kernel, X, Z, block_rows))
        if combine == "concatenate":
            return np.concatenate(list(results), axis=0)
        total = None
        for result in results:
            total = np.array(result) if total is None else np.add(total, result, out=total)
        return total


def row_blocks(kernel: RowSource, X: Any, Z: Any, block_rows: int | None = None) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (rows, block) over K(X, Z), each block a new array within the memory budget."""
    n, m = X.shape[0], (X if Z is None else Z).shape[0]
    if block_rows is None:
        fitting = rows_within(m, 8)
        # Whole tiles of rows where they fit; no more rows than keep a block pleasant to work with.
        block_rows = min(fitting, max(BLOCK, (1 << 27) // max(1, 8 * m)))
        if block_rows > BLOCK:
            block_rows = block_rows // BLOCK * BLOCK
    elif not isinstance(block_rows, int | np.integer) or block_rows < 1:
        raise ParameterError(f"block_rows={block_rows!r}; a block has at least one row, and a whole number of them")
    for start in range(0, n, block_rows):
        stop = min(start + block_rows, n)
        yield slice(start, stop), kernel.rows(X, Z, start, stop)
