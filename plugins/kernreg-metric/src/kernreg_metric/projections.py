"""LogDet projections: the kernel matrix nearest to a given one among those that keep bounds on distances.

Each constraint c bounds the distance of one pair, p_c = K_ii + K_jj - 2 K_ij, from above (δ_c = 1, similar) or from
below (δ_c = -1, dissimilar). With multipliers λ ≥ 0 the optimum is K = (K_0⁻¹ + Σ δ_c λ_c z_c z_cᵀ)⁻¹, z_c = e_i - e_j,
and the exact projection on one constraint, which also takes back what earlier projections overdid, is a rank-one update
of the current K.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from kernreg.engine import compiled_loop
from kernreg.linalg import generator

# Rank-one updates are gathered and added to K together, as one matrix product: as many as keep their part of the work,
# reading entries of K that are still to be updated, below that of the product.
_GATHERED = 32
_STRIP = 128  # rows of K updated at once, which then stay in cache


@dataclass(frozen=True)
class PairBounds:
    """Bounds on the distances of pairs of samples.

    Attributes
    ----------
    rows, columns : ndarray of int of shape (c,)
        The two samples of each pair.
    signs : ndarray of shape (c,)
        1: the distance is at most the bound (similar); -1: at least (dissimilar).
    bounds : ndarray of shape (c,)
        Positive.
    """

    rows: np.ndarray
    columns: np.ndarray
    signs: np.ndarray
    bounds: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    def distances(self, K: np.ndarray) -> np.ndarray:
        """Return K_ii + K_jj - 2 K_ij of each pair."""
        diagonal = K.diagonal()
        return diagonal[self.rows] + diagonal[self.columns] - 2.0 * K[self.rows, self.columns]

    def laplacian(self, multipliers: np.ndarray, n: int) -> np.ndarray:
        """Return Σ δ_c λ_c z_c z_cᵀ, the Laplacian of a graph with signed weights."""
        B = np.zeros((n, n))
        np.add.at(B, (self.rows, self.columns), -self.signs * multipliers)
        B += B.T
        np.fill_diagonal(B, -B.sum(axis=1))
        return B


@dataclass(frozen=True)
class Projected:
    """What the projections reached.

    Attributes
    ----------
    multipliers : ndarray of shape (c,)
        λ, none negative, zero for constraints that do not matter.
    bounds : ndarray of shape (c,)
        The bounds as kept: those given, or relaxed where slack is allowed.
    sweeps : int
    change : float
        Largest relative change that a projection of the last sweep made to a distance: zero at the optimum, where
        every bound holds, and with equality wherever λ > 0.
    converged : bool
    """

    multipliers: np.ndarray
    bounds: np.ndarray
    sweeps: int
    change: float
    converged: bool


def project(
    K: np.ndarray,
    pairs: PairBounds,
    *,
    gamma: float = np.inf,
    tol: float = 1e-3,
    max_iter: int = 1000,
    random_state: Any = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Projected:
    """Project a kernel matrix on all constraints in turn, again and again, until no projection changes it.

    Each sweep has an order of its own: in one and the same order the projections undo each other's work for long, and
    the number of sweeps is many times larger.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Positive semi-definite, and every distance that is bounded from below positive. Overwritten with the result.
    pairs : PairBounds
    gamma : float
        Weight of the divergence of the bounds from those given; infinite: they are kept as given.
    tol : float
        Largest relative change of a distance in a sweep at which to stop.
    max_iter : int
        Most sweeps.
    random_state : int, Generator or None
        Of the orders.
    progress : callable
        Told the number of sweeps done.
    """
    n = len(K)
    multipliers, bounds = np.zeros(len(pairs)), pairs.bounds.astype(np.float64)
    constraints = _Constraints(pairs.rows, pairs.columns, pairs.signs, multipliers, bounds)
    updates = _Updates(
        np.zeros((n, _GATHERED)), np.zeros((_GATHERED, n)), np.zeros(_GATHERED), np.empty((min(n, _STRIP), n))
    )
    change, sweeps, rng = np.inf, 0, generator(random_state)
    # The products are small: threads of BLAS would only wait for each other.
    with threadpool_limits(limits=1, user_api="blas"):
        while change > tol and sweeps < max_iter:
            order = rng.permutation(len(pairs))
            change = _sweep(K, order, constraints, gamma, updates)
            sweeps += 1
            progress(sweeps)
    return Projected(multipliers, bounds, sweeps, float(change), bool(change <= tol))


class _Constraints(NamedTuple):
    """Pairs, and the multipliers and bounds that sweeps change, as compiled code takes them."""

    rows: np.ndarray
    columns: np.ndarray
    signs: np.ndarray
    multipliers: np.ndarray
    bounds: np.ndarray


class _Updates(NamedTuple):
    """Rank-one updates of K that are gathered, pending diag(factors) pendingᵀ, and memory to add them in."""

    pending: np.ndarray
    weighted: np.ndarray
    factors: np.ndarray
    strip: np.ndarray


# Sums may be reordered, so that they vectorise; infinities and NaN keep their meaning.
_vectorised = compiled_loop(fastmath={"reassoc", "contract"}, error_model="python")


@_vectorised
def _sweep(K, order, constraints, gamma, updates):
    """Project on every constraint once; return the largest relative change of a distance.

    K is the matrix plus ``pending diag(factors) pendingᵀ``, of which the first ``used`` columns count.
    """
    n = len(K)
    rows, columns, signs, multipliers, bounds = constraints
    pending, factors = updates.pending, updates.factors
    share = gamma / (gamma + 1.0) if gamma < np.inf else 1.0
    used, largest = 0, 0.0
    slope = np.empty(len(factors))
    for c in order:
        i, j, sign = rows[c], columns[c], signs[c]
        distance = K[i, i] + K[j, j] - 2.0 * K[i, j]
        for b in range(used):
            difference = pending[i, b] - pending[j, b]
            distance += factors[b] * difference * difference
        if distance <= 0.0:  # two samples that are one: nothing moves them apart, and they are near enough
            continue
        step = min(multipliers[c], sign * share * (1.0 / distance - 1.0 / bounds[c]))
        if step == 0.0:
            continue
        # Where nothing holds the multiplier back this is the relative gap between distance and bound.
        largest = max(largest, abs(step) / share * min(distance, bounds[c]))
        multipliers[c] -= step
        if gamma < np.inf:
            bounds[c] = gamma * bounds[c] / (gamma + sign * step * bounds[c])
        for b in range(used):
            slope[b] = factors[b] * (pending[i, b] - pending[j, b])
        for k in range(n):
            total = K[i, k] - K[j, k]
            for b in range(used):
                total += pending[k, b] * slope[b]
            pending[k, used] = total
        factors[used] = sign * step / (1.0 - sign * step * distance)
        used += 1
        if used == len(factors):
            _add_pending(K, updates, used)
            used = 0
    if used:
        _add_pending(K, updates, used)
    return largest


@_vectorised
def _add_pending(K, updates, used):
    """Add pending diag(factors) pendingᵀ to K."""
    n = len(K)
    pending, weighted, factors, strip = updates
    for b in range(used):
        for k in range(n):
            weighted[b, k] = factors[b] * pending[k, b]
    weighted[used:] = 0.0
    for start in range(0, n, len(strip)):
        stop = min(n, start + len(strip))
        np.dot(pending[start:stop], weighted, strip[: stop - start])
        K[start:stop] += strip[: stop - start]
