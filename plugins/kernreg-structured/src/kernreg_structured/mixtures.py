"""Gaussians, and mixtures of them, fitted to a bag of vectors: never singular, however small the bag is.

The covariance of n vectors with scatter S (or of a component with the weight n and the scatter S of its vectors) is

    Σ = (S + ν diag(t)) / (n + ν),

as if ν more vectors had been seen whose variances are t: the maximum a posteriori of a conjugate prior. A bag of one
vector has the covariance ν/(1 + ν) diag(t); a large one its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

STEPS = 200
TOLERANCE = 1e-8  # of the mean log-likelihood, between two steps


@dataclass(frozen=True)
class Mixture:
    """Weights, means and covariances of components; without weight where there are fewer than were asked for.

    Attributes
    ----------
    log_weights : ndarray of shape (c,)
    means : ndarray of shape (c, d)
    covariances : ndarray of shape (c, d, d)
    """

    log_weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray

    def log_densities(self, x: np.ndarray) -> np.ndarray:
        """Return log(π_a N(x; μ_a, Σ_a)) of each vector and component."""
        n, (c, d) = len(x), self.means.shape
        found = np.full((n, c), -np.inf)
        for a in np.flatnonzero(np.isfinite(self.log_weights)):
            L = np.linalg.cholesky(self.covariances[a])
            y = np.linalg.solve(L, (x - self.means[a]).T)
            constant = self.log_weights[a] - 0.5 * d * np.log(2.0 * np.pi) - np.log(L.diagonal()).sum()
            found[:, a] = constant - 0.5 * (y * y).sum(axis=0)
        return found


def fitted(bag: np.ndarray, components: int, prior: float, variances: np.ndarray, diagonal: bool, seed: int) -> Mixture:
    """Return the mixture fitted to a bag by expectation maximisation; one Gaussian in closed form.

    A bag of fewer vectors than components gets as many components as vectors.

    >>> one = fitted(np.array([[0.0], [2.0]]), 1, 1.0, np.array([4.0]), False, 0)
    >>> one.means.tolist(), one.covariances.tolist()  # (2 + 4) / (2 + 1)
    ([[1.0]], [[[2.0]]])
    """
    n = len(bag)
    used = min(components, n)
    shares = np.ones((n, 1)) if used == 1 else _nearest(bag, _spread_out(bag, used, seed), variances)
    found, before = _maximised(bag, shares, components, prior, variances, diagonal), -np.inf
    for _ in range(STEPS if used > 1 else 0):
        densities = found.log_densities(bag)
        total = logsumexp(densities, axis=1)
        if total.mean() - before < TOLERANCE * max(1.0, abs(before)) and np.isfinite(before):
            break
        before = float(total.mean())
        shares = np.exp(densities[:, :used] - total[:, None])
        found = _maximised(bag, shares, components, prior, variances, diagonal)
    return found


def _maximised(
    bag: np.ndarray, shares: np.ndarray, components: int, prior: float, variances: np.ndarray, diagonal: bool
) -> Mixture:
    """Return the mixture of which each vector belongs to the components by these shares."""
    (n, d), used = bag.shape, shares.shape[1]
    log_weights, means = np.full(components, -np.inf), np.zeros((components, d))
    covariances = np.tile(np.diag(variances), (components, 1, 1))
    for a in range(used):
        count = shares[:, a].sum()
        if count > 0.0:
            log_weights[a] = np.log(count / n)
            means[a] = shares[:, a] @ bag / count
            apart = bag - means[a]
            scatter = (apart * shares[:, a, None]).T @ apart
            scatter = np.diag(scatter.diagonal()) if diagonal else scatter
            covariances[a] = (scatter + prior * np.diag(variances)) / (count + prior)
    return Mixture(log_weights, means, covariances)


def _spread_out(bag: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Return vectors of the bag that are far from each other, drawn as k-means++ does."""
    rng = np.random.default_rng(seed)
    chosen = [int(rng.integers(len(bag)))]
    squares = ((bag - bag[chosen[0]]) ** 2).sum(axis=1)
    for _ in range(count - 1):
        total = squares.sum()
        chosen.append(int(rng.choice(len(bag), p=squares / total) if total > 0.0 else rng.integers(len(bag))))
        squares = np.minimum(squares, ((bag - bag[chosen[-1]]) ** 2).sum(axis=1))
    return bag[chosen]


def _nearest(bag: np.ndarray, centres: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """Return 1 where a centre is the nearest one of a vector, else 0."""
    apart = ((bag[:, None] - centres) ** 2 / variances).sum(axis=2)
    return (np.arange(len(centres)) == apart.argmin(axis=1)[:, None]).astype(np.float64)
