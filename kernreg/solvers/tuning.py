"""Tuning by exact leave-one-out: one decomposition for each kernel, every γ from it, no refits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from kernreg.common.display import Display
from kernreg.common.progress import progress
from kernreg.engine.dispatch import configured_engine, current_engine
from kernreg.engine.threads import run_tasks, single_threaded_blas, thread_count
from kernreg.errors import AsymmetryError, GridEndWarning, KernregError, KernregWarning, ParameterError
from kernreg.factory import make_kernel, make_solver
from kernreg.solvers.advice import advise, collecting
from kernreg.solvers.dual.gamma import check_gamma, end_of_grid
from kernreg.solvers.elsewhere import reader_of
from kernreg.solvers.inference.gaussian_process import evidence_path
from kernreg.solvers.parameters import check_choice
from kernreg.solvers.views import rescales

_SIDE_BY_SIDE = 2500  # samples up to which combinations are tried side by side
_MATRICES = 6  # of m × m, that the decomposition of one of them may need
_MULTIPLES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # of the width, where no grid is given
_WIDTHS = ("sigma", "rho")  # names of parameters that are widths

_Outcome = tuple[list[dict[str, Any]], Exception | None]  # of a combination: rows of the table, why it failed


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
    search = _Search(make_solver(solver), X, y, sample_weight)
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

        def note(number: int, outcome: _Outcome) -> None:
            found[number], failures[number] = outcome
            report(sum(map(bool, found)))

        _run(search, combinations, settings, evident, note)
    rows = [row for rows in found for row in rows]
    usable = [row for row in rows if "error" not in row]
    if not usable:
        failure = next(error for error in failures if error is not None)
        raise ParameterError(f"no combination of the grid could be fitted; the first failure: {failure}") from failure
    best = max(usable, key=lambda row: (row["score"], -row.get("squared_error", 0.0)))  # of equals, the first
    number = next(number for number, rows in enumerate(found) if any(row is best for row in rows))
    params = {**combinations[number][0], gamma: best[gamma]}
    estimator, last = search.fitted(combinations[number][0], best[gamma])
    # The same but for rounding errors.
    best["score"] = float(last.gaussian_process().log_marginal_likelihood if evident else last.loo_score_)
    path = np.array([row[gamma] for row in found[number] if row["score"] > -np.inf])
    rescaled = hasattr(last, "ensembler_") and rescales(last.ensembler_)
    ends = [end_of_grid(best[gamma], path, fitted=isinstance(combinations[number][1], str), rescaled=rescaled)]
    ends += [_end_of_values(name, value, [c.get(name) for c, _ in combinations]) for name, value in params.items()]
    for message in filter(None, ends):
        advise(message, GridEndWarning, stacklevel=2)
    return TuneResult(_table(rows), params, best["score"], estimator)


class _Search:
    """An estimator, its last step, which has leave-one-out, and the samples."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any):
        self.estimator, self._X, self._y, self._weight = estimator, X, y, sample_weight
        self._composed = isinstance(getattr(estimator, "steps", None), list)
        self._name: str
        self._name, self.last = estimator.steps[-1] if self._composed else ("", estimator)
        self._prefix = f"{self._name}__" if self._composed else ""
        self.gamma = f"{self._prefix}gamma"
        self._prepared: dict[Any, Any] = {}
        _require_leave_one_out(self.last)
        for name, step in estimator.steps[:-1] if self._composed else ():
            if _uses_targets(step):
                advise(
                    f"the step {name!r} ({type(step).__name__}) learns from targets, also from those left out after "
                    "it: leave-one-out scores are too good. GridSearchCV refits it in every fold",
                    KernregWarning,
                    stacklevel=3,
                )

    @property
    def size(self) -> int:
        """How many samples there are; 0 without y, of which fit says that it is missing."""
        elsewhere = reader_of(self._X, self._y) is not None
        return _SIDE_BY_SIDE + 1 if elsewhere else 0 if self._y is None else len(self._y)

    @property
    def travels(self) -> bool:
        """Whether another process can fit the last step: not where steps before it are prepared here."""
        return not self._prepared

    def default_grid(self) -> dict[str, Any]:
        """Return multiples of the widths of the kernel, and γ by leave-one-out."""
        grid: dict[str, Any] = {}
        owner, prefix = self.last, f"{self._prefix}kernel__"
        if self._composed and self.last.kernel is None and getattr(self.estimator, "kernel", None) is not None:
            owner, prefix = self.estimator, "kernel__"  # a chain's kernel is that of its steps
        try:
            kernel = make_kernel(owner.kernel) if owner is self.estimator and self._composed else owner.resolve_kernel()
        except KernregError:  # fit says what is wrong with it
            return {self.gamma: "loo"}
        for name, value in kernel.get_params().items():
            if name.rpartition("__")[2] in _WIDTHS and len(grid) < 2:
                words = ["scale" if factor == 1.0 else f"{factor:g}*scale" for factor in _MULTIPLES]
                try:
                    kernel.set_params(**{name: words[0]})
                except (KernregError, TypeError):
                    grid[f"{prefix}{name}"] = [factor * value for factor in _MULTIPLES]
                else:
                    grid[f"{prefix}{name}"] = words
        return {**grid, self.gamma: "loo"}

    def split(self, grid: Any) -> tuple[dict[str, list[Any]], Any]:
        """Return the grid without γ, by the names of the estimator, and γ in a form that gives a path (None: as is)."""
        if not isinstance(grid, Mapping):
            raise ParameterError(
                f"grid={grid!r} is not accepted; give a mapping such as {{'kernel__sigma': [0.5, 1, 2], "
                "'gamma': [1, 10]}, or a list of such"
            )
        known, inner = set(self.estimator.get_params()), set(self.last.get_params())
        full: dict[str, Any] = {}
        for name, values in grid.items():
            longer = name in inner or (name.startswith("kernel__") and "kernel" in grid)
            full[name if name in known or not (self._composed and longer) else f"{self._prefix}{name}"] = values
        for name in full:
            # A kernel or a step in the grid brings its own parameters.
            owners = [name[: place.start()] for place in re.finditer("__", name)]
            if name not in known and not any(owner in full for owner in owners):
                raise ParameterError(
                    f"{type(self.estimator).__name__} has no parameter {name!r}; its parameters are "
                    f"{', '.join(sorted(known))}"
                )
        gammas = full.pop(self.gamma, self.last.gamma if self._name not in full else None)
        for name, values in full.items():
            full[name] = [] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)
            if not full[name]:
                raise ParameterError(f"grid[{name!r}]={values!r} is not accepted; give a list of values to try")
        if gammas is None and self._name in full:
            return full, None
        if isinstance(gammas, np.ndarray):
            gammas = gammas.tolist()
        if isinstance(gammas, str):
            gammas = gammas if gammas == "loo" else [gammas]
        else:
            gammas = list(gammas) if isinstance(gammas, Iterable) else [gammas]
        check_gamma(gammas)  # at once: it is the same for every combination
        return full, gammas

    def prepare(self, combinations: list[dict[str, Any]]) -> None:
        """Fit the steps of a pipeline before the last, once for each combination of their parameters."""
        if isinstance(self.estimator, Pipeline) and len(self.estimator.steps) > 1 and self._X is not None:
            for combination in combinations:
                key = self._key(combination)
                if key not in self._prepared:
                    before = clone(self.estimator).set_params(**dict(self._before(combination)))[:-1]
                    self._prepared[key] = before.fit_transform(self._X, self._y)

    def _before(self, combination: dict[str, Any]) -> list[tuple[str, Any]]:
        return [(k, v) for k, v in combination.items() if k != self._name and not k.startswith(self._prefix)]

    def _key(self, combination: dict[str, Any]) -> Any:
        return tuple((name, id(value)) for name, value in self._before(combination))

    def last_fitted(self, combination: dict[str, Any], gammas: Any) -> Any:
        """Return the last step, fitted with values of γ to choose from."""
        estimator, last = self._candidate(combination, gammas)
        key = self._key(combination)
        if key in self._prepared:
            return last.fit(self._prepared[key], self._y, sample_weight=self._weight)
        return self._fit(estimator)

    def tried(self, combination: dict[str, Any], gammas: Any, evident: bool) -> tuple[Any, dict[str, np.ndarray]]:
        """Return the last step, fitted, and its scores over γ."""
        if not evident:
            candidate = self.last_fitted(combination, gammas)
            return candidate, candidate.loo_path_
        candidate = self.last_fitted(combination, 1.0)
        grid = check_gamma(self.last.gamma if gammas is None else gammas)
        return candidate, evidence_path(candidate, None if grid is None else np.atleast_1d(grid))

    def fitted(self, combination: dict[str, Any], gamma: float) -> tuple[Any, Any]:
        """Return the estimator fitted with one γ, and its last step, which has leave-one-out values."""
        estimator, last = self._candidate(combination, [gamma])
        model = self._fit(estimator)
        last.gamma = model.gamma = gamma
        return estimator, model

    def _candidate(self, combination: dict[str, Any], gammas: Any) -> tuple[Any, Any]:
        estimator = clone(self.estimator).set_params(**combination)
        last = estimator.steps[-1][1] if self._composed else estimator
        _require_leave_one_out(last)
        last.gamma = gammas if gammas is not None else last.gamma if np.ndim(last.gamma) else [last.gamma]
        return estimator, last

    def _fit(self, estimator: Any) -> Any:
        """Fit, and return the fitted last step."""
        weight = "sample_weight" if not isinstance(estimator, Pipeline) else f"{self._prefix}sample_weight"
        estimator.fit(self._X, self._y, **({} if self._weight is None else {weight: self._weight}))
        return getattr(estimator, "steps_", estimator.steps)[-1][1] if self._composed else estimator


