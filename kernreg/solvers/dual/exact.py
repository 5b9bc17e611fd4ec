"""Dual systems with the kernel matrix in memory: factorised for one γ, decomposed for many and for leave-one-out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from kernreg.common.progress import progress
from kernreg.errors import DataError, ParameterError
from kernreg.linalg import SolveReport, centre
from kernreg.solvers.dual.solution import Candidate, DualSolution
from kernreg.solvers.dual.targets import Problem
from kernreg.solvers.views import Views

EPS = float(np.finfo(np.float64).eps)
FEW = 4  # values of γ, for which as many factorisations may be quicker than one decomposition
_LONG = 2000  # samples from which a factorisation is worth a progress bar


@dataclass(frozen=True)
class Path:
    """Leave-one-out residuals (G, m, C) of each view for G values of γ.

    ``poles`` (G,) says which γ are poles left undamped, ``errors`` (G, m, C) how far rounding may have moved one,
    None where that does not matter.
    """

    residuals: Views
    poles: np.ndarray
    errors: np.ndarray | None = None

    def relative_errors(self, Y: np.ndarray) -> np.ndarray:
        """Return the largest error for each γ (G,), relative to the largest target or value left out."""
        if self.errors is None:
            return np.zeros(len(self.poles))
        size = np.full(len(self.poles), np.abs(Y).max(initial=0.0))
        for residuals in self.residuals.values():
            size = np.maximum(size, np.abs(Y - residuals).max(axis=(1, 2), initial=0.0))
        worst = self.errors.max(axis=(1, 2), initial=0.0)
        with np.errstate(invalid="ignore"):  # where a value is infinite itself
            return np.divide(worst, size, out=np.zeros_like(worst), where=size > 0.0)


class CentredSystem(ABC):
    """One problem: K̃, and the right-hand sides T = P S Y.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Overwritten where ``overwrite``, and by whatever is asked first: a system answers `direct` once, or any
        number of questions after the decomposition that `path` and `at` make.
    Y : ndarray of shape (m, C)
    weights : ndarray of shape (m,) or None
    """

    def __init__(self, K: np.ndarray, Y: np.ndarray, weights: np.ndarray | None, *, overwrite: bool = False):
        self.Y = Y
        self.centred = centre(K, weights, overwrite=overwrite)
        self.T = self.centred.targets(Y)

    @property
    def scale(self) -> float:
        """The root mean square of the singular values of K̃; asked before K̃ is overwritten."""
        return float(np.linalg.norm(self.centred.matrix) / np.sqrt(self.centred.size))

    @abstractmethod
    def direct(self, gamma: float) -> DualSolution:
        """Solve for one γ by factorisation."""

    @abstractmethod
    def at(self, gamma: float) -> DualSolution:
        """Solve for one γ from the decomposition."""

    @abstractmethod
    def path(self, gammas: np.ndarray) -> Path:
        """Return leave-one-out residuals for every γ."""

    def path_once(self, gamma: float) -> Path:
        """Return leave-one-out residuals for one γ, by whatever is quickest where nothing more will be asked."""
        return self.path(np.array([gamma]))

    def _cancelled(self, C: np.ndarray, along: np.ndarray) -> float:
        """Return the share of rounding errors in decision values, from the mean row (or column) of K."""
        size = float(np.abs(self.Y).max(initial=0.0))
        error = EPS * float((np.abs(along) @ np.abs(C)).max(initial=0.0)) / self.centred.norm
        return error / size if size > 0.0 else 0.0


class ExactSystem:
    """All problems of a training set, each with its own rows of the kernel matrix.

    Parameters
    ----------
    make : callable
        ``make(K, Y, weights, overwrite=…)`` returns the `CentredSystem` of one problem.
    K : ndarray of shape (m, m)
        Overwritten where there is one problem.
    problems : list of Problem
    weights : ndarray of shape (m,) or None
    dtype : dtype, optional
        Of results; that of K by default.
    """

    landmarks = None

    def __init__(
        self,
        make: Callable[..., CentredSystem],
        K: np.ndarray,
        problems: list[Problem],
        weights: np.ndarray | None,
        dtype: np.dtype | None = None,
    ):
        self._K, self._problems, self.dtype = K, problems, K.dtype if dtype is None else dtype
        self._systems = []
        for problem in problems:
            if problem.rows is None:
                self._systems.append(make(K, problem.Y, weights, overwrite=len(problems) == 1))
            else:
                inner = None if weights is None else weights[problem.rows]
                self._systems.append(make(K[np.ix_(problem.rows, problem.rows)], problem.Y, inner, overwrite=True))

    @property
    def scale(self) -> float:
        """The largest of the problems' scales; asked before anything is solved."""
        return max(system.scale for system in self._systems)

    def solve(self, gamma: float) -> DualSolution:
        """Solve for one γ by factorisation."""
        with self._bar("factorisation"):
            return self._assembled([system.direct(gamma) for system in self._systems])

    def at(self, gamma: float) -> DualSolution:
        """Solve for one γ from the decomposition."""
        return self._assembled([system.at(gamma) for system in self._systems])

    def candidates(self, gammas: np.ndarray) -> Iterator[Candidate]:
        """Yield leave-one-out values for each γ, from one decomposition for each problem."""
        m = len(self._K)
        if m < 2:
            raise DataError(
                f"leave-one-out needs at least 2 samples, and n_samples={m}; give more samples or a number as gamma"
            )
        columns = sum(problem.Y.shape[1] for problem in self._problems)
        at_once = max(FEW + 1, m // (4 * columns))  # as many γ as fit in half a matrix
        for start in range(0, len(gammas), at_once):
            with self._bar("decomposition" if start == 0 else "leave-one-out"):
                views, poles, errors = self.leave_one_out(gammas[start : start + at_once])
            for g, pole in enumerate(poles):
                left_out = None if pole else {name: view[g] for name, view in views.items()}
                yield Candidate(left_out, error=float(errors[g]))

    def _bar(self, label: str) -> AbstractContextManager[object]:
        """A bar that says what LAPACK is at, where that takes longer than a moment."""
        m = len(self._K)
        return progress(f"{label} of {m} × {m}", None, worthwhile=m >= _LONG)

    def leave_one_out(self, gammas: np.ndarray, *, once: bool = False) -> tuple[Views, np.ndarray, np.ndarray]:
        """Return decision values f⁽⁻ⁱ⁾(x_i), (G, m, columns) for each view, which γ are at a pole, and relative errors.

        The errors (G,) are what rounding may have done to any of the values, relative to the largest.
        ``once``: there is one γ, and no other question will follow.
        """
        parts: dict[str, list[np.ndarray]] = {}
        poles, errors = np.zeros(len(gammas), dtype=bool), np.zeros(len(gammas))
        for system, problem in zip(self._systems, self._problems, strict=True):
            path = system.path_once(float(gammas[0])) if once and problem.rows is None else system.path(gammas)
            poles |= path.poles
            errors = np.fmax(errors, path.relative_errors(problem.Y))
            for name, residuals in path.residuals.items():
                values = problem.Y - residuals
                if problem.rows is not None:
                    values = self._spread(system, problem.rows, values, gammas)
                parts.setdefault(name, []).append(values)
        return {name: np.concatenate(views, axis=2) for name, views in parts.items()}, poles, errors

    def _spread(self, system: CentredSystem, rows: np.ndarray, values: np.ndarray, gammas: np.ndarray) -> np.ndarray:
        """Return leave-one-out values for all samples: those outside a problem were never in its training set."""
        m = len(self._K)
        outside = np.setdiff1d(np.arange(m), rows)
        whole = np.empty((len(gammas), m, values.shape[2]))
        whole[:, rows] = values
        cross = self._K[np.ix_(outside, rows)]
        for g, gamma in enumerate(gammas):
            try:
                solution = system.at(float(gamma))
            except ParameterError:  # a pole: this γ is excluded
                whole[g, outside] = np.nan
                continue
            whole[g, outside] = cross @ solution.coefficients["decision"] + solution.intercepts["decision"]
        return whole

    def _assembled(self, solutions: list[DualSolution]) -> DualSolution:
        """Return the solutions of all problems as one, a sample outside a problem having the coefficient 0."""
        if len(solutions) == 1:
            return solutions[0]
        coefficients, intercepts = {}, {}
        for name in solutions[0].coefficients:
            parts = [np.zeros((len(self._K), solution.coefficients[name].shape[1])) for solution in solutions]
            for part, solution, problem in zip(parts, solutions, self._problems, strict=True):
                part[problem.rows] = solution.coefficients[name]
            coefficients[name] = np.concatenate(parts, axis=1)
            intercepts[name] = np.concatenate([solution.intercepts[name] for solution in solutions])
        report = _worst([solution.report for solution in solutions])
        return DualSolution(coefficients, intercepts, report, max(solution.cancelled for solution in solutions))


def _worst(reports: list[SolveReport]) -> SolveReport:
    worst = max(reports, key=lambda report: report.residual)
    return worst.noted(f"the worst of {len(reports)} pairwise problems")
