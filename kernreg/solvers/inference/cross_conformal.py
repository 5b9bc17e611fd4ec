"""CV+ around any estimator: intervals and prediction sets where there is no exact leave-one-out.

The samples are dealt into folds, and a model is fitted without each. What `conformal` says of models without one sample
then holds with the model without its fold: coverage is at least 1 - 2α, less about √(2/m), and 1 - α in practice.

Barber, Candès, Ramdas & Tibshirani, Predictive inference with the jackknife+, Annals of Statistics 49 (2021).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from kernreg.common.checks import is_whole
from kernreg.common.progress import progress
from kernreg.errors import DataError, ParameterError, shown
from kernreg.factory import make_solver
from kernreg.linalg.randomness import legacy_seed
from kernreg.solvers.atomicity import AtomicFit
from kernreg.solvers.inference.conformal import check_coverage, conforming, interval
from kernreg.solvers.inference.prediction_sets import fill_empty, nonconformity, true_class
from kernreg.solvers.parameters import given_as
from kernreg.solvers.samples import check_real_targets, check_weights, rows_of

_BLOCK = 64e6  # bytes of predictions held at once


class _CrossConformal(MetaEstimatorMixin, AtomicFit, BaseEstimator):
    """Folds, the models without them, and the model of all samples."""

    estimator_: Any
    models_: list[Any]
    folds_: np.ndarray
    _scores: np.ndarray
    _weights: np.ndarray | None

    def __init__(self, estimator: Any = None, *, cv: Any = 10, random_state: Any = 0):
        self.estimator = estimator
        self.cv = cv
        self.random_state = random_state

    def _fit_folds(self, X: Any, y: np.ndarray, sample_weight: Any, splitter: Any, default: str) -> None:
        with given_as("estimator", self.estimator):
            estimator = make_solver(default if self.estimator is None else self.estimator)
        weights = None if sample_weight is None else check_weights(sample_weight, len(y))
        folds = np.empty(len(y), dtype=np.intp)
        models = []
        with progress("folds", self.cv + 1) as show:
            for number, (train, test) in enumerate(splitter.split(np.zeros(len(y)), y if y.ndim == 1 else None)):
                models.append(_fitted(estimator, X, y, weights, train))
                folds[test] = number
                show(number + 1)
            self.estimator_ = _fitted(estimator, X, y, weights, None)
        self.models_, self.folds_, self._weights = models, folds, weights
        if hasattr(self.estimator_, "n_features_in_"):
            self.n_features_in_ = self.estimator_.n_features_in_

    def _check_cv(self, largest: int, what: str) -> int:
        cv: Any = self.cv
        if not is_whole(cv) or int(cv) < 2:
            raise ParameterError(f"cv={shown(cv)} is not accepted; give a number of folds, at least 2")
        if int(cv) > largest:
            raise DataError(f"cv={cv} folds need as many samples {what}, and there are {largest}; give fewer folds")
        return int(cv)

    def predict(self, X: Any) -> np.ndarray:
        """Return what the model of all samples predicts."""
        check_is_fitted(self, "models_")
        return self.estimator_.predict(X)

    def _rows(self, count: int, width: int) -> list[slice]:
        step = max(1, int(_BLOCK / (8 * len(self.folds_) * width)))
        return [slice(start, start + step) for start in range(0, count, step)]


def _fitted(estimator: Any, X: Any, y: np.ndarray, weights: np.ndarray | None, rows: np.ndarray | None) -> Any:
    if rows is not None:
        X, y, weights = rows_of(X, rows), y[rows], None if weights is None else weights[rows]
    return clone(estimator).fit(X, y, **({} if weights is None else {"sample_weight": weights}))


class CrossConformalRegressor(RegressorMixin, _CrossConformal):
    """Prediction intervals for any regressor by CV+, which uses folds instead of exact leave-one-out.

    Parameters
    ----------
    estimator : estimator, class or str
        A regression, for example ``"ls-svr(strategy='lowrank')"``; by default ``"ls-svr"``. What is chosen in a fit,
        such as ``gamma="loo"``, is chosen anew in each fold.
    cv : int
        The number of folds, dealt at random.
    random_state : int, Generator or None
        Of the folds.

    Attributes
    ----------
    estimator_ : estimator
        Fitted to all samples; `predict` is its.
    models_ : list of estimator
        Those without a fold.
    folds_ : ndarray of shape (m,)
        The fold of each sample.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (400, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(400)
    >>> model = CrossConformalRegressor("ls-svr(strategy='lowrank', n_landmarks=50)").fit(X[:300], y[:300])
    >>> low, high = model.predict_interval(X[300:], coverage=0.9).T
    >>> bool(0.8 < np.mean((low <= y[300:]) & (y[300:] <= high)) < 0.98)
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CrossConformalRegressor:
        """Fit a model without each fold, and one of all samples."""
        y = check_real_targets(y)
        cv = self._check_cv(len(y), "")
        self._fit_folds(
            X, y, sample_weight, KFold(cv, shuffle=True, random_state=legacy_seed(self.random_state)), "ls-svr"
        )
        self._scores = np.empty_like(y)
        for number, model in enumerate(self.models_):
            rows = np.flatnonzero(self.folds_ == number)
            part = rows_of(X, rows)
            self._scores[rows] = np.abs(y[rows] - np.asarray(model.predict(part)).reshape(y[rows].shape))
        return self

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Return intervals (n, 2), or (n, outputs, 2), that hold the output with a probability of about ``coverage``.

        Whatever the distribution, the probability is at least 2 coverage - 1, less about √(2/m).
        """
        alpha = check_coverage(coverage)
        check_is_fitted(self, "models_")
        predictions = np.stack([np.asarray(model.predict(X), dtype=np.float64) for model in self.models_], axis=1)
        n, scores = len(predictions), self._scores.reshape(len(self.folds_), -1)
        predictions = predictions.reshape(n, len(self.models_), -1)
        found = np.empty((n, scores.shape[1], 2))
        for rows in self._rows(n, 2):
            for c in range(scores.shape[1]):
                each = predictions[rows, :, c][:, self.folds_]
                found[rows, c] = interval(each, scores[:, c], alpha, self._weights)
        return found[:, 0] if self._scores.ndim == 1 else found


class CrossConformalClassifier(ClassifierMixin, _CrossConformal):
    """Prediction sets for any classifier by CV+, which uses folds instead of exact leave-one-out.

    Parameters
    ----------
    estimator : estimator, class or str
        A classifier with ``decision_function`` or ``predict_proba``; by default ``"ls-svm"``.
    cv : int
        The number of folds, dealt at random class by class.
    random_state : int, Generator or None
        Of the folds.

    Attributes
    ----------
    classes_ : ndarray
    estimator_, models_, folds_
        As of `CrossConformalRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CrossConformalClassifier("ls-svm(strategy='lowrank', n_landmarks=30)", cv=5).fit(X[::2], y[::2])
    >>> model.predict_set(X[1::2], coverage=0.95).shape
    (75, 3)
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CrossConformalClassifier:
        """Fit a model without each fold, and one of all samples."""
        y = np.asarray(y)
        if y.ndim != 1:
            raise DataError(f"y has shape {y.shape}; prediction sets by folds take one column of labels")
        check_array(y, ensure_2d=False, dtype=None, input_name="y")  # neither NaN nor infinity
        check_classification_targets(y)
        self.classes_, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        cv = self._check_cv(int(counts.min()), "of every class")
        splitter = StratifiedKFold(cv, shuffle=True, random_state=legacy_seed(self.random_state))
        self._fit_folds(X, y, sample_weight, splitter, "ls-svm")
        self._scores = np.empty(len(y))
        for number, model in enumerate(self.models_):
            rows = np.flatnonzero(self.folds_ == number)
            part = rows_of(X, rows)
            self._scores[rows] = true_class(nonconformity(_decision(model, part)), codes[rows])
        return self

    def predict_set(self, X: Any, coverage: float = 0.9, *, allow_empty: bool = True) -> np.ndarray:
        """Return which classes (n, classes) cannot be excluded; the true one is among them with about ``coverage``.

        With ``allow_empty=False`` a set that would be empty holds the class that conforms best.
        """
        alpha = check_coverage(coverage)
        check_is_fitted(self, "models_")
        scores = np.stack([nonconformity(_decision(model, X)) for model in self.models_], axis=1)
        found = np.empty((len(scores), len(self.classes_)), dtype=bool)
        for rows in self._rows(len(scores), 1 + len(self.classes_)):
            found[rows] = conforming(scores[rows][:, self.folds_], self._scores, alpha, self._weights)
        if not allow_empty:
            fill_empty(found, np.median(scores, axis=1))
        return found


def _decision(model: Any, X: Any) -> np.ndarray:
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X))
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    raise ParameterError(
        f"{type(model).__name__} has neither decision_function nor predict_proba; prediction sets need one of them"
    )
