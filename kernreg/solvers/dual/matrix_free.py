"""Dual systems without the kernel matrix in memory: by Krylov iterations on products with it, or on landmarks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernreg.common.progress import progress
from kernreg.errors import DataError, ParameterError
from kernreg.linalg.krylov.cg_and_minres import IterationSettings
from kernreg.linalg.krylov.dual_systems import solve_block_iterative, solve_symmetric_iterative
from kernreg.linalg.landmarks.lowrank_systems import BlockLowRank, LowRankProblem, SymmetricLowRank
from kernreg.solvers.dual.solution import Candidate, DualSolution
from kernreg.solvers.dual.strategy import Settings
from kernreg.solvers.dual.training import TrainingSet


class IterativeSystem:
    """The system as products only, solved by a Krylov method with a progress bar on a terminal.

    Parameters
    ----------
    symmetric : bool
        LS-SVM, else AsK-LS.
    data : TrainingSet
    Y : ndarray of shape (m, C)
    settings : Settings
    """

    landmarks = None

    def __init__(self, symmetric: bool, data: TrainingSet, Y: np.ndarray, settings: Settings):
        self._symmetric, self._data, self._Y, self._settings = symmetric, data, Y, settings
        self.dtype = data.kernel_dtype()

    def solve(self, gamma: float) -> DualSolution:
        """Solve for one γ."""
        data, settings = self._data, self._settings
        with progress("iterations", settings.max_iter) as show:
            iterations = IterationSettings(
                tol=settings.tol,
                max_iter=settings.max_iter,
                rank=settings.n_landmarks,
                landmarks=settings.landmarks,
                random_state=settings.random_state,
                watch=lambda iteration, ratio: show(iteration),
            )
            options: dict[str, Any] = {"weights": data.weights, "settings": iterations}
            if self._symmetric:
                a, b, report = solve_symmetric_iterative(data.kernel, data.X, self._Y, gamma, **options)
                return DualSolution({"decision": a}, {"decision": b}, report)
            source, target = data.X if isinstance(data.X, tuple) else (data.X, None)
            a, c, (b1, b2), report = solve_block_iterative(data.kernel, source, self._Y, gamma, Z=target, **options)
            return DualSolution({"source": c, "target": a}, {"source": b1, "target": b2}, report)


class LandmarkSystem:
    """The system on landmarks: features are made once, then solved with any γ.

    Parameters
    ----------
    symmetric, data, Y, settings
        As for `IterativeSystem`.
    """

    def __init__(self, symmetric: bool, data: TrainingSet, Y: np.ndarray, settings: Settings):
        options: dict[str, Any] = {
            "weights": data.weights,
            "n_landmarks": settings.n_landmarks,
            "landmarks": settings.landmarks,
            "random_state": settings.random_state,
        }
        self._Y, self.dtype = Y, data.kernel_dtype()
        self._problem: LowRankProblem
        if symmetric:
            self._names: tuple[str, ...] = ("decision",)
            self._problem = SymmetricLowRank(data.kernel, data.X, Y, **options)
        else:
            source, target = data.X if isinstance(data.X, tuple) else (data.X, None)
            self._names = ("source", "target")
            self._problem = BlockLowRank(data.kernel, source, Y, Z=target, **options)

    @property
    def landmarks(self) -> np.ndarray:
        """The samples that the solution stands on."""
        return self._problem.indices

    @property
    def scale(self) -> float:
        """The root mean square of the singular values of the centred low-rank matrix."""
        return self._problem.scale

    def solve(self, gamma: float) -> DualSolution:
        """Solve for one γ; raise ParameterError at a pole."""
        return self._candidate(gamma, leave_one_out=False)[1]

    def at(self, gamma: float) -> DualSolution:
        """Solve for one γ; features are there already."""
        return self.solve(gamma)

    def candidates(self, gammas: np.ndarray) -> Iterator[Candidate]:
        """Yield leave-one-out values and the solution for each γ: one solve and one pass over the samples."""
        if len(self._Y) < 2:
            raise DataError(f"leave-one-out needs at least 2 samples, and there is {len(self._Y)}; give more samples")
        for gamma in gammas:
            try:
                views, solution = self._candidate(float(gamma), leave_one_out=True)
            except ParameterError:  # a pole
                yield Candidate(None)
            else:
                yield Candidate(views, solution)

    def _candidate(self, gamma: float, *, leave_one_out: bool) -> tuple[dict[str, np.ndarray], DualSolution]:
        solved, report = self._problem.at(gamma, loo=leave_one_out)
        views = dict(zip(self._names, solved, strict=True))
        solution = DualSolution(
            {name: view.coefficients for name, view in views.items()},
            {name: view.intercept for name, view in views.items()},
            report,
        )
        left_out = {name: self._Y - v.loo_residuals for name, v in views.items() if v.loo_residuals is not None}
        return left_out, solution
