"""What both ways to solve on landmarks share: the memory warning, the problem, its solution by view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernreg.engine.budget import beyond_budget
from kernreg.errors import MemoryBudgetWarning
from kernreg.linalg import SolveReport
from kernreg.linalg.landmarks.lowrank_systems import LowRankView
from kernreg.solvers.advice import advise
from kernreg.solvers.dual.solution import DualSolution
from kernreg.solvers.dual.strategy import Settings
from kernreg.solvers.dual.training import TrainingSet


def warn_of_memory(strategy: str, count: int, needed: int) -> None:
    """Warn where so many landmarks need more than the memory budget."""
    what = f"strategy={strategy!r} with {count} landmarks"
    if doubt := beyond_budget(needed, what, "take fewer landmarks (n_landmarks)"):
        advise(doubt, MemoryBudgetWarning, stacklevel=6)


def problem_on_landmarks(
    make: Callable[..., Any], symmetric: bool, data: TrainingSet, Y: np.ndarray, count: int, settings: Settings
) -> tuple[tuple[str, ...], Any]:
    """Return the names of the views, and the problem.

    Parameters
    ----------
    make : callable
        ``make(kernel, X, Y, **options)``, with ``Z`` among the options where there are two views.
    symmetric : bool
        LS-SVM, one view; else AsK-LS, two.
    data, Y, settings
        Of the fit.
    count : int
        How many landmarks.
    """
    options: dict[str, Any] = {
        "weights": data.weights,
        "n_landmarks": count,
        "landmarks": settings.landmarks,
        "random_state": settings.random_state,
    }
    if symmetric:
        return ("decision",), make(data.kernel, data.X, Y, **options)
    source, target = data.X if isinstance(data.X, tuple) else (data.X, None)
    return ("source", "target"), make(data.kernel, source, Y, Z=target, **options)


def solution_of(names: tuple[str, ...], views: tuple[LowRankView, ...], report: SolveReport) -> DualSolution:
    """Return coefficients and intercepts by the names of the views."""
    named = dict(zip(names, views, strict=True))
    return DualSolution(
        {name: view.coefficients for name, view in named.items()},
        {name: view.intercept for name, view in named.items()},
        report,
    )
