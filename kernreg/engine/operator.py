"""K as a scipy LinearOperator that never holds K."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.engine.arrays import Samples, check_pair
from kernreg.engine.compiler.compile import compilation_errors
from kernreg.engine.normal_products import normal_product
from kernreg.engine.product_operator import ProductOperator
from kernreg.engine.products import both_products, product
from kernreg.engine.program import Program
from kernreg.engine.separable import separable
from kernreg.engine.tiles.blocks import BlockFiller
from kernreg.engine.tiles.row_normalisation import row_normalizers


class KernelOperator(ProductOperator):
    """Products with K(X, Z) and its transpose.

    Attributes
    ----------
    form : str
        ``"separable"`` where sparse data allow products in O(nnz(XZᵀ)), ``"blocks"`` where kernel blocks are evaluated
        for every product.
    """

    def __init__(
        self,
        program: Program,
        X: Samples,
        Z: Samples | None = None,
        normalizers: np.ndarray | None = None,
    ):
        if Z is None:
            Z = X
        if not program.two_spaces:
            check_pair(X, Z)
        self._normalizers = normalizers
        self._name = program.name
        with compilation_errors(program.name):
            self._separable = separable(program, X, Z, normalizers)
        self.form = "blocks" if self._separable is None else "separable"
        self._filler: BlockFiller | None = None
        dtype = np.dtype(np.float64)
        if self._separable is None:
            self._filler = BlockFiller(program, X, Z)
            dtype = self._filler.dtype
        super().__init__(dtype, (X.shape[0], Z.shape[0]))

    def _times(self, columns: np.ndarray, adjoint: bool) -> np.ndarray:
        if self._separable is not None:
            return self._separable.product(columns, adjoint=adjoint)
        assert self._filler is not None
        with compilation_errors(self._name):
            if self._filler.program.normalize and self._normalizers is None:  # not before they are needed
                self._normalizers = row_normalizers(self._filler)
            return product(self._filler, columns, adjoint=adjoint, normalizers=self._normalizers)

    def both(self, V: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return K @ V and K.T @ U at the price of one, for matrices V and U; rows are not normalised."""
        if self._filler is None:
            return self._product(V, adjoint=False), self._product(U, adjoint=True)
        with compilation_errors(self._name):
            return both_products(self._filler, np.ascontiguousarray(V), np.ascontiguousarray(U))

    def normal_product(self, V: np.ndarray, shift: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """Return KᵀD(KV - 1sᵀ), and below it the sums of the rows of D(KV - 1sᵀ), at the price of one product.

        D are the weights of rows, s is the shift of each column.
        """
        if self._filler is None:
            return normal_product_of(self, V, shift, weights)
        with compilation_errors(self._name):
            if self._filler.program.normalize and self._normalizers is None:
                self._normalizers = row_normalizers(self._filler)
            return normal_product(self._filler, V, shift, weights, self._normalizers)


def normal_product_of(K: Any, V: np.ndarray, shift: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return what `KernelOperator.normal_product` does by two products, with an operator or a matrix of any kind."""
    U = K @ V - shift
    if weights is not None:
        U *= weights[:, None]
    return np.vstack([K.T @ U, U.sum(axis=0)])
