"""What the dual machines share: their parameters, what is kept of a fit, leave-one-out values, and predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
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
from kernreg.solvers.explanation.explanation import Explanation
from kernreg.solvers.explanation.gradients import decision_gradients
from kernreg.solvers.explanation.permutation import PermutationImportance, permutation_importance
from kernreg.solvers.explanation.shapley import explain
from kernreg.solvers.inference.influence import Influence, influence
from kernreg.solvers.inference.intervals import predict_interval
from kernreg.solvers.inference.learning_curve import LearningCurve, learning_curve
from kernreg.solvers.inference.left_out import left_out_views
from kernreg.solvers.inference.prediction_sets import predict_set
from kernreg.solvers.inference.robust import fit_reweighted
from kernreg.solvers.parameters import KernelParameters, check_choice
from kernreg.solvers.samples import check_fitted, check_pair, check_samples, input_kind, take
from kernreg.solvers.streamed import row_by_row
from kernreg.solvers.views import Views, without_mean_shift

_RESIDUAL_WORTH_A_WARNING = 1e-6
_FOLDS, _ENOUGH = 5, 2000  # folds, held out until there are enough samples, where there is no leave-one-out


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
    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Fit, and keep it with `_store`."""

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

    def _kept_for_probabilities(self, choice: Choice, system: Any) -> tuple[Views, np.ndarray] | None:
        """Return leave-one-out values of some samples, where probabilities will be asked for and nothing else tells."""
        return None

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
            "_some_left_out": self._kept_for_probabilities(choice, system),
            "_calibration": getattr(self, "calibration", None),
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
            advise(choice.warning, GridEndWarning, stacklevel=5)
        doubt = _doubt(solution)
        if doubt:
            advise(doubt, LinAlgWarning, stacklevel=5)

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

    @row_by_row
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

    def explain(
        self, X: Any, background: Any = None, *, view: str | None = None, feature_names: Any = None
    ) -> Explanation:
        """Return exact Shapley values: what each feature adds to each decision value, Σ_j φ_j = f(x) - base.

        For kernels that are products over features (``rbf``, ``laplacian``, ``chi2``, ``kl``), sums over them
        (``linear``, ``intersection``), or made of such by sums, products, multiples, powers and maps of single
        features.

        Parameters
        ----------
        X : array-like of shape (n, d)
        background : array-like of shape (b, d), optional
            Samples whose features stand in for those left out (the interventional game). By default a feature left out
            has the factor 1 in the kernel, as if all samples agreed in it.
        view : str, optional
            The view to explain; by default the merged decision.
        feature_names : sequence of str, optional

        Returns
        -------
        Explanation
            It draws itself (``plot``), and becomes a ``shap.Explanation`` (``to_shap``).

        Examples
        --------
        >>> from kernreg.solvers import LSSVR
        >>> X = np.random.default_rng(0).standard_normal((50, 3))
        >>> model = LSSVR(kernel="rbf(sigma=3.0)", gamma=100.0).fit(X, 2.0 * X[:, 1])
        >>> found = model.explain(X)
        >>> int(found.importance().argmax()), bool(np.allclose(found.predictions, model.predict(X)))
        (1, True)
        """
        return explain(self, X, background, view=view, feature_names=feature_names)

    def permutation_importance(self, n_repeats: int = 5, random_state: Any = 0) -> PermutationImportance:
        """Return what the leave-one-out score loses when a feature is dealt anew, for any kernel, without refits.

        Parameters
        ----------
        n_repeats : int
            How often each feature is dealt.
        random_state : int, Generator or None

        Examples
        --------
        >>> from kernreg.solvers import LSSVR
        >>> X = np.random.default_rng(0).standard_normal((50, 3))
        >>> LSSVR(kernel="matern(sigma=3.0)").fit(X, X[:, 1]).permutation_importance().mean.argmax().item()
        1
        """
        return permutation_importance(self, n_repeats, random_state)

    def decision_gradients(self, X: Any) -> Views:
        """Return the slopes of decision values by the features, for differentiable kernels.

        Returns
        -------
        dict of str to ndarray
            For each view of shape (n, d), or (n, d, columns) for several classes or outputs.
        """
        return decision_gradients(self, X)

    def influence(self, view: str | None = None) -> Influence:
        """Return leverage and influence of each training sample, and the effective degrees of freedom; no refits.

        Parameters
        ----------
        view : str, optional
            The view to take; by default the first.

        Examples
        --------
        >>> from kernreg.solvers import LSSVR
        >>> x = np.linspace(0, 6, 40)[:, None]
        >>> y = np.sin(x[:, 0])
        >>> y[7] += 3.0
        >>> int(LSSVR(kernel="rbf(sigma=2.0)").fit(x, y).influence().cook.argmax())
        7
        """
        return influence(self, view)

    def learning_curve(
        self, sizes: Sequence[int] | None = None, n_repeats: int = 5, random_state: Any = 0
    ) -> LearningCurve:
        """Return leave-one-out and training scores of random subsets of the training samples, with the same γ.

        Parameters
        ----------
        sizes : sequence of int, optional
            By default from a tenth of the samples to all.
        n_repeats : int
            Subsets of each size.
        random_state : int, Generator or None
        """
        return learning_curve(self, sizes, n_repeats, random_state)

    def left_out_views(self, X: Any) -> Views:
        """Return what the models without one training sample each predict, f⁽⁻ⁱ⁾(x), without refits.

        What a kernel learnt from its reference set, and γ, are those of all samples.

        Returns
        -------
        dict of str to ndarray
            Each of shape (n, m), or (n, m, columns) for several classes or outputs: column i is the model without
            training sample i (those of zero weight are not among them).
        """
        return left_out_views(self, X)

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
        return self._merged_left_out(views), rows

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
        several = getattr(self, "multi_class", "one-vs-rest") == "one-vs-rest" and not self._gives_probabilities()
        tags.target_tags.multi_output = tags.classifier_tags.multi_label = several
        return tags


