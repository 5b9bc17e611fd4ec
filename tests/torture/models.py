"""Model files under attack: solvers, kernels, chains, and every estimator of scikit-learn that a file may hold."""

from __future__ import annotations

import functools
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROWS, FEATURES = 40, 4
#: Whatever an estimator says about samples.
METHODS = (
    *("predict", "decision_function", "predict_proba", "predict_log_proba", "transform", "decision_views"),
    *("score_samples", "inverse_transform", "kneighbors", "radius_neighbors", "apply", "sample", "transform_right"),
)
#: Solvers and kernels whose files differ most; all others by turns.
SOLVERS = ("ls-svm", "ask-ls", "kpca", "ksvd", "nystrom", "cells", "scg-osk", "bicluster", "krein-svm", "ask-rff-ls")
SLOW = ("GaussianProcess", "MLP", "GradientBoosting", "CV", "Sparse", "Dictionary", "TSNE", "MDS", "Birch", "SearchCV")
#: Those that no file may hold (trees of decisions and neighbours, compiled losses), or that take other samples.
LEFT_OUT = (
    *("Tree", "Forest", "AdaBoost", "Bagging", "Chain", "Isomap", "KernelDensity", "HDBSCAN", "LocallyLinear", "SGD"),
    *("Perceptron", "PassiveAggressive", "Gamma", "Poisson", "Tweedie", "Isotonic", "Vectorizer", "Label", "MultiTask"),
    *("PatchExtractor", "PLS", "CCA", "BisectingKMeans", "FeatureAgglomeration", "KernelCenterer", "Spline"),
    *("Neighbors", "OneVs", "OutputCode", "MultiOutput", "Stacking", "Voting", "SelfTraining", "Sequential", "RFE"),
    *("Pipeline", "ColumnTransformer", "FeatureUnion", "Frozen", "FixedThreshold", "SelectF", "SelectK", "SelectP"),
    *("GenericUnivariate", "GaussianRandomProjection"),
)


def special() -> dict[str, Callable[[], Any]]:
    """Estimators that are made of others, or need more than their defaults."""
    from sklearn import (
        calibration,
        compose,
        ensemble,
        feature_selection,
        gaussian_process,
        linear_model,
        model_selection,
        multiclass,
        neighbors,
        neural_network,
        pipeline,
        preprocessing,
        random_projection,
    )

    line = linear_model.LogisticRegression
    return {
        "knn": lambda: neighbors.KNeighborsClassifier(algorithm="brute"),
        "knn regression": lambda: neighbors.KNeighborsRegressor(algorithm="brute"),
        "knn sparse": lambda: neighbors.KNeighborsTransformer(algorithm="brute"),
        "neighbours": lambda: neighbors.NearestNeighbors(algorithm="brute"),
        "radius": lambda: neighbors.RadiusNeighborsRegressor(radius=5.0, algorithm="brute"),
        "pipeline": lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), line()),
        "union": lambda: pipeline.make_union(preprocessing.StandardScaler(), preprocessing.MinMaxScaler()),
        "columns": lambda: compose.ColumnTransformer([("a", preprocessing.StandardScaler(), [0, 2])]),
        "one against the rest": lambda: multiclass.OneVsRestClassifier(line()),
        "one against one": lambda: multiclass.OneVsOneClassifier(line()),
        "vote": lambda: ensemble.VotingClassifier([("a", line()), ("b", line(C=0.1))]),
        "stack": lambda: ensemble.StackingClassifier([("a", line()), ("b", line(C=0.1))], line(), cv=2),
        "bag": lambda: ensemble.BaggingClassifier(line(), 3),
        "calibrated": lambda: calibration.CalibratedClassifierCV(line(), cv=2),
        "search": lambda: model_selection.GridSearchCV(line(), {"C": [0.1, 1.0]}, cv=2),
        "selected": lambda: feature_selection.SelectFromModel(line()),
        "best": lambda: feature_selection.SelectKBest(k=2),
        "gp": lambda: gaussian_process.GaussianProcessRegressor(),
        "network": lambda: neural_network.MLPClassifier((5,), max_iter=20),
        "projection": lambda: random_projection.GaussianRandomProjection(3),
    }


def samples() -> tuple[np.ndarray, np.ndarray]:
    """Samples that nearly every estimator takes, and classes."""
    X = np.abs(np.random.default_rng(0).normal(size=(ROWS, FEATURES)))
    return X, (X[:, 0] > X[:, 1]).astype(int)


@functools.cache
def sklearn_names() -> tuple[str, ...]:
    """Estimators of scikit-learn that can be fitted to the samples as they are made."""
    from sklearn.utils import all_estimators

    return tuple(name for name, _ in all_estimators() if not any(part in name for part in SLOW + LEFT_OUT))


def base_names() -> list[str]:
    """All that is saved and attacked, by name."""
    own = [f"solver {name}" for name in SOLVERS] + ["chain", "kernel combined", "kernel precomputed", "kernel bound"]
    return own + [f"sklearn {name}" for name in (*sklearn_names(), *special())]


def fitted(base: str) -> Any:
    """The model of a name, fitted."""
    import kernreg as kr
    from kernreg.registry import get_registry

    X, y = samples()
    kind, _, name = base.partition(" ")
    if kind == "solver":
        needed = {"bicluster": {"n_clusters": 2}, "cells": {"cell_size": 20}}.get(name, {})
        assert get_registry("solver").get(name)
        return kr.make_solver(name, **needed).fit(X, y)
    if kind == "chain":
        return kr.make_chain("kpca(n_components=3)", "ask-ls", "average", kernel="rbf(sigma=1.5)").fit(X, y)
    if kind == "kernel":
        made: dict[str, Callable[[], Any]] = {
            "combined": lambda: kr.make_kernel("rbf(sigma=2.0)") * 2.0 + kr.make_kernel("sne(sigma=1.0)").T,
            "precomputed": lambda: kr.make_kernel("precomputed", K=X @ X.T),
            "bound": lambda: kr.make_kernel("centered", kernel="sne(sigma=1.0)").bind(X),
        }
        return made[name]()
    from sklearn.utils import all_estimators

    made_of = special()
    return (made_of[name] if name in made_of else dict(all_estimators())[name])().fit(X, y)


@functools.cache
def saved(base: str) -> Path | None:
    """The file of a model, None where no file may hold it."""
    import kernreg as kr

    path = Path(tempfile.mkdtemp()) / "model.kern"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            kr.save(fitted(base), path)
        except Exception:  # scikit-learn refuses the samples, or a file may not hold the model
            return None
    return path


def use(model: Any) -> int:
    """Ask a model, forged perhaps, everything; errors are answers. Returns how many methods answered."""
    X, _ = samples()
    answered = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if not hasattr(model, "get_params") or type(model).__module__.startswith("kernreg.kernels"):
            actions = [lambda: model(X[:9], X), lambda: model([0, 1]), lambda: model.operator(X[:9], X) @ np.ones(ROWS)]
        else:
            actions = [functools.partial(ask, model, name, X) for name in METHODS if hasattr(type(model), name)]
        for action in actions:
            try:
                action()
                answered += 1
            except Exception:  # of any kind: the file is forged; what may not happen is a crash or a hang
                continue
    return answered


def ask(model: Any, name: str, X: np.ndarray) -> Any:
    """Call one method with samples."""
    method = getattr(model, name)
    if name == "inverse_transform":
        return method(model.transform(X))
    return method(3) if name == "sample" else method(X)
