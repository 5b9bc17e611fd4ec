"""One view, or a weighted mean of views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from kernreg.common.checks import as_number
from kernreg.ensemblers.base import Ensembler
from kernreg.ensemblers.views import Targets, Views
from kernreg.errors import DataError, ParameterError, shown


class WeightedMean(Ensembler):
    """Σ_v w_v f_v with weights that add up to one; a subclass says which."""

    idempotent: ClassVar[bool] = True

    weights_: dict[str, float]

    def _combine(self, views: Views) -> np.ndarray:
        merged = np.zeros_like(next(iter(views.values())))
        for name, view in views.items():
            if self.weights_[name] != 0.0:
                merged += merged.dtype.type(self.weights_[name]) * view
        return merged


class _Named(WeightedMean):
    """The view of one name, whatever else there is."""

    uses_targets: ClassVar[bool] = False
    _name: ClassVar[str]

    def _learn(self, views: Views, goal: Targets) -> None:
        if self._name not in views:
            raise DataError(
                f"there is no view {self._name!r}, only {', '.join(map(repr, views))}. Views named source and target "
                "come from solvers for asymmetric kernels, such as 'ask-ls'; for others use 'average' or 'stack'"
            )
        self.weights_ = {name: float(name == self._name) for name in views}


class Source(_Named):
    """f_s: the view named ``source``, where samples enter as the first argument of the kernel.

    Attributes
    ----------
    weights_ : dict
        1 for the view, 0 for the others.

    Examples
    --------
    >>> Source().fit({"source": [1.0, -2.0], "target": [0.5, 3.0]}, [1, -1]).merge({"source": [4.0], "target": [5.0]})
    array([4.])
    """

    _name = "source"


class Target(_Named):
    """f_t: the view named ``target``, where samples enter as the second argument of the kernel.

    Attributes
    ----------
    weights_ : dict
        1 for the view, 0 for the others.

    Examples
    --------
    >>> Target().fit({"source": [1.0, -2.0], "target": [0.5, 3.0]}, [1, -1]).merge({"source": [4.0], "target": [5.0]})
    array([5.])
    """

    _name = "target"


class Average(WeightedMean):
    """Σ_v w_v f_v / Σ_v w_v: the mean of the views, (f_s + f_t)/2 for two.

    Parameters
    ----------
    weights : dict of str to float, optional
        A non-negative weight for each view; equal weights by default.

    Attributes
    ----------
    weights_ : dict
        The weights, scaled to add up to one.

    Examples
    --------
    >>> views = {"source": [1.0, -2.0], "target": [3.0, 2.0]}
    >>> Average().fit(views, [1, -1]).merge(views)
    array([2., 0.])
    >>> Average(weights={"source": 3, "target": 1}).fit(views, [1, -1]).weights_
    {'source': 0.75, 'target': 0.25}
    """

    uses_targets: ClassVar[bool] = False

    def __init__(self, weights: Any = None):
        self.weights = weights

    def _learn(self, views: Views, goal: Targets) -> None:
        given = dict.fromkeys(views, 1.0) if self.weights is None else self.weights
        if not isinstance(given, Mapping) or set(given) != set(views):
            raise ParameterError(
                f"average: weights={shown(given)}; give one number for each of the views "
                f"{', '.join(map(repr, views))}, for example {dict.fromkeys(views, 1)}"
            )
        numbers = {name: as_number(given[name]) for name in views}
        total = sum(numbers.values())
        if not (np.isfinite(total) and total > 0 and min(numbers.values()) >= 0):
            raise ParameterError(
                f"average: weights={shown(given)}; they must be finite, not negative, and not all zero"
            )
        self.weights_ = {name: number / total for name, number in numbers.items()}


class Best(WeightedMean):
    """The view with the lowest error on the views given to fit, which should be leave-one-out values.

    The error is the share of wrong classes, or the mean squared error of a regression. Among views that are equally
    often wrong, the squared error against ±1 decides, then the order of their names.

    Attributes
    ----------
    weights_ : dict
        1 for the chosen view, 0 for the others.
    best_ : str
        Its name.
    errors_ : dict
        The error of each view.

    Examples
    --------
    >>> views = {"source": [0.3, 1.0, -1.0], "target": [2.0, -0.5, -0.1]}
    >>> Best().fit(views, [1, 1, -1]).best_
    'source'
    """

    def _learn(self, views: Views, goal: Targets) -> None:
        self.errors_ = {name: goal.error(view) for name, view in views.items()}
        self.best_ = min(views, key=lambda name: (self.errors_[name], goal.squared_error(views[name]), name))
        self.weights_ = {name: float(name == self.best_) for name in views}
