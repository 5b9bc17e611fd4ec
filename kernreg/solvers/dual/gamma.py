"""γ: what may be given for it, and how one of several is chosen by exact leave-one-out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from kernreg.errors import ParameterError
from kernreg.solvers.dual.solution import DualSolution, DualSystem
from kernreg.solvers.dual.targets import Targets
from kernreg.solvers.dual.training import TrainingSet
from kernreg.solvers.views import Views

#: The score of leave-one-out views, and minus a squared error that settles ties.
Score = Callable[[Views], tuple[float, float]]


@dataclass(frozen=True)
class Choice:
    """A γ, the solution there, and, where it was chosen by leave-one-out, the values left out and the path."""

    gamma: float
    solution: DualSolution
    left_out: Views | None = None
    path: dict[str, np.ndarray] | None = None

    def noted(self, note: str) -> Choice:
        """Return the choice with something more said in the report of its solution."""
        return replace(self, solution=self.solution.noted(note)) if note else self


def check_gamma(gamma: Any) -> float | np.ndarray | None:
    """Return one γ, a grid of them, or None for ``"loo"``, which leaves the grid to the data.

    >>> check_gamma(2)
    2.0
    >>> check_gamma([0.1, 1]).tolist()
    [0.1, 1.0]
    """
    if isinstance(gamma, str) and gamma == "loo":
        return None
    truth_value = isinstance(gamma, bool | np.bool_)
    if isinstance(gamma, Real) and not truth_value:
        value = float(gamma)
        if 0.0 < value < np.inf and 1.0 / value > 0.0 and np.isfinite(1.0 / value):
            return value
    elif isinstance(gamma, list | tuple | np.ndarray) and np.size(gamma):
        try:
            grid = np.asarray(gamma)
        except ValueError:  # ragged
            grid = np.array([np.nan])
        grid = grid.astype(np.float64) if grid.dtype.kind in "iuf" else np.array([np.nan])
        if grid.ndim == 1 and np.all((grid > 0.0) & (grid < np.inf)) and np.all(np.isfinite(1.0 / grid)):
            return grid
    raise ParameterError(
        f"gamma={gamma!r} is not accepted; give a positive finite number, a sequence of such numbers to choose from by "
        "leave-one-out, or 'loo' to choose from a grid fitted to the kernel matrix"
    )


def default_gammas(scale: float) -> np.ndarray:
    """Return the grid of ``gamma="loo"``: 36 values, 1/γ from 10³ down to 10⁻⁴ times the scale of K̃'s spectrum."""
    return np.logspace(-3.0, 4.0, 36) / (scale if scale > 0.0 else 1.0)


def leave_one_out_score(targets: Targets, data: TrainingSet, merge: Callable[[Views], np.ndarray]) -> Score:
    """Return the function that scores leave-one-out views: the score of their merged decision, minus its squared error.

    Views that are not finite, where a system without one sample is itself at a pole, have the score -inf.
    """

    def score(left_out: Views) -> tuple[float, float]:
        views = {name: targets.shaped(view) for name, view in left_out.items()}
        if not all(np.isfinite(view).all() for view in views.values()):
            return -np.inf, -np.inf
        decision = merge(views)
        squares = (targets.values(data.y) - decision) ** 2
        squares = squares if squares.ndim == 1 else squares.mean(axis=1)
        first, second = targets.score(decision, data.y, data.weights), -float(np.average(squares, weights=data.weights))
        return (first if np.isfinite(first) else -np.inf), (second if np.isfinite(second) else -np.inf)

    return score


def choose_gamma(system: DualSystem, gammas: np.ndarray | None, score: Score) -> Choice:
    """Return the γ whose leave-one-out views score best, of equals the last; None asks for the default grid."""
    grid = default_gammas(system.scale) if gammas is None else gammas
    scores = np.full((len(grid), 2), -np.inf)
    poles = np.zeros(len(grid), dtype=bool)
    best, left_out, solution = -1, None, None
    for g, candidate in enumerate(system.candidates(grid)):
        if candidate.views is None:
            poles[g] = True
            continue
        scores[g] = score(candidate.views)
        if best < 0 or tuple(scores[g]) >= tuple(scores[best]):
            best, solution = g, candidate.solution
            left_out = {name: view.copy() for name, view in candidate.views.items()}
    if best < 0:
        system.at(float(grid[0]))  # explains the pole
        raise ParameterError(f"every gamma in {grid.tolist()} is at a pole of one of the problems; try others")
    if solution is None:
        solution = system.at(float(grid[best]))
    if len(grid) > 1:
        note = f"gamma chosen by leave-one-out from {len(grid)} values"
        if poles.any():
            note += f"; at a pole and left out: {', '.join(f'{gamma:g}' for gamma in grid[poles])}"
        solution = solution.noted(note)
    path = {"gamma": grid, "score": scores[:, 0], "squared_error": -scores[:, 1]}
    return Choice(float(grid[best]), solution, left_out, path)
