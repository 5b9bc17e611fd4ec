"""What a model says about samples, and whether two say the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

#: Whatever an estimator says about samples.
METHODS = (
    "predict",
    "decision_function",
    "predict_proba",
    "transform",
    "transform_right",
    "decision_views",
    "score_samples",
)


def says(model: Any, X: Any) -> dict[str, Any]:
    """Return everything that a fitted estimator says about samples."""
    found = {}
    for method in METHODS:
        if hasattr(model, method):
            answer = getattr(model, method)(X)
            answer = answer if isinstance(answer, dict) else {"": answer}
            found |= {f"{method} {view}": values for view, values in answer.items()}
    assert found
    return found


def require_identical(left: dict[str, Any], right: dict[str, Any]) -> None:
    """Fail unless all answers are the same to the last bit."""
    assert left.keys() == right.keys()
    for name in left:
        a, b = (side[name].toarray() if sp.issparse(side[name]) else np.asarray(side[name]) for side in (left, right))
        assert a.dtype == b.dtype, name
        assert a.shape == b.shape, name
        assert a.tobytes() == b.tobytes() if a.dtype != object else (a == b).all(), name
