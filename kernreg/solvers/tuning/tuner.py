"""Tuning by exact leave-one-out: one decomposition for each kernel, every γ from it, no refits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import sklearn
from sklearn.model_selection import ParameterGrid

from kernreg.common.display import Display
from kernreg.common.progress import progress
from kernreg.errors import GridEndWarning, ParameterError
from kernreg.factory import make_solver
from kernreg.solvers.advice import advise
from kernreg.solvers.dual.gamma import beats, end_of_grid
from kernreg.solvers.parameters import check_choice
from kernreg.solvers.tuning.ends import end_of_values
from kernreg.solvers.tuning.search import Search
from kernreg.solvers.tuning.trials import Outcome, try_all
from kernreg.solvers.views import rescales


@dataclass(frozen=True)
class TuneResult(Display):
    """What `tune` found.

    Attributes
    ----------
    table : pandas.DataFrame or list of dict
        One row for each combination tried, in the order tried: its parameters, the leave-one-out ``score`` and
        ``squared_error`` (or as ``score`` the evidence). A γ at a pole has the score -inf; a combination that failed
        has ``error`` set, one whose fit was not accurate ``warning``. Only the fit that is kept warns aloud.
    best_params : dict
    best_score : float
        The best leave-one-out score (accuracy, or R²): ``loo_score_`` of the estimator, or of its last step.
    best_estimator : estimator
        The solver, pipeline or chain fitted to all samples with the best parameters.

    Examples
    --------
    >>> import numpy as np
    >>> import kernreg as kr
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> found = kr.tune("ls-svr", {"kernel__sigma": [1.0, 2.0], "gamma": [10.0, 100.0]}, X, np.sin(X[:, 0]))
    >>> sorted(found.best_params), len(found.table), found.best_score > 0.9
    (['gamma', 'kernel__sigma'], 4, True)
    """

    table: Any
    best_params: dict[str, Any]
    best_score: float
    best_estimator: Any


def tune(
    solver: Any, grid: Any = None, X: Any = None, y: Any = None, *, sample_weight: Any = None, criterion: str = "loo"
) -> TuneResult:
    """Choose parameters of a solver by exact leave-one-out, or by the evidence of a Gaussian process.

    In a pipeline or chain the steps before the solver are fitted to all samples, and held fixed while samples are left
    out. For steps that look at no targets (scaling, principal components) the score differs little from that of
    complete refits. Steps that do (selection of features, learnt kernels) have seen the target left out: the score is
    too good, which a warning says, and folds around everything, as of GridSearchCV, are the honest choice.

    Parameters
    ----------
    solver : estimator, class or str
        A solver of kernreg with leave-one-out (``ls-svm``, ``ls-svr``, ``ask-ls``, ``ask-lsr``), or its spec; or a
        Pipeline of scikit-learn or a chain whose last step is one.
    grid : mapping of str to iterable, or list of such, optional
        Values to try for each parameter, as in a grid search: ``{"kernel__sigma": [0.5, 1, 2], "gamma": [1, 10]}``.
        ``gamma`` may be left out (then the solver's own is used), be ``"loo"``, or hold ``"scale"`` and its multiples.
        Names are those of the estimator, ``lssvm__kernel__sigma``, or of its last step. By default widths of the
        kernel, ¼ to 8 times ``"scale"`` (or their value, where they take no words), and γ by ``"loo"``.
    X, y, sample_weight
        As for ``solver.fit``.
    criterion : {"loo", "evidence"}
        The leave-one-out score, or (``ls-svr`` with a positive definite kernel) the log marginal likelihood of the
        Gaussian process that the machine is the mean of. γ is then 1 over the variance of the noise.

    Returns
    -------
    TuneResult

    Warns
    -----
    GridEndWarning
        If the best of at least three numbers is the first or last of them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernreg.solvers import LSSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> result = tune(LSSVC(), {"kernel__sigma": [1.0, 3.0], "gamma": [1.0, 10.0]}, X, y)
    >>> len(result.table)
    4
    >>> result.best_score == result.best_estimator.loo_score_ > 0.95
    True
    """
    evident = check_choice("criterion", criterion, ("loo", "evidence")) == "evidence"
    search = Search(make_solver(solver), X, y, sample_weight)
    if evident:
        _require_evidence(search.last)
    combinations = [
        (combination, gammas)
        for others, gammas in map(search.split, _grids(search, grid))
        for combination in ParameterGrid(others)
    ]
    search.prepare([combination for combination, _ in combinations])
    found: list[list[dict[str, Any]]] = [[] for _ in combinations]
    failures: list[Exception | None] = [None] * len(combinations)
    settings = sklearn.get_config()  # of this thread; other threads start with the defaults
    gamma = search.gamma
    with progress("tune", len(combinations)) as report:

        def note(number: int, outcome: Outcome) -> None:
            found[number], failures[number] = outcome
            report(sum(map(bool, found)))

        try_all(search, combinations, settings, evident, note)
    rows = [row for rows in found for row in rows]
    usable = [row for row in rows if "error" not in row]
    if not usable:
        failure = next(error for error in failures if error is not None)
        raise ParameterError(f"no combination of the grid could be fitted; the first failure: {failure}") from failure
    best = reduce(lambda best, row: row if beats(_scores(row), _scores(best)) else best, usable)  # of equals, the first
    number = next(number for number, rows in enumerate(found) if any(row is best for row in rows))
    params = {**combinations[number][0], gamma: best[gamma]}
    estimator, last = search.fitted(combinations[number][0], best[gamma])
    # The same but for rounding errors.
    best["score"] = float(last.gaussian_process().log_marginal_likelihood if evident else last.loo_score_)
    path = np.array([row[gamma] for row in found[number] if row["score"] > -np.inf])
    rescaled = hasattr(last, "ensembler_") and rescales(last.ensembler_)
    ends = [end_of_grid(best[gamma], path, fitted=isinstance(combinations[number][1], str), rescaled=rescaled)]
    ends += [end_of_values(name, value, [c.get(name) for c, _ in combinations]) for name, value in params.items()]
    for message in filter(None, ends):
        advise(message, GridEndWarning, stacklevel=2)
    return TuneResult(_table(rows), params, best["score"], estimator)


def _scores(row: dict[str, Any]) -> tuple[float, float]:
    return row["score"], -row.get("squared_error", 0.0)


def _grids(search: Search, grid: Any) -> list[Any]:
    """Return a list of grids: those given, or the default."""
    if grid is None:
        return [search.default_grid()]
    return list(grid) if isinstance(grid, list | tuple) and len(grid) else [grid]


def _require_evidence(solver: Any) -> None:
    if not hasattr(type(solver), "gaussian_process"):
        raise ParameterError(
            f"{type(solver).__name__} is not the mean of a Gaussian process and has no evidence; criterion='evidence' "
            "takes 'ls-svr', and criterion='loo' every machine"
        )


def _table(rows: list[dict[str, Any]]) -> Any:
    try:
        import pandas as pd  # type: ignore[import-untyped]  # optional, and so are its stubs
    except ImportError:
        return rows
    return pd.DataFrame(rows)
