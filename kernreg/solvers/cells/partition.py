"""A partition of samples into cells: a tree of splits whose leaves are the cells.

Growing, finding the samples near a cell, and routing new samples each go down the tree once. Every sample is looked at
once on each level, so they cost n log n.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from kernreg.solvers.cells.splits import Split, split_along_leading_direction, split_by_centres

PARTITIONS = {"tree": split_along_leading_direction, "kmeans": split_by_centres}


@dataclass(frozen=True)
class Partition:
    """The splits of a tree, each before those below it.

    Attributes
    ----------
    slopes, offsets : ndarray of shape (s, d) and (s,)
        The affine functions of all splits, one under the other.
    starts : ndarray of int
        Split i has those from starts[i] to starts[i + 1].
    below : ndarray of int of shape (s,)
        What is below each of them: the number of a split, or -1 - the number of a cell.
    n_cells : int
    """

    slopes: np.ndarray
    offsets: np.ndarray
    starts: np.ndarray
    below: np.ndarray
    n_cells: int

    def route(self, X: Any, n_nearest: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Return the cells (n, q) nearest to each sample, its own first, and how far it is from each.

        The square of the distance from a cell is the sum of those that the splits above it add. On each level the
        nearest q parts are followed.

        Examples
        --------
        >>> x = np.arange(8.0)[:, None]
        >>> partition, _ = grow(x, 2, "tree", 0)
        >>> cells, distances = partition.route(np.array([[0.2], [3.4]]), n_nearest=2)
        >>> cells.tolist(), distances.round(6).tolist()
        ([[0, 1], [1, 2]], [[0.0, 1.3], [0.0, 0.1]])
        """
        n, q = X.shape[0], min(n_nearest, self.n_cells)
        samples, places, squares = np.arange(n), np.full(n, 0 if len(self.starts) > 1 else -1), np.zeros(n)
        while (places >= 0).any():
            order = np.argsort(places, kind="stable")
            samples, places, squares = samples[order], places[order], squares[order]
            at_cells = int(np.searchsorted(places, 0))
            found = [(samples[:at_cells], places[:at_cells], squares[:at_cells])]
            for number, rows in _groups(places, at_cells):
                split, below = self._split(number)
                group = samples[rows]
                part = X if len(group) == n and q == 1 and np.array_equal(group, np.arange(n)) else X[group]
                if q == 1:
                    found.append((group, below[split.parts(part)], squares[rows]))
                    continue
                further = squares[rows, None] + split.distances(part) ** 2
                found.append((np.repeat(group, len(below)), np.tile(below, len(group)), further.ravel()))
            samples, places, squares = (np.concatenate(parts) for parts in zip(*found, strict=True))
            if q > 1:
                samples, places, squares = _nearest(samples, places, squares, q)
        order = np.lexsort((squares, samples))
        cells, distances = np.full((n, q), -1), np.full((n, q), np.inf)
        rank = _ranks(samples[order])
        cells[samples[order], rank] = -1 - places[order]
        distances[samples[order], rank] = np.sqrt(squares[order])
        return cells, distances

    def neighbours(self, X: Any, cells: np.ndarray, share: float) -> Iterator[tuple[int, np.ndarray, float]]:
        """Yield each cell with the samples of other cells nearest to it, and the distance of the farthest of these.

        Parameters
        ----------
        X : ndarray or CSR
            The samples the partition was grown on.
        cells : ndarray of int
            Their cells.
        share : float
            How many neighbours, as a multiple of the number of samples in the cell.
        """
        none = np.empty(0, dtype=np.intp)
        if len(self.starts) == 1:
            yield 0, none, 0.0
            return
        cells_below, part_of = self._cells_below(), np.empty(self.n_cells, dtype=np.intp)
        waiting = {0: (np.arange(len(cells)), none, np.empty(0))}
        while waiting:
            number = min(waiting)
            own, visitors, squares = waiting.pop(number)
            split, below = self._split(number)
            for j, place in enumerate(below):
                part_of[cells_below[place]] = j
            candidates = np.concatenate([own, visitors])
            parts = np.append(part_of[cells[own]], np.full(len(visitors), -1))
            further = split.distances(X[candidates]) ** 2
            further[len(own) :] += squares[:, None]
            for j, place in enumerate(below):
                inside, outside = np.flatnonzero(parts == j), np.flatnonzero(parts != j)
                nearest = outside[np.argsort(further[outside, j], kind="stable")[: ceil(share * len(inside))]]
                near, distances = candidates[nearest], further[nearest, j]
                if place >= 0:
                    waiting[int(place)] = own[inside], near, distances
                else:
                    yield -1 - int(place), np.sort(near), float(np.sqrt(distances.max(initial=0.0)))

    def is_sound(self) -> bool:
        """Whether every split and every cell is below one split that comes before it, as `grow` makes them.

        >>> grow(np.arange(8.0)[:, None], 3, "tree", 0)[0].is_sound()
        True
        """
        rows, splits = len(self.below), len(self.starts) - 1
        integers = all(a.ndim == 1 and a.dtype.kind == "i" for a in (self.starts, self.below))
        floats = self.slopes.dtype == self.offsets.dtype == np.float64
        if not (integers and floats and self.slopes.ndim == 2 and len(self.slopes) == rows == self.offsets.size):
            return False
        if splits < 0 or self.starts[0] != 0 or self.starts[-1] != rows or np.any(np.diff(self.starts) < 2):
            return False
        above = np.repeat(np.arange(splits), np.diff(self.starts))
        further = self.below[self.below >= 0]
        cells = -1 - self.below[self.below < 0] if splits else np.zeros(1, dtype=np.int64)
        return (
            bool(np.all((self.below < 0) | (self.below > above)))
            and np.array_equal(np.sort(further), np.arange(1, splits))
            and len(cells) == self.n_cells  # which is compared before memory is taken for so many
            and np.array_equal(np.sort(cells), np.arange(len(cells)))
        )

    def _split(self, number: int) -> tuple[Split, np.ndarray]:
        rows = slice(self.starts[number], self.starts[number + 1])
        return Split(self.slopes[rows], self.offsets[rows]), self.below[rows]

    def _cells_below(self) -> dict[int, np.ndarray]:
        """Return the cells below each place: a split, or a cell itself."""
        found = {-1 - cell: np.array([cell]) for cell in range(self.n_cells)}
        for number in reversed(range(len(self.starts) - 1)):
            found[number] = np.concatenate([found[int(place)] for place in self._split(number)[1]])
        return found


