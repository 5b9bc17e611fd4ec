"""Matrices as products: arrays, sparse arrays and operators behind one face that counts what it multiplies."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from kernreg.errors import DataError

_SAFE = 1e-100, 1e100  # squares of numbers between these can be added up
_LOST = 1e-290  # a matrix of smaller numbers has entries with fewer digits than others


class NotFiniteError(DataError):
    """A matrix, or a product with it, contains NaN or infinity."""


def is_finite(values: np.ndarray) -> bool:
    """Return whether all values are finite: their sum tells, unless it overflows."""
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())


class Products:
    """A V and AᵀU for a matrix in any form, many columns at once.

    Vectors are float64; they are multiplied in the precision of the matrix, which a float32 matrix keeps.

    Parameters
    ----------
    A : ndarray, sparse array or LinearOperator
    symmetric : bool
        Whether A is symmetric.
    check : bool
        Whether its values are looked at; products are, in any case.

    Attributes
    ----------
    matrix : ndarray, sparse array or LinearOperator
    shape : tuple of int
    dtype : dtype
        float64 or float32.
    count : int
        Columns multiplied so far.
    passes : int
        Block products so far.
    factor : float
        A power of two that products are multiplied by, 1 but for matrices whose squares would leave the range of
        numbers.

    Examples
    --------
    >>> A = Products(np.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> A.product(np.eye(2)[:, :1]).ravel().tolist(), A.adjoint(np.eye(2)[:, :1]).ravel().tolist(), A.count
    ([0.0, 1.0], [0.0, 2.0], 2)
    """

    def __init__(self, A: Any, *, symmetric: bool = False, check: bool = True):
        sparse = bool(sp.issparse(A))
        if sparse:
            A = sp.csr_array(A)
        elif not isinstance(A, LinearOperator):
            A = np.asarray(A)
        if len(A.shape) != 2:
            raise DataError(f"the matrix has shape {A.shape}; a matrix has two dimensions")
        if np.dtype(A.dtype).kind not in "fiub":
            raise DataError(f"the matrix holds values of type {A.dtype}; real numbers are accepted")
        self.dtype = np.dtype(np.float32 if A.dtype == np.float32 else np.float64)
        if not isinstance(A, LinearOperator):
            A = A.astype(self.dtype, copy=False)
            if check and not is_finite(A.data if sparse else A):
                raise NotFiniteError("the matrix contains NaN or infinity")
        self.matrix: Any = A
        self.shape = (int(A.shape[0]), int(A.shape[1]))
        self._symmetric = symmetric
        self._transposed: Any = None
        self._seen = False
        self.factor = 1.0
        self.count = self.passes = 0

    @property
    def form(self) -> str:
        """How products are made: ``"array"``, ``"sparse"``, or what an operator says of itself, else ``"products"``."""
        if isinstance(self.matrix, LinearOperator):
            return str(getattr(self.matrix, "form", "products"))
        return "array" if self.held else "sparse"

    @property
    def held(self) -> bool:
        """Whether the matrix is a dense array."""
        return isinstance(self.matrix, np.ndarray)

    @property
    def eps(self) -> float:
        """Rounding error of one value."""
        return float(np.finfo(np.float32 if self.dtype == np.float32 else np.float64).eps)

    def noise(self) -> float:
        """Return the rounding error, times the factor, that products carry from what the matrix was made of."""
        return 0.0

    def product(self, V: np.ndarray) -> np.ndarray:
        """Return A V."""
        return self._multiply(V, adjoint=self._symmetric and self.held)

    def adjoint(self, U: np.ndarray) -> np.ndarray:
        """Return AᵀU."""
        return self._multiply(U, adjoint=not self._symmetric or self.held)

    def _multiply(self, V: np.ndarray, *, adjoint: bool) -> np.ndarray:
        self.count += V.shape[1]
        self.passes += 1
        V = V.astype(self.dtype, copy=False)
        A = self.matrix
        if isinstance(A, np.ndarray):
            # Thin blocks go through BLAS faster as rows from the left, Vᵀ A, than as columns from the right.
            W = (V.T @ A).T if adjoint else A @ V
        elif isinstance(A, LinearOperator):
            W = A.rmatmat(V) if adjoint else A.matmat(V)
        elif adjoint:
            if self._transposed is None:
                self._transposed = A.T.tocsr()
            W = self._transposed @ V
        else:
            W = A @ V
        W = np.asarray(W)
        if not is_finite(W):
            raise NotFiniteError("a product with the matrix contains NaN or infinity")
        return self._scaled(W.astype(np.float64, copy=False))

    def _scaled(self, W: np.ndarray) -> np.ndarray:
        if not self._seen:
            largest = float(np.abs(W).max(initial=0.0))
            self._seen = largest > 0.0
            if self._seen and not _SAFE[0] < largest < _SAFE[1]:
                if largest < _LOST:
                    raise DataError(
                        f"the values of the matrix are {largest:.2g} at most; numbers as small as that have lost their "
                        "digits. Check the scale of the features and the kernel's parameters"
                    )
                self.factor = float(2.0 ** -np.round(np.log2(largest)))
        return W if self.factor == 1.0 else np.multiply(W, self.factor, out=W)

    def dense(self, *, overwrite: bool = False) -> tuple[np.ndarray, bool]:
        """Return the matrix, times the factor, as a float64 array to work in, and whether it is the matrix itself."""
        if isinstance(self.matrix, LinearOperator):
            return np.array(self.product(np.eye(self.shape[1])), dtype=np.float64, order="C"), False
        A = self.matrix if self.held else self.matrix.toarray()
        itself = overwrite and self.held and A.dtype == np.float64 and A.flags.c_contiguous and A.flags.writeable
        D = A if itself else np.array(A, dtype=np.float64, order="C")
        return self._scaled(D), itself
