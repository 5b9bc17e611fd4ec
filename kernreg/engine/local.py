"""The engine of one machine: threads take row blocks, and kernels keep their fused ways to matrices and products.

It is also the measure of all others: `kernreg.testing.check_engine` compares them with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kernreg.engine.arrays import check_out, result_dtype
from kernreg.engine.budget import check_fits
from kernreg.engine.contract import Engine
from kernreg.engine.memory import empty
from kernreg.engine.running.chunk import RowTask, run_chunk
from kernreg.engine.running.derived import EngineOperator
from kernreg.engine.running.handles import Handle, HeldSamples, cut, is_streamed, own_handle, whole
from kernreg.engine.running.row_blocks import borders, streamed_rows
from kernreg.engine.running.tree import combined
from kernreg.engine.sources.base import is_row_source
from kernreg.engine.sources.views import as_row_source


class LocalEngine(Engine):
    """Threads of this process, within the memory budget.

    Examples
    --------
    >>> import kernreg as kr
    >>> from kernreg.engine import LocalEngine
    >>> with kr.config_context(engine=LocalEngine()):
    ...     kr.make_kernel("linear")([[1.0, 2.0]]).tolist()
    [[5.0]]
    """

    def place(self, samples: Any, check: Callable[[Any], Any] | None = None) -> Handle:
        """Return a handle of the samples where they are; nothing is copied."""
        if isinstance(samples, Handle):
            return own_handle(samples, HeldSamples, "local")
        if is_row_source(samples):
            return HeldSamples(as_row_source(samples), check)
        return HeldSamples(samples, check, getattr(samples, "row_chunks", None))

    def map_rows(
        self, kernel: Any, X: Any, Z: Any, function: Callable[..., Any], combine: str = "concatenate", *, args: Any = ()
    ) -> Any:
        """Return the combined results of ``function(rows, block, *args)`` over the row blocks of K(X, Z).

        Parameters
        ----------
        kernel : RowKernel
            A kernel with its reference set, `Kernel.anchored`.
        X, Z : samples or handles
            ``Z=None`` stands for K(X, X).
        function : callable
            Gets the slice of rows, the block of K and `args`; must not keep the block. Called by several threads.
        combine : {"concatenate", "add"}
            Results are joined along the first axis, or added up in a fixed tree.
        args : tuple
            For the function. Arguments in `ByRow` are cut to the rows of the block.
        """
        X, Z = self.place(X), None if Z is None else self.place(Z)
        other = whole(X if Z is None else Z)
        read = max(0, X.shape[1]) if is_streamed(X) else 0
        task = RowTask.of(kernel, function, combine, X.shape[0], other.shape[0], Z is None, read)
        args = tuple(whole(arg) for arg in args)
        if len(X.chunks) == 1:  # its rows are read block by block
            return run_chunk(task, X, other, args, 0)
        results = (
            run_chunk(task, X[start:stop], other, cut(args, slice(start, stop)), start)
            for start, stop in borders(X.chunks)
        )
        return combined(results, combine)

    def matrix(self, kernel: Any, X: Any, Z: Any = None, out: np.ndarray | None = None) -> np.ndarray:
        """Return K(X, Z) by tiles; of symmetric kernels one half of K(X) is computed."""
        if is_streamed(X) or is_streamed(Z):
            return self._streamed_matrix(kernel, X, Z, out)
        X, other = whole(X), whole(X if Z is None else Z)
        K = kernel.row_block(X, other, slice(0, X.shape[0]), Z is None)
        if out is None:
            return K
        check_out(out, K.shape, K.dtype)
        out[...] = K
        return out

    def _streamed_matrix(self, kernel: Any, X: Any, Z: Any, out: np.ndarray | None) -> np.ndarray:
        other = X if Z is None else Z
        shape, dtype = (X.shape[0], other.shape[0]), result_dtype(X, other)
        if out is None:
            check_fits(shape, dtype, getattr(kernel, "name", type(kernel).__name__))
            out = empty(shape, dtype)
        check_out(out, shape, dtype)
        for rows, block in self.blocks(kernel, X, Z, None):
            out[rows] = block
        return out

    def blocks(self, kernel: Any, X: Any, Z: Any, block_rows: int | None) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (rows, block) over K(X, Z), each a new array within the memory budget."""
        other = whole(X if Z is None else Z, "each row is evaluated against all of the second samples")
        # Of a source the rows themselves are held, too.
        width = max(other.shape[0], X.shape[1]) if is_streamed(X) else other.shape[0]
        for rows in streamed_rows(X.shape[0], width, block_rows):
            yield rows, kernel.row_block(X[rows], other, rows, Z is None)

    def operator(self, kernel: Any, X: Any, Z: Any = None) -> LinearOperator:
        """Return products with K(X, Z), whose blocks are multiplied while they are in cache."""
        if is_streamed(X) or is_streamed(Z):
            return EngineOperator(self, kernel, X, Z)
        X, other = whole(X), whole(X if Z is None else Z)
        return kernel.row_operator(X, other, slice(0, X.shape[0]), Z is None)

    def predict(self, kernel: Any, X: Any, Z: Any, coefficients: np.ndarray) -> Any:
        """Return K(X, Z) @ coefficients."""
        return self.operator(kernel, X, Z) @ coefficients

    def describe(self) -> dict[str, object]:
        """Return how it works."""
        return {"threading": "Python threads over nogil Numba code"}
