"""Out-of-fold views: every sample seen by a model that was not fitted to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from kernreg.ensemblers.views import Views
from kernreg.errors import DataError
from kernreg.solvers.samples import rows_of


def out_of_fold(
    fit: Callable[[Any, np.ndarray], Any],
    views_of: Callable[[Any, Any], Views],
    X: Any,
    y: np.ndarray,
    cv: Any,
    *,
    classes: bool,
) -> tuple[list[Any], Views]:
    """Return the models of the folds, and the views of every sample by the one that was not fitted to it.

    Parameters
    ----------
    fit : callable
        ``fit(X, y)`` returns a fitted model.
    views_of : callable
        ``views_of(model, X)`` returns its views.
    X, y
        The samples (a tuple is a pair of source and target features) and their targets.
    cv : int or splitter
        A number is stratified for classes, with no more folds than the smallest class has samples.
    classes : bool
        Whether y holds classes.
    """
    found: Views = {}
    seen = np.zeros(len(y), dtype=bool)
    models = []
    present = len(np.unique(y)) if classes else 0
    for train, test in _folds(cv, y, classes):
        if classes and len(np.unique(y[train])) < present:
            raise DataError("a fold leaves a class without training samples; use fewer folds, or stratified ones")
        model = fit(rows_of(X, train), y[train])
        models.append(model)
        for view, values in views_of(model, rows_of(X, test)).items():
            whole = found.setdefault(view, np.zeros((len(y), *values.shape[1:]), dtype=values.dtype))
            whole[test] = values
        seen[test] = True
    if not seen.all():
        raise DataError("the folds of cv leave out samples; every sample must be in one test set")
    return models, found


def two_samples(X: Any, y: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return what an ensembler that learns nothing is fitted to: names and shapes of views show on two samples."""
    some = np.arange(min(2, len(y)))
    return rows_of(X, some), y[some]


def _folds(cv: Any, y: np.ndarray, classes: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    if classes and isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        smallest = int(np.unique(y, return_counts=True)[1].min())
        if smallest < 2:
            raise DataError("out-of-fold views need at least 2 samples of every class, and one class has a single one")
        cv = min(int(cv), smallest)
    return check_cv(cv, y, classifier=classes).split(np.zeros(len(y)), y)
