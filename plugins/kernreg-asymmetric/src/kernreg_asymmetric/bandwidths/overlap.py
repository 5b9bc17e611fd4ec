"""How much Gaussians of different widths overlap: the matrix of the penalty, and its derivatives by bandwidths.

    S_ab = Π_k (2√(tu)/(t + u))^½ exp(-2tu/(t + u) (c_k - d_k)²)

of the centres c and d of two Gaussians and their t = exp(η_a) and u = exp(η_b), feature by feature.
"""

from __future__ import annotations

import numpy as np

LARGEST = 60.0  # |η| beyond which a bandwidth is zero or infinite to any data


def overlaps(centres: np.ndarray, log_squares: np.ndarray) -> np.ndarray:
    """Return S, a matrix of inner products, of Gaussians of half the width with norm one: positive semi-definite.

    With equal widths it is the kernel matrix.

    >>> overlaps(np.array([[0.0], [1.0]]), np.zeros((2, 1))).round(4).tolist()
    [[1.0, 0.3679], [0.3679, 1.0]]
    """
    m = len(centres)
    exponent = np.zeros((m, m))
    alike = (log_squares == log_squares[0]).all(axis=0)
    for centre, logarithm, same in zip(centres.T, np.clip(log_squares, -LARGEST, LARGEST).T, alike, strict=True):
        apart = np.square(np.subtract.outer(centre, centre))
        if same:
            exponent -= np.exp(logarithm[0]) * apart
            continue
        ratio = np.subtract.outer(logarithm, logarithm)  # log t - log u
        mean = 2.0 / np.add.outer(np.exp(-logarithm), np.exp(-logarithm))  # the harmonic mean of t and u
        exponent -= mean * apart + 0.5 * np.log(np.cosh(0.5 * ratio))
    return np.exp(exponent)


def overlap_slopes(centres: np.ndarray, log_squares: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return Σ_b w_ab ∂ log S_ab/∂η_ak for every centre a and feature k, of symmetric weights w.

    >>> overlap_slopes(np.array([[0.0], [1.0]]), np.zeros((2, 1)), np.ones((2, 2))).tolist()
    [[-0.5], [-0.5]]
    """
    slopes = np.empty(centres.shape)
    alike = (log_squares == log_squares[0]).all(axis=0)
    for k, (centre, logarithm) in enumerate(zip(centres.T, np.clip(log_squares, -LARGEST, LARGEST).T, strict=True)):
        apart = np.square(np.subtract.outer(centre, centre))
        if alike[k]:
            slopes[:, k] = -0.5 * np.exp(logarithm[0]) * np.einsum("ab,ab->a", weights, apart)
            continue
        lean = np.tanh(0.5 * np.subtract.outer(logarithm, logarithm))
        mean = 2.0 / np.add.outer(np.exp(-logarithm), np.exp(-logarithm))
        slopes[:, k] = -np.einsum("ab,ab->a", weights, 0.5 * (1.0 - lean) * mean * apart + 0.25 * lean)
    return slopes
