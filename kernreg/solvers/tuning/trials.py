"""Trying the combinations of a grid: one after the other, side by side, or on an engine elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn

from kernreg.engine.dispatch import configured_engine, current_engine
from kernreg.engine.threads import run_tasks, single_threaded_blas, thread_count
from kernreg.errors import AsymmetryError, ParameterError
from kernreg.solvers.advice import collecting
from kernreg.solvers.tuning.search import SIDE_BY_SIDE, Search

_MATRICES = 6  # of m × m, that the decomposition of one of them may need

Outcome = tuple[list[dict[str, Any]], Exception | None]  # of a combination: rows of the table, why it failed


def try_all(
    search: Search,
    combinations: list[Any],
    settings: dict[str, Any],
    evident: bool,
    note: Callable[[int, Outcome], None],
) -> None:
    """Try the combinations: side by side while several matrices fit in memory, which small decompositions like better.

    The decomposition of one small matrix keeps no more than one core busy; two of them keep two. An engine elsewhere
    takes whole combinations.
    """
    m, count = search.size, len(combinations)
    small = m <= SIDE_BY_SIDE and search.last.strategy in ("auto", "exact")
    together, engine = min(thread_count(), count), configured_engine()
    if engine is not None and small and search.travels:
        for number, outcome in engine.each(tried, combinations, args=(search, settings, evident)):
            note(number, outcome)
    elif together > 1 and small and current_engine().fits(_MATRICES * together * 8 * m * m):
        np.linalg.eigh(np.eye(2))  # BLAS is loaded before its threads are counted
        with single_threaded_blas():
            run_tasks(lambda number: note(number, tried(combinations[number], search, settings, evident)), count)
    else:
        for number, combination in enumerate(combinations):
            note(number, tried(combination, search, settings, evident))


def tried(item: tuple[dict[str, Any], Any], search: Search, settings: dict[str, Any], evident: bool) -> Outcome:
    """Return the rows of the table for one combination, here or on another machine, and why it failed if it did."""
    (combination, gammas), gamma = item, search.gamma
    try:
        with sklearn.config_context(**settings), collecting() as heard:
            candidate, path = search.tried(combination, gammas, evident)
    # Every γ at a pole, a kernel parameter out of its domain or of another kernel, an asymmetric kernel.
    except (ParameterError, AsymmetryError) as error:
        failed = {gamma: np.nan, "score": -np.inf, "error": str(error)}
        failed |= {} if evident else {"squared_error": np.inf}
        return [{**combination, **failed}], error
    rows = [
        {**combination, gamma: float(path["gamma"][g])}
        | {name: float(values[g]) for name, values in path.items() if name != "gamma"}
        for g in range(len(path["gamma"]))
    ]
    for row in rows:  # what it says is about the γ that is best for this combination
        if heard and row[gamma] == candidate.gamma_:
            row["warning"] = heard[0]
    return rows, None