def _uses_targets(step: Any) -> bool:
    """Return whether a step before the solver learns from targets.

    >>> from sklearn.feature_selection import SelectKBest, VarianceThreshold
    >>> _uses_targets(SelectKBest()), _uses_targets(VarianceThreshold()), _uses_targets("passthrough")
    (True, False, False)
    """
    for attribute in ("steps", "transformers", "transformer_list", "branches"):
        if isinstance(getattr(step, attribute, None), list):
            return any(_uses_targets(inner[1]) for inner in getattr(step, attribute))
    if not hasattr(step, "__sklearn_tags__"):
        return False
    selects = isinstance(step, SelectorMixin) and not isinstance(step, VarianceThreshold)  # its tags do not say it
    return bool(get_tags(step).target_tags.required) or selects or is_classifier(step) or is_regressor(step)


def _grids(search: _Search, grid: Any) -> list[Any]:
    """Return a list of grids: those given, or the default."""
    if grid is None:
        return [search.default_grid()]
    return list(grid) if isinstance(grid, list | tuple) and len(grid) else [grid]


def _end_of_values(name: str, best: Any, tried: list[Any]) -> str:
    """Return what to say of the best of at least three numbers, or multiples of a word, that is at their end.

    >>> _end_of_values("kernel__sigma", "4*scale", ["scale", "2*scale", "4*scale"])
    'kernel__sigma=4*scale is the largest of 3 values, and larger ones may be better: extend the grid'
    """
    sizes = {_size(value) for value in tried if value is not None}
    units, numbers = {size[0] for size in sizes if size}, [size[1] for size in sizes if size]
    if None in sizes or len(units) != 1 or len(numbers) < 3:
        return ""
    size = _size(best)
    assert size is not None
    if min(numbers) < size[1] < max(numbers):
        return ""
    which, other = ("largest", "larger") if size[1] == max(numbers) else ("smallest", "smaller")
    return f"{name}={best} is the {which} of {len(numbers)} values, and {other} ones may be better: extend the grid"


