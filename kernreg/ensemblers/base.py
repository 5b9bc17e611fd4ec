"""What the ensemblers here share. Third parties may inherit from it, or only follow the protocol."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from kernreg.ensemblers.views import Targets, Views, check_views, targets
from kernreg.solvers.atomicity import AtomicFit
from kernreg.solvers.samples import check_weights


class Ensembler(AtomicFit, BaseEstimator):
    """Base of ensemblers: checks views and targets, remembers their names and shape.

    A subclass defines ``_learn(views, targets)`` and ``_combine(views)``; both get checked views, ordered by name.

    Attributes
    ----------
    uses_targets : bool
        Class attribute. Whether fit learns from the values of views and targets. Where it is False a solver need not
        compute leave-one-out views to fit the ensembler.
    idempotent : bool
        Class attribute. Whether merging copies of one view gives that view; the conformance kit holds it to that.
    view_names_ : tuple of str
        Names of the views seen in fit.

    Examples
    --------
    >>> import numpy as np
    >>> class Median(Ensembler):
    ...     uses_targets = False
    ...     def _learn(self, views, targets):
    ...         pass
    ...     def _combine(self, views):
    ...         return np.median(list(views.values()), axis=0)
    >>> views = {"a": [1.0], "b": [2.0], "c": [9.0]}
    >>> Median().fit(views, [1]).merge(views)
    array([2.])
    """

    uses_targets: ClassVar[bool] = True
    idempotent: ClassVar[bool] = False

    def _learn(self, views: Views, goal: Targets) -> None:
        raise NotImplementedError

    def _combine(self, views: Views) -> np.ndarray:
        raise NotImplementedError

    def fit(self, views: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn how to merge.

        Parameters
        ----------
        views : dict of str to array of shape (n,) or (n, C)
            Decision values of samples that the views were not fitted to: leave-one-out or out-of-fold values.
        y : array
            Labels ±1 for views (n,), class codes 0 … C-1 for views (n, C), or real targets in the shape of a view.
        sample_weight : array of shape (n,), optional
            Non-negative weights of the samples.

        Returns
        -------
        self
        """
        checked = check_views(views)
        shape = next(iter(checked.values())).shape
        weights = None if sample_weight is None else check_weights(sample_weight, shape[0])
        goal = replace(targets(y, shape), weights=weights)
        self._learn(checked, goal)
        self.view_names_ = tuple(checked)
        self._shape = shape[1:]
        return self

    def merge(self, views: Any) -> np.ndarray:
        """Return the merged decision values, in the shape of one view.

        Parameters
        ----------
        views : dict of str to array of shape (n,) or (n, C)
            The same views as in fit, of any samples.
        """
        return self._combine(self._checked(views))

    def _checked(self, views: Any) -> Views:
        check_is_fitted(self)
        return check_views(views, self.view_names_, self._shape)
