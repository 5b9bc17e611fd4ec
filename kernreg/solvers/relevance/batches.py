"""Batches of samples: neighbourhoods under the weights of the moment, or any samples; some are held out."""

from __future__ import annotations

import numpy as np

from kernreg.engine.budget import chunks

BATCHES = ("near", "random")

_HELD_OUT = 0.2
_ROUNDING = 16.0 * float(np.finfo(np.float64).eps)
_LOOKED_AT = 50_000  # samples from which batches are drawn: neighbourhoods of more would take longer than the rest


class Batches:
    """Draws batches of samples and their targets.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    Y : ndarray of shape (n, columns)
    size : int
        Samples of a batch.
    near : bool
        Whether a batch is a neighbourhood, since it is near samples that a machine on many tells apart.
    power : int
        Of differences in the distance.
    rng : numpy.random.Generator
    """

    def __init__(self, X: np.ndarray, Y: np.ndarray, size: int, near: bool, power: int, rng: np.random.Generator):
        order = rng.permutation(len(X))[:_LOOKED_AT]
        self._X, self._Y = np.asarray(X[order], dtype=np.float64), Y[order]
        n = len(order)
        self.held_out = max(1, int(_HELD_OUT * n))
        self._size, self._near, self._power, self._rng = size, near, power, rng

    @property
    def spread(self) -> np.ndarray:
        """The standard deviation of each feature, zero where it is no more than the rounding errors of a constant."""
        spread, size = self._X.std(axis=0), np.abs(self._X).max(axis=0, initial=0.0)
        return np.where(spread > _ROUNDING * size, spread, 0.0)

    def training(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the samples of a batch, times weights, and their targets; none is held out."""
        rows = self._drawn(weights, len(self._X) - self.held_out, self._rng.random())
        return self._X[rows] * weights, _centred(self._Y[rows])

    def checks(self, *several: np.ndarray, count: int) -> list[np.ndarray]:
        """Return samples of some batches of all samples, in neighbourhoods under each of several weights by turns."""
        centres = 1.0 - _HELD_OUT * self._rng.random(count)
        return [
            self._drawn(several[number % len(several)], len(self._X), place) for number, place in enumerate(centres)
        ]

    def checked(self, rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return samples times weights, their targets, and which of them are held out."""
        return self._X[rows] * weights, _centred(self._Y[rows]), rows >= len(self._X) - self.held_out

    def _drawn(self, weights: np.ndarray, n: int, place: float) -> np.ndarray:
        """Return some of the first n samples, those near the one at a place in [0, 1) among them."""
        if n <= self._size:
            return np.arange(n)
        if not self._near:
            return self._rng.choice(n, self._size, replace=False)
        used = weights > 0.0
        centre, w = self._X[min(int(place * n), n - 1), used], weights[used]
        parts = (self._X[:n][rows][:, used] for rows in chunks(self._X[:n]))
        distances = np.concatenate([(np.abs((X - centre) * w) ** self._power).sum(axis=1) for X in parts])
        return np.argpartition(distances, self._size - 1)[: self._size]


def _centred(Y: np.ndarray) -> np.ndarray:
    return Y - Y.mean(axis=0)
