"""What the dual machines share: their parameters, what is kept of a fit, leave-one-out values, and predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgWarning

from kernreg.engine import whole
from kernreg.errors import DataError, GridEndWarning, ParameterError
from kernreg.kernels import Kernel
from kernreg.linalg import SolveReport
from kernreg.solvers.advice import advise
from kernreg.solvers.dual.diagnostics import Diagnostics
from kernreg.solvers.dual.exact import CentredSystem, ExactSystem
from kernreg.solvers.dual.gamma import Choice
from kernreg.solvers.dual.solution import DualSolution
from kernreg.solvers.dual.targets import Targets
from kernreg.solvers.dual.training import TrainingSet, training_matrix
from kernreg.solvers.parameters import KernelParameters
from kernreg.solvers.samples import check_fitted, check_pair, check_samples, input_kind, take
from kernreg.solvers.single_precision import warn_if_single_is_coarse
from kernreg.solvers.streamed import row_by_row
from kernreg.solvers.views import Views

_ERROR_WORTH_A_WARNING = 1e-6


class DualMachine(Diagnostics, KernelParameters):
    """A kernel method whose dual is linear in the targets.

    A concrete machine has ``fit``, which ends in `_store`, and `_make_system`, the system it solves.
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

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        kernel: Any = None,
        gamma: Any = "scale",
        *,
        strategy: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 500,
        max_seconds: float | None = None,
        n_landmarks: int | None = None,
        landmarks: Any = "auto",
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.strategy = strategy
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.random_state = random_state

    # What a concrete machine defines ------------------------------------------------------------------------

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
        """Return leave-one-out values of some samples, where probabilities need them and no others are there."""
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
        doubt = _doubt(solution) or _doubt_of_left_out(choice.left_out_error, choice.gamma)
        if doubt:
            advise(doubt, LinAlgWarning, stacklevel=5)
        else:
            columns = np.concatenate(list(coefficients), axis=1)
            Y = targets.values(data.y)
            warn_if_single_is_coarse(data.kernel, self.X_fit_, columns, Y, stacklevel=5, gamma=choice.gamma)

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
        views, _, errors = system.leave_one_out(np.array([self.gamma_]), once=True)
        if doubt := _doubt_of_left_out(float(errors[0]), self.gamma_):
            advise(doubt, LinAlgWarning, stacklevel=3)  # says where leave-one-out was asked for
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

    def _merged_left_out(self, views: Views, rows: Any = slice(None)) -> np.ndarray:
        """Return the one decision of leave-one-out views, of all training samples or of some."""
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _held(X: Any) -> Any:
    """Return samples of which a model keeps all, here."""
    return tuple(map(whole, X)) if isinstance(X, tuple) else whole(X)


def _why_unavailable(choice: Choice) -> str:
    """Return why a fit has no leave-one-out values, and how to get them; nothing where it has."""
    strategy = choice.solution.report.strategy
    if strategy in ("iterative", "blocks", "sketched"):
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
    if report.strategy == "exact" and report.residual > _ERROR_WORTH_A_WARNING and not report.damped:
        return (
            f"the system is ill-conditioned (condition about {report.condition:.2g}): the relative residual is "
            f"{report.residual:.2g} at gamma={report.gamma:g}. A smaller gamma regularises more"
        )
    if solution.cancelled > _ERROR_WORTH_A_WARNING:
        return (
            f"gamma={report.gamma:g} is so large for this kernel that coefficients cancel in every decision value, "
            f"which leaves a relative error of about {solution.cancelled:.2g}. A smaller gamma regularises more"
        )
    return ""


def _doubt_of_left_out(error: float, gamma: float) -> str:
    """Return why rounding errors are a part of leave-one-out values that matters, nothing where they are not."""
    if not error > _ERROR_WORTH_A_WARNING:
        return ""
    return (
        f"gamma={gamma:g} is so large for this kernel that rounding may have changed leave-one-out values by "
        f"{error:.2g} of the largest. A smaller gamma regularises more"
    )
