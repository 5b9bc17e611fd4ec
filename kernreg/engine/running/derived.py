"""Matrices, blocks and operators by `map_rows`, for engines that have no faster way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kernreg.engine.arrays import check_out, result_dtype
from kernreg.engine.budget import check_fits
from kernreg.engine.product_operator import ProductOperator
from kernreg.engine.products import mirrored_columns
from kernreg.engine.running.half_rows import HalfRows
from kernreg.engine.running.handles import ByRow
from kernreg.engine.running.row_blocks import streamed_rows

if TYPE_CHECKING:
    from kernreg.engine.contract import Engine
    from kernreg.engine.running.chunk import RowKernel


def on_operator(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function of row blocks that only multiplies: it gets products with the block, which is never held.

    Examples
    --------
    >>> import kernreg as kr
    >>> @on_operator
    ... def row_sums(rows, block):
    ...     return block @ [1.0, 1.0]
    >>> kr.make_kernel("linear").map_rows([[1.0], [2.0]], [[3.0], [4.0]], row_sums).tolist()
    [7.0, 14.0]
    """
    function.on_operator = True  # type: ignore[attr-defined]  # functions have attributes, their type does not say so
    return function


@on_operator
def times(rows: slice, block: LinearOperator, V: np.ndarray) -> np.ndarray:
    """Return the block times V."""
    return block @ V


@on_operator
def transposed_times(rows: slice, block: LinearOperator, V: np.ndarray) -> np.ndarray:
    """Return the transposed block times its rows of V."""
    return block.T @ V


def itself(rows: slice, block: np.ndarray) -> np.ndarray:
    """Return the block."""
    return block


def matrix(engine: Engine, kernel: Any, X: Any, Z: Any, out: np.ndarray | None) -> np.ndarray:
    """Return K(X, Z)."""
    other = X if Z is None else Z
    shape, dtype = (X.shape[0], other.shape[0]), result_dtype(X, other)
    if out is None:
        check_fits(shape, dtype, getattr(kernel, "name", type(kernel).__name__))
    else:
        check_out(out, shape, dtype)
    K = engine.map_rows(kernel, X, Z, itself)
    if out is None:
        return K
    out[...] = K
    return out


@dataclass(frozen=True)
class Window:
    """Some rows of a kernel matrix as a kernel matrix of their own, which starts at row ``start`` of the whole."""

    kernel: RowKernel
    start: int
    square: bool

    def row_block(self, X: Any, Z: Any, rows: slice, square: bool) -> np.ndarray:
        """Return these rows of the window."""
        return self.kernel.row_block(X, Z, self._shifted(rows), self.square)

    def row_operator(self, X: Any, Z: Any, rows: slice, square: bool) -> LinearOperator:
        """Return products with these rows of the window."""
        return self.kernel.row_operator(X, Z, self._shifted(rows), self.square)

    def _shifted(self, rows: slice) -> slice:
        return slice(self.start + rows.start, self.start + rows.stop)


def blocks(engine: Engine, kernel: Any, X: Any, Z: Any, block_rows: int | None) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (rows, block) over K(X, Z), each evaluated by the engine and brought here."""
    other = engine.place(X if Z is None else Z)
    for rows in streamed_rows(X.shape[0], other.shape[0], block_rows):
        yield rows, engine.map_rows(Window(kernel, rows.start, Z is None), X[rows], other, itself)


class EngineOperator(ProductOperator):
    """Products with K(X, Z) by an engine: samples are placed once, right-hand sides travel with each product.

    Of a symmetric kernel every value of K(X) is evaluated once, where right-hand sides have few columns.

    Attributes
    ----------
    form : str
        ``"blocks"``: kernel blocks are evaluated for every product.
    """

    form = "blocks"

    def __init__(self, engine: Engine, kernel: RowKernel, X: Any, Z: Any):
        self._engine, self._kernel = engine, kernel
        self._X = engine.place(X)
        self._Z = None if Z is None else engine.place(Z)
        other = self._X if self._Z is None else self._Z
        self._half = HalfRows.of(kernel, self._X.chunks) if Z is None else None
        super().__init__(result_dtype(self._X, other), (len(self._X), len(other)))

    def _times(self, columns: np.ndarray, adjoint: bool) -> np.ndarray:
        K = self._kernel, self._X, self._Z
        if self._half is not None and columns.shape[1] <= mirrored_columns(self.shape[0]):
            found = self._engine.map_rows(self._half, self._X, None, times, "add", args=(columns,))
        elif adjoint and self._half is None:
            found = self._engine.map_rows(*K, transposed_times, "add", args=(ByRow(columns),))
        else:
            found = self._engine.map_rows(*K, times, args=(columns,))
        return np.asarray(found)
