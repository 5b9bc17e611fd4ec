"""Kullback-Leibler divergences between mixtures of Gaussians, for blocks of pairs (compiled)."""

from __future__ import annotations

import math

import numpy as np

from kernreg.engine import compiled_loop


@compiled_loop
def _quadratic(precision, apart, diagonal):
    """apartᵀ P apart; P is the diagonal of a matrix, or all of it, row after row."""
    d, total = len(apart), 0.0
    if diagonal:
        for k in range(d):
            total += precision[k] * apart[k] * apart[k]
    else:
        for k in range(d):
            row = 0.0
            for m in range(d):
                row += precision[k * d + m] * apart[m]
            total += row * apart[k]
    return total


@compiled_loop
def _between_gaussians(mean, covariance, determinant, other, precision, other_determinant, diagonal, apart):
    """½ (tr(P₂ Σ₁) + (μ₁ - μ₂)ᵀ P₂ (μ₁ - μ₂) - d + log det Σ₂ - log det Σ₁)."""
    trace = 0.0
    for k in range(len(covariance)):
        trace += precision[k] * covariance[k]
    for k in range(len(apart)):
        apart[k] = mean[k] - other[k]
    distance = _quadratic(precision, apart, diagonal)
    return 0.5 * (trace + distance - len(apart) + other_determinant - determinant)


@compiled_loop
def _log_sum(terms, count):
    """log Σ exp(terms)."""
    top = -np.inf
    for b in range(count):
        top = max(top, terms[b])
    total = 0.0
    for b in range(count):
        total += math.exp(terms[b] - top)
    return top + math.log(total)


@compiled_loop
def overlaps(left, right, diagonal, out):
    """out[i, j, a] = log Σ_b ω_b exp(-KL(x_i's component a ‖ z_j's component b)); 0 for components without weight.

    The left side is weights, means, covariances and determinants of mixtures, logarithms of weights and determinants;
    the right side has precisions in place of covariances.
    """
    x_weights, x_means, x_covariances, x_determinants = left
    z_weights, z_means, z_precisions, z_determinants = right
    c, d = z_means.shape[1], z_means.shape[2]
    apart, terms = np.empty(d), np.empty(c)
    for i in range(x_means.shape[0]):
        for j in range(z_means.shape[0]):
            for a in range(x_means.shape[1]):
                out[i, j, a] = 0.0
                if x_weights[i, a] > -np.inf:
                    for b in range(c):
                        terms[b] = -np.inf
                        if z_weights[j, b] > -np.inf:
                            terms[b] = z_weights[j, b] - _between_gaussians(
                                x_means[i, a],
                                x_covariances[i, a],
                                x_determinants[i, a],
                                z_means[j, b],
                                z_precisions[j, b],
                                z_determinants[j, b],
                                diagonal,
                                apart,
                            )
                    out[i, j, a] = _log_sum(terms, c)


@compiled_loop
def log_densities(draws, mixture, diagonal, out):
    """out[s] = the logarithm of a mixture's density at each draw."""
    weights, means, precisions, determinants = mixture
    c, d = means.shape
    apart, terms = np.empty(d), np.empty(c)
    constant = 0.5 * d * math.log(2.0 * math.pi)
    for s in range(len(draws)):
        for b in range(c):
            terms[b] = -np.inf
            if weights[b] > -np.inf:
                for k in range(d):
                    apart[k] = draws[s, k] - means[b, k]
                distance = _quadratic(precisions[b], apart, diagonal)
                terms[b] = weights[b] - 0.5 * (distance + determinants[b]) - constant
        out[s] = _log_sum(terms, c)


@compiled_loop
def by_draws(draws, own, right, diagonal, out):
    """out[i, j] = the mean of log f_i - log g_j over the draws from f_i."""
    weights, means, precisions, determinants = right
    values = np.empty(draws.shape[1])
    for i in range(draws.shape[0]):
        for j in range(means.shape[0]):
            log_densities(draws[i], (weights[j], means[j], precisions[j], determinants[j]), diagonal, values)
            total = 0.0
            for s in range(len(values)):
                total += own[i, s] - values[s]
            out[i, j] = total / len(values)
