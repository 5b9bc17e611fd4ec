"""Bandwidths of centres by gradients of a squared error, the coefficients being solved exactly at every step.

    f(x) = Σ_i α_i exp(-Σ_j t_ij (x_j - c_ij)²) + b,      t = θ² = exp(η)

Solved on all samples, (α, b) minimise L = Σ_s v_s |f(x_s) - y_s|²/Σv + λ|α|², and the derivative of the minimum is
that with α and b held fixed (variable projection). Solved on the supports alone, as published, K_S α = y_S - b,
b = mean(y_S), and L is the error of all samples; its derivative goes through the solution by one more system with
K_Sᵀ. With W = ∂L/∂K ∘ K both are

    ∂L/∂η_ij = -t_ij Σ_s W_si (x_sj - c_ij)²  =  -t ∘ (WᵀX² - 2 C ∘ WᵀX + C² ∘ Wᵀ1)

which is three matrix products and no loop over triples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from kernreg_asymmetric.bandwidths.per_centre import exponents

_LARGEST = 60.0  # |η| beyond which a bandwidth is zero or infinite to any data
_JITTER = 1e-12


@dataclass(frozen=True)
class Sample:
    """Samples near the origin and of about unit size, targets in columns, and weights that sum to one."""

    X: np.ndarray
    Y: np.ndarray
    share: np.ndarray

    def take(self, rows: np.ndarray) -> Sample:
        """Return some of the samples."""
        share = self.share[rows]
        return Sample(self.X[rows], self.Y[rows], share / share.sum())


@dataclass(frozen=True)
class Expansion:
    """Centres with bandwidths, and coefficients: one function f for each column of targets."""

    centres: np.ndarray
    log_squares: np.ndarray
    coefficients: np.ndarray
    intercept: np.ndarray

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return f of samples in rows."""
        return kernel_values(X, self.centres, self.log_squares) @ self.coefficients + self.intercept

    def error(self, data: Sample) -> float:
        """Return the weighted mean squared error."""
        return float(data.share @ np.square(self(data.X) - data.Y).sum(axis=1))


def kernel_values(X: np.ndarray, centres: np.ndarray, log_squares: np.ndarray) -> np.ndarray:
    """Return exp(-Σ_j t_ij (x_j - c_ij)²) of every sample and centre."""
    E = exponents(X, centres, np.exp(np.clip(log_squares, -_LARGEST, _LARGEST)))
    np.negative(E, out=E)
    return np.exp(E, out=E)


def solve_all(K: np.ndarray, data: Sample, penalty: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (α, b) that minimise the weighted mean squared error plus penalty |α|²."""
    means, target = data.share @ K, data.share @ data.Y
    weighted = K * data.share[:, None]
    G = weighted.T @ K
    G -= np.outer(means, means)
    rhs = weighted.T @ data.Y - np.outer(means, target)
    alpha = regularised_solve(G, rhs, penalty)
    return alpha, target - means @ alpha


def regularised_solve(G: np.ndarray, rhs: np.ndarray, penalty: float) -> np.ndarray:
    """Return (G + penalty)⁻¹ rhs of a positive semi-definite G; more is added where rounding left it indefinite."""
    shift = max(penalty, _JITTER * float(np.trace(G)) / len(G), np.finfo(float).tiny)
    while True:
        M = G.copy()
        M[np.diag_indices_from(M)] += shift
        try:
            return linalg.cho_solve(linalg.cho_factor(M, lower=True, overwrite_a=True, check_finite=False), rhs)
        except linalg.LinAlgError:
            shift *= 10.0


class SquaredError:
    """L and its gradient with respect to η, for fixed centres.

    Parameters
    ----------
    data : Sample
    centres : ndarray of shape (m, d)
    supports : ndarray of int of shape (m,)
        The rows of the samples that are the centres.
    penalty : float
        λ.
    on : {"all", "supports"}
        The samples that the coefficients are solved on.
    """

    def __init__(self, data: Sample, supports: np.ndarray, penalty: float, on: str):
        self._data, self._supports, self._penalty, self._on = data, supports, penalty, on
        self._centres = data.X[supports]
        self._X2, self._C2 = data.X * data.X, self._centres * self._centres

    def expansion(self, log_squares: np.ndarray) -> Expansion:
        """Return the function with these bandwidths, its coefficients solved."""
        K = kernel_values(self._data.X, self._centres, log_squares)
        alpha, intercept = self._solve(K)[:2]
        return Expansion(self._centres, log_squares, alpha, intercept)

    def _solve(self, K: np.ndarray) -> tuple[np.ndarray, np.ndarray, Any]:
        if self._on == "all":
            return *solve_all(K, self._data, self._penalty), None
        A = K[self._supports].copy()
        A[np.diag_indices_from(A)] += max(self._penalty, _JITTER)
        factors = linalg.lu_factor(A, overwrite_a=True, check_finite=False)
        Y = self._data.Y[self._supports]
        intercept = Y.mean(axis=0)
        return linalg.lu_solve(factors, Y - intercept, check_finite=False), intercept, factors

    def __call__(self, log_squares: np.ndarray) -> tuple[float, np.ndarray, Expansion]:
        """Return L, its gradient, and the function with these bandwidths."""
        data, C = self._data, self._centres
        K = kernel_values(data.X, C, log_squares)
        alpha, intercept, factors = self._solve(K)
        residuals = K @ alpha
        residuals += intercept - data.Y
        weighted = 2.0 * data.share[:, None] * residuals
        loss = 0.5 * float(np.sum(weighted * residuals))
        W = weighted @ alpha.T
        if self._on == "all":
            loss += self._penalty * float(np.sum(alpha * alpha))
        else:
            through = linalg.lu_solve(factors, K.T @ weighted, trans=1, check_finite=False)
            W[self._supports] -= through @ alpha.T
        W *= K
        slopes = W.T @ self._X2 - 2.0 * C * (W.T @ data.X) + self._C2 * W.sum(axis=0)[:, None]
        squares = np.exp(np.clip(log_squares, -_LARGEST, _LARGEST))
        return loss, -squares * slopes, Expansion(C, log_squares, alpha, intercept)
