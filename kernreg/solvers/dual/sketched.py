"""Dual systems on many landmarks, by iterations with a sketched preconditioner."""

from __future__ import annotations

import numpy as np

from kernreg.common.progress import residual_progress
from kernreg.common.sizes import readable
from kernreg.config import memory_budget
from kernreg.errors import ApproximationWarning, MemoryBudgetError
from kernreg.linalg.krylov.sketched_systems import (
    BlockSketched,
    SketchedProblem,
    SketchSettings,
    SymmetricSketched,
)
from kernreg.solvers.advice import advise
from kernreg.solvers.dual.landmark_costs import landmark_count
from kernreg.solvers.dual.on_landmarks import problem_on_landmarks, solution_of, warn_of_memory
from kernreg.solvers.dual.solution import DualSolution
from kernreg.solvers.dual.strategy import Settings
from kernreg.solvers.dual.training import TrainingSet

_FOLDS, _ENOUGH = 5, 5000  # samples held out of further iterations, whose values calibrate probabilities
_PASSES = 0.3  # of normal equations that cost as much, about, with 5000 landmarks: for how many there are by default
_MATRICES = 4  # of landmarks by landmarks, held at least: W, the sketched matrix, and a part of the sketch
#: All that are held at once, measured, of LS-SVM and AsK-LS; and where there are few landmarks, because blocks of rows
#: are as large then.
_ALL, _AMONG_FEW, _ROWS = (7, 11), (24, 33), 1 << 15


class SketchedSystem:
    """The system on landmarks: a sketch is made once, then solved with any γ by iterations, with a progress bar.

    Parameters
    ----------
    symmetric : bool
        LS-SVM, else AsK-LS.
    data : TrainingSet
    Y : ndarray of shape (m, C)
    settings : Settings
    """

    def __init__(self, symmetric: bool, data: TrainingSet, Y: np.ndarray, settings: Settings):
        count = landmark_count(len(Y), _PASSES, settings, _AMONG_FEW[0 if symmetric else 1])
        _require_room(count)
        needed = 8 * count * (_ALL[0 if symmetric else 1] * count + min(2 * len(Y), _ROWS))
        warn_of_memory("sketched", count, needed)
        if settings.strategy == "auto":
            advise(
                f"{len(Y)} samples do not fit the memory budget of {readable(memory_budget())} exactly: {count} "
                "landmarks are used instead, an approximation. More landmarks (n_landmarks) or more memory "
                "(kernreg.set_config) are more accurate; strategy='sketched' asks for this explicitly",
                ApproximationWarning,
                stacklevel=5,
            )
        self._Y, self._settings, self.dtype = Y, settings, data.kernel_dtype()
        self._problem: SketchedProblem
        make = SymmetricSketched if symmetric else BlockSketched
        self._names, self._problem = problem_on_landmarks(make, symmetric, data, Y, count, settings)

    @property
    def landmarks(self) -> np.ndarray:
        """The samples that the solution stands on."""
        return self._problem.indices

    def solve(self, gamma: float) -> DualSolution:
        """Solve for one γ."""
        settings = self._settings
        with residual_progress("iterations") as watch:
            self._views, report = self._problem.at(gamma, SketchSettings(settings.tol, settings.max_iter, watch))
        return solution_of(self._names, self._views, report)

    def some_left_out(self, gamma: float) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Return decision values of some samples by view, by machines fitted to the others, and which these are.

        They are 5000, held out of some more iterations together; of fewer than 25 000 samples every fifth, and then the
        next ones, until they are as many or all.
        """
        m, held_out, decisions = len(self._Y), np.empty(0, dtype=np.intp), list[list[np.ndarray]]()
        for number in range(min(_FOLDS, m)):
            some = np.arange(number, m, _FOLDS)
            if m >= _FOLDS * _ENOUGH:
                some = np.linspace(0, m - 1, _ENOUGH).astype(np.intp)
            if len(held_out) < _ENOUGH and len(some) < m:
                decisions.append(self._problem.held_out(gamma, self._views, some))
                held_out = np.append(held_out, some)
        values = [np.vstack(fold) for fold in zip(*decisions, strict=True)]
        return dict(zip(self._names, values, strict=True)), held_out


def _require_room(count: int) -> None:
    """Raise MemoryBudgetError where the matrices of landmarks by landmarks do not fit."""
    needed, budget = 8 * _MATRICES * count**2, memory_budget()
    if needed > max(budget, 1 << 22):
        raise MemoryBudgetError(
            f"strategy='sketched' with {count} landmarks holds {_MATRICES} matrices of {count} × {count} numbers, "
            f"{readable(needed)}, and the memory budget is {readable(budget)}. Take fewer landmarks (n_landmarks), or "
            "raise the budget with kernreg.config_context(memory=…)"
        )
