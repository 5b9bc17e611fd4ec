"""K = (K0⁻¹ + γ S)⁻¹ for a kernel matrix K0 and a normalised Laplacian S, K0 never inverted.

K0 is usually singular but for rounding. K itself needs no inverse of it::

    (I + γ K0 S) K = K0,        K = K0 + K0 Q K0,    Q = -γ (I + γ S K0)⁻¹ S

and the second form is a function of two samples, hence the extension to new ones. Where S = I - U C Uᵀ with few columns
U, with M = I + γ K0, P = K0 M⁻¹ = (I - M⁻¹)/γ and Y = M⁻¹ U::

    N = γ C (I - (UᵀU - UᵀY) C)⁻¹        K = P + (P U) N (P U)ᵀ        Q = -γ M⁻¹ + Y N Yᵀ

one Cholesky factorisation and one inverse from it, n³ multiplications in all, whatever S says. Any other S takes an LU
factorisation of I + γ S K0, whose eigenvalues are real and at least 1. With features K0 = Φ Φᵀ::

    K = Φ (I + γ ΦᵀSΦ)⁻¹ Φᵀ

which is linear in the number of samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import linalg
from scipy.linalg import lapack

from kernreg.engine import ByRow
from kernreg.engine.threads import configured_blas
from kernreg.errors import DataError
from kernreg.linalg.exact.centring import induced_norms, mirror
from kernreg.linalg.exact.large_matrices import cholesky, inverse_from, symmetric_product
from kernreg.linalg.landmarks.features import Features

#: Where γ times the mean of K0's diagonal is smaller, (I - M⁻¹)/γ cancels, and P is computed as a product instead.
_SMALL = 1e-5
_ROWS = 256


@dataclass(frozen=True)
class PenalisedKernel:
    """What was found.

    Attributes
    ----------
    matrix : ndarray of shape (n, n)
        K, exactly symmetric.
    correction : ndarray of shape (n, n)
        Q, exactly symmetric.
    method : str
        ``"cholesky"`` or ``"lu"``.
    condition : float
        Condition number of the matrix factorised: an upper bound (``"cholesky"``) or an estimate (``"lu"``).
    """

    matrix: np.ndarray
    correction: np.ndarray
    method: str
    condition: float


@configured_blas()
def penalise_by_factors(K0: np.ndarray, U: np.ndarray, C: np.ndarray, gamma: float) -> PenalisedKernel:
    """Return K and Q for S = I - U C Uᵀ.

    Parameters
    ----------
    K0 : ndarray of shape (n, n)
        Symmetric, float64, C-ordered: it is overwritten, and Q is returned in its memory.
    U : ndarray of shape (n, q)
    C : ndarray of shape (q, q)
        Symmetric.
    gamma : float

    Raises
    ------
    DataError
        If K0 has an eigenvalue of -1/γ or below: it is not a positive semi-definite kernel matrix; or γ K0 overflows.

    Examples
    --------
    >>> import numpy as np
    >>> U, C = np.full((2, 1), 0.5**0.5), np.eye(1)
    >>> found = penalise_by_factors(np.diag([1.0, 2.0]), U, C, 1.0)
    >>> S = np.array([[0.5, -0.5], [-0.5, 0.5]])
    >>> bool(np.allclose(np.linalg.inv(found.matrix), np.diag([1.0, 0.5]) + S))
    True
    """
    n = len(K0)
    _refuse_overflow(K0, gamma)
    small = gamma * float(np.abs(K0.diagonal()).mean()) < _SMALL
    kept = K0.copy() if small else None
    M = _shifted(K0, gamma).T  # Fortran-ordered view, symmetric
    norm = induced_norms(K0)[0]
    factor = _cholesky(M, gamma)
    Y = lapack.dpotrs(factor, U)[0]
    half = lapack.dtrtrs(factor, U, trans=1)[0]
    PU = (U - Y) / gamma if kept is None else kept @ Y
    # UᵀU - UᵀY is γ UᵀPU.
    middle = U.T @ U - half.T @ half if kept is None else gamma * (U.T @ PU)
    N = gamma * np.linalg.solve(np.eye(len(C)) - C @ middle, C)
    values, vectors = linalg.eigh(0.5 * (N + N.T))
    inverse = inverse_from(factor)
    if kept is None:
        K = inverse * (-1.0 / gamma)
        K[np.diag_indices(n)] += 1.0 / gamma
    else:
        full = inverse.T
        mirror(full, from_lower=True)
        K = np.asfortranarray(kept @ full)
        K = np.asfortranarray(0.5 * (K + K.T))
    inverse *= -gamma
    for sign in (1.0, -1.0):
        part = sign * values > 0.0
        if part.any():
            root = vectors[:, part] * np.sqrt(sign * values[part])
            symmetric_product(PU @ root, K, alpha=sign, add=True)
            symmetric_product(Y @ root, inverse, alpha=sign, add=True)
    K, Q = K.T, inverse.T
    mirror(K, from_lower=True)
    mirror(Q, from_lower=True)
    # Eigenvalues are at least 1 (LAPACK's estimate of the condition number takes as long as the factorisation).
    return PenalisedKernel(K, Q, "cholesky", norm)


@configured_blas()
def penalise_by_products(
    K0: np.ndarray, laplacian: Callable[[np.ndarray], np.ndarray], gamma: float, *, definite: bool
) -> PenalisedKernel:
    """Return K and Q for any S, given by its products.

    Parameters
    ----------
    K0 : ndarray of shape (n, n)
        Symmetric.
    laplacian : callable
        Returns S V for columns V.
    gamma : float
    definite : bool
        Whether K0 is known to be positive semi-definite; if not, it is checked as far as γ tells.

    Raises
    ------
    DataError
        If K0 has an eigenvalue of -1/γ or below.
    """
    n = len(K0)
    _refuse_overflow(K0, gamma)
    if not definite:
        _cholesky(_shifted(K0.copy(), gamma).T, gamma)
    A = np.asfortranarray(laplacian(K0))
    A *= gamma
    A[np.diag_indices(n)] += 1.0
    norm = induced_norms(A.T)[1]
    lu, pivots, failed = lapack.dgetrf(A, overwrite_a=1)
    rcond = 0.0 if failed else lapack.dgecon(lu, norm)[0]
    if not rcond > 0.0:
        raise _indefinite(gamma)
    K = lapack.dgetrs(lu, pivots, K0.T, trans=1)[0]  # (I + γ K0 S) K = K0
    S = np.asfortranarray(laplacian(np.eye(n)))
    S *= -gamma
    Q = lapack.dgetrs(lu, pivots, S, overwrite_b=1)[0]
    return PenalisedKernel(_evened(K.T), _evened(Q.T), "lu", 1.0 / rcond)


@configured_blas()
def penalise_features(features: Features, products: np.ndarray, gamma: float) -> tuple[np.ndarray, float, float]:
    """Return F with K = k0(X, L) F Fᵀ k0(L, X), for features φ(x) = Tᵀ k0(L, x).

    Parameters
    ----------
    features : Features
        Of a positive semi-definite kernel.
    products : ndarray of shape (q, q)
        ΦᵀSΦ, as `feature_products` returns it.
    gamma : float

    Returns
    -------
    F : ndarray of shape (p, q)
    residual : float
        Of (I + γ ΦᵀSΦ) A = I, relative: K = Φ A Φᵀ.
    condition : float
        Estimated, of I + γ ΦᵀSΦ.
    """
    M = 0.5 * gamma * (products + products.T)
    M[np.diag_indices(len(M))] += 1.0
    factor = linalg.cholesky(M, lower=True)
    rcond = lapack.dpocon(factor, induced_norms(M)[0], uplo="L")[0]
    half = linalg.solve_triangular(factor, np.eye(len(M)), lower=True)  # A = halfᵀ half
    rest = M @ (half.T @ half)
    rest[np.diag_indices(len(M))] -= 1.0
    residual = float(np.linalg.norm(rest) / np.sqrt(max(1, len(M))))
    return features.transform @ half.T, residual, 1.0 / rcond if rcond > 0.0 else float("inf")


def feature_products(features: Features, factors: tuple[Any, Any] | None, laplacian: Any) -> np.ndarray:
    """Return ΦᵀSΦ: by one pass over the samples where S = I - U C Uᵀ, sparse, else with Φ in memory.

    Parameters
    ----------
    features : Features
    factors : (U, C) or None
        Sparse, of shapes (n, q) and (q, q).
    laplacian : callable
        Returns S V for columns V; used where there are no factors.
    """
    T = features.transform
    samples, landmarks = features.samples, features.landmarks
    if factors is None:
        F = features.kernel.map_rows(samples, landmarks, _plain_features, args=(T,))
        return F.T @ laplacian(F)
    U, C = factors
    both = features.kernel.map_rows(samples, landmarks, _products, "add", args=(T, ByRow(sp.csr_array(U))))
    gram, along = both[: T.shape[1]], both[T.shape[1] :]
    return gram - along.T @ (C @ along)


def _plain_features(rows: slice, block: np.ndarray, T: np.ndarray) -> np.ndarray:
    return np.asarray(block, dtype=np.float64) @ T


def _products(rows: slice, block: np.ndarray, T: np.ndarray, U: Any) -> np.ndarray:
    F = _plain_features(rows, block, T)
    return np.vstack([F.T @ F, U.T @ F])


def penalty_residual(product: Any, K: np.ndarray, laplacian: Any, gamma: float) -> float:
    """Return ‖(I + γ K0 S) K Z - K0 Z‖ / ‖K0 Z‖ for two random columns Z, K0 given by its products."""
    Z = np.random.default_rng(0).standard_normal((len(K), 2))
    KZ = K @ Z
    both = np.asarray(product(np.hstack([laplacian(KZ), Z])), dtype=np.float64)
    right = both[:, 2:]
    norm = float(np.linalg.norm(right))
    rest = float(np.linalg.norm(KZ + gamma * both[:, :2] - right))
    return rest / norm if norm > 0.0 else rest


def _refuse_overflow(K0: np.ndarray, gamma: float) -> None:
    largest = max(float(K0.max()), -float(K0.min()))
    if not np.isfinite(gamma * largest * len(K0)):
        raise DataError(
            f"gamma={gamma:g} times the kernel matrix, whose largest entry is {largest:g}, overflows; give a smaller "
            "gamma, or scale the kernel"
        )


def _shifted(K0: np.ndarray, gamma: float) -> np.ndarray:
    """Return I + γ K0, in place."""
    K0 *= gamma
    K0[np.diag_indices(len(K0))] += 1.0
    return K0


def _cholesky(M: np.ndarray, gamma: float) -> np.ndarray:
    factor, failed = cholesky(M, lower=False)
    if failed:
        raise _indefinite(gamma)
    return factor


def _indefinite(gamma: float) -> DataError:
    return DataError(
        f"the kernel matrix has an eigenvalue of {-1.0 / gamma:g} = -1/gamma or below, and kernels are learned from "
        "positive semi-definite ones. Correct its spectrum first: kernreg.kernels.spectrum(kernel, 'clip'), or take a "
        "positive semi-definite kernel such as 'rbf'"
    )


def _evened(A: np.ndarray) -> np.ndarray:
    """Return the mean of a matrix that is symmetric but for rounding with its transpose, C-ordered, in place."""
    A = np.ascontiguousarray(A)
    for start in range(0, len(A), _ROWS):
        rows, before = slice(start, start + _ROWS), slice(0, start + _ROWS)
        mean = 0.5 * (A[rows, before] + A[before, rows].T)
        A[rows, before] = mean
        A[before, rows] = mean.T
    return A
