"""Dual systems without the kernel matrix in memory: by Krylov iterations on products with it, or on landmarks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernreg.common.progress import progress
from kernreg.common.sizes import readable
from kernreg.config import memory_budget
from kernreg.errors import ApproximationWarning, DataError
from kernreg.linalg.krylov.cg_and_minres import IterationSettings
from kernreg.linalg.krylov.dual_systems import solve_block_iterative, solve_symmetric_iterative
from kernreg.linalg.landmarks.lowrank_systems import BlockLowRank, LowRankProblem, Solved, SymmetricLowRank
from kernreg.solvers.advice import advise
from kernreg.solvers.dual.block_descent import BlockDescentSystem
from kernreg.solvers.dual.landmark_costs import landmark_count, landmark_passes, matrices_held
from kernreg.solvers.dual.on_landmarks import problem_on_landmarks, solution_of, warn_of_memory
from kernreg.solvers.dual.sketched import SketchedSystem
from kernreg.solvers.dual.solution import Candidate, DualSolution
from kernreg.solvers.dual.strategy import Settings
from kernreg.solvers.dual.training import TrainingSet

_SOME = 2000  # samples whose leave-one-out values calibrate probabilities


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
                max_seconds=settings.max_seconds,
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
        m, passes = len(Y), landmark_passes(symmetric, data, settings)
        matrices = matrices_held(symmetric)
        count = landmark_count(m, passes, settings, matrices)
        warn_of_memory("lowrank", count, 8 * matrices * count**2)
        if settings.strategy == "auto":
            advise(
                f"{m} samples do not fit the memory budget of {readable(memory_budget())} exactly: {count} landmarks "
                f"are used instead, an approximation that takes about {passes * m * count**2:.0e} operations. More "
                "landmarks (n_landmarks) or more memory (kernreg.set_config) are more accurate; strategy='lowrank' "
                "asks for this explicitly",
                ApproximationWarning,
                stacklevel=5,
            )
        self._Y, self.dtype = Y, data.kernel_dtype()
        self._problem: LowRankProblem
        make = SymmetricLowRank if symmetric else BlockLowRank
        self._names, self._problem = problem_on_landmarks(make, symmetric, data, Y, count, settings)

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
        return self._named(self._problem.at(gamma))[1]

    def some_left_out(self, gamma: float) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Return leave-one-out values of at most 2000 samples by view, and which samples these are."""
        m = len(self._Y)
        some = np.arange(m) if m <= _SOME else np.linspace(0, m - 1, _SOME).astype(np.intp)
        views = self._problem.at(gamma, loo=True, some=some)[0]
        return {n: self._Y[some] - v.loo_residuals for n, v in zip(self._names, views, strict=True)}, some

    def at(self, gamma: float) -> DualSolution:
        """Solve for one γ; features are there already."""
        return self.solve(gamma)

    def candidates(self, gammas: np.ndarray) -> Iterator[Candidate]:
        """Yield leave-one-out values and the solution for each γ: one solve and one pass over the samples."""
        if len(self._Y) < 2:
            raise DataError(f"leave-one-out needs at least 2 samples, and n_samples={len(self._Y)}; give more samples")
        for candidate in self._problem.path([float(gamma) for gamma in gammas]):
            yield Candidate(None) if candidate is None else Candidate(*self._named(candidate))

    def _named(self, solved: Solved) -> tuple[dict[str, np.ndarray], DualSolution]:
        """Return leave-one-out values by view, where there are any, and the solution."""
        views = dict(zip(self._names, solved[0], strict=True))
        solution = solution_of(self._names, *solved)
        left_out = {name: self._Y - v.loo_residuals for name, v in views.items() if v.loo_residuals is not None}
        return left_out, solution


#: The systems without the kernel matrix, by strategy.
WITHOUT_MATRIX: dict[str, Any] = {
    "iterative": IterativeSystem,
    "blocks": BlockDescentSystem,
    "lowrank": LandmarkSystem,
    "sketched": SketchedSystem,
}
