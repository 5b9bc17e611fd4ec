"""Tuning by exact leave-one-out: one decomposition for each kernel, every γ from it, no refits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from kernreg.common.display import Display
from kernreg.common.progress import progress
from kernreg.config import memory_budget
from kernreg.engine.threads import run_tasks, single_threaded_blas, thread_count
from kernreg.errors import AsymmetryError, ParameterError
from kernreg.factory import make_solver
from kernreg.solvers.advice import collecting
from kernreg.solvers.dual.gamma import check_gamma

_SIDE_BY_SIDE = 2500  # samples up to which combinations are tried side by side
_MATRICES = 6  # of m × m, that the decomposition of one of them may need


@dataclass(frozen=True)
class TuneResult(Display):
    """What `tune` found.

    Attributes
    ----------
    table : pandas.DataFrame or list of dict
        One row for each combination tried, in the order tried: its parameters, the leave-one-out ``score`` and
        ``squared_error``. A γ at a pole has the score -inf; a combination that failed has ``error`` set, one whose
        fit was not accurate ``warning``. Only the fit that is kept warns aloud.
    best_params : dict
    best_score : float
        The best leave-one-out score (accuracy, or R²).
    best_estimator : estimator
        The solver fitted to all samples with the best parameters.
    """

    table: Any
    best_params: dict[str, Any]
    best_score: float
    best_estimator: Any


def tune(solver: Any, grid: Mapping[str, Iterable[Any]], X: Any, y: Any, *, sample_weight: Any = None) -> TuneResult:
    """Choose parameters of a solver by exact leave-one-out.

    Parameters
    ----------
    solver : estimator, class or str
        A solver of kernreg with leave-one-out (``ls-svm``, ``ls-svr``, ``ask-ls``, ``ask-lsr``), or its spec.
    grid : mapping of str to iterable
        Values to try for each parameter, as in a grid search: ``{"kernel__sigma": [0.5, 1, 2], "gamma": [1, 10]}``.
        ``gamma`` may be left out (then the solver's own is used) or be ``"loo"``.
    X, y, sample_weight
        As for ``solver.fit``.

    Returns
    -------
    TuneResult

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernreg.solvers import LSSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> result = tune(LSSVC(), {"kernel__sigma": [1.0, 3.0], "gamma": [0.1, 1.0, 10.0]}, X, y)
    >>> len(result.table)
    6
    >>> bool(result.best_score > 0.95)
    True
    """
    solver = make_solver(solver)
    _require_leave_one_out(solver)
    others, gammas = _split(solver, grid)
    combinations = list(ParameterGrid(others))
    found: list[list[dict[str, Any]]] = [[] for _ in combinations]
    failures: list[Exception | None] = [None] * len(combinations)
    settings = sklearn.get_config()  # of this thread; other threads start with the defaults
    with progress("tune", len(combinations)) as report:

        def attempt(number: int) -> None:
            try:
                with sklearn.config_context(**settings), collecting() as heard:
                    candidate = clone(solver).set_params(**combinations[number], gamma=gammas)
                    path = candidate.fit(X, y, sample_weight=sample_weight).loo_path_
            # Every γ at a pole, a kernel parameter out of its domain or of another kernel, an asymmetric kernel.
            except (ParameterError, AsymmetryError) as error:
                failures[number] = error
                failed = {"gamma": np.nan, "score": -np.inf, "squared_error": np.inf, "error": str(error)}
                found[number] = [{**combinations[number], **failed}]
            else:
                found[number] = [
                    {**combinations[number], "gamma": float(g), "score": float(score), "squared_error": float(square)}
                    for g, score, square in zip(path["gamma"], path["score"], path["squared_error"], strict=True)
                ]
                for row in found[number]:  # what it says is about the γ that is best for this combination
                    if heard and row["gamma"] == candidate.gamma_:
                        row["warning"] = heard[0]
            report(sum(map(bool, found)))

        _run(attempt, len(combinations), solver, y)
    rows = [row for rows in found for row in rows]
    usable = [row for row in rows if "error" not in row]
    if not usable:
        failure = next(error for error in failures if error is not None)
        raise ParameterError(f"no combination of the grid could be fitted; the first failure: {failure}") from failure
    best = max(usable, key=lambda row: (row["score"], -row["squared_error"]))  # of equals, the first
    params = {name: best[name] for name in (*others, "gamma")}
    estimator = clone(solver).set_params(**params).fit(X, y, sample_weight=sample_weight)
    return TuneResult(_table(rows), params, best["score"], estimator)


def _run(attempt: Callable[[int], None], count: int, solver: Any, y: Any) -> None:
    """Try the combinations: side by side while several matrices fit in memory, which small decompositions like better.

    The decomposition of one small matrix keeps no more than one core busy; two of them keep two.
    """
    m = 0 if y is None else len(y)  # without y, fit says what is missing
    together = min(thread_count(), count)
    fits = _MATRICES * together * 8 * m * m <= memory_budget()
    if together > 1 and m <= _SIDE_BY_SIDE and fits and solver.strategy in ("auto", "exact"):
        np.linalg.eigh(np.eye(2))  # BLAS is loaded before its threads are counted
        with single_threaded_blas():
            run_tasks(attempt, count)
    else:
        for number in range(count):
            attempt(number)


def _require_leave_one_out(solver: Any) -> None:
    if not hasattr(type(solver), "loo_views_") or "gamma" not in solver.get_params(deep=False):
        raise ParameterError(
            f"{type(solver).__name__} has no exact leave-one-out to tune by; tune takes 'ls-svm', 'ls-svr', 'ask-ls' "
            "and 'ask-lsr', and sklearn.model_selection.GridSearchCV any other estimator"
        )


def _split(solver: Any, grid: Mapping[str, Iterable[Any]]) -> tuple[dict[str, list[Any]], Any]:
    """Return the grid without γ, and γ in a form that makes the solver take the leave-one-out path."""
    if not isinstance(grid, Mapping):
        raise ParameterError(
            f"grid={grid!r} is not accepted; give a mapping such as {{'kernel__sigma': [0.5, 1, 2], 'gamma': [1, 10]}}"
        )
    known = set(solver.get_params())
    # A kernel in the grid brings its own parameters.
    unknown = [name for name in grid if name not in known and not ("kernel" in grid and name.startswith("kernel__"))]
    if unknown:
        raise ParameterError(
            f"{type(solver).__name__} has no parameter {unknown[0]!r}; its parameters are {', '.join(sorted(known))}"
        )
    rest: dict[str, list[Any]] = {}
    for name, values in grid.items():
        if name == "gamma":
            continue
        rest[name] = [] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)
        if not rest[name]:
            raise ParameterError(f"grid[{name!r}]={values!r} is not accepted; give a list of values to try")
    gammas = grid.get("gamma", solver.gamma)
    if isinstance(gammas, np.ndarray):
        gammas = gammas.tolist()
    if not isinstance(gammas, str):
        gammas = list(gammas) if isinstance(gammas, Iterable) else [gammas]
    check_gamma(gammas)  # at once: it is the same for every combination
    return rest, gammas


def _table(rows: list[dict[str, Any]]) -> Any:
    try:
        import pandas as pd  # type: ignore[import-untyped]  # optional, and so are its stubs
    except ImportError:
        return rows
    return pd.DataFrame(rows)
