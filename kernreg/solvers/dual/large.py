"""Fits without the kernel matrix in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernreg.errors import DataError, ParameterError
from kernreg.solvers.dual.class_problems import Problem
from kernreg.solvers.dual.strategies import LowRank, LowRankSystem, Options, iterate, why
from kernreg.solvers.dual.systems import DualSolution
from kernreg.solvers.parameters import default_gammas
from kernreg.solvers.samples import take

if TYPE_CHECKING:
    from kernreg.solvers.dual.base import DualSolver

_LOOKED_AT = 500  # samples among which asymmetry is looked for


def fit_large(
    solver: DualSolver,
    strategy: str,
    problem: Problem,
    gamma: float | np.ndarray | None,
    leave_one_out: bool,
    options: Options,
) -> tuple[DualSolution, str]:
    """Solve iteratively or on landmarks; the solver keeps γ, and landmarks in place of its training samples."""
    if solver.requires_symmetric_kernel and not solver.kernel_.symmetric:
        _refuse_asymmetry_of_some(solver)
    note = why(strategy, solver.strategy, len(problem.Y))
    if strategy == "iterative":
        assert isinstance(gamma, float)
        solver.gamma_ = gamma
        solver._unavailable = "strategy='iterative' gives none; use 'exact' or 'lowrank'"
        symmetric = solver.requires_symmetric_kernel
        return iterate(symmetric, solver.kernel_, solver.X_fit_, problem.Y, gamma, solver._weights, options), note
    found = _choose(solver, problem, gamma, leave_one_out, options)
    solver.landmarks_, solver.X_fit_ = found.indices, take(solver.X_fit_, found.indices)
    if not leave_one_out:
        solver._unavailable = (
            "strategy='lowrank' gives them, for one more pass over the samples, where gamma is 'loo' or a sequence: "
            f"gamma=[{solver.gamma_:g}]"
        )
    return found.solution, note


def _choose(
    solver: DualSolver, problem: Problem, gamma: float | np.ndarray | None, leave_one_out: bool, options: Options
) -> LowRank:
    """Solve on landmarks, γ chosen by leave-one-out where there is a choice: one solve and one pass for each γ."""
    if leave_one_out and len(problem.Y) < 2:
        raise DataError(f"leave-one-out needs at least 2 samples, and there is {len(problem.Y)}; give more samples")
    symmetric = solver.requires_symmetric_kernel
    system = LowRankSystem(symmetric, solver.kernel_, solver.X_fit_, problem.Y, solver._weights, options)
    gammas = default_gammas(system.scale) if gamma is None else np.atleast_1d(np.asarray(gamma, dtype=np.float64))
    scores = np.full((len(gammas), 2), -np.inf)
    best: tuple[int, LowRank] | None = None
    failure: ParameterError | None = None
    for g, value in enumerate(gammas):
        try:
            found = system.at(float(value), leave_one_out)
        except ParameterError as error:  # a pole
            failure = error
            continue
        if found.residuals is not None:
            views = {name: solver._outer(problem.Y - rest) for name, rest in found.residuals.items()}
            scores[g] = solver._score(views, solver._y, solver._weights)
        if best is None or tuple(scores[g]) > tuple(scores[best[0]]):
            best = g, found
    if best is None:
        assert failure is not None
        raise failure
    number, found = best
    solver.gamma_ = float(gammas[number])
    if found.residuals is not None:
        solver._loo = {name: problem.Y - rest for name, rest in found.residuals.items()}
        solver.loo_path_ = {"gamma": gammas, "score": scores[:, 0], "squared_error": -scores[:, 1]}
    return found


def _refuse_asymmetry_of_some(solver: Any) -> None:
    """Look for asymmetry among some of the samples: the whole matrix is never seen."""
    m = len(solver._y)
    some = take(solver.X_fit_, np.sort(np.random.default_rng(0).choice(m, min(m, _LOOKED_AT), replace=False)))
    solver._refuse_asymmetry(solver.kernel_(some, some))
