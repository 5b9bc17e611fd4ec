"""One split of a partition: affine functions of the samples, one for each part; a sample goes where its is largest.

``tree``     two parts for about equal numbers of cells, x·v below t or above, v the leading direction of the samples
``kmeans``   up to 16 Voronoi cells, x·c - |c|²/2 for centres c

Both look at some of the samples only, and pass over all of them once. A part is never smaller than about an eighth of a
cell: a machine of a few samples knows too little. The distance of a sample from a part is that from the nearest of the
bisecting planes it would have to cross::

    distance_j(x) = max_i (f_i(x) - f_j(x)) / |a_i - a_j|,      f_i(x) = a_i·x + b_i
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

_LOOKED_AT = 1000  # samples that tell the leading direction
_CENTRES, _FOR_EACH, _ROUNDS = 16, 200, 20  # centres of one split, samples looked at for each, rounds of Lloyd
_SMALLEST = 0.125  # of a cell
_GAP = 1e-9  # of the range: nearer than that samples are not told apart


@dataclass(frozen=True)
class Split:
    """Affine functions f_j(x) = slopes[j]·x + offsets[j] of the parts."""

    slopes: np.ndarray
    offsets: np.ndarray

    def scores(self, X: Any) -> np.ndarray:
        """Return f_j(x), (n, parts)."""
        return np.asarray(X @ self.slopes.T, dtype=np.float64) + self.offsets

    def parts(self, X: Any) -> np.ndarray:
        """Return the part of each sample.

        >>> Split(np.array([[0.0], [1.0]]), np.array([0.0, -2.0])).parts(np.array([[1.0], [5.0]])).tolist()
        [0, 1]
        """
        return self.scores(X).argmax(axis=1)

    def distances(self, X: Any) -> np.ndarray:
        """Return how far each sample is outside of each part, (n, parts); 0 inside.

        >>> Split(np.array([[0.0], [1.0]]), np.array([0.0, -2.0])).distances(np.array([[1.0], [5.0]])).tolist()
        [[0.0, 1.0], [3.0, 0.0]]
        """
        F = self.scores(X)
        found = np.zeros_like(F)
        for j, slope in enumerate(self.slopes):
            apart = np.linalg.norm(self.slopes - slope, axis=1)
            apart[apart == 0.0] = 1.0
            np.maximum(0.0, ((F - F[:, [j]]) / apart).max(axis=1), out=found[:, j])
        return found


def split_along_leading_direction(X: Any, n_cells: int, rng: np.random.Generator) -> Split | None:
    """Return the split into two parts for ⌊n_cells/2⌋ and ⌈n_cells/2⌉ cells; None where all samples are the same.

    The threshold lies in the middle of a gap between samples, that which is nearest to the share wanted.
    """
    direction = leading_direction(_some(X, _LOOKED_AT, rng))
    along = np.sort(np.asarray(X @ direction, dtype=np.float64).ravel())
    gaps = np.flatnonzero(np.diff(along) > _GAP * (np.abs(along[[0, -1]]).max() + along[-1] - along[0]))
    if not len(gaps):
        return None
    wanted = len(along) * (n_cells // 2) / n_cells - 1.0
    last = gaps[np.abs(gaps - wanted).argmin()]
    threshold = 0.5 * (along[last] + along[last + 1])
    return Split(np.stack([np.zeros_like(direction), direction]), np.array([0.0, -threshold]))


def leading_direction(X: Any) -> np.ndarray:
    """Return the unit vector along which samples vary most, its largest entry positive; by whichever Gram is smaller.

    >>> leading_direction(np.array([[0.0, 0.0], [3.0, -3.0], [1.0, -1.0]])).round(3).tolist()
    [0.707, -0.707]
    """
    n, d = X.shape
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    if d <= n:
        G = _dense(X.T @ X) - n * np.outer(mean, mean)
        direction = eigh(G, subset_by_index=[d - 1, d - 1])[1][:, 0]
    else:
        along = np.asarray(X @ mean, dtype=np.float64).ravel()
        G = _dense(X @ X.T) - along[:, None] - along + mean @ mean
        u = eigh(G, subset_by_index=[n - 1, n - 1])[1][:, 0]
        direction = np.asarray(X.T @ u, dtype=np.float64).ravel() - mean * u.sum()
        norm = float(np.linalg.norm(direction))
        direction = direction / norm if norm > 0.0 else np.eye(1, d)[0]
    return direction * np.where(direction[np.abs(direction).argmax()] < 0.0, -1.0, 1.0)


def split_by_centres(X: Any, n_cells: int, rng: np.random.Generator) -> Split | None:
    """Return the Voronoi cells of k-means, those with enough samples; None where these are fewer than two."""
    k = min(n_cells, _CENTRES)
    centres = k_means(_some(X, _FOR_EACH * k, rng), k, rng)
    fewest = _SMALLEST * X.shape[0] / n_cells
    while len(centres) > 1:
        split = Split(centres, -0.5 * np.einsum("ij,ij->i", centres, centres))
        counts = np.bincount(split.parts(X), minlength=len(centres))
        if counts.min() >= fewest:
            return split
        centres = np.delete(centres, counts.argmin(), axis=0)
    return None


def k_means(X: Any, k: int, rng: np.random.Generator) -> np.ndarray:
    """Return at most k centres: a start by k-means++, then rounds of Lloyd until nothing changes.

    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> np.sort(k_means(X, 2, np.random.default_rng(0)), axis=0).tolist()
    [[0.5], [10.5]]
    """
    n = X.shape[0]
    squares = np.asarray((X * X if isinstance(X, np.ndarray) else X.multiply(X)).sum(axis=1), dtype=np.float64).ravel()
    chosen = [int(rng.integers(n))]
    nearest = np.full(n, np.inf)
    for _ in range(k - 1):
        centre = _dense(X[chosen[-1:]])[0]
        nearest = np.minimum(nearest, np.maximum(0.0, squares - 2.0 * np.asarray(X @ centre).ravel() + centre @ centre))
        total = nearest.sum()
        if not total > _GAP**2 * squares.sum():
            break
        chosen.append(int(rng.choice(n, p=nearest / total)))
    centres, codes = _dense(X[chosen]), np.full(n, -1)
    for _ in range(_ROUNDS):
        before = codes
        codes = (np.asarray(X @ centres.T) - 0.5 * np.einsum("ij,ij->i", centres, centres)).argmax(axis=1)
        if np.array_equal(codes, before):
            break
        used, codes = np.unique(codes, return_inverse=True)
        members = sp.csr_array((np.ones(n), (codes, np.arange(n))), shape=(len(used), n))
        centres = _dense(members @ X) / np.bincount(codes)[:, None]
    return centres


def _some(X: Any, size: int, rng: np.random.Generator) -> Any:
    """Return at most so many rows, drawn at random, in their order."""
    n = X.shape[0]
    return X if n <= size else X[np.sort(rng.choice(n, size, replace=False))]


def _dense(A: Any) -> np.ndarray:
    return np.asarray(A if isinstance(A, np.ndarray) else A.toarray(), dtype=np.float64)
