"""Coordinates in which the penalty of a problem on landmarks is the plain one: |α|² in place of αᵀWα.

W = K[landmarks, landmarks] may be singular but for rounding, and C̃ᵀC̃ + κW is then far worse conditioned than the
problem itself. With α = Tw and TᵀWT = diag(±1) it becomes TᵀC̃ᵀC̃T + κ diag(±1), the system on Nyström features.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from kernreg.linalg.exact.large_matrices import cholesky
from kernreg.linalg.landmarks.features import CUT

#: What is added to the diagonal of W for its Cholesky factor, relative to its norm; then ten times as much, and so on.
_NUGGET, _LARGEST_NUGGET = 1e-14, 1e-6


class Whitening(Protocol):
    """w ↦ Tw and what goes with it."""

    signs: np.ndarray

    @property
    def rank(self) -> int:
        """The number of columns of T."""
        ...

    def coefficients(self, w: np.ndarray) -> np.ndarray:
        """Return Tw."""
        ...

    def adjoint(self, z: np.ndarray) -> np.ndarray:
        """Return Tᵀz."""
        ...

    def inverse(self, coefficients: np.ndarray) -> np.ndarray:
        """Return w of the coefficients Tw."""
        ...

    def of_rows(self, F: np.ndarray) -> np.ndarray:
        """Return (FT)ᵀ in Fortran order for F in C order, which may be overwritten."""
        ...


class TriangularWhitening:
    """T = L⁻ᵀ with W + δI = LLᵀ, for a positive semi-definite W; δ is of the size of rounding errors."""

    def __init__(self, factor: np.ndarray):
        self._factor, self.signs = factor, np.ones(len(factor))

    @property
    def rank(self) -> int:
        """The number of landmarks."""
        return len(self._factor)

    def coefficients(self, w: np.ndarray) -> np.ndarray:
        """Return L⁻ᵀw."""
        return blas.dtrsm(1.0, self._factor, w, lower=1, trans_a=1)

    def adjoint(self, z: np.ndarray) -> np.ndarray:
        """Return L⁻¹z."""
        return blas.dtrsm(1.0, self._factor, z, lower=1)

    def inverse(self, coefficients: np.ndarray) -> np.ndarray:
        """Return Lᵀα."""
        return blas.dtrmm(1.0, self._factor, coefficients, lower=1, trans_a=1)

    def of_rows(self, F: np.ndarray) -> np.ndarray:
        """Return L⁻¹Fᵀ, in the memory of F."""
        return blas.dtrsm(1.0, self._factor, F.T, lower=1, overwrite_b=1)


class SpectralWhitening:
    """T = V|Λ|^(-½) of eigenpairs, or of singular triplets, without the directions that are rounding errors."""

    def __init__(self, transform: np.ndarray, signs: np.ndarray):
        self._transform, self.signs = transform, signs

    @property
    def rank(self) -> int:
        """The number of directions kept."""
        return len(self.signs)

    def coefficients(self, w: np.ndarray) -> np.ndarray:
        """Return Tw."""
        return self._transform @ w

    def adjoint(self, z: np.ndarray) -> np.ndarray:
        """Return Tᵀz."""
        return self._transform.T @ z

    def inverse(self, coefficients: np.ndarray) -> np.ndarray:
        """Return T⁺α: the columns of T are orthogonal."""
        lengths = np.einsum("ij,ij->j", self._transform, self._transform)
        return (self._transform.T @ coefficients) / lengths[:, None]

    def of_rows(self, F: np.ndarray) -> np.ndarray:
        """Return (FT)ᵀ."""
        return (F @ self._transform).T


def triangular_whitening(W: np.ndarray) -> TriangularWhitening | None:
    """Return the whitening of a positive semi-definite W, in its memory; None where W shows itself as not that."""
    scale, diagonal, nugget = float(np.linalg.norm(W)), W.diagonal().copy(), _NUGGET
    if scale == 0.0:
        return None
    while nugget <= _LARGEST_NUGGET:
        W[np.diag_indices_from(W)] = diagonal + nugget * scale
        # W in C order is Wᵀ in Fortran order; the upper triangle of that, a copy of the lower one, stays as it was.
        factor, info = cholesky(W.T, lower=True)
        if info == 0:
            return TriangularWhitening(factor)
        nugget *= 10.0
        _mirror_upper(W.T)
    W[np.diag_indices_from(W)] = diagonal
    return None


def symmetric_whitening(W: np.ndarray) -> SpectralWhitening:
    """Return the whitening of any symmetric W."""
    values, vectors = linalg.eigh(0.5 * (W + W.T))
    kept = np.abs(values) > CUT * np.abs(values).max(initial=0.0)
    return SpectralWhitening(vectors[:, kept] / np.sqrt(np.abs(values[kept])), np.sign(values[kept]))


def two_sided_whitening(W: np.ndarray) -> tuple[SpectralWhitening, SpectralWhitening]:
    """Return V Σ^(-½) and U Σ^(-½) of W = U Σ Vᵀ: for K[:, landmarks], and for K[landmarks, :]ᵀ."""
    U, values, V = linalg.svd(W)
    kept = values > CUT * values.max(initial=0.0)
    root, signs = np.sqrt(values[kept]), np.ones(int(kept.sum()))
    return SpectralWhitening(V[kept].T / root, signs), SpectralWhitening(U[:, kept] / root, signs)


def mirror_lower(A: np.ndarray) -> None:
    """Write the lower triangle of A over the upper one."""
    step = 512
    for start in range(0, len(A), step):
        stop = min(start + step, len(A))
        corner = A[start:stop, start:stop]
        corner[...] = np.tril(corner) + np.tril(corner, -1).T
        A[start:stop, stop:] = A[stop:, start:stop].T


def _mirror_upper(A: np.ndarray) -> None:
    mirror_lower(A.T)
