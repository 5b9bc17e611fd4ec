"""Exact fits with leave-one-out: γ chosen from one decomposition for each problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kernreg.errors import DataError, ParameterError
from kernreg.solvers.dual.class_problems import Problem
from kernreg.solvers.dual.systems import DualSolution, DualSystem, Views
from kernreg.solvers.parameters import default_gammas

if TYPE_CHECKING:
    from kernreg.solvers.dual.base import DualSolver


def choose(
    solver: DualSolver, K: np.ndarray, problems: list[Problem], grid: np.ndarray | None, on_pole: str
) -> tuple[list[DualSolution], str]:
    """Choose γ by leave-one-out, from one decomposition for each problem; keeps the leave-one-out views."""
    if len(K) < 2:
        raise DataError(
            f"leave-one-out needs at least 2 samples, and there is {len(K)}; give more samples or a number as gamma"
        )
    systems = [solver._make_system(K, problem, overwrite=len(problems) == 1) for problem in problems]
    gammas = default_gammas(max(system.scale for system in systems)) if grid is None else grid
    columns = sum(problem.Y.shape[1] for problem in problems)
    at_once = max(1, len(K) // (4 * columns))  # as many γ as fit in half a matrix
    scores = np.full((len(gammas), 2), -np.inf)
    excluded = np.zeros(len(gammas), dtype=bool)
    for start in range(0, len(gammas), at_once):
        part = slice(start, start + at_once)
        views, excluded[part] = leave_one_out(solver, K, systems, problems, gammas[part], on_pole)
        for g in np.flatnonzero(~excluded[part]):
            score = solver._score(
                {name: solver._outer(view[g]) for name, view in views.items()}, solver._y, solver._weights
            )
            scores[start + g] = np.where(np.isfinite(score), score, -np.inf)
    if excluded.all():
        systems[0].at(float(gammas[0]), on_pole)  # explains the pole
        raise ParameterError(f"every gamma in {gammas.tolist()} is at a pole of one of the problems; try others")
    best = int(np.lexsort((scores[:, 1], scores[:, 0], ~excluded))[-1])  # a pole only where there is nothing else
    solver.gamma_ = float(gammas[best])
    solver.loo_path_ = {"gamma": gammas, "score": scores[:, 0], "squared_error": -scores[:, 1]}
    if at_once >= len(gammas):
        solver._loo = {name: view[best].copy() for name, view in views.items()}
    else:  # those at hand are of the last γ only
        views, _ = leave_one_out(solver, K, systems, problems, gammas[[best]], on_pole)
        solver._loo = {name: view[0] for name, view in views.items()}
    note = f"gamma chosen by leave-one-out from {len(gammas)} values" if len(gammas) > 1 else ""
    if excluded.any():
        note += f"; at a pole and left out: {', '.join(f'{g:g}' for g in gammas[excluded])}"
    return [system.at(solver.gamma_, on_pole) for system in systems], note


def leave_one_out(
    solver: DualSolver,
    K: np.ndarray,
    systems: list[DualSystem],
    problems: list[Problem],
    gammas: np.ndarray,
    on_pole: str,
) -> tuple[Views, np.ndarray]:
    """Return decision values f⁽⁻ⁱ⁾(x_i), (G, m, columns) for each view, and which γ are at a pole."""
    found: dict[str, list[np.ndarray]] = {name: [] for name in solver._system.views}
    excluded = np.zeros(len(gammas), dtype=bool)
    for system, problem in zip(systems, problems, strict=True):
        path = system.path(gammas, on_pole)
        excluded |= path.excluded
        for name, residuals in path.residuals.items():
            values = problem.Y - residuals
            found[name].append(values if problem.rows is None else _spread(K, system, problem, values, gammas))
    return {name: np.concatenate(parts, axis=2) for name, parts in found.items()}, excluded


def _spread(K: np.ndarray, system: DualSystem, problem: Problem, values: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """Return leave-one-out values for all samples: those outside a problem were never in its training set."""
    rows = problem.rows
    assert rows is not None
    outside = np.setdiff1d(np.arange(len(K)), rows)
    whole = np.empty((len(gammas), len(K), values.shape[2]))
    whole[:, rows] = values
    cross = K[np.ix_(outside, rows)]
    for g, gamma in enumerate(gammas):
        try:
            solution = system.at(float(gamma))
        except ParameterError:  # a pole: this γ is excluded
            whole[g, outside] = np.nan
            continue
        whole[g, outside] = cross @ solution.coefficients["decision"] + solution.intercepts["decision"]
    return whole
