"""What the dual solvers share: from samples to the kernel matrix, from there to coefficients, and to predictions.

A concrete solver says which system it solves, how targets are encoded, and how views become one decision.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgWarning
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data

from kernreg.errors import AsymmetryError, DataError, ParameterError
from kernreg.kernels import Kernel
from kernreg.linalg import SolveReport, asymmetry
from kernreg.solvers.advice import advise
from kernreg.solvers.dual.choosing import choose, leave_one_out
from kernreg.solvers.dual.class_problems import Problem
from kernreg.solvers.dual.large import fit_large
from kernreg.solvers.dual.strategies import STRATEGIES, Options, pick
from kernreg.solvers.dual.systems import DualSolution, DualSystem, Views
from kernreg.solvers.parameters import KernelParameters, check_choice, check_gamma
from kernreg.solvers.samples import check_fitted, check_pair, check_samples, check_weights, input_kind, take

_RESIDUAL_WORTH_A_WARNING = 1e-6
_LARGEST_KERNEL_VALUE = 1e140
_SYMMETRY_TOLERANCE = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}


class DualSolver(KernelParameters):
    """A kernel method whose dual is linear in the targets."""

    #: Declared for the conformance kit, which then holds the solver to refusing asymmetric kernels.
    requires_symmetric_kernel: ClassVar[bool] = False

    _system: ClassVar[type[DualSystem]]
    _accepts_pairs: ClassVar[bool] = False
    _regression: ClassVar[bool] = False

    # What is given is checked in fit, whatever its type.
    tol: Any
    max_iter: Any
    n_landmarks: Any
    _loo: Views | None

    def __init__(
        self,
        kernel: Any = None,
        gamma: Any = 1.0,
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

    # What a concrete solver says ---------------------------------------------------------------------------

    def _encode(self, y: np.ndarray) -> list[Problem]:
        """Return the problems to solve, and keep what is needed to decode predictions."""
        raise NotImplementedError

    def _score(self, views: Views, y: np.ndarray, weights: np.ndarray | None) -> tuple[float, float]:
        """Return the score of leave-one-out views, and minus a squared error that settles ties."""
        raise NotImplementedError

    def _outer(self, view: np.ndarray) -> np.ndarray:
        """Return decision values (n, columns) in the shape users see."""
        return view[:, 0] if view.shape[1] == 1 else view

    def _pole_policy(self) -> str:
        return "raise"

    def _needs_leave_one_out(self) -> bool:
        return False

    # Fit ----------------------------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        gamma = check_gamma(self.gamma)
        check_choice("strategy", self.strategy, STRATEGIES)
        options = self._options()
        on_pole = self._pole_policy()
        kernel = self.resolve_kernel()
        X, y = self._check_data(X, y, kernel)
        X, y, weights = self._check_weights(X, y, sample_weight)
        problems = self._encode(y)
        self.kernel_, self.X_fit_, self._weights, self._y, self._loo = _bound(kernel, X), X, weights, y, None
        left_out = not isinstance(gamma, float) or self._needs_leave_one_out()
        strategy = pick(self.strategy, len(y), leave_one_out=left_out, exact_only=self._only_exact())
        self._unavailable = ""
        for left_by_another_fit in ("loo_path_", "landmarks_"):
            self.__dict__.pop(left_by_another_fit, None)
        if strategy != "exact":
            solution, note = fit_large(self, strategy, problems[0], gamma, left_out, options)
            self._keep([solution], problems, self._kernel_dtype(), note)
            return
        K = self._training_matrix()
        if isinstance(gamma, float) and not left_out:
            self.gamma_ = gamma
            solutions = [
                self._make_system(K, problem, overwrite=len(problems) == 1).direct(gamma, on_pole)
                for problem in problems
            ]
            note = ""
        else:
            grid = np.array([gamma]) if isinstance(gamma, float) else gamma
            solutions, note = choose(self, K, problems, grid, on_pole)
        self._keep(solutions, problems, K.dtype, note)

    def _options(self) -> Options:
        tol, max_iter, n_landmarks = self.tol, self.max_iter, self.n_landmarks
        if not isinstance(tol, Real) or not 0.0 < float(tol) < 1.0:
            raise ParameterError(f"tol={tol!r} is not accepted; give a number between 0 and 1")
        if not isinstance(max_iter, Integral) or max_iter < 1:
            raise ParameterError(f"max_iter={max_iter!r} is not accepted; give a positive integer")
        if n_landmarks is not None and (not isinstance(n_landmarks, Integral) or n_landmarks < 1):
            raise ParameterError(f"n_landmarks={n_landmarks!r} is not accepted; give a positive integer or None")
        number = None if n_landmarks is None else int(n_landmarks)
        return Options(float(tol), int(max_iter), number, self.landmarks, self.random_state)

    def _only_exact(self) -> str:
        """Return the setting, if any, that only the exact strategy can serve."""
        return ""

    def _check_data(self, X: Any, y: Any, kernel: Kernel) -> tuple[Any, Any]:
        if isinstance(X, tuple) and len(X) == 2 and np.ndim(X[0]) >= 1 and not self._accepts_pairs:
            raise DataError(
                f"X is a pair; {type(self).__name__} takes one set of samples. Pairs (X_source, X_target) are for "
                "asymmetric kernels: use 'ask-ls' or 'ask-lsr'"
            )
        pair = isinstance(X, tuple) and len(X) == 2 and self._accepts_pairs
        if not pair and input_kind(kernel) == "table":
            X, y = validate_data(
                self,
                X,
                y,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                multi_output=self._regression,
                y_numeric=self._regression,
            )
            return X, y
        if y is None:
            raise DataError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X = check_pair(self, X, kernel, reset=True) if pair else check_samples(self, X, kernel, reset=True)
        if self._regression:
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        else:
            y = column_or_1d(y, warn=True)
        check_consistent_length(X[0] if pair else X, y)
        return X, y

    def _check_weights(self, X: Any, y: np.ndarray, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Leave out samples of zero weight; unit weights are no weights."""
        if sample_weight is None:
            return X, y, None
        weights = check_weights(sample_weight, len(y))
        if np.any(weights == 0):
            kept = np.flatnonzero(weights)
            X, y, weights = take(X, kept), y[kept], weights[kept]
        return X, y, None if np.all(weights == 1.0) else weights

    def _training_matrix(self) -> np.ndarray:
        """Return K of the training samples, checked."""
        X = self.X_fit_
        K = self.kernel_(X[0], X[1]) if isinstance(X, tuple) else self.kernel_(X)
        with np.errstate(over="ignore", invalid="ignore"):
            suspicious = not np.isfinite(np.linalg.norm(K))
        if suspicious and not np.isfinite(K).all():
            i, j = (int(number) for number in np.argwhere(~np.isfinite(K))[0])
            raise DataError(
                f"the kernel {self.kernel_.name!r} is {K[i, j]} between samples {i} and {j}; a kernel is finite on its "
                "training samples. Check its parameters and the range of the features"
            )
        largest = float(np.abs(K).max()) if suspicious else 0.0
        if largest > _LARGEST_KERNEL_VALUE:
            raise DataError(
                f"the kernel {self.kernel_.name!r} is as large as {largest:.3g} on the training samples, and squares "
                f"of values above {_LARGEST_KERNEL_VALUE:g} overflow. Scale the features, or the kernel"
            )
        if self.requires_symmetric_kernel and not self.kernel_.symmetric:
            self._refuse_asymmetry(K)
        return K

    def _refuse_asymmetry(self, K: np.ndarray) -> None:
        gap = asymmetry(K)
        if gap > _SYMMETRY_TOLERANCE[K.dtype]:
            instead = "ask-lsr" if self._regression else "ask-ls"
            raise AsymmetryError(
                f"the kernel {self.kernel_.name!r} is asymmetric on these samples (max |K - Kᵀ| is {gap:.3g} of "
                f"max |K|), and {type(self).__name__} requires a symmetric one. Use '{instead}', which is made for "
                "asymmetric kernels, or say how to make it symmetric: kernreg.kernels.symmetrize(kernel, …)"
            )

    def _kernel_dtype(self) -> np.dtype:
        """Return the type of kernel values, which is that of results."""
        one = (
            take(side, np.arange(1)) for side in (self.X_fit_ if isinstance(self.X_fit_, tuple) else (self.X_fit_,) * 2)
        )
        return self.kernel_(*one).dtype

    def _make_system(self, K: np.ndarray, problem: Problem, *, overwrite: bool) -> DualSystem:
        rows, weights = problem.rows, self._weights
        if rows is None:
            return self._system(K, problem.Y, weights, overwrite=overwrite)
        inner = None if weights is None else weights[rows]
        return self._system(K[np.ix_(rows, rows)], problem.Y, inner, overwrite=True)

    def _keep(self, solutions: list[DualSolution], problems: list[Problem], dtype: np.dtype, note: str) -> None:
        m = len(self._y)
        coefficients, intercepts = [], []
        for name in self._system.views:
            parts = []
            for solution, problem in zip(solutions, problems, strict=True):
                part = solution.coefficients[name]
                if problem.rows is not None:
                    whole = np.zeros((m, part.shape[1]))
                    whole[problem.rows] = part
                    part = whole
                parts.append(part)
            coefficients.append(np.concatenate(parts, axis=1))
            intercepts.append(np.concatenate([solution.intercepts[name] for solution in solutions]))
        self._coefficients = np.stack(coefficients).astype(dtype)
        self._intercepts = np.stack(intercepts).astype(dtype)
        single = self._single_column(self._coefficients.shape[2])
        self.dual_coef_ = self._coefficients[:, :, 0] if single else self._coefficients
        self.intercept_ = self._intercepts[:, 0] if single else self._intercepts
        if len(self._system.views) == 1:
            self.dual_coef_, self.intercept_ = self.dual_coef_[0], self.intercept_[0]
        self.solver_report_ = _worst([solution.report for solution in solutions], note)
        report = self.solver_report_
        self.n_iter_ = max(1, getattr(report, "iterations", 1))
        cancelled = max(solution.cancelled for solution in solutions)
        if report.strategy == "exact" and report.residual > _RESIDUAL_WORTH_A_WARNING and not report.damped:
            advise(
                f"the system is ill-conditioned (condition about {report.condition:.2g}): the relative residual is "
                f"{report.residual:.2g} at gamma={report.gamma:g}. A smaller gamma regularises more",
                LinAlgWarning,
                stacklevel=4,
            )
        elif cancelled > _RESIDUAL_WORTH_A_WARNING:
            advise(
                f"gamma={report.gamma:g} is so large for this kernel that coefficients cancel in every decision value, "
                f"which leaves a relative error of about {cancelled:.2g}. A smaller gamma regularises more",
                LinAlgWarning,
                stacklevel=4,
            )

    def _single_column(self, columns: int) -> bool:
        return columns == 1

    # Results ------------------------------------------------------------------------------------------------

    @property
    def loo_views_(self) -> Views:
        """Exact leave-one-out decision values of the training samples, by view.

        At hand where γ was chosen by leave-one-out; otherwise computed when first asked for, by one decomposition of
        the training matrix. What a kernel learns from its reference set (the normaliser of ``sne``) is held fixed.
        Samples of zero weight are not among them.
        """
        check_fitted(self)
        if self._loo is None:
            if self._unavailable:
                raise ParameterError(f"this model has no leave-one-out values: {self._unavailable}")
            m = len(self._y)
            if m < 2:
                raise DataError(f"leave-one-out needs at least 2 samples, and this model was fitted to {m}")
            problems = self._encode(self._y)
            K = self._training_matrix()
            systems = [self._make_system(K, problem, overwrite=len(problems) == 1) for problem in problems]
            on_pole = "damp" if self.solver_report_.damped else "raise"
            views, _ = leave_one_out(self, K, systems, problems, np.array([self.gamma_]), on_pole)
            self._loo = {name: view[0] for name, view in views.items()}
        return {name: self._outer(view) for name, view in self._loo.items()}

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
        if pair != (isinstance(X, tuple) and len(X) == 2 and self._accepts_pairs):
            given = "one set of samples" if pair else "a pair"
            raise DataError(f"fitted to {'a pair' if pair else 'one set of samples'}, asked about {given}")
        if pair:
            new_source, new_target = check_pair(self, X, self.kernel_, reset=False)
            source, target = self.X_fit_
        else:
            new_source = new_target = check_samples(self, X, self.kernel_, reset=False)
            source = target = self.X_fit_
        views = {}
        for name, coefficients, intercept in zip(self._system.views, self._coefficients, self._intercepts, strict=True):
            if name == "target":  # Σ_i a_i k(x_i, x)
                values = self.kernel_.operator(source, new_target).T @ coefficients
            else:  # Σ_i c_i k(x, x_i)
                values = self.kernel_.operator(new_source, target) @ coefficients
            views[name] = self._outer((values + intercept).astype(coefficients.dtype, copy=False))
        return views

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _bound(kernel: Kernel, X: Any) -> Kernel:
    """Bind to the target samples, over which rows are normalised."""
    return kernel.bind(X[1] if isinstance(X, tuple) else X)


def _worst(reports: list[SolveReport], note: str) -> SolveReport:
    worst = max(reports, key=lambda report: report.residual)
    if len(reports) > 1:
        note = f"the worst of {len(reports)} pairwise problems" + (f"; {note}" if note else "")
    return replace(worst, note="; ".join(part for part in (worst.note, note) if part))
