"""What the dual machines share: their parameters, what is kept of a fit, leave-one-out values, and predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgWarning
from sklearn.base import ClassifierMixin, RegressorMixin, clone

from kernreg.engine import whole
from kernreg.errors import DataError, GridEndWarning, ParameterError
from kernreg.kernels import Kernel
from kernreg.linalg import SolveReport
from kernreg.solvers.advice import advise
from kernreg.solvers.dual.calibration import METHODS, Calibration, calibrate, probabilities
from kernreg.solvers.dual.exact import CentredSystem, ExactSystem
from kernreg.solvers.dual.gamma import Choice
from kernreg.solvers.dual.solution import DualSolution
from kernreg.solvers.dual.targets import ClassTargets, LabelTargets, RealTargets, Targets
from kernreg.solvers.dual.training import TrainingSet, dense_copy, training_matrix
from kernreg.solvers.parameters import KernelParameters, check_choice
from kernreg.solvers.samples import check_fitted, check_pair, check_samples, input_kind, take
from kernreg.solvers.views import Views, without_mean_shift

_RESIDUAL_WORTH_A_WARNING = 1e-6
_FOLDS = 5  # one of which is held out where there is no leave-one-out


class DualMachine(KernelParameters):
    """A kernel method whose dual is linear in the targets.

    A concrete machine has ``fit``, which ends in `_store`, and says in `_system` which system it solves.
    """

    #: Declared for the conformance kit, which then holds the solver to refusing asymmetric kernels.
    requires_symmetric_kernel: ClassVar[bool] = False
    #: The names of its decision functions.
    views: ClassVar[tuple[str, ...]]

    kernel_: Kernel
    X_fit_: Any
    gamma_: float
    solver_report_: SolveReport
    _coefficients: np.ndarray  # (views, m, columns)
    _intercepts: np.ndarray  # (views, columns)
    _y: np.ndarray
    _weights: np.ndarray | None
    _frequencies: np.ndarray | None
    _loo: Views | None
    _some_left_out: tuple[Views, np.ndarray] | None
    _unavailable: str

    def __init__(
        self,
        kernel: Any = None,
        gamma: Any = "scale",
        *,
        strategy: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 500,
        n_landmarks: int | None = None,
        landmarks: Any = "uniform",
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.strategy = strategy
        self.tol = tol
        self.max_iter = max_iter
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.random_state = random_state

    # What a concrete machine says ---------------------------------------------------------------------------

    @abstractmethod
    def _encode(self, y: np.ndarray) -> Targets:
        """Return how targets become columns of numbers; raise DataError where they cannot."""

    @property
    @abstractmethod
    def _targets(self) -> Targets:
        """The targets of the fit."""

    @abstractmethod
    def _make_system(self, *, damped: bool) -> Callable[..., CentredSystem]:
        """Return what makes the system of one problem, damped at poles or not."""

    def _merge(self, views: Views) -> np.ndarray:
        """Return one decision: the only view, or what an ensembler makes of several."""
        return next(iter(views.values()))

    @property
    def _learns(self) -> bool:
        """Whether `_merge` was learnt from leave-one-out values."""
        return False

    # What is kept of a fit ----------------------------------------------------------------------------------

    def _store(self, data: TrainingSet, targets: Targets, choice: Choice, system: Any, **more: Any) -> None:
        """Keep a fit, all of it at once: whatever fails, fails before. Warn where rounding is a part that matters."""
        solution, landmarks = choice.solution, system.landmarks
        coefficients = np.stack([solution.coefficients[name] for name in self.views]).astype(system.dtype)
        intercepts = np.stack([solution.intercepts[name] for name in self.views]).astype(system.dtype)
        dual_coef, intercept = coefficients, intercepts
        if targets.is_flat(coefficients.shape[2]):
            dual_coef, intercept = coefficients[:, :, 0], intercepts[:, 0]
        if len(self.views) == 1:
            dual_coef, intercept = dual_coef[0], intercept[0]
        report = solution.report
        fit = {
            "kernel_": data.kernel,
            "X_fit_": _held(data.X) if landmarks is None else take(data.X, landmarks),
            "gamma_": choice.gamma,
            "_coefficients": coefficients,
            "_intercepts": intercepts,
            "dual_coef_": dual_coef,
            "intercept_": intercept,
            "solver_report_": report,
            "n_iter_": max(1, getattr(report, "iterations", 1)),
            "_y": data.y,
            "_weights": data.weights,
            "_frequencies": data.frequencies,
            "_calibrations": {},
            "_some_left_out": None,
            "_loo": choice.left_out,
            "_unavailable": _why_unavailable(choice),
            **targets.fitted,
            **more,
        }
        if choice.path is not None:
            fit["loo_path_"] = choice.path
        if landmarks is not None:
            fit["landmarks_"] = landmarks
        for of_an_earlier_fit in ("loo_path_", "landmarks_"):
            self.__dict__.pop(of_an_earlier_fit, None)
        self.__dict__.update(fit)
        if choice.warning:
            advise(choice.warning, GridEndWarning, stacklevel=4)
        doubt = _doubt(solution)
        if doubt:
            advise(doubt, LinAlgWarning, stacklevel=4)

    def __kernreg_restored__(self) -> None:
        """Raise ValueError where what a model file holds does not fit together."""
        if not hasattr(self, "dual_coef_"):
            return
        X = self.X_fit_ if isinstance(self.X_fit_, tuple) else (self.X_fit_,)
        views, m, columns = self._coefficients.shape
        floats = all(a.dtype in (np.float64, np.float32) for a in (self._coefficients, self._intercepts))
        kinds = {"table": "f", "index": "iuf"}.get(input_kind(self.kernel_), "")
        fitting = {
            "the coefficients and the views": floats and views == len(self.views),
            "the coefficients and the intercepts": self._intercepts.shape == (views, columns),
            "the coefficients and the samples": all(np.shape(side)[0] == m for side in X),
            "the kernel and the samples": not kinds or all(s.ndim == 2 and s.dtype.kind in kinds for s in X),
            "the coefficients of the views and of the model": self.dual_coef_.size == self._coefficients.size,
            "the coefficients and the classes": self._targets.columns in (None, columns),
        }
        for what, fits in fitting.items():
            if not fits:
                raise ValueError(f"{what} do not fit together")

    # Leave-one-out ------------------------------------------------------------------------------------------

    @property
    def loo_views_(self) -> Views:
        """Exact leave-one-out decision values of the training samples, by view.

        At hand where γ was chosen by leave-one-out; otherwise computed when first asked for, by one decomposition of
        the training matrix. What a kernel learns from its reference set (the normaliser of ``sne``) is held fixed.
        Samples of zero weight are not among them.
        """
        check_fitted(self)
        if self._loo is None:
            self._loo = self._left_out()
        return {name: self._targets.shaped(view) for name, view in self._loo.items()}

    def _left_out(self) -> Views:
        """Return leave-one-out values (m, columns) of each view, by one decomposition of the training matrix."""
        if self._unavailable:
            raise ParameterError(f"this model has no leave-one-out values: {self._unavailable}")
        if len(self._y) < 2:
            raise DataError(f"leave-one-out needs at least 2 samples, and this model was fitted to {len(self._y)}")
        make = self._make_system(damped=self.solver_report_.damped)
        system = ExactSystem(make, self._training_matrix(), self._targets.problems(self._y), self._weights)
        views, _ = system.leave_one_out(np.array([self.gamma_]), once=True)
        return {name: view[0] for name, view in views.items()}

    def _training_matrix(self) -> np.ndarray:
        return training_matrix(self.kernel_, self.X_fit_)

    @property
    def loo_residuals_(self) -> np.ndarray:
        """Target minus exact leave-one-out decision of each training sample (targets are ±1 for classes)."""
        return self._targets.values(self._y) - self._merged_left_out(self.loo_views_)

    @property
    def loo_score_(self) -> float:
        """Exact leave-one-out accuracy (classes) or R² (regression) on the training samples."""
        decision = self._merged_left_out(self.loo_views_)
        return self._targets.score(decision, self._y, self._weights)

    def _merged_left_out(self, views: Views) -> np.ndarray:
        """Return the one decision of leave-one-out views."""
        return self._merge(views)

    # Predictions --------------------------------------------------------------------------------------------

    def decision_views(self, X: Any) -> Views:
        """Return the decision values of each view, by name.

        Parameters
        ----------
        X : array-like or CSR of shape (n, d)
            What `fit` accepts, labels aside.

        Returns
        -------
        dict of str to ndarray
            Each of shape (n,), or (n, columns) for several classes or outputs.
        """
        check_fitted(self)
        pair = isinstance(self.X_fit_, tuple)
        if pair != (isinstance(X, tuple) and len(X) == 2 and len(self.views) == 2):
            given = "one set of samples" if pair else "a pair"
            raise DataError(f"fitted to {'a pair' if pair else 'one set of samples'}, asked about {given}")
        if pair:
            new_source, new_target = check_pair(self, X, self.kernel_, reset=False)
            source, target = self.X_fit_
        else:
            new_source = new_target = check_samples(self, X, self.kernel_, reset=False)
            source = target = self.X_fit_
        views = {}
        for name, coefficients, intercept in zip(self.views, self._coefficients, self._intercepts, strict=True):
            if name == "target":  # Σ_i a_i k(x_i, x)
                values = self.kernel_.T.product(new_target, source, coefficients)
            else:  # Σ_i c_i k(x, x_i)
                values = self.kernel_.product(new_source, target, coefficients)
            views[name] = self._targets.shaped((values + intercept).astype(coefficients.dtype, copy=False))
        return views

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


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
        pairwise = vars(self).get("_pairwise", getattr(self, "multi_class", None) == "one-vs-one")
        return ClassTargets(self.classes_, pairwise=pairwise)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values: (n,) for two classes, positive for ``classes_[1]``; (n, n_classes) for more.

        For several columns of labels, these of each column side by side.
        """
        return self._merge(self.decision_views(X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each sample, or its labels in several columns."""
        decision = self.decision_function(X)
        return self._targets.predicted(decision)

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

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of `predict_proba`."""
        found = self.predict_proba(X)
        with np.errstate(divide="ignore"):  # an isotonic calibration knows impossible classes
            return [np.log(p) for p in found] if isinstance(found, list) else np.log(found)

    def _calibrated(self) -> list[Calibration]:
        """Return the calibration of each column of labels; kept in a dict, so that asking changes no attribute."""
        method, targets = check_choice("calibration", self.calibration, METHODS), self._targets
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

        Leave-one-out values where there are any: of all samples, or, on landmarks, of some. Else (iterative) every
        fifth sample is held out of one more fit.
        """
        targets, rows, left_out = self._targets, slice(None), self._loo
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
        return self._merged_left_out(views), rows

    def _held_out_decisions(self) -> tuple[np.ndarray, np.ndarray]:
        """Return decision values of every fifth sample, class by class, by a machine fitted to the others."""
        m, codes = len(self._y), np.unique(self._y, axis=0, return_inverse=True)[1].ravel()
        place = np.empty(m, dtype=np.intp)
        place[np.argsort(codes, kind="stable")] = np.arange(m)
        # The last of each class at the latest is seen: of a class of one sample nothing can be held out.
        held_out = (place % _FOLDS == 0) & (np.bincount(codes)[codes] > 1)
        seen, unseen = np.flatnonzero(~held_out), np.flatnonzero(held_out)
        machine = clone(self).set_params(kernel=self.kernel_, gamma=self.gamma_, strategy=self.solver_report_.strategy)
        weights = None if self._weights is None else self._weights[seen]
        machine.set_params(class_weight=None).fit(take(self.X_fit_, seen), self._y[seen], sample_weight=weights)
        return machine.decision_function(take(self.X_fit_, unseen)), unseen

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
        several = getattr(self, "multi_class", "one-vs-rest") == "one-vs-rest" and not self._gives_probabilities()
        tags.target_tags.multi_output = tags.classifier_tags.multi_label = several
        return tags


class DualRegressor(RegressorMixin, DualMachine):
    """One or several real outputs."""

    _flat: bool

    def _encode(self, y: np.ndarray) -> RealTargets:
        return RealTargets(flat=y.ndim == 1)

    @property
    def _targets(self) -> RealTargets:
        return RealTargets(flat=self._flat)

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted output(s) of each sample."""
        return self._merge(self.decision_views(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _held(X: Any) -> Any:
    """Return samples of which a model keeps all, here."""
    return tuple(map(whole, X)) if isinstance(X, tuple) else whole(X)


def _why_unavailable(choice: Choice) -> str:
    """Return why a fit has no leave-one-out values, and how to get them; nothing where it has."""
    strategy = choice.solution.report.strategy
    if strategy == "iterative":
        return "strategy='iterative' gives none; use 'exact' or 'lowrank'"
    if strategy == "lowrank" and choice.left_out is None:
        return (
            "strategy='lowrank' gives them, for one more pass over the samples, where gamma is 'loo' or a sequence: "
            f"gamma=[{choice.gamma:g}]"
        )
    return ""


def _doubt(solution: DualSolution) -> str:
    """Return why rounding errors are a part of the solution that matters, nothing where they are not."""
    report = solution.report
    if report.strategy == "exact" and report.residual > _RESIDUAL_WORTH_A_WARNING and not report.damped:
        return (
            f"the system is ill-conditioned (condition about {report.condition:.2g}): the relative residual is "
            f"{report.residual:.2g} at gamma={report.gamma:g}. A smaller gamma regularises more"
        )
    if solution.cancelled > _RESIDUAL_WORTH_A_WARNING:
        return (
            f"gamma={report.gamma:g} is so large for this kernel that coefficients cancel in every decision value, "
            f"which leaves a relative error of about {solution.cancelled:.2g}. A smaller gamma regularises more"
        )
    return ""
