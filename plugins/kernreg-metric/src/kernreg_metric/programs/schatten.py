"""The positive semi-definite matrix of bounded Schatten norm with the largest inner product."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq


@dataclass(frozen=True)
class Spectrum:
    """Positive eigenvalues, largest first, and their vectors in columns.

    Attributes
    ----------
    values : ndarray of shape (r,)
    vectors : ndarray of shape (n, r)
    bound : float
        For the result of `best_kernel`: the largest value of ⟨A, K⟩.
    """

    values: np.ndarray
    vectors: np.ndarray
    bound: float = 0.0

    @staticmethod
    def positive(values: np.ndarray, vectors: np.ndarray) -> Spectrum:
        """Return the positive ones of some eigenpairs; those of the size of rounding are taken as zero."""
        threshold = len(vectors) * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0)
        order = [i for i in np.argsort(-values, kind="stable") if values[i] > threshold]
        vectors = vectors[:, order]
        signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(order))])
        return Spectrum(values[order], vectors * signs)

    def matrix(self) -> np.ndarray:
        """Return the matrix with these eigenpairs."""
        return (self.vectors * self.values) @ self.vectors.T


def positive_part(A: np.ndarray) -> Spectrum:
    """Return the eigenpairs of a symmetric matrix whose eigenvalues are positive.

    >>> positive_part(np.array([[1.0, 0.0], [0.0, -2.0]])).matrix().tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    return Spectrum.positive(*np.linalg.eigh(A))


def best_kernel(positive: Spectrum, p: float, budget: float) -> Spectrum:
    """Return the K with the largest ⟨A, K⟩ under K ⪰ 0, tr(Kᵖ) ≤ budget, from the positive part of A.

    By Hölder's inequality it has the eigenvectors of A and eigenvalues in proportion to a^(1/(p-1)); the maximum is
    budget^(1/p) times the norm of A₊ of exponent q = p/(p-1).

    >>> K = best_kernel(positive_part(np.diag([3.0, 4.0, -1.0])), p=2.0, budget=25.0)
    >>> K.matrix().round(12).tolist(), round(K.bound, 12)
    ([[3.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 0.0]], 25.0)
    """
    a = positive.values
    if not len(a):
        return positive
    relative = a / a[0]  # powers of numbers of any size would overflow
    shape = relative ** (1.0 / (p - 1.0))
    values = shape * (budget / np.sum(shape**p)) ** (1.0 / p)
    return Spectrum(values, positive.vectors, float(a @ values))


def projected_on_ball(values: np.ndarray, p: float, budget: float) -> np.ndarray:
    """Return the nearest numbers x ≥ 0 with Σ xᵖ ≤ budget.

    Outside the ball x_i + μ p x_i^(p-1) = v_i, with the μ for which the sum is the budget.

    >>> projected_on_ball(np.array([3.0, 4.0, -1.0]), 2.0, 1.0).round(12).tolist()
    [0.6, 0.8, 0.0]
    >>> projected_on_ball(np.array([0.5, -0.5]), 3.0, 1.0).tolist()
    [0.5, 0.0]
    """
    v = np.maximum(values, 0.0)
    radius = budget ** (1.0 / p)
    largest = v.max(initial=0.0)
    if largest == 0.0 or np.sum((v / largest) ** p) ** (1.0 / p) * largest <= radius:
        return v
    v = v / radius  # the ball of radius one
    if p == 2.0:
        return radius * v / np.linalg.norm(v)

    def shrunk(mu: float) -> np.ndarray:
        low, high = np.zeros_like(v), v.copy()
        for _ in range(64):  # halving: as many digits as there are
            middle = 0.5 * (low + high)
            above = middle + mu * p * middle ** (p - 1.0) > v
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return 0.5 * (low + high)

    top = 1.0
    while np.sum(shrunk(top) ** p) > 1.0:
        top *= 4.0
    mu = brentq(lambda mu: float(np.sum(shrunk(mu) ** p)) - 1.0, 0.0, top, xtol=1e-300, rtol=1e-14)
    return radius * shrunk(mu)
