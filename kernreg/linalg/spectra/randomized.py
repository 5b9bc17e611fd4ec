"""Randomised subspace iteration: approximate leading eigenpairs and singular triplets from a few products.

A random block is multiplied by the matrix again and again, orthonormalised between, and the matrix projected onto what
it has become. Each multiplication damps the directions of small eigenvalues by their ratio to the large ones, so the
result is as good as the spectrum decays fast. The residual is reported; with a tolerance the iteration goes on until it
is reached.

References
----------
Halko, Martinsson & Tropp, Finding structure with randomness: probabilistic algorithms for constructing approximate
matrix decompositions, SIAM Review 53 (2011), algorithms 4.4 and 5.3.
"""

from __future__ import annotations

import numpy as np

from kernreg.linalg.spectra.basis import extend, largest_norm, random_block, relative_residual
from kernreg.linalg.spectra.lanczos import Map, PartialSpectrum, Settings, ordered, require_symmetry

OVERSAMPLING = 10
POWER_ITERATIONS = 7  # without a tolerance, each one product with A and one with Aᵀ, as is usual


def randomized_eigenpairs(
    product: Map, n: int, k: int, order: str, settings: Settings, fixed: int | None
) -> PartialSpectrum:
    """Return k eigenpairs of a symmetric operator by subspace iteration and Rayleigh-Ritz.

    Parameters
    ----------
    product, n, k, order, settings
        As `block_lanczos` takes them. The iteration finds the largest magnitudes; with ``order="value"`` the largest
        values among them come first.
    fixed : int, optional
        Do exactly this many power iterations, each two products, and one to begin with; by default as many products as
        the tolerance needs.

    Examples
    --------
    >>> d = 0.5 ** np.arange(40.0)
    >>> settings = Settings(1e-9, 100, np.random.default_rng(0))
    >>> spectrum = randomized_eigenpairs(lambda V: d[:, None] * V, 40, 2, "magnitude", settings, None)
    >>> [round(float(value), 9) for value in spectrum.values]
    [1.0, 0.5]
    """
    width = min(n, k + max(OVERSAMPLING, k // 2))
    limit = settings.max_iter if fixed is None else 2 * fixed + 1
    Q = random_block(n, width, settings.rng)
    for step in range(1, limit + 1):
        W = product(Q)
        T = Q.T @ W
        require_symmetry(T, largest_norm(W), settings)
        values, S = np.linalg.eigh(0.5 * (T + T.T))
        top = ordered(values, order)[:k]
        residual = relative_residual(W @ S[:, top] - (Q @ S[:, top]) * values[top], values)
        done = residual <= settings.tol
        if settings.watch is not None:
            settings.watch(step, residual / settings.tol)
        if step == limit or (done and fixed is None):
            break
        Q = _orthonormal(W, settings.rng)[0]
    return PartialSpectrum(values[top], Q @ S[:, top], step, residual, done)


def randomized_triplets(
    product: Map, adjoint: Map, shape: tuple[int, int], k: int, settings: Settings, fixed: int | None
) -> PartialSpectrum:
    """Return k singular triplets by subspace iteration with A and Aᵀ in turn; parameters as above."""
    width = min(*shape, k + max(OVERSAMPLING, k // 2))
    limit = settings.max_iter if fixed is None else fixed + 1
    V = random_block(shape[1], width, settings.rng)
    for step in range(1, limit + 1):
        U, R = _orthonormal(product(V), settings.rng)
        W = adjoint(U)
        # Both projections are at hand: A V = U R, and AᵀU = W. Triplets of the first leave a residual in the second.
        P, values, S = np.linalg.svd(R)
        residual = relative_residual(W @ P[:, :k] - (V @ S[:k].T) * values[:k], values)
        done = residual <= settings.tol
        if settings.watch is not None:
            settings.watch(step, residual / settings.tol)
        if step == limit or (done and fixed is None):
            break
        V = _orthonormal(W, settings.rng)[0]
    return PartialSpectrum(values[:k], V @ S[:k].T, step, residual, done, U @ P[:, :k])


def _orthonormal(W: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return Q, R of W; random columns, with zeros in R, where a matrix of low rank leaves too few directions."""
    W = np.array(W, order="F")
    Q, _, R = extend(W, W[:, :0], W.shape[1], largest_norm(W), rng)
    return Q, R
