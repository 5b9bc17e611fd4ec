"""Some eigenpairs of a symmetric matrix in memory, by LAPACK: one reduction to tridiagonal form serves both ends."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from kernreg.linalg.spectra.lanczos import ordered

#: Beyond this share of all pairs, divide and conquer for all of them is faster than picking.
_MANY = 0.25
_ORTHOGONAL = 1e-11


def dense_eigenpairs(A: np.ndarray, k: int, order: str, *, overwrite: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return k eigenpairs of a symmetric float64 matrix.

    A = Q T Qᵀ with T tridiagonal takes 4/3 n³ operations. All eigenvalues of T then cost O(n²); the vectors of the k
    wanted, which may lie at both ends of the spectrum, cost O(n k), and O(n² k) to bring them back. Only one triangle
    of A is read.

    Parameters
    ----------
    A : ndarray of shape (n, n)
    k : int
    order : {"magnitude", "value"}
    overwrite : bool
        Whether A may be used as working memory.

    Examples
    --------
    >>> values, vectors = dense_eigenpairs(np.diag([1.0, -3.0, 2.0]), 2, "magnitude")
    >>> values.tolist()
    [-3.0, 2.0]
    """
    n = len(A)
    work = A.T if A.flags.c_contiguous else A  # symmetric: in Fortran's order without a copy
    if n < 3 or k > _MANY * n:
        values, vectors = linalg.eigh(work, driver="evd", overwrite_a=overwrite, check_finite=False)
        wanted = ordered(values, order)[:k]
        return values[wanted], vectors[:, wanted]
    size, _ = lapack.dsytrd_lwork(n, lower=1)
    reduced, d, e, tau, _ = lapack.dsytrd(work, lower=1, lwork=int(size), overwrite_a=int(overwrite))
    spectrum = linalg.eigh_tridiagonal(d, e, eigvals_only=True, check_finite=False)
    # What is wanted are some of the smallest and some of the largest.
    taken = np.zeros(n, dtype=bool)
    taken[ordered(spectrum, order)[:k]] = True
    bottom = int(np.argmin(taken))
    ends = [(0, bottom - 1), (n - k + bottom, n - 1)]
    parts = [
        linalg.eigh_tridiagonal(d, e, select="i", select_range=end, lapack_driver="stemr", check_finite=False)
        for end in ends
        if end[0] <= end[1]
    ]
    values = np.concatenate([part[0] for part in parts])
    vectors = np.asfortranarray(np.concatenate([part[1] for part in parts], axis=1))
    if np.abs(vectors.T @ vectors - np.eye(k)).max() > _ORTHOGONAL:
        # The ends meet in a cluster of equal eigenvalues, whose vectors must be computed together.
        values, vectors = linalg.eigh_tridiagonal(d, e, lapack_driver="stev", check_finite=False)
        wanted = ordered(values, order)[:k]
        values, vectors = values[wanted], np.asfortranarray(vectors[:, wanted])
    _bring_back(reduced, tau, vectors)
    final = ordered(values, order)
    return values[final], vectors[:, final]


def _bring_back(reduced: np.ndarray, tau: np.ndarray, vectors: np.ndarray) -> None:
    """Multiply eigenvectors of T by Q, in place: Q = diag(1, H), H stored as a QR factorisation stores its factor."""
    n = len(reduced)
    # The reflectors begin one row down; a view that is one element late makes a matrix of them without a copy.
    reflectors = reduced.ravel(order="K")[1 : 1 + n * (n - 1)].reshape(n, n - 1, order="F")
    inner = np.asfortranarray(vectors[1:])
    _, size, _ = lapack.dormqr("L", "N", reflectors, tau, inner, -1)
    vectors[1:] = lapack.dormqr("L", "N", reflectors, tau, inner, int(size[0]), overwrite_c=1)[0]
