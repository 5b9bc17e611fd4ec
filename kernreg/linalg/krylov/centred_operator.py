"""The centred kernel matrix as products only: K̃ V = P S K S P V, K never held.

The matrix-free counterpart of `CentredKernel`; the same weights, the same border, the same systems.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kernreg.errors import DataError
from kernreg.linalg.exact.centring import Centring, weighted_border


class CentredOperator(Centring):
    """Products with K̃ and K̃ᵀ, centring applied on the way.

    Parameters
    ----------
    operator : LinearOperator of shape (m, m)
        K, for example ``kernel.operator(X)``.
    weights : ndarray of shape (m,), optional
        Positive sample weights.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse.linalg import aslinearoperator
    >>> centred = CentredOperator(aslinearoperator(np.array([[2.0, 0.0], [0.0, 4.0]])))
    >>> centred.product(np.eye(2))
    array([[ 1.5, -1.5],
           [-1.5,  1.5]])
    """

    def __init__(self, operator: LinearOperator, weights: np.ndarray | None = None):
        if operator.shape[0] != operator.shape[1]:
            raise DataError(
                f"the kernel matrix has shape {operator.shape}; training needs a square one, samples by samples"
            )
        self.operator, self.size = operator, operator.shape[0]
        self.root, self.border, self.norm = weighted_border(self.size, weights)

    @property
    def form(self) -> str:
        """How products are made: ``"separable"`` in O(nnz) for sparse data, else ``"blocks"``."""
        return str(getattr(self.operator, "form", "blocks"))

    def targets(self, Y: np.ndarray) -> np.ndarray:
        """Return P S Y, the right-hand sides; columns that are constant but for rounding errors become zero."""
        scaled = self.scale(Y)
        T = self.project(scaled)
        T[:, np.linalg.norm(T, axis=0) <= 1e-14 * np.sqrt(self.size) * np.abs(scaled).max(axis=0, initial=0.0)] = 0.0
        return T

    def product(self, V: np.ndarray) -> np.ndarray:
        """Return K̃ V for V orthogonal to the border or not."""
        return self.project(self.scale(self.raw(self.scale(self.project(V)))))

    def adjoint(self, V: np.ndarray) -> np.ndarray:
        """Return K̃ᵀ V."""
        return self.project(self.scale(self.raw(self.scale(self.project(V)), adjoint=True)))

    def raw(self, V: np.ndarray, *, adjoint: bool = False) -> np.ndarray:
        """Return K V or Kᵀ V, in float64."""
        W = self.operator.rmatmat(V) if adjoint else self.operator.matmat(V)
        return np.asarray(W, dtype=np.float64)
