"""ARPACK and LOBPCG, as scipy has them, behind the interface of our own iterations."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh, lobpcg, svds

from kernreg.linalg.spectra.basis import extend, random_block, relative_residual
from kernreg.linalg.spectra.lanczos import PartialSpectrum, Settings, ordered, require_symmetry
from kernreg.linalg.spectra.products import Products


def _operator(A: Products) -> LinearOperator:
    def one(multiply: Callable[[np.ndarray], np.ndarray]) -> Any:  # a vector as a block of one column
        return lambda v: multiply(v.reshape(len(v), 1))[:, 0]

    return LinearOperator(
        A.shape,
        matvec=one(A.product),
        rmatvec=one(A.adjoint),
        matmat=A.product,
        rmatmat=A.adjoint,
        dtype=np.dtype(np.float64),
    )


def looks_symmetric(A: Products, settings: Settings) -> None:
    """Raise AsymmetryError where a few random directions show that A is asymmetric."""
    V = random_block(A.shape[0], min(4, A.shape[0]), settings.rng)
    W = A.product(V)
    require_symmetry(V.T @ W, float(np.linalg.norm(W, axis=0).max()), settings)


def arpack_eigenpairs(A: Products, k: int, order: str, settings: Settings) -> PartialSpectrum:
    """Return k eigenpairs by implicitly restarted Lanczos, one vector at a time."""
    n = A.shape[0]
    looks_symmetric(A, settings)
    start = settings.rng.standard_normal(n)
    if not A.product(start[:, None]).any():  # ARPACK takes no matrix of zeros
        return PartialSpectrum(np.zeros(k), np.eye(n, k), 0, 0.0, True)
    options: dict[str, Any] = {
        "which": "LM" if order == "magnitude" else "LA",
        "v0": start,
        "tol": 0.1 * settings.tol,
        "maxiter": settings.max_iter,
        "k": k,
    }
    try:
        vectors = eigsh(_operator(A), **options)[1]
    except ArpackNoConvergence as failure:
        vectors = failure.eigenvectors
    except ArpackError:  # for example, an invariant subspace that is smaller than its basis
        vectors = np.zeros((n, 0))
    return _finished(A, vectors, k, order, settings)


def lobpcg_eigenpairs(A: Products, k: int, order: str, settings: Settings, definite: bool) -> PartialSpectrum:
    """Return k eigenpairs by locally optimal block preconditioned conjugate gradients, without a preconditioner.

    It finds one end of the spectrum. Where the largest in magnitude are wanted of a matrix that may be indefinite, both
    ends are computed, and the best of both kept.
    """
    n = A.shape[0]
    looks_symmetric(A, settings)
    ends = [True] if order == "value" or definite else [True, False]
    scale = float(np.abs(_largest(A, settings)))
    both: list[np.ndarray] = []
    for largest in ends:
        start = random_block(n, k, settings.rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of accuracy not reached, which is measured below
            _, vectors = lobpcg(
                _operator(A), start, tol=settings.tol * scale, maxiter=settings.max_iter, largest=largest
            )
        both.append(np.asarray(vectors))
    return _finished(A, np.hstack(both), k, order, settings)


def arpack_triplets(A: Products, k: int, settings: Settings) -> PartialSpectrum:
    """Return k singular triplets by ARPACK on AᵀA or AAᵀ, whichever is smaller."""
    start = settings.rng.standard_normal(min(A.shape))
    probe = A.product(start[:, None]) if A.shape[1] <= A.shape[0] else A.adjoint(start[:, None])
    if not probe.any():
        return PartialSpectrum(np.zeros(k), np.eye(A.shape[1], k), 0, 0.0, True, np.eye(A.shape[0], k))
    try:
        V = svds(_operator(A), k, tol=0.1 * settings.tol, v0=start, maxiter=settings.max_iter)[2].T
    except ArpackNoConvergence as failure:
        V = failure.eigenvectors if A.shape[1] <= A.shape[0] else A.adjoint(failure.eigenvectors)
    except ArpackError:
        V = np.zeros((A.shape[1], 0))
    return _finished_triplets(A, V, k, settings)


def _largest(A: Products, settings: Settings, steps: int = 8) -> float:
    """Return a rough norm of A, by a few power iterations on a block."""
    V = random_block(A.shape[0], min(4, A.shape[0]), settings.rng)
    norm = 0.0
    for _ in range(steps):
        W = np.asfortranarray(A.product(V))
        norm = float(np.linalg.norm(W, axis=0).max())
        if norm == 0.0:
            break
        V = extend(W, W[:, :0], W.shape[1], norm, settings.rng)[0]
    return norm


def _completed(vectors: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Return orthonormal columns that span the vectors given, at least k of them."""
    n, given = vectors.shape
    W = np.array(vectors, dtype=np.float64, order="F")
    if given < k:
        W = np.asfortranarray(np.hstack([W, random_block(n, k - given, rng)]))
    return extend(W, W[:, :0], min(n, W.shape[1]), 1.0, rng)[0]


def _finished(A: Products, vectors: np.ndarray, k: int, order: str, settings: Settings) -> PartialSpectrum:
    """Rayleigh-Ritz on what an iteration ended with: k orthonormal vectors in all cases, and their true residual."""
    V = _completed(vectors, k, settings.rng)
    W = A.product(V)
    T = V.T @ W
    values, S = np.linalg.eigh(0.5 * (T + T.T))
    top = ordered(values, order)[:k]
    residual = relative_residual(W @ S[:, top] - (V @ S[:, top]) * values[top], values)
    return PartialSpectrum(values[top], V @ S[:, top], A.passes, residual, residual <= settings.tol)


def _finished_triplets(A: Products, V: np.ndarray, k: int, settings: Settings) -> PartialSpectrum:
    V = _completed(V, k, settings.rng)
    W = np.asfortranarray(A.product(V))
    U, _, R = extend(W, W[:, :0], min(len(W), W.shape[1]), float(np.linalg.norm(W, axis=0).max()), settings.rng)
    P, values, S = np.linalg.svd(R)
    left, right = U @ P[:, :k], V @ S[:k].T
    residual = relative_residual(A.adjoint(left) - right * values[:k], values)
    return PartialSpectrum(values[:k], right, A.passes, residual, residual <= settings.tol, left)
