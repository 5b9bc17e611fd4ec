"""Parameters of the machines, checked; and whether the kernel matrix is held in memory."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from kernreg import get_config
from kernreg.errors import ApproximationWarning, MemoryBudgetWarning, ParameterError
from kernreg.linalg import choose_landmarks, default_landmarks
from kernreg.solvers import TrainingSet, check_choice, check_count

STRATEGIES = ("auto", "exact", "lowrank")

_MATRICES = 5  # square ones held at once: K, its eigenvectors, LAPACK's workspace, |K|
_SHARE = 8  # a part of the memory budget that features of landmarks may take, one over this


def pick_strategy(asked: str, data: TrainingSet, accepted: tuple[str, ...] = STRATEGIES, *, stacklevel: int = 4) -> str:
    """Return the strategy to take: exact while the matrices fit the memory budget.

    ``stacklevel`` is that of who called ``fit``, for the warning where exact is asked for and does not fit.
    """
    check_choice("strategy", asked, accepted)
    if data.streamed:
        if asked not in ("auto", "lowrank"):
            raise ParameterError(f"strategy={asked!r} needs all samples in memory, and these are not; use 'lowrank'")
        return "lowrank"
    m, budget = len(data.y), get_config().memory_budget()
    needed = 8 * _MATRICES * m**2
    if asked == "exact" and needed > budget:
        warnings.warn(
            f"strategy='exact' with {m} samples needs about {needed / 1e6:.1f} MB, more than the memory budget of "
            f"{budget / 1e6:.1f} MB; it is done anyway, as asked. strategy='lowrank' needs less; "
            "kernreg.set_config(memory=…) raises the budget",
            MemoryBudgetWarning,
            stacklevel=stacklevel,
        )
    if asked != "auto":
        return asked
    return "exact" if needed <= budget else "lowrank"


def pick_landmarks(machine: Any, data: TrainingSet) -> np.ndarray:
    """Return the samples that stand for all; warn where nobody asked for an approximation.

    By default they are as many as for ``ls-svm``, and no more than features of all samples fit an eighth of the memory
    budget.
    """
    m, count, given = len(data.y), machine.n_landmarks, machine.landmarks
    if count is not None:
        count = check_count("n_landmarks", count)
    elif isinstance(given, str):
        affordable = get_config().memory_budget() // (8 * _SHARE * m)
        count = max(1, min(default_landmarks(m), affordable))
    chosen = choose_landmarks(data.kernel, data.X, count, given, random_state=machine.random_state)
    if machine.strategy == "auto":
        warnings.warn(
            f"{m} samples do not fit the memory budget exactly: {len(chosen)} landmarks are used instead, an "
            "approximation. More landmarks (n_landmarks) or more memory (kernreg.set_config) are more accurate; "
            "strategy='lowrank' asks for this explicitly",
            ApproximationWarning,
            stacklevel=4,
        )
    return chosen
