"""Classifiers and regressors on top of the dual solvers: encoding, scores, predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils.multiclass import check_classification_targets

from kernreg.errors import DataError
from kernreg.solvers.dual.base import DualSolver
from kernreg.solvers.dual.class_problems import Problem, one_vs_rest, predicted_codes
from kernreg.solvers.dual.systems import Views
from kernreg.solvers.samples import check_fitted


class DualPredictor(DualSolver):
    """A dual solver with one decision: the only view, or what an ensembler makes of several."""

    def _merge(self, views: Views) -> np.ndarray:
        return next(iter(views.values()))

    def _merge_candidates(self, views: Views) -> np.ndarray:
        """Merge leave-one-out views while γ is still being chosen."""
        return self._merge(views)

    def _targets(self, y: np.ndarray) -> np.ndarray:
        """Return the targets in the shape of a decision."""
        raise NotImplementedError

    @property
    def loo_residuals_(self) -> np.ndarray:
        """Target minus exact leave-one-out decision of each training sample (targets are ±1 for classes)."""
        return self._targets(self._fitted_y()) - self._merge(self.loo_views_)

    @property
    def loo_score_(self) -> float:
        """Exact leave-one-out accuracy (classes) or R² (regression) on the training samples."""
        y = self._fitted_y()
        return self._score_of(self._merge(self.loo_views_), y, self._weights)

    def _fitted_y(self) -> np.ndarray:
        check_fitted(self)
        return self._y

    def _score_of(self, decision: np.ndarray, y: np.ndarray, weights: np.ndarray | None) -> float:
        raise NotImplementedError

    def _score(self, views: Views, y: np.ndarray, weights: np.ndarray | None) -> tuple[float, float]:
        if not all(np.isfinite(view).all() for view in views.values()):  # a leave-one-out system is itself at a pole
            return -np.inf, -np.inf
        decision = self._merge_candidates(views)
        squares = (self._targets(y) - decision) ** 2
        squares = squares if squares.ndim == 1 else squares.mean(axis=1)
        return self._score_of(decision, y, weights), -float(np.average(squares, weights=weights))


class DualClassifier(DualPredictor):
    """Two classes by sign, several by the largest decision value."""

    def _encode(self, y: np.ndarray) -> list[Problem]:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            (only,) = self.classes_.tolist()
            raise DataError(f"y has one class only ({only!r}, {len(y)} samples); a classifier needs at least 2 classes")
        return self._split(codes.ravel(), len(self.classes_))

    def _split(self, codes: np.ndarray, n_classes: int) -> list[Problem]:
        return one_vs_rest(codes, n_classes)

    def _codes(self, y: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.classes_, y)

    def _targets(self, y: np.ndarray) -> np.ndarray:
        Y = one_vs_rest(self._codes(y), len(self.classes_))[0].Y
        return Y[:, 0] if Y.shape[1] == 1 else Y

    def _score_of(self, decision: np.ndarray, y: np.ndarray, weights: np.ndarray | None) -> float:
        return float(np.average(predicted_codes(decision) == self._codes(y), weights=weights))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values: (n,) for two classes, positive for ``classes_[1]``; (n, n_classes) for more."""
        return self._merge(self.decision_views(X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each sample."""
        codes = predicted_codes(self.decision_function(X))
        return self.classes_[codes]


class DualRegressor(DualPredictor):
    """One or several real outputs."""

    _regression = True

    def _encode(self, y: np.ndarray) -> list[Problem]:
        self._flat = y.ndim == 1
        return [Problem(np.asarray(y, dtype=np.float64).reshape(len(y), -1))]

    def _outer(self, view: np.ndarray) -> np.ndarray:
        return view[:, 0] if self._flat else view

    def _single_column(self, columns: int) -> bool:
        return self._flat

    def _targets(self, y: np.ndarray) -> np.ndarray:
        return np.asarray(y, dtype=np.float64)

    def _score_of(self, decision: np.ndarray, y: np.ndarray, weights: np.ndarray | None) -> float:
        return float(r2_score(y, decision, sample_weight=weights))

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted output(s) of each sample."""
        return self._merge(self.decision_views(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
