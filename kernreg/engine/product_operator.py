"""What operators share whose products, with K and with Kᵀ, are one method."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator


class ProductOperator(LinearOperator):
    """A real matrix known by its products; subclasses define `_times`.

    Vectors are matrices of one column. Complex ones are multiplied in two parts, other numbers as the dtype of K.
    """

    def __init__(self, dtype: Any, shape: tuple[int, int]):
        # The stubs of scipy do not know the constructor that subclasses call.
        super().__init__(dtype=np.dtype(dtype), shape=shape)  # type: ignore[call-arg]

    def _times(self, columns: np.ndarray, adjoint: bool) -> np.ndarray:
        """Return K @ columns, or K.T @ columns if ``adjoint``, for a contiguous real matrix."""
        raise NotImplementedError

    def _product(self, V: Any, adjoint: bool) -> np.ndarray:
        V = np.ascontiguousarray(V)
        if V.dtype.kind not in "fc":
            V = V.astype(self.dtype)
        if V.dtype.kind == "c":
            return self._product(V.real, adjoint) + 1j * self._product(V.imag, adjoint)
        result = self._times(V.reshape(len(V), V.shape[1] if V.ndim > 1 else 1), adjoint)
        return result.reshape((result.shape[0], *V.shape[1:]))

    def _matvec(self, x: Any) -> np.ndarray:
        return self._product(x, adjoint=False)

    def _matmat(self, X: Any) -> np.ndarray:
        return self._product(X, adjoint=False)

    def _rmatvec(self, x: Any) -> np.ndarray:
        return self._product(x, adjoint=True)

    def _rmatmat(self, X: Any) -> np.ndarray:
        return self._product(X, adjoint=True)

    def _transpose(self) -> LinearOperator:
        # K is real: its transpose is its adjoint, for which products exist.
        return self.adjoint()
