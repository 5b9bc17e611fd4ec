"""AsK-LS: least squares support vector machines for asymmetric kernels.

He, He, Shi, Huang & Suykens, Learning with asymmetric kernels: least squares and feature interpretation, TPAMI 45
(2023).

An asymmetric kernel k(x, z) = φ(x)ᵀψ(z) has a source and a target feature map, and the method one decision function in
each space::

    min_{ω, ν, b, e, h}  ωᵀν + (γ/2) Σ_i v_i e_i² + (γ/2) Σ_i v_i h_i²
    subject to   y_i = ωᵀφ(x_i) + b₁ + e_i,   y_i = νᵀψ(x_i) + b₂ + h_i

with sample weights v_i. The dual::

    a/(γ v) + K c + b₁ 1 = y,   c/(γ v) + Kᵀ a + b₂ 1 = y,   Σ a = Σ c = 0
    f_s(x) = Σ_i c_i k(x, x_i) + b₁        f_t(x) = Σ_i a_i k(x_i, x) + b₂

The system is singular where 1/γ is a singular value of the centred K (a pole, whatever the paper says of full rank).
For a symmetric kernel both functions are the LS-SVM.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from kernreg.engine.dispatch import placed_once
from kernreg.solvers.dual.block_system import BlockSystem
from kernreg.solvers.dual.classifier import DualClassifier
from kernreg.solvers.dual.documentation import documented
from kernreg.solvers.dual.exact import ExactSystem
from kernreg.solvers.dual.gamma import Choice, choose_gamma, leave_one_out_score
from kernreg.solvers.dual.landmark_costs import cheaper_on_landmarks
from kernreg.solvers.dual.machine import DualMachine
from kernreg.solvers.dual.matrix_free import WITHOUT_MATRIX
from kernreg.solvers.dual.regressor import DualRegressor
from kernreg.solvers.dual.strategy import Settings, pick, streamed_strategy, why
from kernreg.solvers.dual.targets import ClassTargets, Targets
from kernreg.solvers.dual.training import TrainingSet, check_training_set
from kernreg.solvers.informativeness import warn_if_uninformative
from kernreg.solvers.parameters import check_choice
from kernreg.solvers.samples import check_fitted
from kernreg.solvers.streamed import row_by_row
from kernreg.solvers.views import (
    Views,
    cross_fitted,
    fit_ensembler,
    learns,
    new_ensembler,
    rescales,
    without_mean_shift,
)


class _AsKLS(DualMachine):
    """The fit of both machines: two views, merged by an ensembler."""

    views = ("source", "target")

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        kernel: Any = None,
        gamma: Any = "loo",
        *,
        ensembler: Any = "average",
        on_pole: str = "raise",
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
        self.ensembler = ensembler
        self.on_pole = on_pole

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        # Check.
        ensembler = new_ensembler(self.ensembler)
        settings, kernel = Settings.of(self), self.resolve_kernel()
        damped = check_choice("on_pole", self.on_pole, ("raise", "damp")) == "damp"
        data = check_training_set(self, kernel, X, y, sample_weight)
        # Encode the targets: the columns of Y are classes, or outputs.
        targets = self._encode(data.y)
        problems = targets.problems(data.y)
        # The kernel matrix, or what stands in its place; and the system.
        left_out = settings.chooses or learns(ensembler)
        strategy = pick(
            streamed_strategy(settings.strategy) if data.streamed else settings.strategy,
            len(data.y),
            leave_one_out=left_out,
            exact_only="on_pole='damp'" if damped else "",
        )
        system: Any
        if strategy == "exact":
            K = data.matrix()
            warn_if_uninformative(data.kernel, K, data.X, stacklevel=4)
            settings = settings.measured(partial(data.size_of_values, K))
            system = ExactSystem(self._make_system(damped=damped), K, problems, data.weights, data.dtype_beside(K))
        else:
            settings = settings.measured(data.size_of_values)
            if strategy == "lowrank" and settings.strategy == "auto" and not left_out:
                strategy = cheaper_on_landmarks(False, data, problems[0].Y, settings)
            system = WITHOUT_MATRIX[strategy](False, data, problems[0].Y, settings)
        # a/(γ v) + K c + b₁ 1 = y,  c/(γ v) + Kᵀ a + b₂ 1 = y,  Σ a = Σ c = 0: for the γ given, or the best of several.
        if isinstance(settings.gamma, float) and not left_out:
            choice = Choice(settings.gamma, system.solve(settings.gamma))
        else:
            merge = partial(_merged_left_out, ensembler, targets, data.y, data.weights)
            score = leave_one_out_score(targets, data, merge)
            choice = choose_gamma(system, settings.gammas, score, rescaled=rescales(ensembler))
        # What merges the two views learns from values of samples left out, or needs no more than their shape.
        views = choice.left_out if learns(ensembler) else _fitted_views(choice, data, problems[0].Y)
        assert views is not None
        views = {name: targets.shaped(view) for name, view in views.items()}
        if learns(ensembler):
            views = without_mean_shift(views, targets.values(data.y), data.weights)
        fit_ensembler(ensembler, views, targets.for_ensemblers(data.y), data.weights)
        # Store.
        choice = choice.noted(why(strategy, settings.strategy, len(data.y))).noted(data.note)
        self._store(data, targets, choice, system, ensembler_=ensembler)

    def _make_system(self, *, damped: bool) -> Any:
        return partial(BlockSystem, on_pole="damp" if damped else "raise")

    def _merge(self, views: Views) -> np.ndarray:
        return np.asarray(self.ensembler_.merge(views))

    @property
    def _learns(self) -> bool:
        return learns(self.ensembler_)

    def _merged_left_out(self, views: Views, rows: Any = slice(None)) -> np.ndarray:
        weights = None if self._weights is None else self._weights[rows]
        return _merged_left_out(self.ensembler_, self._targets, self._y[rows], weights, views)


def _merged_left_out(
    ensembler: Any, targets: Targets, y: np.ndarray, weights: np.ndarray | None, views: Views
) -> np.ndarray:
    """Return one decision of leave-one-out views, by an ensembler that has not seen the target left out."""
    labels = targets.for_ensemblers(y)
    if learns(ensembler):
        views = without_mean_shift(views, targets.values(y), weights)
        return cross_fitted(ensembler, views, labels, weights, classes=isinstance(targets, ClassTargets))
    return np.asarray(new_ensembler(ensembler).fit(views, labels).merge(views))


def _fitted_views(choice: Choice, data: TrainingSet, Y: np.ndarray) -> Views:
    """Return the views of the training samples from the dual equations: y - a/(γ v) and y - c/(γ v)."""
    a, c = choice.solution.coefficients["target"], choice.solution.coefficients["source"]
    if len(a) != len(Y):  # on landmarks; the shape is all that is needed
        return {"source": Y, "target": Y}
    scale = choice.gamma * (1.0 if data.weights is None else data.weights[:, None])
    return {"source": Y - a / scale, "target": Y - c / scale}


@documented
class AsKLSClassifier(_AsKLS, DualClassifier):
    """AsK-LS classifier: takes any kernel, asymmetric ones included; one-vs-rest, with a source and a target view.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel, optional
        Any kernel, for example ``"sne(sigma=2.0)"``.
        By default that of the chain around it, else ``rbf``.
    gamma : float, "loo", "scale" or sequence of numbers
        The regularisation constant γ; larger fits the data more closely. ``"loo"`` takes the value with the best exact
        leave-one-out accuracy, ties settled by squared error, of a grid fitted to the kernel matrix, and a sequence
        that of its own. It is the default because a γ that nobody chose may be next to a pole. A number is quicker: it
        needs a factorisation, and ``"loo"`` singular triplets, which take about forty times as long. ``"scale"`` and
        its multiples, ``"0.5*scale"``, are numbers relative to the kernel's values, see `LSSVC`.
    ensembler : str, class or object
        What merges the views: ``"average"``, ``"source"``, ``"target"``, ``"best"``, ``"stack"``, or your own. One
        that learns is fitted to exact leave-one-out views.
    on_pole : {"raise", "damp"}
        What to do where 1/γ is a singular value of the centred kernel matrix: raise an error that names a safe γ, or
        take the Tikhonov solution (BᵀB + λ)⁻¹Bᵀr of the centred system, λ = 1 as in the authors' code (which damps
        the intercepts too; here they are free). At any other γ both do the same.
    {classes}
        An ensembler that gives probabilities itself, ``"stack(method='logistic')"``, needs no calibration.
    {strategy}

    Attributes
    ----------
    classes_ : ndarray
        For several outputs a list of them; for an indicator matrix the numbers of its columns.
    ensembler_ : object
        The fitted ensembler.
    dual_coef_ : ndarray of shape (2, m) or (2, m, classes)
        c of the source view, then a of the target view.
    intercept_ : ndarray of shape (2,) or (2, classes)
    {fitted}
        With an ensembler that learns, residuals and score are those of the merged leave-one-out views it was fitted to.

    Notes
    -----
    Where a sample has different features as a source and as a target, ``X`` is a tuple ``(X_source, X_target)`` of two
    tables with a row for each sample, in `fit` and afterwards; k is then evaluated between source rows and target rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AsKLSClassifier(kernel="sne(sigma=1.0)", gamma="loo").fit(X, y)
    >>> sorted(clf.decision_views(X[:2]))
    ['source', 'target']
    >>> bool(clf.loo_score_ > 0.95)
    True
    """

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        kernel: Any = None,
        gamma: Any = "loo",
        *,
        ensembler: Any = "average",
        on_pole: str = "raise",
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
            ensembler=ensembler,
            on_pole=on_pole,
            strategy=strategy,
            tol=tol,
            max_iter=max_iter,
            max_seconds=max_seconds,
            n_landmarks=n_landmarks,
            landmarks=landmarks,
            random_state=random_state,
        )
        self.class_weight = class_weight
        self.calibration = calibration

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AsKLSClassifier:
        """Fit to samples in rows and their classes.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d), a tuple of two of them, or sample indices for a kernel with a matrix
        y : array-like of shape (m,) or (m, labels)
        sample_weight : array-like of shape (m,), optional
            Multiplies γ sample by sample, in both spaces. An integer weight is the same as repeating the sample, zero
            the same as leaving it out (for a row-normalised kernel: with the normalisers held fixed).
        """
        with placed_once():
            self._fit(X, y, sample_weight)
        return self

    def _gives_probabilities(self) -> bool:
        ensembler = getattr(self, "ensembler_", None)
        return hasattr(new_ensembler(self.ensembler) if ensembler is None else ensembler, "proba")

    @row_by_row
    def predict_proba(self, X: Any) -> Any:
        """Return class probabilities: those of the ensembler where it gives them, else calibrated ones.

        Returns
        -------
        ndarray of shape (n, n_classes)
            For an indicator matrix (n, labels): the probability of each label. For several outputs a list.
        """
        check_fitted(self)
        if self._gives_probabilities():
            return self.ensembler_.proba(self.decision_views(X))
        return super().predict_proba(X)


@documented
class AsKLSRegressor(_AsKLS, DualRegressor):
    """AsK-LS regression: takes any kernel, asymmetric ones included; one or several outputs, source and target views.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel, optional
        Any kernel, for example ``"sne(sigma=2.0)"``.
        By default that of the chain around it, else ``rbf``.
    gamma : float, "loo", "scale" or sequence of numbers
        The regularisation constant γ, see `AsKLSClassifier`; ``"loo"``, the default, takes the value with the best
        exact leave-one-out R².
    ensembler : str, class or object
        What merges the views: ``"average"``, ``"source"``, ``"target"``, ``"best"``, ``"stack"``, or one's own.
    on_pole : {"raise", "damp"}
        What to do where 1/γ is a singular value of the centred kernel matrix, see `AsKLSClassifier`.
    {robust}
    {strategy}

    Attributes
    ----------
    ensembler_ : object
        The fitted ensembler.
    dual_coef_ : ndarray of shape (2, m) or (2, m, outputs)
        c of the source view, then a of the target view.
    intercept_ : ndarray of shape (2,) or (2, outputs)
    {fitted}

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 40)[:, None]
    >>> y = np.sin(6 * x[:, 0]) + 0.01 * np.cos(50 * x[:, 0])
    >>> model = AsKLSRegressor(kernel="sne(sigma=0.2)", gamma="loo").fit(x, y)
    >>> bool(model.loo_score_ > 0.95)
    True
    """

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        kernel: Any = None,
        gamma: Any = "loo",
        *,
        ensembler: Any = "average",
        on_pole: str = "raise",
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
            ensembler=ensembler,
            on_pole=on_pole,
            strategy=strategy,
            tol=tol,
            max_iter=max_iter,
            max_seconds=max_seconds,
            n_landmarks=n_landmarks,
            landmarks=landmarks,
            random_state=random_state,
        )
        self.robust = robust

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AsKLSRegressor:
        """Fit to samples in rows (or a tuple of two tables, see `AsKLSClassifier`) and their outputs.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d), a tuple of two of them, or sample indices for a kernel with a matrix
        y : array-like of shape (m,) or (m, outputs)
        sample_weight : array-like of shape (m,), optional
            Multiplies γ sample by sample, in both spaces.
        """
        with placed_once():
            self._way_to_fit(X, y, sample_weight)()
        return self
