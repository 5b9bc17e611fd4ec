"""Dual machines that classify: classes, and probabilities from decisions of models that have not seen the sample."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone

from kernreg.common.checks import is_word
from kernreg.errors import KernregError
from kernreg.solvers.dual.calibration import METHODS, Calibration, calibrate, probabilities
from kernreg.solvers.dual.gamma import Choice
from kernreg.solvers.dual.machine import DualMachine
from kernreg.solvers.dual.targets import ClassTargets, LabelTargets
from kernreg.solvers.dual.training import dense_copy
from kernreg.solvers.inference.prediction_sets import predict_set
from kernreg.solvers.parameters import check_choice
from kernreg.solvers.samples import take
from kernreg.solvers.streamed import row_by_row
from kernreg.solvers.views import Views, without_mean_shift

_FOLDS, _ENOUGH = 5, 2000  # folds, held out until there are enough samples, where there is no leave-one-out


class DualClassifier(ClassifierMixin, DualMachine):
    """Two classes by sign, several by the largest decision value; probabilities from leave-one-out values."""

    calibration: str
    classes_: np.ndarray | list[np.ndarray]
    _calibrations: dict[str, list[Calibration]]

    def _encode(self, y: np.ndarray) -> ClassTargets | LabelTargets:
        check_choice("calibration", self.calibration, METHODS)
        return ClassTargets.of(y) if y.ndim == 1 else LabelTargets.of(y)

    @property
    def _targets(self) -> ClassTargets | LabelTargets:
        labels = vars(self).get("_labels")
        if labels is not None:
            return LabelTargets(labels)
        assert isinstance(self.classes_, np.ndarray)
        # Model files of the first form do not say it otherwise than by the parameter.
        pairwise = vars(self).get("_pairwise", is_word(getattr(self, "multi_class", None), "one-vs-one"))
        return ClassTargets(self.classes_, pairwise=pairwise)

    def _kept_for_probabilities(self, choice: Choice, system: Any) -> tuple[Views, np.ndarray] | None:
        if choice.left_out is None and system.landmarks is not None:  # the samples are not kept: now or never
            return system.some_left_out(choice.gamma)
        return None

    @row_by_row
    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values: (n,) for two classes, positive for ``classes_[1]``; (n, n_classes) for more.

        For several columns of labels, these of each column side by side.
        """
        return self._merge(self.decision_views(X))

    @row_by_row
    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each sample, or its labels in several columns."""
        decision = self.decision_function(X)
        return self._targets.predicted(decision)

    @row_by_row
    def predict_proba(self, X: Any) -> Any:
        """Return class probabilities, calibrated on exact leave-one-out decisions when first asked for.

        Returns
        -------
        ndarray of shape (n, n_classes)
            For an indicator matrix (n, labels): the probability of each label. For several outputs a list.
        """
        decision, targets = self.decision_function(X), self._targets
        parts = zip(self._calibrated(), targets.parts(decision), strict=True)
        found = [probabilities(calibration, part) for calibration, part in parts]
        if isinstance(targets, ClassTargets):
            return found[0]
        return np.column_stack([p[:, 1] for p in found]) if targets.indicator else found

    def predict_set(
        self, X: Any, coverage: float = 0.9, *, view: str | None = None, allow_empty: bool = True
    ) -> np.ndarray | list[np.ndarray]:
        """Return which classes cannot be excluded, by jackknife+ from exact leave-one-out: conformal prediction sets.

        Where samples are exchangeable the set holds the true class with a probability of about ``coverage``, and of at
        least 2 coverage - 1, whatever the kernel and the distribution.

        Parameters
        ----------
        X : array-like or CSR of shape (n, d)
        coverage : float
        view : str, optional
            The view to take, ``"source"`` or ``"target"``; by default the merged decision.
        allow_empty : bool
            A set may be empty where no class conforms: that is how sets of an accurate machine keep to their coverage.
            With False it holds the best class then, and covers more often.

        Returns
        -------
        ndarray of bool of shape (n, n_classes)
            Columns are ``classes_``; for several columns of labels a list of such.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from kernreg.solvers import LSSVC
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = LSSVC(kernel="rbf(sigma=2.0)").fit(X, y)
        >>> clf.predict_set(X[[0, 77]], coverage=0.99).tolist()  # a setosa, and a versicolor among virginicas
        [[True, False, False], [False, True, True]]
        """
        return predict_set(self, X, coverage, view, allow_empty)

    @row_by_row
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of `predict_proba`."""
        found = self.predict_proba(X)
        with np.errstate(divide="ignore"):  # an isotonic calibration knows impossible classes
            return [np.log(p) for p in found] if isinstance(found, list) else np.log(found)

    def _calibrated(self) -> list[Calibration]:
        """Return the calibration of each column of labels; kept in a dict, so that asking changes no attribute."""
        # As it was at the fit; model files of the first form do not say it otherwise than by the parameter.
        method, targets = vars(self).get("_calibration", self.calibration), self._targets
        check_choice("calibration", method, METHODS)
        if method not in self._calibrations:
            decision, rows = self._unseen_decisions()
            y, frequencies = self._y[rows], None if self._frequencies is None else self._frequencies[rows]
            labels = y.reshape(len(y), -1).T
            indicator = isinstance(targets, LabelTargets) and targets.indicator
            self._calibrations[method] = [
                calibrate(method, part, output.codes(y), len(output.classes), frequencies, offsets=not indicator)
                for output, part, y in zip(targets.outputs, targets.parts(decision), labels, strict=True)
            ]
        return self._calibrations[method]

    def _unseen_decisions(self) -> tuple[np.ndarray, Any]:
        """Return decision values of training samples by models that have not seen them, and which samples these are.

        Leave-one-out values where there are any: of all samples, or, on landmarks, of some. Else (iterative) samples
        are held out of further fits.
        """
        targets, left_out = self._targets, self._loo
        rows: Any = slice(None)
        if left_out is None and not self._unavailable:
            left_out = self._left_out()
        if left_out is None and self._some_left_out is not None:
            left_out, rows = self._some_left_out
        if left_out is None:
            return self._held_out_decisions()
        views = {name: targets.shaped(view) for name, view in left_out.items()}
        if not (targets.pairwise or self._learns):  # else done already, or votes
            weights = None if self._weights is None else self._weights[rows]
            views = without_mean_shift(views, targets.values(self._y[rows]), weights)
        return self._merged_left_out(views, rows), rows

    def _held_out_decisions(self) -> tuple[np.ndarray, np.ndarray]:
        """Return decision values of samples by machines fitted to the others, fold by fold until these are many.

        The samples are dealt into five folds, class by class, always the same way. Of a class of one sample nothing is
        held out.
        """
        m, codes = len(self._y), np.unique(self._y, axis=0, return_inverse=True)[1].ravel()
        fold = np.empty(m, dtype=np.intp)
        fold[np.argsort(codes, kind="stable")] = np.arange(m) % _FOLDS
        fold[np.bincount(codes)[codes] < 2] = -1
        decisions, held_out = [], np.empty(0, dtype=np.intp)
        machine = clone(self).set_params(kernel=self.kernel_, gamma=self.gamma_, class_weight=None)
        machine.set_params(strategy=self.solver_report_.strategy)
        for number in range(_FOLDS):
            if len(held_out) < _ENOUGH:
                seen, unseen = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
                weights = None if self._weights is None else self._weights[seen]
                machine.fit(take(self.X_fit_, seen), self._y[seen], sample_weight=weights)
                decisions.append(machine.decision_function(take(self.X_fit_, unseen)))
                held_out = np.append(held_out, unseen)
        return np.concatenate(decisions), held_out

    def _gives_probabilities(self) -> bool:
        """Whether what merges the views gives probabilities itself, which it then does for one column of labels."""
        return False

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy: the share of samples whose class, or every label, is right."""
        if isinstance(self._targets, ClassTargets):
            return float(super().score(X, y, sample_weight))
        return self._targets.score(self.decision_function(X), dense_copy(y), sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        several = is_word(getattr(self, "multi_class", "one-vs-rest"), "one-vs-rest")
        with suppress(KernregError):  # of a parameter that is none: a fit says so
            several = several and not self._gives_probabilities()
        tags.target_tags.multi_output = tags.classifier_tags.multi_label = several
        return tags
