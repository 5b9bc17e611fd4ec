"""γ: what may be given for it, and how one of several is chosen by exact leave-one-out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernreg.common.checks import as_number, is_real
from kernreg.errors import ParameterError, shown
from kernreg.solvers.dual.solution import DualSolution, DualSystem
from kernreg.solvers.dual.targets import Targets
from kernreg.solvers.dual.training import TrainingSet
from kernreg.solvers.views import Views

#: What γ times the scale of K̃ is never extended beyond: below the first, predictions are means.
_LIMITS = 1e-6, 1e17
_STEP = 10.0**0.2  # from one value to the next
_MORE = 10  # values that a grid is extended by
_NEAR = 2  # values: a best one as near as that to an end may be beaten beyond it
_EQUAL = 1e-10  # of an error: a difference that rounding decides, and so the CPU

_SCALE = re.compile(r"(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)\s*\*\s*)?scale")

#: The score of leave-one-out views, and minus a squared error that settles ties.
Score = Callable[[Views], tuple[float, float]]


@dataclass(frozen=True)
class Choice:
    """A γ, the solution there, and, where it was chosen by leave-one-out, the values left out and the path.

    ``left_out_error`` is what rounding may have done to these values, relative to the largest.
    """

    gamma: float
    solution: DualSolution
    left_out: Views | None = None
    path: dict[str, np.ndarray] | None = None
    warning: str = ""
    left_out_error: float = 0.0

    def noted(self, note: str) -> Choice:
        """Return the choice with something more said in the report of its solution."""
        return replace(self, solution=self.solution.noted(note)) if note else self


def check_gamma(gamma: Any, size: Callable[[], float] | None = None) -> float | np.ndarray | None:
    """Return one γ, a grid of them, or None for ``"loo"``, which leaves the grid to the data.

    Parameters
    ----------
    gamma : float, str or sequence of these
        ``"scale"`` and its multiples, such as ``"10*scale"``, are divided by the size of kernel values.
    size : callable, optional
        Returns that size; asked only where there is such a word. None stands for 1.

    Examples
    --------
    >>> check_gamma(2)
    2.0
    >>> check_gamma("10*scale", lambda: 4.0)
    2.5
    >>> check_gamma([0.1, "scale"], lambda: 4.0).tolist()
    [0.1, 0.25]
    """
    if isinstance(gamma, str) and gamma == "loo":
        return None
    known: list[float] = []  # the size is asked for once

    def number(value: Any) -> Any:
        match = _SCALE.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            return value
        if not known:
            known.append(1.0 if size is None else size())
        return float(match[1] or 1.0) / known[0]

    given, gamma = gamma, [number(g) for g in gamma] if isinstance(gamma, list | tuple) else number(gamma)
    if is_real(gamma):
        value = as_number(gamma)
        if 0.0 < value < np.inf and 1.0 / value > 0.0 and np.isfinite(1.0 / value):
            return value
    elif isinstance(gamma, list | tuple | np.ndarray):
        try:
            grid = np.asarray(gamma)
        except ValueError:  # ragged, or deeper than arrays are
            grid = np.array([np.nan])
        with np.errstate(divide="ignore", over="ignore"):
            grid = grid.astype(np.float64) if grid.dtype.kind in "iuf" else np.array([np.nan])
            inverses = 1.0 / grid
        if grid.ndim == 1 and grid.size and np.all((grid > 0.0) & (grid < np.inf)) and np.all(np.isfinite(inverses)):
            return grid
    raise ParameterError(
        f"gamma={shown(given)} is not accepted; give a positive finite number, 'scale' or a multiple such as "
        "'10*scale', a sequence of these to choose from by leave-one-out, or 'loo' to choose from a grid fitted to the "
        "kernel matrix"
    )


def default_gammas(scale: float) -> np.ndarray:
    """Return where the grid of ``gamma="loo"`` begins: 36 values, 1/γ from 10³ down to 10⁻⁴ times the scale of K̃."""
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


def choose_gamma(system: DualSystem, gammas: np.ndarray | None, score: Score, *, rescaled: bool = False) -> Choice:
    """Return the γ whose leave-one-out views score best, of those equal but for rounding the first tried.

    None asks for a grid fitted to the spectrum of K̃. It is extended while the best value is near one of its ends, until
    the score turns, 1/γ drowns in rounding errors, or the machine is no more than a mean: that costs no decomposition.
    A `GridEndWarning` says where the best value is the first or last of all. ``rescaled`` is that of `end_of_grid`.
    """
    search = _Search(system, score)
    if gammas is not None:
        search.try_all(gammas)
    else:
        scale = system.scale
        lowest, highest = (limit / (scale if scale > 0.0 else 1.0) for limit in _LIMITS)
        search.try_all(default_gammas(scale))
        while (more := search.beyond(lowest, highest)) is not None:
            search.try_all(more)
    return search.choice(fitted=gammas is None, rescaled=rescaled)


def beats(score: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Return whether a score of `Score` is better than another by more than rounding errors.

    >>> beats((0.9, -0.2), (0.8, -0.1)), beats((0.9, -0.2), (0.9, -0.2 - 1e-15))
    (True, False)
    """
    slack = _EQUAL * abs(1.0 - other[0]) + 4.0 * np.finfo(np.float64).eps
    if not abs(score[0] - other[0]) <= slack < np.inf:
        return score[0] > other[0]
    return score[1] - other[1] > _EQUAL * abs(other[1])


