"""What goes from step to step: the kernel in force, weights, features."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from kernreg.chain.steps import DECOMPOSER, LEARNER, PREDICTOR, TRANSFORMER, own_kernel, role_of, takes_kernel
from kernreg.common.progress import progress
from kernreg.config import memory_budget
from kernreg.engine import RowSource, is_row_source
from kernreg.engine.sources.views import MappedRows, as_row_source, windows
from kernreg.errors import ParameterError
from kernreg.solvers.kernel_learning.partial_labels import label_codes
from kernreg.solvers.parameters import KernelParameters
from kernreg.solvers.samples import rows_of
from kernreg.solvers.streamed import in_memory

_SHARE = 8  # the part of the memory budget up to which features of a source are held
AFTER_FEATURES = "linear"  # features already carry the kernel they were made with


def with_kernel(step: Any, kernel: Any, learnt: bool) -> Any:
    """Give the kernel in force to a step that has none of its own; estimators of scikit-learn take only learnt ones."""
    if kernel is None:
        return step
    if hasattr(step, "_map"):  # branches, each by itself
        return step._map(lambda branch: with_kernel(branch, kernel, learnt))
    if takes_kernel(step) and own_kernel(step) is None and (isinstance(step, KernelParameters) or learnt):
        step.kernel = kernel  # not set_params, which would look inside the kernel that is being replaced
    return step


def fit_steps(
    steps: list[tuple[str, Any]], kernel: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[list[tuple[str, Any]], np.ndarray | None]:
    """Fit copies of the steps one after the other.

    Returns the fitted steps, and which samples are labelled where a kernel learner has marked those that are not.
    """
    fitted: list[tuple[str, Any]] = []
    learnt, known = False, None
    for name, step in steps:
        model = with_kernel(clone(step), kernel, learnt)
        role = role_of(model)
        if role == PREDICTOR and known is not None:
            X, y = rows_of(X, known), np.asarray(y)[known]
            sample_weight = None if sample_weight is None else np.asarray(sample_weight)[known]
        fit_step(model, X, y, sample_weight)
        fitted.append((name, model))
        if role == LEARNER:
            kernel, learnt = model.kernel_, True
            if hasattr(model, "unlabelled") and y is not None and np.ndim(y) == 1:
                labelled = label_codes(y, model.unlabelled)[1] >= 0
                known = None if labelled.all() else np.flatnonzero(labelled)
        elif role in (DECOMPOSER, TRANSFORMER):
            X = features_of(model, X)
            kernel, learnt = (AFTER_FEATURES, False) if role == DECOMPOSER else (kernel, learnt)
    if sample_weight is not None and not any(takes_weights(model) for _, model in fitted):
        raise ParameterError(
            f"sample_weight is given, and none of the steps takes it: {', '.join(name for name, _ in fitted)}"
        )
    return fitted, known


def fit_step(model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Fit one step, with weights where it takes them.

    Solvers take row sources by themselves; other steps are fitted to them window by window where they can
    (``partial_fit``), else to the samples in memory.
    """
    if is_row_source(X) and not isinstance(model, KernelParameters):
        if hasattr(model, "partial_fit") and sample_weight is None:
            return _fit_by_windows(model, as_row_source(X), y)
        X = in_memory(X, type(model).__name__)
    if sample_weight is not None and takes_weights(model):
        return model.fit(X, y, sample_weight=sample_weight)
    return model.fit(X, y)


def _fit_by_windows(model: Any, source: RowSource, y: Any) -> Any:
    with progress(type(model).__name__, source.shape[0]) as report:
        for rows in windows(source):
            model.partial_fit(source[rows], None if y is None else y[rows])
            report(rows.stop)
    return model


def takes_weights(model: Any) -> bool:
    """Return whether a step is fitted with sample weights."""
    return has_fit_parameter(model, "sample_weight")


def features_of(model: Any, X: Any) -> Any:
    """Return what a fitted step makes of samples; left and right scores where both sides are the same samples.

    Of a row source comes another one, whose rows are made when they are read, or, where they fit, an array.
    """
    if is_row_source(X):
        mapped = MappedRows(as_row_source(X), partial(features_of, model))
        if mapped.nbytes > memory_budget() // _SHARE:
            return mapped
        return np.concatenate([mapped[rows] for rows in windows(mapped)]) if not mapped.sparse else mapped[:]
    found = model.transform(X)
    if not hasattr(model, "transform_right") or isinstance(X, tuple) or not _one_sample_set(model):
        return found if sparse.issparse(found) else np.asarray(found)
    return np.hstack([np.asarray(found), np.asarray(model.transform_right(X))])


def passed_on(models: list[Any], X: Any) -> Any:
    """Return what fitted steps one after the other make of samples."""
    for model in models:
        if role_of(model) in (DECOMPOSER, TRANSFORMER):
            X = features_of(model, X)
    return X


def feature_names(models: list[Any], names: Any) -> Any:
    """Return the names of what comes out of `features_of` of the steps, given those of the samples."""
    for model in models:
        if role_of(model) in (DECOMPOSER, TRANSFORMER):
            both = hasattr(model, "transform_right") and _one_sample_set(model)
            names = model.get_feature_names_out(names, **({"side": "both"} if both else {}))
    return np.asarray(names, dtype=object)


def _one_sample_set(model: Any) -> bool:
    """Return whether left and right samples are the same, also after a trip through a file."""
    left, right = getattr(model, "X_fit_", None), getattr(model, "Z_fit_", None)
    if left is None or right is None or left is right:
        return left is right
    left, right = (getattr(side, "indptr", side) for side in (left, right))  # of a sparse one, one of its arrays
    return left.shape == right.shape and np.shares_memory(left, right)
