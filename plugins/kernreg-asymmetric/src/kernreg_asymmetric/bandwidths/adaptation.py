"""The leave-one-out error of a Gaussian expansion as a function of its bandwidths and its ridge, with its gradient.

    f(x) = Σ_i α_i exp(-Σ_j t_ij (x_j - c_ij)²) + b,      t = θ² = exp(η)

For given η and ridge λ, (α, b) minimise Σ_s v_s |f(x_s) - y_s|² + λ αᵀSα, Σv = 1: an exact solve. S compares the
centres (overlap.py); with a common width it is their kernel matrix, and αᵀSα the norm of f in the space of the kernel.
With K̃ the kernel values of samples and centres, centred by their weighted means, V = diag(v) and M = K̃ᵀVK̃ + λS, a
sample that is held out from the solve has the residual

    e_s = r_s / (1 - h_s),      r = y - f(x),      h_s = v_s (1 + K̃_s M⁻¹ K̃_sᵀ)

and L = Σ_s v_s e_s² needs no second solve. Its derivatives are, with B = K̃M⁻¹, p = 2ve/(1 - h), q = 2ve²/(1 - h),
g = Bᵀp and P = Bᵀ diag(qv) B,

    ∂L/∂K̃ = -(p - VK̃g)αᵀ - (Vr)gᵀ + 2 diag(qv) B - 2VK̃P,      ∂L/∂λS = gαᵀ - P

and with W = ∂L/∂K ∘ K that of the bandwidths is three matrix products, without a loop over samples, centres, features,
and what S adds:

    ∂L/∂η_ij = -t_ij Σ_s W_si (x_sj - c_ij)² + …  =  -t ∘ (WᵀX² - 2 C ∘ WᵀX + C² ∘ Wᵀ1) + …
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from kernreg_asymmetric.bandwidths.overlap import LARGEST, overlap_slopes, overlaps
from kernreg_asymmetric.bandwidths.per_centre import exact_exponents, exponents

_JITTER = 1e-13  # of λ, relative to the mean diagonal of K̃ᵀVK̃
_LEVERAGE = 1e-6  # least 1 - h: a sample that is fitted whatever the others say


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

    def exactly(self, X: np.ndarray) -> np.ndarray:
        """Return the same for predictions: large coefficients of opposite signs magnify what an exponent is off by."""
        squares = np.exp(np.clip(self.log_squares, -LARGEST, LARGEST))
        return np.exp(-exact_exponents(X, self.centres, squares)) @ self.coefficients + self.intercept

    def error(self, data: Sample) -> float:
        """Return the weighted mean squared error."""
        return float(data.share @ np.square(self(data.X) - data.Y).sum(axis=1))


def kernel_values(X: np.ndarray, centres: np.ndarray, log_squares: np.ndarray) -> np.ndarray:
    """Return exp(-Σ_j t_ij (x_j - c_ij)²) of every sample and centre."""
    E = exponents(X, centres, np.exp(np.clip(log_squares, -LARGEST, LARGEST)))
    np.negative(E, out=E)
    return np.exp(E, out=E)


@dataclass(frozen=True)
class Solve:
    """An exact solve: the function, its leave-one-out residuals, and what their derivatives are made of."""

    expansion: Expansion
    residuals: np.ndarray
    left_out: np.ndarray
    keep: np.ndarray
    penalty: np.ndarray
    kernel: np.ndarray
    centred: np.ndarray
    smoothed: np.ndarray


class LeaveOneOutError:
    """L and its gradient with respect to η and log λ, for fixed centres.

    Parameters
    ----------
    data : Sample
    supports : ndarray of int of shape (m,)
        The samples that are centres.
    """

    def __init__(self, data: Sample, supports: np.ndarray):
        self._data, self._centres = data, data.X[supports]
        self._X2, self._C2 = data.X * data.X, self._centres * self._centres

    def solve(self, log_squares: np.ndarray, log_ridge: float) -> Solve:
        """Return the coefficients for these bandwidths and this ridge, and leave-one-out residuals."""
        data, v = self._data, self._data.share
        K = kernel_values(data.X, self._centres, log_squares)
        means, target = v @ K, v @ data.Y
        centred = K - means
        weighted = centred * v[:, None]
        M = weighted.T @ centred
        S = overlaps(self._centres, log_squares)
        factors = shifted_cholesky(M + float(np.exp(log_ridge)) * S)
        alpha = linalg.cho_solve(factors, weighted.T @ (data.Y - target), check_finite=False)
        smoothed = linalg.cho_solve(factors, centred.T, check_finite=False).T  # B
        residuals = (data.Y - target) - centred @ alpha
        keep = np.maximum(1.0 - v * (1.0 + np.einsum("ij,ij->i", smoothed, centred)), _LEVERAGE)
        expansion = Expansion(self._centres, log_squares, alpha, target - means @ alpha)
        return Solve(expansion, residuals, residuals / keep[:, None], keep, S, K, centred, smoothed)

    def value(self, solved: Solve) -> float:
        """Return L."""
        return float(self._data.share @ np.square(solved.left_out).sum(axis=1))

    def __call__(self, log_squares: np.ndarray, log_ridge: float) -> tuple[float, np.ndarray, float, Expansion]:
        """Return L, its derivatives with respect to η and log λ, and the function."""
        data, v = self._data, self._data.share
        solved = self.solve(log_squares, log_ridge)
        alpha, B, e, keep = solved.expansion.coefficients, solved.smoothed, solved.left_out, solved.keep[:, None]
        p = 2.0 * v[:, None] * e / keep
        q = 2.0 * v * v * np.square(e).sum(axis=1) / solved.keep
        g = B.T @ p
        QB = B * q[:, None]
        P = B.T @ QB
        slopes = -(p - v[:, None] * (solved.centred @ g)) @ alpha.T  # ∂L/∂K̃
        slopes -= (v[:, None] * solved.residuals) @ g.T
        slopes += 2.0 * QB
        slopes -= (2.0 * v[:, None]) * (solved.centred @ P)
        slopes -= np.outer(v, slopes.sum(axis=0))  # ∂L/∂K: the means of columns move, too
        by_penalty = float(np.exp(log_ridge)) * (g @ alpha.T - P)  # ∂L/∂S
        W = np.multiply(slopes, solved.kernel, out=slopes)
        by_width = W.T @ self._X2 - 2.0 * self._centres * (W.T @ data.X) + self._C2 * W.sum(axis=0)[:, None]
        squares = np.exp(np.clip(log_squares, -LARGEST, LARGEST))
        by_width *= -squares
        by_width += overlap_slopes(self._centres, log_squares, solved.penalty * (by_penalty + by_penalty.T))
        return self.value(solved), by_width, float(np.sum(by_penalty * solved.penalty)), solved.expansion


def shifted_cholesky(M: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the Cholesky factor of M plus a trifle, more where rounding left M indefinite."""
    shift = max(_JITTER * float(np.trace(M)) / len(M), np.finfo(float).tiny)
    while True:
        shifted = M.copy()
        shifted[np.diag_indices_from(shifted)] += shift
        try:
            return linalg.cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            shift *= 10.0
