"""The exact leave-one-out error of least squares on one batch, and its derivatives by the weights of the features.

With s_ij = Σ_k w_k^p |x_ik - x_jk|^p, p = 1 or 2, K = k(s), C = (K + I/γ)⁻¹ and A = C Y, sample i left out is missed by
e_i = A_i / C_ii. By the chain rule, for the mean L of all e²::

    U = ∂L/∂e / diag C,      v_i = Σ_c ∂L/∂e_ic e_ic / C_ii
    ∂L/∂K       = -(C U) Aᵀ + C diag(v) C
    ∂L/∂log w_k = p Σ_ij ∂L/∂K_ij k'(s_ij) (w_k |x_ik - x_jk|)^p

s k'(s) is the derivative of K when all weights grow alike, which is taken from the kernel itself on both sides of them:
so any kernel of these statistics will do, and its derivative need not be known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernreg.engine.compiler.compile import compiled
from kernreg.engine.threads import single_threaded_blas
from kernreg.engine.tiles.accumulation import TERMS
from kernreg.engine.tiles.inner_products import REDUCTION
from kernreg.kernels import Kernel

#: The power of differences in the statistics whose kernels are accepted.
POWERS = {"l1": 1, "sqeuclidean": 2}

#: Matrices of a batch by itself that are held at once: K, the system, what LAPACK makes of it, and its inverse.
MATRICES = 5

_STEP = 1e-4  # relative, of the difference quotient: its error is about the square


@dataclass(frozen=True)
class Loss:
    """A mean squared leave-one-out error; its slopes by the logarithms of weights and of γ."""

    value: float
    by_weights: np.ndarray
    by_gamma: float


def make_feature_shares(term: Callable[..., Any]) -> Callable[..., None]:
    """Driver: Σ_ij Q_ij t_k / s_ij over the pairs of rows, for the terms t_k of s_ij."""

    def feature_shares(X, Q, shares, terms):
        for i in range(len(X)):
            for j in range(i):
                total = 0.0
                for k in range(len(shares)):
                    terms[k] = term(X[i, k], X[j, k])
                    total += terms[k]
                if total > 0.0:
                    weight = (Q[i, j] + Q[j, i]) / total
                    for k in range(len(shares)):
                        shares[k] += weight * terms[k]

    return feature_shares


def left_out_errors(K: np.ndarray, Y: np.ndarray, gamma: float) -> np.ndarray:
    """Return by how much each sample of a batch is missed by least squares on the others, (n, columns).

    >>> from kernreg import make_kernel
    >>> X, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [-1.0], [0.0]])
    >>> K = make_kernel("rbf(sigma=1.0)")(X)
    >>> e = left_out_errors(K, Y, 10.0)
    >>> bool(np.allclose(e[2], Y[2] - K[2, :2] @ np.linalg.solve(K[:2, :2] + 0.1 * np.eye(2), Y[:2])))
    True
    """
    inverse = _inverse(K, gamma)
    return (inverse @ Y) / inverse.diagonal()[:, None]


def loss(kernel: Kernel, X: np.ndarray, Y: np.ndarray, gamma: float) -> Loss:
    """Return the loss of a batch whose features have been multiplied by their weights.

    Parameters
    ----------
    kernel : Kernel
        Symmetric, of one of the statistics in `POWERS`.
    X : ndarray of float64 of shape (n, d)
    Y : ndarray of shape (n, columns)
    gamma : float
    """
    C = _inverse(kernel(X), gamma)
    with single_threaded_blas():
        A = C @ Y
        e = A / C.diagonal()[:, None]
        by_e = 2.0 * e / e.size
        U, v = by_e / C.diagonal()[:, None], (by_e * e).sum(axis=1) / C.diagonal()
        by_K = (C * v) @ C
        by_K -= (C @ U) @ A.T
    del C
    by_gamma = float(-by_K.trace() / gamma)
    grown = kernel(X * (1.0 + _STEP)) - kernel(X * (1.0 - _STEP))
    grown /= 2.0 * _STEP  # by log w: p s k'(s)
    by_K *= grown
    shares = np.zeros(X.shape[1])
    driver = compiled(make_feature_shares, kernel.family.of, TERMS[kernel.family.of], fastmath=REDUCTION)
    driver(X, by_K, shares, np.empty(X.shape[1]))
    return Loss(float((e * e).mean()), shares, by_gamma)


def _inverse(K: np.ndarray, gamma: float) -> np.ndarray:
    with single_threaded_blas():
        system = np.array(K, dtype=np.float64)
        system[np.diag_indices(len(K))] += 1.0 / gamma
        return np.linalg.inv(system)
