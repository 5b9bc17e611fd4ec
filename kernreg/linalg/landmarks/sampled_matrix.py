"""A kernel matrix of which only sections are seen: its shape, its normalisers, its sections, its landmarks."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.errors import ParameterError, shown
from kernreg.kernels.base import Kernel
from kernreg.kernels.combinations.algebra import Transposed
from kernreg.kernels.function import FunctionKernel
from kernreg.linalg.landmarks.pivot_choice import Selection, choose_pivots_of_both
from kernreg.linalg.landmarks.sections import EstimatedRows, ExactRows, Section, Swapped, quadrature
from kernreg.linalg.landmarks.selection import METHODS, leverage_of_both, select_landmarks

NORMALIZERS = ("auto", "exact", "estimate")

#: Kernel values that take a fraction of a second: up to here normalisers are summed up, estimated beyond.
_QUICKLY_SUMMED = 25_000_000


class SectionedMatrix:
    """G = K(X, Z), N × M, known by sections.

    Parameters
    ----------
    kernel : Kernel
    X, Z : array or CSR
        Samples of rows and columns; ``Z=None`` stands for X.
    normalizers : {"auto", "exact", "estimate"}
        Of row-normalised kernels, see `sections`. ``auto`` sums up what takes a fraction of a second (25 million kernel
        values, or sparse samples with as many shared entries), and estimates beyond.

    Attributes
    ----------
    shape : tuple of int
    mirrored : bool
        Whether G is symmetric, so that one set of landmarks serves rows and columns, and one product both sides.
    normalizers : {"none", "exact", "estimate"}
        What is done; ``"none"`` for kernels that are not row-normalised functions of two samples.
    normalizer_error : float
        Relative error of the estimated sums of the last section, root mean square, on landmark rows left out of the
        fit.
    trace_error : float or None
        What the last landmarks leave, where they are pivots of Cholesky: the larger share of both sides.

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.kernels.builtin import sne
    >>> X = np.arange(6.0)[:, None]
    >>> matrix = SectionedMatrix(sne(sigma=2.0), X)
    >>> section = matrix.section(np.array([0, 3]), np.array([1, 2, 5]))
    >>> np.allclose(section.block(), sne(sigma=2.0)(X)[[0, 3]][:, [1, 2, 5]])
    True
    """

    def __init__(self, kernel: Kernel, X: Any, Z: Any = None, normalizers: str = "auto"):
        self.X, given = kernel.check_sample_pair(X, Z)
        self.one = given is None
        self.Z = self.X if self.one else given
        self.shape = (self.X.shape[0], self.Z.shape[0])
        self.normalizer_error = 0.0
        self.trace_error: float | None = None
        self._turned = isinstance(kernel, Transposed) and _is_row_normalised(kernel.T)
        self._kernel = kernel.T if self._turned else kernel
        self.mirrored = self.one and kernel.symmetric and not kernel.takes_reference
        self._normalizers: np.ndarray | None = None
        if not _is_row_normalised(self._kernel):
            if normalizers == "estimate":
                raise ParameterError(
                    f"normalizers='estimate' is for row-normalised kernels such as sne and t (and their transposes); "
                    f"{kernel.name!r} is not one; use 'auto' or 'exact'"
                )
            self.normalizers = "none"
            self.kernel = kernel.anchored(self.X, None if self.one else self.Z)
            return
        # The matrix that has normalised rows, and its samples: G itself, or its transpose.
        self._rows, self._columns = (self.Z, self.X) if self._turned else (self.X, self.Z)
        quick = self._kernel.product_cost(self._rows, self._columns) <= _QUICKLY_SUMMED
        self.normalizers = ("exact" if quick else "estimate") if normalizers == "auto" else normalizers
        self.kernel = self._kernel
        if self.normalizers == "exact":
            self.kernel = self._kernel.bind(self._columns)
            self._normalizers = self._kernel.row_normalizers(self._rows, self._columns)

    def section(self, rows: np.ndarray, columns: np.ndarray) -> Section | Swapped:
        """Return these rows and columns."""
        if self.normalizers == "none":
            return Section(self.kernel, self.X[rows], self.X[rows] if self._same(rows, columns) else self.Z[columns])
        if self._turned:
            return Swapped(self._row_normalised(columns, rows))
        return self._row_normalised(rows, columns)

    def _row_normalised(self, rows: np.ndarray, columns: np.ndarray) -> Section:
        row_samples, column_samples = self._rows[rows], self._columns[columns]
        if self._normalizers is not None:
            return ExactRows(self.kernel, row_samples, column_samples, self._normalizers[rows])
        sums = self._kernel.row_normalizers(row_samples, self._columns)
        exact = ExactRows(self._kernel.bind(column_samples), row_samples, column_samples, sums)
        weights, self.normalizer_error = quadrature(exact.block(), self._columns.shape[0])
        return EstimatedRows(exact.kernel, row_samples, column_samples, sums, weights)

    def products(self, section: Section | Swapped, V: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return G[:, columns] V and G[rows, :]ᵀ U of a section of this matrix."""
        if self.mirrored and isinstance(section, Section) and section.row_samples is section.column_samples:
            both = section.left(self.X, np.hstack([V, U]))
            return both[:, : V.shape[1]], both[:, V.shape[1] :]
        if isinstance(section, Swapped):
            return section.inner.right(self.X, V), section.inner.left(self.Z, U, self._normalizers)
        return section.left(self.X, V, self._normalizers), section.right(self.Z, U)

    def evaluations(self, rows: int, columns: int) -> int:
        """Return how many kernel values a section of that size stands for; sparse samples may need fewer."""
        N, M = self.shape
        if self.mirrored and rows == columns:
            return rows * columns + N * rows
        looked_at = rows * columns + N * columns + rows * M
        if self.normalizers == "estimate":  # the sums of the landmark rows
            looked_at += columns * N if self._turned else rows * M
        return looked_at

    @property
    def evaluations_before(self) -> int:
        """How many kernel values were summed up before any section is looked at."""
        return self.shape[0] * self.shape[1] if self.normalizers == "exact" else 0

    # Landmarks ----------------------------------------------------------------------------------------------

    def landmarks(
        self, sizes: tuple[int, int], methods: tuple[Any, Any], rank: int, seed: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return row and column landmarks; uniform ones of a larger size contain those of a smaller one.

        Parameters
        ----------
        sizes : tuple of int
            (n, m).
        methods : tuple
            How each side's are chosen, as `choose_landmarks` takes it, or their indices.
        rank : int
            How many components they are for: leverage scores are those of that many leading directions.
        seed : int
        """
        streams = [np.random.default_rng([seed, number]) for number in range(3)]
        named = [method for method in methods if isinstance(method, str)]
        if "leverage" in named:
            by_leverage = leverage_of_both(self._scores_block, self.shape, sizes, rank, streams[2])
        by_pivots = "rpcholesky" in named and not (self.mirrored and self.kernel.definite)
        if by_pivots:
            pivots = choose_pivots_of_both(self._scores_block, self.shape, sizes, rank, streams[2])
        chosen: list[Selection] = []
        for side, (method, size, samples) in enumerate(zip(methods, sizes, (self.X, self.Z), strict=True)):
            word = method if isinstance(method, str) else ""
            if side == 1 and self._shares(sizes, methods):
                chosen.append(chosen[0])
            elif word == "uniform":
                chosen.append(Selection(np.sort(streams[side].permutation(samples.shape[0])[:size])))
            elif word == "leverage":
                chosen.append(Selection(by_leverage[side]))
            elif word == "rpcholesky" and by_pivots:
                chosen.append(pivots[side])
            else:
                count = size if word else None
                chosen.append(select_landmarks(self._kernel, samples, count, method, random_state=streams[side]))
        errors = [selection.trace_error for selection in chosen if selection.trace_error is not None]
        self.trace_error = max(errors, default=None)
        return chosen[0].indices, chosen[1].indices

    def _shares(self, sizes: tuple[int, int], methods: tuple[Any, Any]) -> bool:
        """Whether the landmarks of the rows are those of the columns, too."""
        named = isinstance(methods[0], str) and isinstance(methods[1], str) and methods[0] == methods[1]
        return self.mirrored and named and sizes[0] == sizes[1]

    def _scores_block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return G[rows, columns] for scores; where normalisers are estimated, normalised over these columns."""
        if self.normalizers == "none":
            return np.asarray(self.kernel(self.X[rows], self.Z[columns]), dtype=np.float64)
        if self._turned:
            rows, columns = columns, rows
        a, b = self._rows[rows], self._columns[columns]
        if self._normalizers is not None:
            block = ExactRows(self.kernel, a, b, self._normalizers[rows]).block()
        else:
            block = np.asarray(self._kernel.bind(b)(a, b), dtype=np.float64)
        return block.T if self._turned else block

    def _same(self, rows: np.ndarray, columns: np.ndarray) -> bool:
        return self.one and np.array_equal(rows, columns)


def check_methods(landmarks: Any, one: bool) -> tuple[Any, Any]:
    """Return how the landmarks of rows and columns are chosen: one word for both sides, indices, or a tuple of two."""
    if isinstance(landmarks, tuple) and len(landmarks) == 2:
        return landmarks
    if isinstance(landmarks, str):
        if landmarks not in METHODS:
            accepted = ", ".join(map(repr, METHODS))
            raise ParameterError(
                f"landmarks={shown(landmarks)}; accepted are {accepted}, an array of sample indices, or a tuple of "
                "two of these, for rows and columns"
            )
        return landmarks, landmarks
    if not one:
        raise ParameterError(
            "landmarks are indices, and there are two sample sets; give a tuple, (indices of rows, indices of columns)"
        )
    return landmarks, landmarks


def _is_row_normalised(kernel: Kernel) -> bool:
    return isinstance(kernel, FunctionKernel) and kernel.normalize == "rows"
