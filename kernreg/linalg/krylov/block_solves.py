"""Steps of block coordinate descent: (K_BB + ρI)⁻¹ g of a block of samples, and how far to go.

All of K_BB  a Cholesky factor, ρ = κ: the best step that the block allows, of length 1. Costs |B|³/3.
In rank r    Nyström, K_BB ≈ U diag(λ) Uᵀ from r random directions, ρ = κ + λ_r. Then K_BB + κI may be larger than its
             picture, and the step is divided by the largest eigenvalue of the two together, found by power steps.
             Costs |B|² r.

References
----------
Rathore, Frangella, Yang, Dereziński & Udell, Have ASkotch: a neat solution for large-scale kernel ridge regression,
2024.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from kernreg.errors import DataError

_POWER_STEPS = 10
_LARGEST_SHIFT = 1e-3  # of the mean diagonal: what takes more than this to become positive definite never was


def block_step(K: np.ndarray, g: np.ndarray, kappa: float, rank: int | None, rng: np.random.Generator) -> np.ndarray:
    """Return η (K̂ + ρI)⁻¹ g.

    Parameters
    ----------
    K : ndarray of shape (b, b)
        The block of the kernel matrix, float64; its memory is used.
    g : ndarray of shape (b, C)
        Gradients.
    kappa : float
    rank : int, optional
        Of the Nyström approximation; all of the block by default.
    rng : numpy Generator

    Examples
    --------
    >>> K, g = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[3.5], [3.5]])
    >>> block_step(K, g, 0.5, None, np.random.default_rng(0)).ravel()
    array([1., 1.])
    """
    if rank is None or rank >= len(K):
        return _by_cholesky(K, g, kappa)
    return _by_nystrom(K, g, kappa, rank, rng)


def _by_cholesky(K: np.ndarray, g: np.ndarray, kappa: float) -> np.ndarray:
    size = float(K.diagonal().mean())
    shift, rounding = kappa, float(np.finfo(np.float32).eps) * size
    while True:
        shifted = K + shift * np.eye(len(K))
        try:
            factor = linalg.cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
            return linalg.cho_solve(factor, g, check_finite=False)
        except linalg.LinAlgError as error:
            # Values of single precision are positive definite but for rounding errors.
            shift = 10.0 * max(shift, rounding)
            if not shift <= max(_LARGEST_SHIFT * size, 100.0 * kappa):
                raise DataError(
                    "strategy='blocks' needs a positive definite kernel, and the kernel matrix of these samples is "
                    "not; use strategy='iterative', which takes any symmetric kernel, or 'lowrank'"
                ) from error


def _by_nystrom(K: np.ndarray, g: np.ndarray, kappa: float, rank: int, rng: np.random.Generator) -> np.ndarray:
    test = linalg.qr(rng.normal(size=(len(K), rank)), mode="economic")[0]
    shift = 10.0 * float(np.finfo(np.float64).eps) * float(np.trace(K))  # takes rounding errors out of W's spectrum
    sketch = K @ test + shift * test
    values, vectors = linalg.eigh(test.T @ sketch)
    kept = values > 1e-12 * max(float(values[-1]), 0.0)
    if not kept.any():
        return g / kappa  # K is zero
    features = sketch @ (vectors[:, kept] / np.sqrt(values[kept]))
    U, singular, _ = linalg.svd(features, full_matrices=False, check_finite=False)
    values = np.maximum(singular**2 - shift, 0.0)
    rho = kappa + (float(values[-1]) if kept.all() else 0.0)  # the approximation has no more eigenvalues

    def inverse(V: np.ndarray) -> np.ndarray:
        inside = U.T @ V
        return V / rho + U @ ((1.0 / (values + rho) - 1.0 / rho)[:, None] * inside)

    v = rng.normal(size=(len(K), 1))
    largest = 1.0
    for _ in range(_POWER_STEPS):
        v = v / np.linalg.norm(v)
        v = inverse(K @ v + kappa * v)
        largest = float(np.linalg.norm(v))
    return inverse(g) / max(largest, 1.0)