def grow(X: Any, cell_size: int, partition: str, seed: int) -> tuple[Partition, np.ndarray]:
    """Return a partition into cells of at most so many samples, and the cell of each sample.

    Samples that no split tells apart, because they are all the same, are dealt out in their order; new ones like them
    go to the first of their cells.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
    cell_size : int
    partition : {"tree", "kmeans"}
    seed : int
        Of the samples that are looked at, split by split.

    Examples
    --------
    >>> partition, cells = grow(np.array([[5.0], [1.0], [2.0], [6.0]]), 2, "tree", 0)
    >>> cells.tolist()
    [1, 0, 0, 1]
    """
    n, d = X.shape
    cells = np.zeros(n, dtype=np.intp)
    slopes: list[np.ndarray] = []
    offsets: list[np.ndarray] = []
    starts, below = [0], list[int]()
    n_cells, number = 0, 0
    waiting: deque[tuple[np.ndarray, int]] = deque()  # rows, and where in `below` the split or cell is to be noted

    def enter(rows: np.ndarray, place: int) -> None:
        nonlocal n_cells
        if len(rows) > cell_size:
            waiting.append((rows, place))
        else:
            cells[rows] = n_cells
            if place >= 0:
                below[place] = -1 - n_cells
            n_cells += 1

    enter(np.arange(n), -1)
    while waiting:
        rows, place = waiting.popleft()
        part = X if len(rows) == n else X[rows]
        split, codes = _split(part, cell_size, partition, np.random.default_rng([seed, number]))
        if place >= 0:
            below[place] = number
        slopes.append(split.slopes)
        offsets.append(split.offsets)
        first = starts[-1]
        starts.append(first + len(split.offsets))
        below.extend([0] * len(split.offsets))
        number += 1
        for j in range(len(split.offsets)):
            enter(rows[codes == j], first + j)
    functions = np.concatenate([np.empty((0, d)), *slopes]), np.concatenate([np.empty(0), *offsets])
    return Partition(*functions, np.array(starts), np.array(below, dtype=np.intp), n_cells), cells


def _split(X: Any, cell_size: int, partition: str, rng: np.random.Generator) -> tuple[Split, np.ndarray]:
    """Return a split of some samples and the part of each; by number where they are all the same."""
    n = X.shape[0]
    n_cells = ceil(n / cell_size)
    split = PARTITIONS[partition](X, n_cells, rng)
    if split is None and partition != "tree":
        split = split_along_leading_direction(X, n_cells, rng)
    if split is None:
        split = Split(np.zeros((2, X.shape[1])), np.zeros(2))
        return split, (np.arange(n) >= n * (n_cells // 2) / n_cells).astype(np.intp)
    return split, split.parts(X)


def _groups(places: np.ndarray, start: int) -> Iterator[tuple[int, slice]]:
    """Yield each place at or after a start in a sorted array, and where it stands there."""
    numbers, firsts = np.unique(places[start:], return_index=True)
    ends = np.append(firsts[1:], len(places) - start)
    for number, first, end in zip(numbers, firsts, ends, strict=True):
        yield int(number), slice(start + int(first), start + int(end))


def _ranks(samples: np.ndarray) -> np.ndarray:
    """Return how many equal ones stand before each item of a sorted array.

    >>> _ranks(np.array([0, 0, 0, 2, 2])).tolist()
    [0, 1, 2, 0, 1]
    """
    changes = np.flatnonzero(np.diff(samples, prepend=samples[:1] - 1))
    return np.arange(len(samples)) - np.repeat(changes, np.diff(np.append(changes, len(samples))))


def _nearest(
    samples: np.ndarray, places: np.ndarray, squares: np.ndarray, q: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each sample the q nearest places."""
    order = np.lexsort((squares, samples))
    kept = order[_ranks(samples[order]) < q]
    return samples[kept], places[kept], squares[kept]
