"""Gaussians with a bandwidth for every feature of every centre: LAB-RBF kernels.

He, He, Shi, Huang & Suykens, Learning analysis of kernel ridgeless regression with asymmetric kernel learning,
arXiv:2406.01435 (2024).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg import kernel
from kernreg.errors import ParameterError
from kernreg.kernels import Kernel, matrix
from kernreg_asymmetric.targets import check_features


def exponents(X: np.ndarray, centres: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Return Σ_j t_ij (x_j - c_ij)² of every sample and centre, t = θ², by matrix products; samples near the origin.

    >>> exponents(np.array([[1.0, 2.0]]), np.array([[0.0, 0.0]]), np.array([[1.0, 0.5]])).tolist()
    [[3.0]]
    """
    weighted = centres * squares
    E = (X * X) @ squares.T
    E -= 2.0 * (X @ weighted.T)
    E += np.einsum("ij,ij->i", centres, weighted)
    return np.maximum(E, 0.0, out=E)


#: A Gaussian of more is zero in double precision; the expanded square of less is as exact as the differences are.
_VANISHES, _EXACT = 750.0, 50.0
_AT_ONCE = 1 << 20


def exact_exponents(X: np.ndarray, centres: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Return Σ_j t_ij (x_j - c_ij)² of every sample and centre, by differences where matrix products would lose it.

    The expanded square is off by rounding of |x|² and |c|², which is much where samples are far from the origin and
    near to each other.

    >>> far = np.array([[1e8, 1.0]])
    >>> exact_exponents(far, far + 0.5, np.ones((1, 2))).tolist()
    [[0.5]]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        weighted = centres * squares
        sizes = (X * X) @ squares.T + np.einsum("ij,ij->i", centres, weighted)
        E = sizes - 2.0 * (X @ weighted.T)
        rows, columns = np.nonzero(~(sizes <= _EXACT) & ~(E - 1e-14 * sizes >= _VANISHES))
        for start in range(0, len(rows), max(_AT_ONCE // X.shape[1], 1)):
            at = slice(start, start + max(_AT_ONCE // X.shape[1], 1))
            gaps = X[rows[at]] - centres[columns[at]]
            E[rows[at], columns[at]] = np.einsum("ij,ij,ij->i", gaps, gaps, squares[columns[at]])
    return np.maximum(E, 0.0, out=E)


def nearest_centre(z: np.ndarray, centres: np.ndarray) -> int:
    """Return the number of the centre nearest to a sample, whose distances may be beyond what can be squared."""
    gaps = np.abs(centres - z)
    gaps /= gaps.max(initial=np.finfo(np.float64).tiny)
    return int(np.argmin(np.einsum("ij,ij->i", gaps, gaps)))


def _centres(centres: Any, theta: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    C, T = (np.asarray(v.toarray() if hasattr(v, "toarray") else v, dtype=np.float64) for v in (centres, theta))
    if C.shape != T.shape or not len(C):
        raise ParameterError(f"lab-rbf: centres of shape {C.shape} and theta of shape {T.shape}; give as many of both")
    origin = C.mean(axis=0)
    return C - origin, T * T, origin


def _example(rng: np.random.Generator, n: int) -> tuple[Kernel, np.ndarray]:
    return lab_rbf(centres=rng.normal(size=(5, 3)), theta=0.3 + rng.random((5, 3))), rng.normal(size=(n, 3))


@kernel(of="blocks", prepare=_centres, parameters={"centres": matrix, "theta": matrix}, example=_example)
def lab_rbf(A, B, known):
    """exp(-|θ(z) ⊙ (x - z)|²), θ(z) the bandwidths of the centre nearest to z, one for each feature.

    Asymmetric: the second sample brings the bandwidths. ``centres`` and ``theta`` have a row for each centre; the
    solver ``lab-rbf`` learns both, and holds this kernel as ``kernel_``.

    >>> k = lab_rbf(centres=[[0.0], [4.0]], theta=[[1.0], [0.5]])
    >>> k([[0.0], [4.0]]).round(4).tolist()
    [[1.0, 0.0183], [0.0, 1.0]]
    """
    centres, squares, origin = known
    for samples in (A, B):
        check_features("lab-rbf", samples, len(origin), "centres")
    A, B = (np.asarray(v.toarray() if hasattr(v, "toarray") else v, dtype=np.float64) - origin for v in (A, B))
    nearest = np.array([nearest_centre(z, centres) for z in B], dtype=np.intp)
    return np.exp(-exact_exponents(A, B, squares[nearest]))
