"""What must fit together in restored estimators of scikit-learn whose compiled code trusts the lengths of its arrays.

Estimators that are not here compute with numpy, which looks at lengths itself, or hold objects that no file may hold
(trees of neighbours and of decisions).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

_FLOATS = (np.float64, np.float32)
_THREADS = 1024


def require(fits: bool, what: str) -> None:
    """Raise ValueError unless what is named fits together."""
    if not fits:
        raise ValueError(f"{what} do not fit together")


def _libsvm(model: Any) -> None:
    # libsvm takes lengths from some of these arrays and reads the others.
    if not hasattr(model, "support_"):
        return
    count, classifies = len(model.support_), model._impl in ("c_svc", "nu_svc")
    classes = len(model.classes_) if classifies else 2
    pairs = classes * (classes - 1) // 2
    vectors = model.support_vectors_
    rows = 0 if model.kernel == "precomputed" else count
    require(vectors.ndim == 2 and vectors.shape[0] == rows, "the support vectors and their indices")
    require(model.support_.ndim == 1 and model.support_.dtype == np.int32, "the indices of support vectors")
    inside = bool(np.all((model.support_ >= 0) & (model.support_ < model.shape_fit_[0])))
    require(inside, "the indices of support vectors and the samples")
    require(model._dual_coef_.shape == (classes - 1, count), "the coefficients and the support vectors")
    numbers = model._n_support
    require(numbers.dtype == np.int32 and numbers.shape == (classes,), "the numbers of support vectors")
    require(not classifies or (numbers.min() >= 0 and numbers.sum() == count), "the numbers of support vectors")
    require(model._intercept_.shape == (pairs,), "the intercepts and the classes")
    for each in (getattr(model, name, np.empty(0)) for name in ("_probA", "_probB")):
        require(each.shape in ((0,), (pairs,)), "the probabilities and the classes")


def _neighbours(model: Any) -> None:
    """Brute force reads targets by the numbers of samples."""
    if not hasattr(model, "_fit_X"):
        return
    X = model._fit_X
    table = (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype in _FLOATS) or sp.issparse(X)
    require(bool(table) and X.shape == (model.n_samples_fit_, model.n_features_in_), "the samples and their number")
    require(model._fit_method == "brute" and model._tree is None, "the samples and the way to search them")
    if not hasattr(model, "_y"):
        return
    y, outputs = np.asarray(model._y), getattr(model, "classes_", None)
    require(y.ndim in (1, 2) and len(y) == X.shape[0], "the samples and their targets")
    if outputs is None:
        require(y.dtype in _FLOATS or y.dtype.kind in "iu", "the samples and their targets")
        return
    classes = outputs if isinstance(outputs, list) else [outputs]
    codes = y.reshape(len(y), -1)
    require(y.dtype.kind in "iu" and codes.shape[1] == len(classes), "the classes and the targets")
    for column, known in zip(codes.T, classes, strict=True):
        require(bool(np.all((column >= 0) & (column < len(known)))), "the classes and the targets")


def _centres(model: Any) -> None:
    if not hasattr(model, "cluster_centers_"):
        return
    _table(model, "cluster_centers_", model._n_features_out)
    require(type(model._n_threads) is int and 1 <= model._n_threads <= _THREADS, "the centres and the threads")


def _topics(model: Any) -> None:
    if hasattr(model, "components_"):
        rows = len(model.components_)
        for name in ("components_", "exp_dirichlet_component_"):
            _table(model, name, rows)
        require(rows == model.n_components, "the topics and their number")


def _factors(model: Any) -> None:
    if hasattr(model, "components_"):
        _table(model, "components_", model.n_components_)


def _table(model: Any, name: str, rows: Any) -> None:
    found = getattr(model, name, None)
    fits = isinstance(found, np.ndarray) and found.dtype in _FLOATS and found.shape == (rows, model.n_features_in_)
    require(fits and rows > 0, f"{name} and the features")


#: Module and name of a class, and the check of its objects and of those of its subclasses.
SKLEARN_CHECKS: tuple[tuple[str, str, Callable[[Any], None]], ...] = (
    ("sklearn.svm._base", "BaseLibSVM", _libsvm),
    ("sklearn.neighbors._base", "NeighborsBase", _neighbours),
    ("sklearn.cluster._kmeans", "_BaseKMeans", _centres),
    ("sklearn.decomposition._lda", "LatentDirichletAllocation", _topics),
    ("sklearn.decomposition._nmf", "_BaseNMF", _factors),
)
