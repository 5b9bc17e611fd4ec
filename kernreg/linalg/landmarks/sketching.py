"""Sparse sign sketches: ΨA has as many rows as one likes, and nearly the singular values of A.

Every column of Ψ, which belongs to a row of A, has eight entries ±1/√8, one in each of eight segments of rows. Where
they stand, and with which sign, is a hash of seed, row and segment: whoever sees some rows of A knows their columns of
Ψ, in whatever order and wherever the rows are looked at.

With s rows for a matrix of k columns, singular values change by no more than factors 1 ± √(k/s), about.

References
----------
Cohen, Nearly tight oblivious subspace embeddings by trace inequalities, SODA 2016. Martinsson & Tropp, Randomized
numerical linear algebra, Acta Numerica 2020, section 9.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

SEGMENTS = 8
_FEWEST = 16  # rows of a segment
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class SignSketch:
    """Some segments of a sparse sign sketch.

    Attributes
    ----------
    seed : int
        Below 2⁶⁴.
    segment_rows : int
        Rows of each segment.
    segments : range
        Which of the eight there are.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.random.default_rng(0).standard_normal((2000, 5))
    >>> sketch = SignSketch.of(columns=5, oversampling=40, seed=1)
    >>> ratios = np.linalg.svd(sketch.matrix(slice(0, 2000)) @ A)[1] / np.linalg.svd(A)[1]
    >>> sketch.rows, bool(abs(ratios - 1.0).max() < 0.25)
    (200, True)
    """

    seed: int
    segment_rows: int
    segments: range = range(SEGMENTS)

    @classmethod
    def of(cls, columns: int, oversampling: float, seed: int) -> SignSketch:
        """Return a sketch for a matrix of that many columns, with so many rows for each of them."""
        return cls(seed, max(_FEWEST, int(np.ceil(oversampling * columns / SEGMENTS))))

    @property
    def rows(self) -> int:
        """How many rows these segments have together."""
        return self.segment_rows * len(self.segments)

    def parts(self, count: int) -> list[SignSketch]:
        """Return the segments in so many parts, one, two, four or eight: the Gram matrices of parts add up."""
        step = len(self.segments) // count
        return [SignSketch(self.seed, self.segment_rows, self.segments[i : i + step]) for i in range(0, SEGMENTS, step)]

    def matrix(self, rows: slice, scale: np.ndarray | None = None) -> sp.csc_array:
        """Return the columns of Ψ that belong to some rows of A, each times its scale."""
        count, size = len(self.segments), rows.stop - rows.start
        numbers = np.arange(rows.start, rows.stop, dtype=np.uint64)[:, None] * np.uint64(SEGMENTS)
        hashed = _mixed(numbers + np.asarray(self.segments, dtype=np.uint64), self.seed)
        within = (hashed >> np.uint64(33)) % np.uint64(self.segment_rows)
        places = within.astype(np.int32) + self.segment_rows * np.arange(count, dtype=np.int32)
        signs = np.where(hashed & np.uint64(1 << 32), 1.0, -1.0) / np.sqrt(SEGMENTS)
        if scale is not None:
            signs *= scale[:, None]
        starts = np.arange(0, count * size + 1, count, dtype=np.int32)
        return sp.csc_array((signs.ravel(), places.ravel(), starts), shape=(self.rows, size))


def _mixed(numbers: np.ndarray, seed: int) -> np.ndarray:
    """Return numbers in which every bit depends on every bit of the given ones and of the seed: SplitMix64."""
    z = (numbers + np.uint64(1)) * _GOLDEN + np.uint64(seed)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
