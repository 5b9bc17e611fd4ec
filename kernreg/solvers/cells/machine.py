"""What both machines share: the fit from top to bottom, routed predictions, leave-one-out over all cells."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from kernreg.common.display import Display
from kernreg.engine import whole
from kernreg.errors import ParameterError
from kernreg.kernels import Kernel
from kernreg.linalg.randomness import generator
from kernreg.solvers.cells.parameters import CellParameters
from kernreg.solvers.cells.partition import Partition, grow
from kernreg.solvers.cells.running import fit_cells, over_cells, warn_of_cells
from kernreg.solvers.cells.search import Fitted
from kernreg.solvers.cells.training import CellData, Sight, check_data, check_new
from kernreg.solvers.samples import take

_REACH = 0.5  # samples around a cell, as a share of its own, within which predictions are blended if nothing overlaps


@dataclass(frozen=True)
class CellsReport(Display):
    """What was fitted.

    Attributes
    ----------
    cells : int
    smallest, largest : int
        Samples of a cell, without those of others that it is trained on.
    trained_on : int
        The most samples that a machine was trained on.
    constant : int
        Cells of one class, which have no machine.
    pilots : int
        Cells in which everything was tried, where the others were content with less.
    factors : dict
        How many cells took each multiple of the width.
    """

    cells: int
    smallest: int
    largest: int
    trained_on: int
    constant: int = 0
    pilots: int = 0
    factors: dict[str, int] | None = None


class CellMachine(CellParameters):
    """A machine for every cell of a partition of the samples."""

    solvers_: list[Any]
    partition_: Partition
    factors_: np.ndarray
    kernel_: Kernel
    _sight: Sight
    _pair: bool
    _reach: np.ndarray
    _rows: list[np.ndarray]
    _y: np.ndarray
    _weights: np.ndarray | None
    _codes_of_cells: list[np.ndarray]
    _cells: np.ndarray
    sizes_: np.ndarray
    _blended: int
    _left_out: np.ndarray | None

    # What a concrete machine says ---------------------------------------------------------------------------

    @abstractmethod
    def _targets_of(self, data: CellData) -> dict[str, Any]:
        """Return what is kept of the targets; raise DataError where there is nothing to learn."""

    @abstractmethod
    def _codes(self, y: np.ndarray, kept: dict[str, Any]) -> np.ndarray:
        """Return which classes are in some targets; one item where no machine can be fitted to them."""

    @abstractmethod
    def _answer(self, cell: int, values: np.ndarray | None, n: int) -> np.ndarray:
        """Return decision values of the machine of a cell (None: it has none) for n samples as (n, columns)."""

    @abstractmethod
    def _decision(self, machine: Any, X: Any) -> np.ndarray:
        """Return the merged decision values of the machine of a cell."""

    # The fit ------------------------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        # Check.
        self._check_parameters()
        kernel = self.resolve_kernel()
        plan = self._plan(kernel)
        data = check_data(self, kernel, X, y, sample_weight, regression=is_regressor(self))
        kept = self._targets_of(data)
        # Partition the samples, and find those near each cell.
        rng = generator(self.random_state)
        sight = Sight.of(kernel, data.X, rng)
        features = sight.features(data.X)
        partition, cells = grow(features, int(self.cell_size), self.partition, int(rng.integers(2**62)))
        rows, reach = self._neighbourhoods(partition, features, cells)
        # A machine for each cell that has something to tell apart.
        codes = [self._codes(data.y[each], kept) for each in rows]
        several = [cell for cell, found in enumerate(codes) if len(found) > 1]
        fitted, pilots = fit_cells(data, rows, several, plan, pilots=self.search == "pilots")
        warn_of_cells(fitted, partition.n_cells)
        # Store.
        sizes = np.bincount(cells, minlength=partition.n_cells)
        self.__dict__.update(
            kept,
            kernel_=kernel,
            partition_=partition,
            solvers_=[fitted[cell].machine if cell in fitted else None for cell in range(partition.n_cells)],
            factors_=np.array([fitted[cell].factor if cell in fitted else np.nan for cell in range(partition.n_cells)]),
            sizes_=sizes,
            solver_report_=_report(sizes, rows, fitted, pilots),
            _codes_of_cells=codes,
            _sight=sight,
            _pair=isinstance(data.X, tuple),
            _reach=reach,
            _rows=rows,
            _cells=cells,
            _y=data.y,
            _weights=data.weights,
            _blended=min(int(self.n_nearest), partition.n_cells),
            _left_out=None,
        )
        if self._blended > 1 and all(_has_leave_one_out(each.machine) for each in fitted.values()):
            self._left_out = self._blended_left_out(data.X, features)  # now, while the samples are at hand

    def _neighbourhoods(
        self, partition: Partition, features: Any, cells: np.ndarray
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """Return the samples that each machine is trained on, its own first, and how far each cell reaches."""
        order = np.argsort(cells, kind="stable")
        rows = np.split(order, np.cumsum(np.bincount(cells, minlength=partition.n_cells))[:-1])
        reach, overlap = np.zeros(partition.n_cells), float(self.overlap)
        if overlap > 0.0 or self.n_nearest > 1:
            for cell, near, distance in partition.neighbours(features, cells, overlap if overlap > 0.0 else _REACH):
                reach[cell] = distance
                if overlap > 0.0:
                    rows[cell] = np.concatenate([rows[cell], near])
        return rows, reach

    # Predictions --------------------------------------------------------------------------------------------

    def _routed(self, X: Any, ask: Callable[[int, Any, int], np.ndarray]) -> np.ndarray:
        """Return what the cells of new samples say of them, (n, columns), blended where several are near.

        ``ask(cell, samples, n)`` returns (n, columns).
        """
        check_is_fitted(self, "partition_")
        X = whole(check_new(self, self.kernel_, X, pair=self._pair))
        features = self._sight.features(X)
        cells, distances = self.partition_.route(features, self._blended)
        return self._combined(cells, distances, lambda cell, rows: ask(cell, take(X, rows), len(rows)))

    def _combined(
        self, cells: np.ndarray, distances: np.ndarray, ask: Callable[[int, np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """Return Σ w value over the nearest cells of each sample; w falls from 1 in a cell to 0 where its reach ends.

        ``ask(cell, rows)`` returns the values of some samples in a cell.
        """
        if cells.shape[1] == 1:
            return over_cells(cells[:, 0], ask)
        reach = self._reach[cells]
        share = np.divide(distances, reach, out=np.where(distances > 0.0, np.inf, 0.0), where=reach > 0.0)
        weights = np.maximum(0.0, 1.0 - share)
        weights[:, 0] = np.maximum(weights[:, 0], np.finfo(np.float64).tiny)
        weights /= weights.sum(axis=1, keepdims=True)
        rows, ranks = np.nonzero(weights)
        values = over_cells(cells[rows, ranks], lambda cell, entries: ask(cell, rows[entries]))
        found = np.zeros((len(cells), values.shape[1]))
        np.add.at(found, rows, weights[rows, ranks, None] * values)
        return found.astype(values.dtype, copy=False)

    def _view_names(self) -> tuple[str, ...]:
        check_is_fitted(self, "partition_")
        machine = next((machine for machine in self.solvers_ if machine is not None), None)
        return ("decision",) if machine is None else tuple(machine.views)

    def _said(self, cell: int, X: Any, n: int) -> np.ndarray:
        machine = self.solvers_[cell]
        return self._answer(cell, None if machine is None else self._decision(machine, X), n)

    # Leave-one-out ------------------------------------------------------------------------------------------

    def _loo(self) -> np.ndarray:
        """Return exact leave-one-out values (m, columns) of the samples of the fit.

        Of a cell that was trained on a sample, what it says without it; of another one that is near, what it says. The
        partition, widths and γ are those of all samples.
        """
        check_is_fitted(self, "partition_")
        if self._left_out is None:
            own = [values[:size] for values, size in zip(self._left_out_of_cells(), self.sizes_, strict=True)]
            found = np.empty((len(self._y), own[0].shape[1]), dtype=np.result_type(*own))
            found[np.argsort(self._cells, kind="stable")] = np.concatenate(own)
            self._left_out = found
        return self._left_out

    def _left_out_of_cells(self) -> list[np.ndarray]:
        """Return the leave-one-out values of each cell for all samples that it was trained on."""
        found = []
        for cell, machine in enumerate(self.solvers_):
            if machine is not None and not _has_leave_one_out(machine):
                raise ParameterError(
                    f"{type(machine).__name__} of cell {cell} has no exact leave-one-out; ls-svm, ls-svr, ask-ls and "
                    "ask-lsr do, where the matrix of a cell fits the memory budget. Take a smaller cell_size, or more "
                    "memory (kernreg.set_config)"
                )
            values = None if machine is None else machine._merged_left_out(machine.loo_views_)
            found.append(self._answer(cell, values, len(self._rows[cell])))
        return found

    def _blended_left_out(self, X: Any, features: Any) -> np.ndarray:
        """Return leave-one-out values of samples whose cells are blended, which needs the samples."""
        left_out = self._left_out_of_cells()

        def ask(cell: int, rows: np.ndarray) -> np.ndarray:
            trained = self._rows[cell]
            order = np.argsort(trained)
            place = order[np.minimum(np.searchsorted(trained, rows, sorter=order), len(trained) - 1)]
            unknown = np.flatnonzero(trained[place] != rows)
            values = left_out[cell][place]
            if len(unknown):
                values[unknown] = self._said(cell, take(X, rows[unknown]), len(unknown))
            return values

        return self._combined(*self.partition_.route(features, self._blended), ask)

    def __kernreg_restored__(self) -> None:
        """Raise ValueError where what a model file holds does not fit together."""
        if not hasattr(self, "partition_"):
            return
        partition = self.partition_
        if not (isinstance(partition, Partition) and partition.is_sound()):
            raise ValueError("the splits of the partition do not fit together")
        lists = (self.solvers_, self.sizes_, self.factors_, self._reach, self._rows, self._codes_of_cells)
        m = len(self._y)
        fitting = {
            "the partition and the machines": all(len(each) == partition.n_cells for each in lists),
            "the samples and their cells": self._cells.shape == (m,)
            and np.array_equal(np.bincount(self._cells, minlength=partition.n_cells), self.sizes_),
            "the cells and their samples": all(
                rows.dtype.kind == "i" and len(rows) and rows.min() >= 0 and rows.max() < m for rows in self._rows
            ),
        }
        for what, fits in fitting.items():
            if not fits:
                raise ValueError(f"{what} do not fit together")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _has_leave_one_out(machine: Any) -> bool:
    """Return whether a machine knows its exact leave-one-out values; after iterations it does not."""
    return hasattr(machine, "_merged_left_out") and not machine._unavailable


def _report(sizes: np.ndarray, rows: list[np.ndarray], fitted: dict[int, Fitted], pilots: int) -> CellsReport:
    factors = np.array([each.factor for each in fitted.values()])
    counts = {f"{factor:g}": int((factors == factor).sum()) for factor in np.unique(factors)}
    largest = max(len(each) for each in rows)
    return CellsReport(
        len(sizes), int(sizes.min()), int(sizes.max()), largest, len(sizes) - len(fitted), pilots, counts
    )