class _Search:
    """The values of γ tried so far, in ascending order where they extend each other, and the best of them."""

    def __init__(self, system: DualSystem, score: Score):
        self._system, self._score = system, score
        self.gammas, self.scores, self.poles = np.empty(0), np.empty((0, 2)), np.empty(0, dtype=bool)
        self._best: tuple[float, ...] | None = None
        self._gamma = np.nan
        self._left_out: Views | None = None
        self._error = 0.0
        self._solution: DualSolution | None = None

    def try_all(self, gammas: np.ndarray) -> None:
        """Score more values of γ, all below or all above those before."""
        scores = np.full((len(gammas), 2), -np.inf)
        poles = np.zeros(len(gammas), dtype=bool)
        for g, candidate in enumerate(self._system.candidates(gammas)):
            if candidate.views is None:
                poles[g] = True
                continue
            scores[g] = score = self._score(candidate.views)
            if self._best is None or beats(score, self._best):
                self._best, self._gamma, self._solution = score, float(gammas[g]), candidate.solution
                self._left_out = {name: view.copy() for name, view in candidate.views.items()}
                self._error = candidate.error
        below = len(self.gammas) and gammas[-1] < self.gammas[0]
        parts = [(gammas, scores, poles), (self.gammas, self.scores, self.poles)]
        self.gammas, self.scores, self.poles = map(np.concatenate, zip(*(parts if below else parts[::-1]), strict=True))

    def beyond(self, lowest: float, highest: float) -> np.ndarray | None:
        """Return more values beyond the end that the best is near to; None where there is no such end."""
        where = np.flatnonzero(self.gammas == self._gamma)
        if not len(where):
            return None
        step, first, last = _STEP ** np.arange(1, _MORE + 1), self.gammas[0], self.gammas[-1]
        if where[-1] >= len(self.gammas) - _NEAR and last < highest and not self.poles[-_NEAR:].all():
            return last * step
        if where[0] < _NEAR and first > lowest and not self.poles[:_NEAR].all():
            return (first / step)[::-1]
        return None

    def choice(self, *, fitted: bool, rescaled: bool) -> Choice:
        """Return the best; raise ParameterError where every γ is at a pole."""
        grid, poles = self.gammas, self.poles
        if self._best is None:
            self._system.at(float(grid[0]))  # explains the pole
            raise ParameterError(f"every gamma in {grid.tolist()} is at a pole of one of the problems; try others")
        solution = self._solution if self._solution is not None else self._system.at(self._gamma)
        if len(grid) > 1:
            note = f"gamma chosen by leave-one-out from {len(grid)} values"
            if poles.any():
                note += f"; at a pole and left out: {', '.join(f'{gamma:g}' for gamma in grid[poles])}"
            solution = solution.noted(note)
        path = {"gamma": grid, "score": self.scores[:, 0], "squared_error": -self.scores[:, 1]}
        warning = end_of_grid(self._gamma, grid[~poles], fitted=fitted, rescaled=rescaled)
        smallest, largest = (tuple(self.scores[~poles][end].tolist()) for end in (0, -1))
        if fitted and not warning and beats(self._best, smallest) and not beats(self._best, largest):
            warning = (
                f"leave-one-out takes gamma={self._gamma:g}, and every larger one is as good: the targets look free of "
                "noise to this kernel"
            )
        return Choice(self._gamma, solution, self._left_out, path, warning, self._error)


def end_of_grid(gamma: float, grid: np.ndarray, *, fitted: bool = False, rescaled: bool = False) -> str:
    """Return what to say of a γ at one end of the values it was chosen from, nothing where it is inside.

    A grid of one or two values has no inside, and nothing is said of it. ``fitted``: the grid was extended as far as it
    makes sense. ``rescaled``: the ensembler may multiply views, so that a machine next to the mean still tells classes
    apart, and a smaller γ is the same machine.

    >>> end_of_grid(10.0, np.array([0.1, 1.0, 10.0]))
    'gamma=10 is the largest of the 3 usable values, and larger ones may be better: extend the grid'
    """
    if len(np.unique(grid)) < 3 or grid.min() < gamma < grid.max():
        return ""
    if not fitted:
        which, other = ("largest", "larger") if gamma == grid.max() else ("smallest", "smaller")
        return (
            f"gamma={gamma:g} is the {which} of the {len(grid)} usable values, and {other} ones may be better: "
            "extend the grid"
        )
    if gamma == grid.max():
        return (
            f"leave-one-out takes gamma={gamma:g}, the largest that rounding errors allow: the targets look free of "
            "noise to this kernel"
        )
    if rescaled:
        return ""
    return (
        f"leave-one-out takes gamma={gamma:g}, so small that every prediction is about the mean of the targets: this "
        "kernel says nothing about them. Try another kernel or width"
    )
