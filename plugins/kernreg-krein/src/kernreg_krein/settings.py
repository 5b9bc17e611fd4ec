"""Parameters of the machines, checked; and whether the kernel matrix is held in memory."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from kernreg import get_config
from kernreg.errors import ApproximationWarning, ParameterError
from kernreg.linalg import choose_landmarks, default_landmarks
from kernreg.solvers import TrainingSet, check_choice, check_count

STRATEGIES = ("auto", "exact", "lowrank")

_MATRICES = 5  # square ones held at once: K, its eigenvectors, LAPACK's workspace, |K|
_SHARE = 8  # a part of the memory budget that features of landmarks may take, one over this


def pick_strategy(asked: str, data: TrainingSet, accepted: tuple[str, ...] = STRATEGIES) -> str:
    """Return the strategy to take: exact while the matrices fit the memory budget."""
    check_choice("strategy", asked, accepted)
    if data.streamed:
        if asked not in ("auto", "lowrank"):
            raise ParameterError(f"strategy={asked!r} needs all samples in memory, and these are not; use 'lowrank'")
        return "lowrank"
    if asked != "auto":
        return asked
    return "exact" if 8 * _MATRICES * len(data.y) ** 2 <= get_config().memory_budget() else "lowrank"


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
            f"{m} samples do not fit the memory budget exactly: {len(chosen)} landmarks stand for them, an "
            "approximation. More landmarks (n_landmarks) or more memory (kernreg.set_config) are more accurate; "
            "strategy='lowrank' says that this is meant",
            ApproximationWarning,
            stacklevel=4,
        )
    return chosen
