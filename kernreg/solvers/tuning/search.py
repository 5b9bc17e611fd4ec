"""What is searched: an estimator whose last step has leave-one-out, its samples, and the grids of its parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from kernreg.errors import KernregError, KernregWarning, ParameterError, shown
from kernreg.factory import make_kernel
from kernreg.solvers.advice import advise
from kernreg.solvers.dual.gamma import check_gamma
from kernreg.solvers.elsewhere import reader_of
from kernreg.solvers.inference.gaussian_process import evidence_path

SIDE_BY_SIDE = 2500  # samples up to which combinations are tried side by side
_MULTIPLES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # of the width, where no grid is given
_WIDTHS = ("sigma", "rho")  # names of parameters that are widths


class Search:
    """An estimator, its last step, which has leave-one-out, and the samples."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any):
        self.estimator, self._X, self._y, self._weight = estimator, X, y, sample_weight
        self._composed = isinstance(getattr(estimator, "steps", None), list)
        self._name: str
        self._name, self.last = estimator.steps[-1] if self._composed else ("", estimator)
        self._prefix = f"{self._name}__" if self._composed else ""
        self.gamma = f"{self._prefix}gamma"
        self._prepared: dict[Any, Any] = {}
        require_leave_one_out(self.last)
        for name, step in estimator.steps[:-1] if self._composed else ():
            if uses_targets(step):
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
        return SIDE_BY_SIDE + 1 if elsewhere else 0 if self._y is None else len(self._y)

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
                f"grid={shown(grid)} is not accepted; give a mapping such as {{'kernel__sigma': [0.5, 1, 2], "
                "'gamma': [1, 10]}, or a list of such; without a grid, give the samples by name: tune(solver, X=X, y=y)"
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
                raise ParameterError(f"grid[{name!r}]={shown(values)} is not accepted; give a list of values to try")
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
        require_leave_one_out(last)
        last.gamma = gammas if gammas is not None else last.gamma if np.ndim(last.gamma) else [last.gamma]
        return estimator, last

    def _fit(self, estimator: Any) -> Any:
        """Fit, and return the fitted last step."""
        weight = "sample_weight" if not isinstance(estimator, Pipeline) else f"{self._prefix}sample_weight"
        estimator.fit(self._X, self._y, **({} if self._weight is None else {weight: self._weight}))
        return getattr(estimator, "steps_", estimator.steps)[-1][1] if self._composed else estimator


def require_leave_one_out(solver: Any) -> None:
    """Raise ParameterError if a solver has no exact leave-one-out."""
    if not hasattr(type(solver), "loo_views_") or "gamma" not in solver.get_params(deep=False):
        raise ParameterError(
            f"{type(solver).__name__} has no exact leave-one-out to tune by; tune takes 'ls-svm', 'ls-svr', 'ask-ls' "
            "and 'ask-lsr', and sklearn.model_selection.GridSearchCV any other estimator"
        )


def uses_targets(step: Any) -> bool:
    """Return whether a step before the solver learns from targets.

    >>> from sklearn.feature_selection import SelectKBest, VarianceThreshold
    >>> uses_targets(SelectKBest()), uses_targets(VarianceThreshold()), uses_targets("passthrough")
    (True, False, False)
    """
    for attribute in ("steps", "transformers", "transformer_list", "branches"):
        if isinstance(getattr(step, attribute, None), list):
            return any(uses_targets(inner[1]) for inner in getattr(step, attribute))
    if not hasattr(step, "__sklearn_tags__"):
        return False
    selects = isinstance(step, SelectorMixin) and not isinstance(step, VarianceThreshold)  # its tags do not say it
    return bool(get_tags(step).target_tags.required) or selects or is_classifier(step) or is_regressor(step)
