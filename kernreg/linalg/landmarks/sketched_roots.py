"""Square roots of a sketched system: coordinates in which the true system is about the identity, or ±1.

For a root P the system M w = t becomes (P⁻ᵀ M P⁻¹) v = P⁻ᵀ t with w = P⁻¹ v.

definite    M ≈ Ĝ + κI = RᵀR, P = R
indefinite  M ≈ Q diag(θ) Qᵀ, P = |diag(θ)|^½ Qᵀ
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from kernreg.linalg.exact.large_matrices import cholesky
from kernreg.linalg.landmarks.whitening import mirror_lower

#: Estimates of eigenvalues are not exact: nearer to singular than this, relative to 1/γ, is not believed.
_FLOOR = 1e-2
_EPS = float(np.finfo(np.float64).eps)


class SketchedGram:
    """Ĝ, known by its lower triangle; the upper one of the same memory is there for a Cholesky factor."""

    def __init__(self, lower: np.ndarray):
        self._lower, self._diagonal = lower, lower.diagonal().copy()

    def whole(self) -> np.ndarray:
        """Return Ĝ as a new matrix."""
        matrix = self._lower.copy(order="F")
        matrix[np.diag_indices_from(matrix)] = self._diagonal
        mirror_lower(matrix)
        return matrix

    def factor(self, kappa: float) -> np.ndarray:
        """Return R, upper triangular with RᵀR = Ĝ + κI, in the upper triangle; the one before is overwritten."""
        nugget = 0.0
        while True:
            self._lower[np.diag_indices_from(self._lower)] = self._diagonal + kappa + nugget
            mirror_lower(self._lower)
            if not len(self._lower):
                return self._lower
            factor, info = cholesky(self._lower, lower=False)
            if info == 0:
                return factor
            # κ drowns in the rounding errors of Ĝ: a little more does no harm to a preconditioner.
            nugget = max(10.0 * nugget, _EPS * float(self._diagonal.sum()))


class Root(Protocol):
    """P of a sketched system.

    Attributes
    ----------
    method : str
        What solves the true system, ``"cg"`` or ``"minres"``.
    distance_to_pole : float
        The smallest magnitude of an eigenvalue of the sketched system, relative to κ.
    """

    method: str
    distance_to_pole: float

    def apply(self, V: np.ndarray) -> np.ndarray:
        """Return P⁻¹V."""
        ...

    def adjoint(self, V: np.ndarray) -> np.ndarray:
        """Return P⁻ᵀV."""
        ...

    def inverse(self, w: np.ndarray) -> np.ndarray:
        """Return Pw."""
        ...


class CholeskyRoot:
    """P = R."""

    method, distance_to_pole = "cg", 1.0

    def __init__(self, gram: SketchedGram, kappa: float):
        self._factor = gram.factor(kappa)

    def apply(self, V: np.ndarray) -> np.ndarray:
        """Return R⁻¹V."""
        return blas.dtrsm(1.0, self._factor, V) if V.size else V

    def adjoint(self, V: np.ndarray) -> np.ndarray:
        """Return R⁻ᵀV."""
        return blas.dtrsm(1.0, self._factor, V, trans_a=1) if V.size else V

    def inverse(self, w: np.ndarray) -> np.ndarray:
        """Return Rw."""
        return blas.dtrmm(1.0, self._factor, w) if w.size else w


class SpectralRoot:
    """P = |diag(θ)|^½ Qᵀ of the eigenpairs of a symmetric matrix, which is overwritten."""

    method = "minres"

    def __init__(self, matrix: np.ndarray, kappa: float):
        empty = not len(matrix)
        values, self._vectors = (np.zeros(0), matrix) if empty else linalg.eigh(matrix, overwrite_a=True)
        self._root = np.sqrt(np.maximum(np.abs(values), _FLOOR * kappa))[:, None]
        self.distance_to_pole = float(np.abs(values).min(initial=np.inf)) / kappa

    def apply(self, V: np.ndarray) -> np.ndarray:
        """Return Q|θ|^(-½)V."""
        return self._vectors @ (V / self._root)

    def adjoint(self, V: np.ndarray) -> np.ndarray:
        """Return |θ|^(-½)QᵀV."""
        return (self._vectors.T @ V) / self._root

    def inverse(self, w: np.ndarray) -> np.ndarray:
        """Return |θ|^½Qᵀw."""
        return (self._vectors.T @ w) * self._root
