"""Orthonormal bases that grow block by block: what Krylov and randomised decompositions stand on.

Everything here and in the iterations above it calls the BLAS of numpy, not that of scipy. Where these are two
libraries, the idle threads of one spin for a while after each call, and take the cores from the other.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

_EPS = float(np.finfo(np.float64).eps)

#: Beyond this ratio of pivots Cholesky of WᵀW has lost the small directions, and Householder takes over.
_SAFE_RATIO = 1e-6
_NEGLIGIBLE = 4.0 * _EPS
_LARGE_PART = 0.25  # of the square of a norm must be left after a projection


def random_block(n: int, width: int, rng: np.random.Generator) -> np.ndarray:
    """Return orthonormal columns in random directions, in column order."""
    return qr(np.asfortranarray(rng.standard_normal((n, width))))[0]


def largest_norm(W: np.ndarray) -> float:
    """Return the largest norm of a column."""
    return float(np.sqrt(_square_norms(W).max(initial=0.0)))


def relative_residual(rest: np.ndarray, values: np.ndarray) -> float:
    """Return the largest norm of a column of A V - V diag(λ), relative to the largest |λ|."""
    scale = float(np.abs(values).max(initial=0.0))
    return float(np.linalg.norm(rest, axis=0).max(initial=0.0)) / scale if scale > 0.0 else 0.0


def _square_norms(W: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", W, W)


def qr(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Q, R of a tall matrix: twice by Cholesky where it is well conditioned, else by Householder."""
    first = _cholesky_qr(W)
    if first is not None:
        second = _cholesky_qr(first[0])
        if second is not None:
            return second[0], second[1] @ first[1]
    Q, R = np.linalg.qr(W)
    return np.asfortranarray(Q), R


def _cholesky_qr(W: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    try:
        factor = np.linalg.cholesky(W.T @ W).T
    except np.linalg.LinAlgError:
        return None
    pivots = factor.diagonal()
    if not pivots.min(initial=np.inf) > _SAFE_RATIO * pivots.max(initial=0.0):
        return None
    return (np.linalg.inv(factor).T @ W.T).T, factor


def extend(
    W: np.ndarray, V: np.ndarray, width: int, scale: float, rng: np.random.Generator, recent: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Split W = V H + Q R with [V, Q] orthonormal.

    Where W brings fewer than ``width`` new directions, Q is filled up with random ones, whose rows of R are zero. So a
    Krylov space that is exhausted goes on elsewhere, and eigenvalues of any multiplicity are found.

    Parameters
    ----------
    W : ndarray of shape (n, b)
        Overwritten.
    V : ndarray of shape (n, m)
        Orthonormal columns.
    width : int
        Columns of Q, at most n - m; fewer than b where the space is nearly full.
    scale : float
        The size of W that counts: what is below rounding error of it is nothing.
    rng : Generator
    recent : int, optional
        How many of the last columns of V hold nearly all that W has in common with V, if that is known: projecting W
        away from these first spares a second projection away from all.

    Examples
    --------
    >>> V, W = np.eye(4)[:, :1], np.ones((4, 1))
    >>> Q, H, R = extend(W.copy(), V, 1, 1.0, np.random.default_rng(0))
    >>> bool(np.allclose(V @ H + Q @ R, W)), float(abs(V.T @ Q)[0, 0])
    (True, 0.0)
    """
    H = np.zeros((V.shape[1], W.shape[1]))
    start = 0 if recent is None else max(0, V.shape[1] - recent)
    if start:
        H[start:] = V[:, start:].T @ W
        W -= V[:, start:] @ H[start:]
    for _ in range(2):
        before = _square_norms(W)
        inside = V.T @ W
        W -= V @ inside
        H += inside
        if (_square_norms(W) > _LARGE_PART * before).all():  # else it has lost digits, and needs another turn
            break
    if width == W.shape[1]:
        first = _cholesky_qr(W)
        # A large loss against `scale` leaves directions of V in what is normalised: those need the careful way.
        if first is not None and first[1].diagonal().min(initial=np.inf) > 1e-8 * scale:
            second = _cholesky_qr(first[0])
            if second is not None:
                return second[0], H, second[1] @ first[1]
    Q, R = _careful(W, width, scale, rng)
    for _ in range(2):
        inside = V.T @ Q
        Q -= V @ inside
        Q, again = qr(Q)
        H += inside @ R
        R = again @ R
    return Q, H, R


def _careful(W: np.ndarray, width: int, scale: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return Q and R of W by pivoted Householder, directions that are not there replaced by random ones."""
    Q, pivoted, order = linalg.qr(W, mode="economic", pivoting=True, check_finite=False)
    R = np.zeros_like(pivoted)
    R[:, order] = pivoted
    missing = np.abs(pivoted.diagonal()) <= _NEGLIGIBLE * max(scale, abs(float(pivoted[0, 0])) if width else 0.0)
    R[missing] = 0.0
    Q[:, missing] = random_block(len(W), int(missing.sum()), rng) if missing.any() else Q[:, missing]
    return np.asfortranarray(Q[:, :width]), R[:width]


def peak_signs(vectors: np.ndarray) -> np.ndarray:
    """Return the signs that make the largest entry of each column positive.

    >>> peak_signs(np.array([[1.0, -3.0], [-2.0, 2.0]])).tolist()
    [-1.0, -1.0]
    """
    if not vectors.size:
        return np.ones(vectors.shape[1])
    peaks = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return np.where(peaks < 0.0, -1.0, 1.0)
