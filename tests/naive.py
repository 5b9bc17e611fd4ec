"""Slow, obvious oracles: the formulas of the kernels in plain numpy, one pair of samples at a time.

Nothing here uses kernreg. Every function computes in long double, so that what it returns may be called exact.
"""

from __future__ import annotations

import numpy as np

L = np.longdouble


def rows_of(X):
    """The samples as long double rows: dense, sparse or a table."""
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return X.astype(L)


def pairs(function, X, Z=None):
    """The matrix of function(x, z) over all pairs of rows."""
    X = rows_of(X)
    Z = X if Z is None else rows_of(Z)
    return np.array([[function(x, z) for z in Z] for x in X], dtype=L).reshape(len(X), len(Z))


def dot(x, z):
    return (x * z).sum()


def sqeuclidean(x, z):
    return ((x - z) ** 2).sum()


def l1(x, z):
    return np.abs(x - z).sum()


def linear(X, Z=None):
    return pairs(dot, X, Z)


def poly(X, Z=None, degree=3, c=1.0):
    return pairs(lambda x, z: (dot(x, z) + L(c)) ** degree, X, Z)


def tanh(X, Z=None, c=1.0, t=0.0):
    return pairs(lambda x, z: np.tanh(L(c) * dot(x, z) + L(t)), X, Z)


def rbf(X, Z=None, sigma=1.0):
    return pairs(lambda x, z: np.exp(-sqeuclidean(x, z) / L(sigma) ** 2), X, Z)


def laplacian(X, Z=None, sigma=1.0):
    return pairs(lambda x, z: np.exp(-l1(x, z) / L(sigma)), X, Z)


def tl1(X, Z=None, rho=1.0):
    return pairs(lambda x, z: max(L(rho) - l1(x, z), L(0)), X, Z)


def cauchy(X, Z=None, sigma=1.0):
    return pairs(lambda x, z: 1 / (1 + sqeuclidean(x, z) / L(sigma) ** 2), X, Z)


def matern(X, Z=None, sigma=1.0, nu=1.5):
    def value(x, z):
        s = np.sqrt(2 * L(nu)) * np.sqrt(sqeuclidean(x, z)) / L(sigma)
        return {0.5: 1, 1.5: 1 + s, 2.5: 1 + s + s * s / 3}[nu] * np.exp(-s)

    return pairs(value, X, Z)


def rational_quadratic(X, Z=None, sigma=1.0, alpha=1.0):
    return pairs(lambda x, z: (1 + sqeuclidean(x, z) / (2 * L(alpha) * L(sigma) ** 2)) ** -L(alpha), X, Z)


def chi2(X, Z=None, sigma=1.0):
    def value(x, z):
        there = x + z > 0
        return np.exp(-(((x - z)[there] ** 2) / (x + z)[there]).sum() / L(sigma))

    return pairs(value, X, Z)


def intersection(X, Z=None):
    return pairs(lambda x, z: np.minimum(x, z).sum(), X, Z)


def kl(X, Z=None, a=1.0):
    def value(x, z):
        there = x > 0
        if (z[there] == 0).any():
            return L(0)
        return np.exp(-L(a) * (x[there] * np.log(x[there] / z[there])).sum())

    return pairs(value, X, Z)


def kl_gaussian(X, Z=None, a=1.0):
    def value(x, z):
        half = len(x) // 2
        gap, v, w = x[:half] - z[:half], x[half:], z[half:]
        return np.exp(-L(a) * (np.log(w / v) + (v + gap * gap) / w - 1).sum() / 2)

    return pairs(value, X, Z)


def normalised(log_weights, reference_log_weights):
    """exp(log_weights) over the row sums of exp(reference_log_weights)."""
    top = reference_log_weights.max(axis=1, keepdims=True)
    total = np.exp(reference_log_weights - top).sum(axis=1, keepdims=True)
    return np.exp(log_weights - top) / total


def sne(X, Z=None, sigma=1.0, reference=None, self_term=True):
    """SNE with rows normalised over ``reference`` (Z by default); without self_term identical samples do not count."""
    return _row_normalised(lambda x, z: -sqeuclidean(x, z) / L(sigma) ** 2, X, Z, reference, self_term)


def t(X, Z=None, sigma=1.0, reference=None, self_term=True):
    """T kernel, as `sne`."""
    return _row_normalised(lambda x, z: -np.log1p(sqeuclidean(x, z) / L(sigma) ** 2), X, Z, reference, self_term)


def _row_normalised(log_weight, X, Z, reference, self_term):
    X = rows_of(X)
    Z = X if Z is None else rows_of(Z)
    R = Z if reference is None else rows_of(reference)

    def weight(x, z):
        return -L(np.inf) if not self_term and (x == z).all() else log_weight(x, z)

    return normalised(pairs(weight, X, Z), pairs(weight, X, R))


def relative_error(K, exact):
    """max |K - exact| / max |exact|: what the accuracy bars are about."""
    scale = np.abs(exact).max(initial=L(0))
    difference = np.abs(K.astype(L) - exact)
    assert np.isfinite(difference).all(), "the kernel or the oracle is not finite"
    return float(difference.max(initial=L(0)) / scale) if scale > 0 else float(difference.max(initial=L(0)))
