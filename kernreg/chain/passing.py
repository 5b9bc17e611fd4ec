"""What goes from step to step: the kernel in force, weights, features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import has_fit_parameter

from kernreg.chain.steps import own_kernel, takes_kernel
from kernreg.solvers.parameters import KernelParameters


def with_kernel(step: Any, kernel: Any, learnt: bool) -> Any:
    """Give the kernel in force to a step that has none of its own; estimators of scikit-learn take only learnt ones."""
    if kernel is None:
        return step
    if hasattr(step, "_map"):  # branches, each by itself
        return step._map(lambda branch: with_kernel(branch, kernel, learnt))
    if takes_kernel(step) and own_kernel(step) is None and (isinstance(step, KernelParameters) or learnt):
        step.kernel = kernel  # not set_params, which would look inside the kernel that is being replaced
    return step


def fit_step(model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Fit one step, with weights where it takes them."""
    if sample_weight is not None and takes_weights(model):
        return model.fit(X, y, sample_weight=sample_weight)
    return model.fit(X, y)


def takes_weights(model: Any) -> bool:
    """Return whether a step is fitted with sample weights."""
    return has_fit_parameter(model, "sample_weight")


def features_of(model: Any, X: Any) -> Any:
    """Return what a fitted step makes of samples; left and right scores where both sides are the same samples."""
    found = model.transform(X)
    if not hasattr(model, "transform_right") or isinstance(X, tuple) or not _one_sample_set(model):
        return found if sparse.issparse(found) else np.asarray(found)
    return np.hstack([np.asarray(found), np.asarray(model.transform_right(X))])


def _one_sample_set(model: Any) -> bool:
    """Return whether left and right samples are the same, also after a trip through a file."""
    left, right = getattr(model, "X_fit_", None), getattr(model, "Z_fit_", None)
    if left is None or right is None or left is right:
        return left is right
    left, right = (getattr(side, "indptr", side) for side in (left, right))  # of a sparse one, one of its arrays
    return left.shape == right.shape and np.shares_memory(left, right)
