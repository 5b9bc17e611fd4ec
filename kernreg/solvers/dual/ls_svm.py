"""Least squares support vector machines for symmetric kernels, positive definite or not.

Suykens & Vandewalle, Least squares support vector machine classifiers, Neural Processing Letters 9 (1999).
Huang, Maier, Hornegger & Suykens, Indefinite kernels in least squares support vector machines and principal component
analysis, ACHA 43 (2017).

Primal, with a feature map φ of the kernel (for an indefinite kernel ‖w‖² becomes ‖w₊‖² - ‖w₋‖², and the minimum a
stationary point)::

    min_{w, b, e}  ½ ‖w‖² + (γ/2) Σ_i v_i e_i²      subject to   y_i = wᵀφ(x_i) + b + e_i

with sample weights v_i. The dual is linear::

    (K + diag(1/(γ v))) a + b 1 = y,   Σ a = 0,        f(x) = Σ_i a_i k(x, x_i) + b

Its matrix does not depend on the targets: one factorisation serves all classes or outputs, one eigendecomposition every
γ and the exact leave-one-out residuals.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from kernreg.common.lazy import computed_once
from kernreg.engine.dispatch import placed_once
from kernreg.errors import ParameterError
from kernreg.linalg import SolveReport, SymmetricSpectrum, solve_symmetric
from kernreg.linalg.exact.centring import CentredKernel
from kernreg.linalg.exact.symmetric_solve import left_out_by_inverse
from kernreg.solvers.dual.classifier import DualClassifier
from kernreg.solvers.dual.documentation import documented
from kernreg.solvers.dual.exact import FEW, CentredSystem, ExactSystem, Path
from kernreg.solvers.dual.gamma import Choice, choose_gamma, leave_one_out_score
from kernreg.solvers.dual.landmark_costs import cheaper_on_landmarks
from kernreg.solvers.dual.machine import DualMachine
from kernreg.solvers.dual.matrix_free import WITHOUT_MATRIX
from kernreg.solvers.dual.regressor import DualRegressor
from kernreg.solvers.dual.solution import DualSolution
from kernreg.solvers.dual.strategy import Settings, pick, streamed_strategy, why
from kernreg.solvers.dual.targets import ClassTargets, LabelTargets
from kernreg.solvers.dual.training import check_training_set
from kernreg.solvers.inference.gaussian_process import GaussianProcess
from kernreg.solvers.informativeness import warn_if_uninformative
from kernreg.solvers.parameters import check_choice
from kernreg.solvers.samples import check_fitted
from kernreg.solvers.symmetry import require_symmetric, require_symmetric_on_some


class SymmetricSystem(CentredSystem):
    """The dual with the border eliminated, (K̃ + I/γ) â = P S Y: see `kernreg.linalg.exact.centring`."""

    @computed_once
    def spectrum(self) -> SymmetricSpectrum:
        """The eigenpairs of K̃, in its memory."""
        return SymmetricSpectrum(self.centred)

    def direct(self, gamma: float) -> DualSolution:
        """Solve for one γ by factorisation."""
        return self._solution(*solve_symmetric(self.centred, self.T, gamma))

    def at(self, gamma: float) -> DualSolution:
        """Solve for one γ from the eigenpairs, or by factorisation where there are none."""
        if "spectrum" not in vars(self):
            return self._solution(*solve_symmetric(self._copy(), self.T, gamma))
        return self._solution(*self.spectrum.solution(self.T, gamma))

    def path(self, gammas: np.ndarray) -> Path:
        """Return leave-one-out residuals for every γ: of a few by inverses, of more from the eigenpairs."""
        if len(gammas) <= FEW and "spectrum" not in vars(self):
            few = self._by_inverses(gammas)
            if few is not None:
                return Path({"decision": few}, np.zeros(len(gammas), dtype=bool))
        solutions = self.spectrum.solve(self.T, gammas)
        residuals = self.spectrum.leave_one_out(solutions, gammas)
        errors = self.spectrum.rounding_errors(solutions, residuals, gammas)
        return Path({"decision": residuals}, self.spectrum.poles(gammas), errors)

    def _by_inverses(self, gammas: np.ndarray) -> np.ndarray | None:
        """Return leave-one-out residuals (G, m, C) by one inverse for each γ, None where one is not accurate."""
        found, matrix = [], self._copy()
        for gamma in gammas:
            np.copyto(matrix.matrix, self.centred.matrix)
            residuals = left_out_by_inverse(matrix, self.T, float(gamma))
            if residuals is None:
                return None
            found.append(residuals)
        return np.stack(found)

    def _copy(self) -> CentredKernel:
        return replace(self.centred, matrix=self.centred.matrix.copy())

    def path_once(self, gamma: float) -> Path:
        """Return leave-one-out residuals for one γ by an explicit inverse, where that is exact."""
        residuals = left_out_by_inverse(self.centred, self.T, gamma)
        return super().path_once(gamma) if residuals is None else Path({"decision": residuals[None]}, np.zeros(1, bool))

    def _solution(self, a_hat: np.ndarray, report: SolveReport) -> DualSolution:
        a = self.centred.coefficients(a_hat)  # Σ a = 0
        b = self.centred.source_intercept(self.Y, a_hat)  # the weighted mean of y - K a
        return DualSolution({"decision": a}, {"decision": b}, report, self._cancelled(a_hat, self.centred.left))


class _LSSVM(DualMachine):
    """The fit of both machines, and the spectrum of a symmetric training matrix."""

    requires_symmetric_kernel = True
    views = ("decision",)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        # Check.
        settings, kernel = Settings.of(self), self.resolve_kernel()
        data = check_training_set(self, kernel, X, y, sample_weight)
        # Encode the targets: the columns of Y are classes, pairs of classes, or outputs.
        targets = self._encode(data.y)
        problems = targets.problems(data.y)
        # The kernel matrix, or what stands in its place; and the system.
        strategy = pick(
            streamed_strategy(settings.strategy) if data.streamed else settings.strategy,
            len(data.y),
            leave_one_out=settings.chooses,
            exact_only="multi_class='one-vs-one'" if targets.pairwise else "",
        )
        symmetry = {"who": type(self).__name__, "instead": "ask-lsr" if is_regressor(self) else "ask-ls"}
        system: Any
        if strategy == "exact":
            K = data.matrix()
            require_symmetric(data.kernel, K, **symmetry)
            warn_if_uninformative(data.kernel, K, data.X, stacklevel=4)
            settings = settings.measured(partial(data.size_of_values, K))
            system = ExactSystem(SymmetricSystem, K, problems, data.weights, data.dtype_beside(K))
        else:
            require_symmetric_on_some(data.kernel, data.X, **symmetry)
            settings = settings.measured(data.size_of_values)
            if strategy == "lowrank" and settings.strategy == "auto" and not settings.chooses:
                strategy = cheaper_on_landmarks(True, data, problems[0].Y, settings)
            system = WITHOUT_MATRIX[strategy](True, data, problems[0].Y, settings)
        # (K + diag(1/(γ v))) a + b 1 = y,  Σ a = 0: for the γ given, or the best of several by leave-one-out.
        if isinstance(settings.gamma, float):
            choice = Choice(settings.gamma, system.solve(settings.gamma))
        else:
            choice = choose_gamma(system, settings.gamma, leave_one_out_score(targets, data, self._merge))
        # Store.
        self._store(data, targets, choice.noted(why(strategy, settings.strategy, len(data.y))).noted(data.note), system)

    def _make_system(self, *, damped: bool) -> type[SymmetricSystem]:
        return SymmetricSystem

    @property
    def signature_(self) -> tuple[int, int]:
        """The numbers (p, q) of positive and negative eigenvalues of the training matrix; computed when asked for."""
        values = np.linalg.eigvalsh(self._symmetric_matrix())
        tolerance = len(values) * np.finfo(values.dtype).eps * np.abs(values).max(initial=0.0)
        return int((values > tolerance).sum()), int((values < -tolerance).sum())

    def krein_parts(self) -> tuple[np.ndarray, np.ndarray]:
        """Return K₊ and K₋, positive semi-definite, with K = K₊ - K₋ the training matrix.

        In feature space w₊ = Σ a_i φ₊(x_i) and w₋ = -Σ a_i φ₋(x_i).
        """
        values, vectors = np.linalg.eigh(self._symmetric_matrix())
        positive = (vectors * np.maximum(values, 0.0)) @ vectors.T
        return positive, (vectors * np.maximum(-values, 0.0)) @ vectors.T

    def _symmetric_matrix(self) -> np.ndarray:
        check_fitted(self)
        if (strategy := self.solver_report_.strategy) in ("lowrank", "sketched"):
            raise ParameterError(f"strategy={strategy!r} keeps landmarks only, not the training matrix; use 'exact'")
        return self._training_matrix()


@documented
class LSSVC(_LSSVM, DualClassifier):
    """Least squares support vector classifier.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel, optional
        A symmetric kernel, for example ``"rbf(sigma=2.0)"``; an asymmetric one is refused.
        By default that of the chain around it, else ``rbf``.
    gamma : float, "scale", "loo" or sequence of numbers
        The regularisation constant γ; larger fits the data more closely. ``"scale"`` is 1 divided by the size of kernel
        values, the median over training samples of the largest |k(x_i, x_j)|: γ = 1 for a kernel such as ``rbf``, and
        the same machine for a kernel times any number. ``"10*scale"`` is ten times that. Of a sequence (or of a grid
        fitted to the kernel matrix, ``"loo"``) the value with the best exact leave-one-out accuracy is taken, ties
        settled by squared error.
    multi_class : {"one-vs-rest", "one-vs-one"}
        How more than two classes become problems of two.
    {classes}
    {strategy}

    Attributes
    ----------
    classes_ : ndarray
        For several outputs a list of them; for an indicator matrix the numbers of its columns.
    dual_coef_ : ndarray of shape (m,) or (m, columns)
        The coefficients a: one column for each class, pair of classes, or label.
    intercept_ : float or ndarray of shape (columns,)
    {fitted}
    signature_ : tuple of int
        See the property; computed when asked for.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LSSVC(kernel="rbf(sigma=2.0)", gamma="loo").fit(X, y)
    >>> bool(clf.loo_score_ > 0.95)
    True
    >>> LSSVC(kernel="rbf").set_params(kernel__sigma=3.0).kernel
    rbf(sigma=3.0)
    """

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        kernel: Any = None,
        gamma: Any = "scale",
        *,
        multi_class: str = "one-vs-rest",
        class_weight: Any = None,
        calibration: str = "sigmoid",
        strategy: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 500,
        max_seconds: float | None = None,
        n_landmarks: int | None = None,
        landmarks: Any = "auto",
        random_state: Any = 0,
    ):
        super().__init__(
            kernel,
            gamma,
            strategy=strategy,
            tol=tol,
            max_iter=max_iter,
            max_seconds=max_seconds,
            n_landmarks=n_landmarks,
            landmarks=landmarks,
            random_state=random_state,
        )
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.calibration = calibration

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LSSVC:
        """Fit to samples in rows and their classes.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d), or sample indices for a kernel that holds its matrix
        y : array-like of shape (m,) or (m, labels)
        sample_weight : array-like of shape (m,), optional
            An integer weight is the same as repeating the sample, zero the same as leaving it out.
        """
        check_choice("multi_class", self.multi_class, ("one-vs-rest", "one-vs-one"))
        with placed_once():
            self._fit(X, y, sample_weight)
        return self

    def _encode(self, y: np.ndarray) -> ClassTargets | LabelTargets:
        targets = super()._encode(y)
        if self.multi_class == "one-vs-rest":
            return targets
        if isinstance(targets, LabelTargets):
            raise ParameterError("multi_class='one-vs-one' takes one column of labels; use 'one-vs-rest' for several")
        return ClassTargets(targets.classes, pairwise=True)

    @property
    def loo_residuals_(self) -> np.ndarray:
        """Target ±1 minus exact leave-one-out decision: (m,), (m, classes), or (m, pairs) with NaN outside a pair."""
        residuals = super().loo_residuals_
        if not self._targets.pairwise:
            return residuals
        assert self._loo is not None
        residuals = np.full_like(self._loo["decision"], np.nan)
        for column, problem in enumerate(self._targets.problems(self._y)):
            residuals[problem.rows, column] = problem.Y[:, 0] - self._loo["decision"][problem.rows, column]
        return residuals


@documented
class LSSVR(_LSSVM, DualRegressor):
    """Least squares support vector regression: kernel ridge regression with an intercept that is not penalised.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel, optional
        A symmetric kernel, for example ``"rbf(sigma=2.0)"``; an asymmetric one is refused.
        By default that of the chain around it, else ``rbf``.
    gamma : float, "scale", "loo" or sequence of numbers
        The regularisation constant γ; larger fits the data more closely. ``"scale"`` is 1 divided by the size of kernel
        values, see `LSSVC`. Of a sequence (or of a grid fitted to the kernel matrix, ``"loo"``) the value with the best
        exact leave-one-out R² is taken.
    {robust}
    {strategy}

    Attributes
    ----------
    dual_coef_ : ndarray of shape (m,) or (m, outputs)
    intercept_ : float or ndarray of shape (outputs,)
    {fitted}
    signature_ : tuple of int
        See the property; computed when asked for.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 30)[:, None]
    >>> noise = 0.01 * np.cos(997 * x[:, 0])
    >>> model = LSSVR(kernel="rbf(sigma=0.3)", gamma="loo").fit(x, np.sin(6 * x[:, 0]) + noise)
    >>> float(np.round(model.predict([[0.5]])[0], 2)), round(float(np.sin(3.0)), 2)
    (0.14, 0.14)
    """

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        kernel: Any = None,
        gamma: Any = "scale",
        *,
        robust: str | None = None,
        strategy: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 500,
        max_seconds: float | None = None,
        n_landmarks: int | None = None,
        landmarks: Any = "auto",
        random_state: Any = 0,
    ):
        super().__init__(
            kernel,
            gamma,
            strategy=strategy,
            tol=tol,
            max_iter=max_iter,
            max_seconds=max_seconds,
            n_landmarks=n_landmarks,
            landmarks=landmarks,
            random_state=random_state,
        )
        self.robust = robust

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LSSVR:
        """Fit to samples in rows and their outputs.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d), or sample indices for a kernel that holds its matrix
        y : array-like of shape (m,) or (m, outputs)
        sample_weight : array-like of shape (m,), optional
            An integer weight is the same as repeating the sample, zero the same as leaving it out.
        """
        with placed_once():
            self._way_to_fit(X, y, sample_weight)()
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the predicted output(s) of each sample, and with ``return_std`` the standard deviation.

        It is that of the Gaussian process of covariance k and noise of variance 1/γ that the machine is the mean of,
        without the noise of a new target: for positive definite kernels, and as good as γ and the size of the kernel
        are (`kernreg.tune` chooses them by evidence). `predict_interval` gives intervals for any kernel.
        """
        if not return_std:
            return super().predict(X)
        return super().predict(X), self.gaussian_process().predict(X, return_std=True)[1]

    def gaussian_process(self, mean: str = "flat") -> GaussianProcess:
        """Return the Gaussian process that the machine is the mean of: deviations, evidence and its gradient.

        Parameters
        ----------
        mean : {"flat", "zero"}
            Whether its constant is free, as in LS-SVM, or zero.
        """
        return GaussianProcess(self, mean)