class DualRegressor(RegressorMixin, DualMachine):
    """One or several real outputs."""

    _flat: bool
    robust: str | None = None

    def _fit_robust(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Fit, with samples that the others contradict counting less where that is asked for."""
        self.__dict__.pop("robust_weights_", None)
        if self.robust is None:
            self._fit(X, y, sample_weight)
        else:
            fit_reweighted(self, self.robust, partial(self._fit, X, y), 0 if y is None else len(y), sample_weight)

    def _encode(self, y: np.ndarray) -> RealTargets:
        return RealTargets(flat=y.ndim == 1)

    @property
    def _targets(self) -> RealTargets:
        return RealTargets(flat=self._flat)

    @row_by_row
    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted output(s) of each sample."""
        return self._merge(self.decision_views(X))

    def predict_interval(self, X: Any, coverage: float = 0.9, *, view: str | None = None) -> np.ndarray:
        """Return prediction intervals without assumptions on the noise, by jackknife+ from exact leave-one-out.

        Where samples are exchangeable an interval holds the output with a probability of about ``coverage``, and of at
        least 2 coverage - 1, whatever the kernel and the distribution. With too few samples for the coverage, fewer
        than 1/(1 - coverage) - 1, it is infinite.

        Parameters
        ----------
        X : array-like or CSR of shape (n, d)
        coverage : float
        view : str, optional
            The view to take, ``"source"`` or ``"target"``; by default the merged prediction.

        Returns
        -------
        ndarray of shape (n, 2), or (n, outputs, 2) for several outputs
            The lower and the upper end.

        Examples
        --------
        >>> from kernreg.solvers import LSSVR
        >>> x = np.linspace(0, 6, 100)[:, None]
        >>> y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(100)
        >>> model = LSSVR(kernel="rbf(sigma=2.0)", gamma=10.0).fit(x, y)
        >>> low, high = model.predict_interval([[3.0]], coverage=0.9)[0]
        >>> bool(low < np.sin(3.0) < high), bool(high - low < 0.5)
        (True, True)
        """
        return predict_interval(self, X, coverage, view)

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
    if strategy in ("iterative", "sketched"):
        return f"strategy={strategy!r} gives none; use 'exact' or 'lowrank'"
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
