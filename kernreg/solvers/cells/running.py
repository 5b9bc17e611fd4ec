"""Work cell by cell: in threads with one BLAS thread each, or on the computers of the configured engine.

Which thread does a cell changes nothing in it, so results are the same bits for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import sklearn

from kernreg.common.progress import progress
from kernreg.config import memory_budget
from kernreg.engine.dispatch import configured_engine
from kernreg.engine.threads import one_task, run_tasks, single_threaded_blas, thread_count
from kernreg.errors import GridEndWarning, UninformativeKernelWarning
from kernreg.kernels.sharing import unshared_matrices
from kernreg.solvers.advice import advise
from kernreg.solvers.cells.search import PILOTS, Cell, Fitted, Plan, fit_cell
from kernreg.solvers.cells.training import CellData
from kernreg.solvers.samples import take

_MATRICES = 6  # of m × m that a decomposition may need
_PILOT_SIZE = 2000  # the most samples of a pilot: more make a full search long
_TOGETHER = 64  # cells whose samples travel to another computer together


def fit_cells(
    data: CellData, rows: list[np.ndarray], cells: Sequence[int], plan: Plan, *, pilots: bool
) -> tuple[dict[int, Fitted], int]:
    """Return the machines of some cells, and the number of pilots: cells in which more was tried than in the others.

    Parameters
    ----------
    data : CellData
    rows : list of ndarray of int
        The samples of each cell.
    cells : sequence of int
        Those to fit.
    plan : Plan
    pilots : bool
        Whether all but some cells may be content with less.
    """
    search = pilots and len(cells) > 2 * PILOTS and (len(plan.factors) > 1 or _chooses(plan.solver))
    fitted: dict[int, Fitted] = {}
    with unshared_matrices(), progress("cells", len(cells)) as report:

        def note(cell: int, found: Fitted) -> None:
            fitted[cell] = found
            report(len(fitted))

        if search:
            first = [cells[i] for i in np.linspace(0, len(cells) - 1, PILOTS).astype(int)]
            some = {cell: _some(rows[cell], data.y) for cell in first}
            _each(data, some, first, plan, note)
            plan = plan.narrowed([fitted[cell] for cell in first])
            for cell in first:
                if len(some[cell]) < len(rows[cell]):
                    del fitted[cell]  # it was a part of the cell
        _each(data, dict(enumerate(rows)), [cell for cell in cells if cell not in fitted], plan, note)
    return dict(sorted(fitted.items())), PILOTS if search else 0


def _some(rows: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return at most so many of the samples of a cell, evenly spaced; all where these are of one class."""
    some = rows[np.linspace(0, len(rows) - 1, min(len(rows), _PILOT_SIZE)).astype(int)]
    return some if np.any(y[some] != y[some[0]]) else rows


def _chooses(solver: Any) -> bool:
    """Whether a solver chooses γ by leave-one-out."""
    gamma = getattr(solver, "gamma", None)
    return isinstance(gamma, str) and gamma == "loo"


def _each(
    data: CellData, rows: dict[int, np.ndarray], cells: list[int], plan: Plan, note: Callable[[int, Fitted], None]
) -> None:
    """Fit the machines of some cells, the largest first, and note each as it is done."""

    def samples_of(cell: int) -> Cell:
        some = rows[cell]
        return Cell(take(data.X, some), data.y[some], None if data.weights is None else data.weights[some])

    settings, engine = sklearn.get_config(), configured_engine()
    ordered = sorted(cells, key=lambda cell: -len(rows[cell]))
    if engine is not None and len(cells) > 1:
        for start in range(0, len(ordered), _TOGETHER):
            batch = ordered[start : start + _TOGETHER]
            for number, found in engine.each(fit_cell, [samples_of(c) for c in batch], args=(plan, settings)):
                note(batch[number], found)
        return
    m = len(rows[ordered[0]]) if ordered else 1
    together = memory_budget() // (_MATRICES * 8 * m * m)
    if together < 2 or len(ordered) < 2:  # each with all threads
        for cell in ordered:
            note(cell, fit_cell(samples_of(cell), plan, settings))
        return

    def work(number: int) -> None:
        cell = ordered[number]
        with one_task():
            note(cell, fit_cell(samples_of(cell), plan, settings))

    np.linalg.eigh(np.eye(2))  # BLAS is loaded before its threads are counted
    with single_threaded_blas():
        run_tasks(work, len(ordered), together)


def over_cells(cells: np.ndarray, ask: Callable[[int, np.ndarray], np.ndarray]) -> np.ndarray:
    """Return for each entry what its cell says, cells in parallel.

    Parameters
    ----------
    cells : ndarray of int
        The cell of each entry.
    ask : callable
        ``ask(cell, entries)`` returns values (number of entries, columns).

    Examples
    --------
    >>> over_cells(np.array([1, 0, 1]), lambda cell, entries: np.full((len(entries), 1), cell)).ravel().tolist()
    [1, 0, 1]
    """
    groups = list(_groups(cells))
    found: list[Any] = [None] * len(groups)

    def work(number: int) -> None:
        found[number] = ask(*groups[number])

    with single_threaded_blas(len(groups) > 1 and thread_count() > 1):
        run_tasks(work, len(groups))
    values = np.empty((len(cells), found[0].shape[1]), dtype=np.result_type(*found))
    for (_, entries), part in zip(groups, found, strict=True):
        values[entries] = part
    return values


def _groups(cells: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    order = np.argsort(cells, kind="stable")
    numbers, firsts = np.unique(cells[order], return_index=True)
    for number, entries in zip(numbers, np.split(order, firsts[1:]), strict=True):
        yield int(number), entries


def warn_of_cells(fitted: dict[int, Fitted], n_cells: int) -> None:
    """Pass on what fits warn of, each kind once.

    Of many cells a γ at the end of its values says little, and a kernel that says nothing only where it is in most.
    """
    heard = [warning for each in fitted.values() for warning in each.warnings]
    for category in dict.fromkeys(warning.category for warning in heard):
        messages = [warning for warning in heard if warning.category is category]
        most = len(messages) > n_cells // 2
        if n_cells == 1:
            advise(str(messages[0]), category, stacklevel=5)
        elif not issubclass(category, GridEndWarning) and (most or category is not UninformativeKernelWarning):
            advise(f"in {len(messages)} of {n_cells} cells; in the first: {messages[0]}", category, stacklevel=5)
