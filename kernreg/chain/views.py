"""Decision values of any predictor, as views: of new samples, or of training samples left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from kernreg.errors import ChainError, DataError
from kernreg.solvers.systems import Views

_SMALLEST = 1e-15  # probability whose logarithm still counts


def views_of(predictor: Any, X: Any) -> Views:
    """Return the views of a fitted predictor; one named ``decision`` where it has no ``decision_views``."""
    if hasattr(predictor, "decision_views"):
        return dict(predictor.decision_views(X))
    if not is_classifier(predictor):
        return {"decision": np.asarray(predictor.predict(X), dtype=np.float64)}
    if hasattr(predictor, "decision_function"):
        return {"decision": np.asarray(predictor.decision_function(X))}
    if hasattr(predictor, "predict_proba"):
        logarithms = np.log(np.maximum(predictor.predict_proba(X), _SMALLEST))
        return {"decision": logarithms[:, 1] - logarithms[:, 0] if logarithms.shape[1] == 2 else logarithms}
    raise ChainError(
        f"{type(predictor).__name__} has neither decision_views, decision_function nor predict_proba, so it has no "
        "view to merge"
    )


def left_out_views(predictor: Any) -> Views | None:
    """Return exact leave-one-out views of a fitted predictor, None where it has none."""
    # Asked of the class first: where it is a property it is computed when looked at.
    if hasattr(type(predictor), "loo_views_") or "loo_views_" in vars(predictor):
        found = predictor.loo_views_
        return None if found is None else dict(found)
    return None


def out_of_fold_views(fit: Callable[[Any, Any], Any], X: Any, y: np.ndarray, cv: Any, *, classes: bool) -> Views:
    """Return views of every sample by a model that was not fitted to it; ``fit(X, y)`` makes one."""
    if classes and isinstance(cv, int):
        smallest = int(np.unique(y, return_counts=True)[1].min())
        if smallest < 2:
            raise DataError("out-of-fold views need at least 2 samples of every class, and one class has a single one")
        cv = min(cv, smallest)
    found: Views = {}
    seen = np.zeros(len(y), dtype=bool)
    for train, test in check_cv(cv, y, classifier=classes).split(np.zeros(len(y)), y):
        model = fit(rows_of(X, train), y[train])
        for name, values in views_of(model, rows_of(X, test)).items():
            whole = found.setdefault(name, np.zeros((len(y), *values.shape[1:]), dtype=values.dtype))
            if whole.shape[1:] != values.shape[1:]:
                raise DataError("a fold leaves a class without training samples; use fewer folds, or stratified ones")
            whole[test] = values
        seen[test] = True
    if not seen.all():
        raise DataError("the folds of cv leave out samples; every sample must be in one test set")
    return found


def rows_of(X: Any, rows: np.ndarray) -> Any:
    """Return these samples; a tuple is a pair of source and target features."""
    if isinstance(X, tuple):
        return tuple(_safe_indexing(part, rows) for part in X)
    return _safe_indexing(X, rows)
