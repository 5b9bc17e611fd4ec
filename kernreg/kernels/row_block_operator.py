"""Products with kernel matrices that the engine does not multiply by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kernreg.engine import ByRow, RowKernel
from kernreg.engine.arrays import result_dtype
from kernreg.engine.dispatch import LOCAL


class RealOperator(LinearOperator):
    """What they share: K is real, and a vector is a matrix of one column.

    Attributes
    ----------
    form : str
        How products are computed: ``"blocks"`` evaluates the kernel for every product, ``"separable"`` and ``"held"``
        cost what sparse data store.
    """

    form = "blocks"

    def __init__(self, dtype: Any, shape: tuple[int, int]):
        # The stubs of scipy do not know the constructor that subclasses call.
        super().__init__(dtype=np.dtype(dtype), shape=shape)  # type: ignore[call-arg]

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _rmatmat(self, V: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        return self._matmat(x.reshape(-1, 1)).reshape(-1)

    def _rmatvec(self, x: np.ndarray) -> np.ndarray:
        return self._rmatmat(x.reshape(-1, 1)).reshape(-1)

    def _transpose(self) -> LinearOperator:
        return self.adjoint()


class RowBlockOperator(RealOperator):
    """Products with K(X, Z), for kernels that can give row blocks and nothing better; Z None stands for X."""

    def __init__(self, kernel: RowKernel, X: Any, Z: Any):
        self._kernel, self._X, self._Z = kernel, X, Z
        other = X if Z is None else Z
        super().__init__(result_dtype(X, other), (X.shape[0], other.shape[0]))

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        return LOCAL.map_rows(self._kernel, self._X, self._Z, _times, args=(V,))

    def _rmatmat(self, V: np.ndarray) -> np.ndarray:
        return LOCAL.map_rows(self._kernel, self._X, self._Z, _transposed_times, "add", args=(ByRow(V),))


def _times(rows: slice, block: np.ndarray, V: np.ndarray) -> np.ndarray:
    return block @ V


def _transposed_times(rows: slice, block: np.ndarray, V: np.ndarray) -> np.ndarray:
    return block.T @ V


class HeldOperator(RealOperator):
    """Products with a sparse matrix, in time proportional to what it stores."""

    form = "held"

    def __init__(self, table: Any):
        self._table = table
        super().__init__(np.float64, table.shape)

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        return self._table @ V

    def _rmatmat(self, V: np.ndarray) -> np.ndarray:
        return self._table.T @ V


class CenteredOperator(RealOperator):
    """Products with a centred kernel matrix: those with the matrix itself, and two means."""

    def __init__(self, inner: LinearOperator, rows: np.ndarray, columns: np.ndarray, mean: float):
        self._inner, self._rows, self._columns, self._mean = inner, rows[:, None], columns[:, None], mean
        self.form = getattr(inner, "form", "blocks")
        super().__init__(inner.dtype, inner.shape)

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        total = V.sum(axis=0)
        return self._inner.matmat(V) - self._rows * total - (self._columns.T @ V - self._mean * total)

    def _rmatmat(self, V: np.ndarray) -> np.ndarray:
        total = V.sum(axis=0)
        return self._inner.rmatmat(V) - self._columns * total - (self._rows.T @ V - self._mean * total)
