"""What engines run of row-normalised kernels: matrices whose normalisers are known, and the normalisers themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from kernreg.engine import whole
from kernreg.engine.dispatch import configured_engine, placed_once
from kernreg.engine.matrix import matrix
from kernreg.engine.operator import KernelOperator
from kernreg.engine.reference_sums import normalizers_over
from kernreg.engine.running.handles import is_streamed
from kernreg.kernels.base import both_placed, only_column

if TYPE_CHECKING:
    from kernreg.kernels.function import FunctionKernel


@dataclass(frozen=True)
class _Normalized:
    """A row-normalised kernel and normalisers that are known.

    Attributes
    ----------
    kernel : FunctionKernel
    normalizers : ndarray
        Of all rows of the matrix, or of all columns of its transpose.
    """

    kernel: FunctionKernel
    normalizers: np.ndarray

    @property
    def name(self) -> str:
        """That of the kernel."""
        return self.kernel.name


class NormalizedRows(_Normalized):
    """The matrix, where the normalisers of all its rows are known."""

    def row_block(self, X: Any, Z: Any, rows: slice, square: bool) -> np.ndarray:
        """Return rows of the matrix."""
        return matrix(self.kernel.program, X, Z, None, self.normalizers[rows])

    def row_operator(self, X: Any, Z: Any, rows: slice, square: bool) -> LinearOperator:
        """Return products with rows of the matrix."""
        return KernelOperator(self.kernel.program, X, Z, self.normalizers[rows])


class NormalizedColumns(_Normalized):
    """The transposed matrix: the normalisers are those of its columns."""

    def row_block(self, X: Any, Z: Any, rows: slice, square: bool) -> np.ndarray:
        """Return rows of the transposed matrix."""
        return np.ascontiguousarray(matrix(self.kernel.program, Z, X, None, self.normalizers).T)

    def row_operator(self, X: Any, Z: Any, rows: slice, square: bool) -> LinearOperator:
        """Return products with rows of the transposed matrix."""
        return KernelOperator(self.kernel.program, Z, X, self.normalizers).T


@dataclass(frozen=True)
class RowSums:
    """The normalisers of rows as a matrix of one column, for engines to evaluate."""

    kernel: FunctionKernel

    def row_block(self, X: Any, Z: Any, rows: slice, square: bool) -> np.ndarray:
        """Return the normalisers of some rows over Z."""
        return normalizers_over(self.kernel.program, X, Z)[:, None]

    def row_operator(self, X: Any, Z: Any, rows: slice, square: bool) -> LinearOperator:
        """Return products with this one column."""
        return aslinearoperator(self.row_block(X, Z, rows, square))


def row_sums(kernel: FunctionKernel, X: Any, Z: Any) -> np.ndarray:
    """Return the normalisers of the rows of X over Z, by the configured engine."""
    engine = configured_engine()
    if engine is None:
        X, Z = (side if is_streamed(side) else whole(side) for side in (X, Z))
        return normalizers_over(kernel.program, X, Z)
    with placed_once():
        return engine.map_rows(RowSums(kernel), *both_placed(engine, X, None if X is Z else Z), only_column)
