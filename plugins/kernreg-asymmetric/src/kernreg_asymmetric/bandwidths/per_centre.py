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
    A, B = (np.asarray(v.toarray() if hasattr(v, "toarray") else v, dtype=np.float64) - origin for v in (A, B))
    nearest = np.array([np.argmin(np.sum((centres - z) ** 2, axis=1)) for z in B], dtype=np.intp)
    return np.exp(-exponents(A, B, squares[nearest]))
