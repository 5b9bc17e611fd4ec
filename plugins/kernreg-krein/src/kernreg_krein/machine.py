"""What the machines share: parameters, what is kept of a fit, decision values, classes and probabilities."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from kernreg.engine import whole
from kernreg.errors import DataError, ParameterError
from kernreg.kernels import Kernel
from kernreg.solvers import (
    ClassTargets,
    KernelParameters,
    RealTargets,
    TrainingSet,
    calibrate,
    check_choice,
    check_samples,
    check_training_set,
    probabilities,
    require_symmetric,
    require_symmetric_on_some,
    row_by_row,
    warn_if_single_is_coarse,
    warn_if_uninformative,
)
from kernreg_krein.report import KreinReport

CALIBRATIONS = ("sigmoid", "isotonic")

_FOLDS, _ENOUGH = 5, 2000  # folds, held out until there are enough samples to calibrate probabilities on


class KreinMachine(KernelParameters):
    """A machine f(x) = Σ_i α_i k(x, x_i) + b of a symmetric kernel that may be indefinite."""

    #: Declared for the conformance kit, which then holds the solver to refusing asymmetric kernels.
    requires_symmetric_kernel: ClassVar[bool] = True
    views: ClassVar[tuple[str, ...]] = ("decision",)
    #: The solver of kernreg that takes asymmetric kernels.
    for_asymmetric_kernels: ClassVar[str] = "ask-ls"

    kernel_: Kernel
    X_fit_: Any
    dual_coef_: np.ndarray
    intercept_: Any
    signature_: tuple[int, int]
    solver_report_: KreinReport

    @property
    def _targets(self) -> ClassTargets | RealTargets:
        raise NotImplementedError

    def _training_set(self, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
        """Return samples, targets and weights, checked, and the kernel bound to them."""
        return check_training_set(self, self.resolve_kernel(), X, y, sample_weight)

    def _matrix(self, data: TrainingSet) -> np.ndarray:
        """Return the kernel matrix, symmetric; raise AsymmetryError where it is not."""
        K = data.matrix()
        require_symmetric(data.kernel, K, who=type(self).__name__, instead=self.for_asymmetric_kernels)
        warn_if_uninformative(data.kernel, K, data.X, stacklevel=4)
        return K

    def _refuse_asymmetric(self, data: TrainingSet) -> None:
        """Raise AsymmetryError where the kernel is asymmetric on some of the samples; their matrix is never seen."""
        require_symmetric_on_some(data.kernel, data.X, who=type(self).__name__, instead=self.for_asymmetric_kernels)

    def _store(
        self,
        data: TrainingSet,
        machine: tuple[np.ndarray, np.ndarray],
        report: KreinReport,
        landmarks: np.ndarray | None,
        *,
        stacklevel: int,
        **more: Any,
    ) -> None:
        """Keep a fit: coefficients (m, columns) and intercepts (columns,), of all samples or of landmarks.

        ``stacklevel`` says where ``fit`` was called, as of `warnings.warn`.
        """
        for of_an_earlier_fit in ("landmarks_", "gamma_path_"):
            self.__dict__.pop(of_an_earlier_fit, None)
        self.kernel_ = data.kernel
        self.X_fit_ = whole(data.X) if landmarks is None else data.X[landmarks]
        dtype = data.kernel_dtype()
        coefficients, intercepts = (np.asarray(part).astype(dtype) for part in machine)
        flat = self._targets.is_flat(coefficients.shape[1])
        self.dual_coef_ = coefficients[:, 0] if flat else coefficients
        self.intercept_ = intercepts[0] if flat else intercepts
        self.signature_ = report.positive, report.negative
        self.solver_report_ = report
        self.n_iter_ = max(1, report.iterations)
        if landmarks is not None:
            self.landmarks_ = landmarks
        self.__dict__.update(more)
        Y = self._targets.values(data.y)
        warn_if_single_is_coarse(data.kernel, self.X_fit_, coefficients, Y, stacklevel=stacklevel + 1)

    def __kernreg_restored__(self) -> None:
        """Raise ValueError where what a model file holds does not fit together."""
        if not hasattr(self, "dual_coef_"):
            return
        columns = self.dual_coef_.reshape(len(self.dual_coef_), -1).shape[1]
        fitting = {
            "the coefficients and the samples": np.shape(self.X_fit_)[0] == len(self.dual_coef_),
            "the coefficients and the intercepts": np.size(self.intercept_) == columns,
            "the coefficients and the classes": self._targets.columns in (None, columns),
        }
        for what, fits in fitting.items():
            if not fits:
                raise ValueError(f"{what} do not fit together")

    @row_by_row
    def decision_views(self, X: Any) -> dict[str, np.ndarray]:
        """Return the decision values by name: there is one view, ``"decision"``, with the kernel as it is.

        Parameters
        ----------
        X : array-like or CSR of shape (n, d)
            What `fit` accepts, labels aside.
        """
        check_is_fitted(self, "dual_coef_")
        X = check_samples(self, X, self.kernel_, reset=False)
        coefficients = self.dual_coef_.reshape(len(self.dual_coef_), -1)
        values = self.kernel_.product(X, self.X_fit_, coefficients) + np.reshape(self.intercept_, -1)
        return {"decision": self._targets.shaped(values.astype(coefficients.dtype, copy=False))}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class KreinClassifier(ClassifierMixin, KreinMachine):
    """Two classes by sign, several by the largest decision value; probabilities from samples that were held out."""

    calibration: str
    class_weight: Any
    classes_: np.ndarray
    _y: np.ndarray
    _weights: np.ndarray | None
    _frequencies: np.ndarray | None
    _held_out: tuple[np.ndarray, np.ndarray] | None
    _calibrations: dict[str, Any]
    _calibration: str
    _again: dict[str, Any]
    _pairwise: bool

    def _training_set(self, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
        check_choice("calibration", self.calibration, CALIBRATIONS)
        data = super()._training_set(X, y, sample_weight)
        if data.y.ndim > 1:
            raise DataError(
                f"y has {data.y.shape[1]} columns; {type(self).__name__} takes one column of labels. For several fit "
                "each by itself: sklearn.multioutput.MultiOutputClassifier"
            )
        return data

    @property
    def _targets(self) -> ClassTargets:
        return ClassTargets(self.classes_, pairwise=self._pairwise)

    def _keep_targets(
        self,
        data: TrainingSet,
        targets: ClassTargets,
        held_out: tuple[np.ndarray, np.ndarray] | None,
        **parameters: Any,
    ) -> None:
        """Keep classes, and what probabilities are calibrated on when they are first asked for.

        Where all samples are kept that is they themselves, and the parameters of further fits to some of them; on
        landmarks decision values of samples held out, and which.
        """
        self.classes_, self._pairwise = targets.classes, targets.pairwise
        self._y, self._weights, self._frequencies = data.y, data.weights, data.frequencies
        self._held_out, self._calibrations, self._calibration = held_out, {}, self.calibration
        self._again = parameters

    @row_by_row
    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values: (n,) for two classes, positive for ``classes_[1]``; (n, n_classes) for more."""
        return self.decision_views(X)["decision"]

    @row_by_row
    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each sample."""
        decision = self.decision_function(X)
        return self._targets.predicted(decision)

    @row_by_row
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities (n, n_classes), calibrated when first asked for on samples held out of fits."""
        decision = self.decision_function(X)
        return probabilities(self._calibrated(), decision)

    @row_by_row
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of `predict_proba`."""
        found = self.predict_proba(X)
        with np.errstate(divide="ignore"):  # an isotonic calibration knows impossible classes
            return np.log(found)

    def _calibrated(self) -> Any:
        """Return the calibration; kept in a dict, so that asking changes no attribute."""
        method = self._calibration
        if method not in self._calibrations:
            decision, rows = self._held_out or self._held_out_decisions()
            frequencies = None if self._frequencies is None else self._frequencies[rows]
            codes = self._targets.codes(self._y[rows])
            self._calibrations[method] = calibrate(method, decision, codes, len(self.classes_), frequencies)
        return self._calibrations[method]

    def _held_out_decisions(self) -> tuple[np.ndarray, np.ndarray]:
        """Return decision values of samples by machines fitted to the others, fold by fold until these are many."""
        fold = deal(self._targets.codes(self._y))
        machine = type(self)(kernel=self.kernel_, **self._again)
        decisions, held_out = [], np.empty(0, dtype=np.intp)
        for number in range(_FOLDS):
            seen, unseen = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            if len(held_out) >= _ENOUGH or not len(unseen):
                continue
            weights = None if self._weights is None else self._weights[seen]
            machine.fit(self.X_fit_[seen], self._y[seen], sample_weight=weights)
            decisions.append(machine.decision_function(self.X_fit_[unseen]))
            held_out = np.append(held_out, unseen)
        if not decisions:
            raise ParameterError(
                "every class has one sample only: none can be held out, and there is nothing to calibrate on"
            )
        return np.concatenate(decisions), held_out


def deal(codes: np.ndarray, folds: int = _FOLDS) -> np.ndarray:
    """Return the fold of each sample, dealt class by class, always the same way; -1 for a class of one sample.

    >>> deal(np.array([0, 1, 0, 1, 2]), 2).tolist()
    [0, 0, 1, 1, -1]
    """
    fold = np.empty(len(codes), dtype=np.intp)
    fold[np.argsort(codes, kind="stable")] = np.arange(len(codes)) % folds
    fold[np.bincount(codes)[codes] < 2] = -1
    return fold