def _size(value: Any) -> tuple[str, float] | None:
    """Return the unit and the size of a number (no unit) or a multiple of a word; None for anything else."""
    if isinstance(value, int | float | np.number) and value is not True and value is not False:
        return "", float(value)
    match = re.fullmatch(r"\s*(?:([\d.eE+-]+)\s*\*\s*)?([a-z]+)\s*", value) if isinstance(value, str) else None
    return None if match is None else (match[2], float(match[1] or 1.0))


def _tried(item: tuple[dict[str, Any], Any], search: _Search, settings: dict[str, Any], evident: bool) -> _Outcome:
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


def _run(
    search: _Search,
    combinations: list[Any],
    settings: dict[str, Any],
    evident: bool,
    note: Callable[[int, _Outcome], None],
) -> None:
    """Try the combinations: side by side while several matrices fit in memory, which small decompositions like better.

    The decomposition of one small matrix keeps no more than one core busy; two of them keep two. An engine elsewhere
    takes whole combinations.
    """
    m, count = search.size, len(combinations)
    small = m <= _SIDE_BY_SIDE and search.last.strategy in ("auto", "exact")
    together, engine = min(thread_count(), count), configured_engine()
    if engine is not None and small and search.travels:
        for number, outcome in engine.each(_tried, combinations, args=(search, settings, evident)):
            note(number, outcome)
    elif together > 1 and small and current_engine().fits(_MATRICES * together * 8 * m * m):
        np.linalg.eigh(np.eye(2))  # BLAS is loaded before its threads are counted
        with single_threaded_blas():
            run_tasks(lambda number: note(number, _tried(combinations[number], search, settings, evident)), count)
    else:
        for number, combination in enumerate(combinations):
            note(number, _tried(combination, search, settings, evident))


def _require_evidence(solver: Any) -> None:
    if not hasattr(type(solver), "gaussian_process"):
        raise ParameterError(
            f"{type(solver).__name__} is not the mean of a Gaussian process and has no evidence; criterion='evidence' "
            "takes 'ls-svr', and criterion='loo' every machine"
        )


def _require_leave_one_out(solver: Any) -> None:
    if not hasattr(type(solver), "loo_views_") or "gamma" not in solver.get_params(deep=False):
        raise ParameterError(
            f"{type(solver).__name__} has no exact leave-one-out to tune by; tune takes 'ls-svm', 'ls-svr', 'ask-ls' "
            "and 'ask-lsr', and sklearn.model_selection.GridSearchCV any other estimator"
        )


def _table(rows: list[dict[str, Any]]) -> Any:
    try:
        import pandas as pd  # type: ignore[import-untyped]  # optional, and so are its stubs
    except ImportError:
        return rows
    return pd.DataFrame(rows)
