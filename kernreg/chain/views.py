"""Decision values of any predictor, as views: of new samples, or by exact leave-one-out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from kernreg.errors import ChainError
from kernreg.solvers.views import Views

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
