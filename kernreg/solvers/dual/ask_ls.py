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

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from kernreg.solvers.dual.merging import average, learns, make_ensembler
from kernreg.solvers.dual.prediction import DualClassifier, DualPredictor, DualRegressor
from kernreg.solvers.dual.systems import BlockSystem, Views
from kernreg.solvers.parameters import check_choice


class _TwoViews(DualPredictor):
    """Two views, merged by an ensembler."""

    _system = BlockSystem
    _accepts_pairs = True

    def __init__(
        self,
        kernel: Any = None,
        gamma: Any = 0.5,
        *,
        ensembler: Any = "average",
        on_pole: str = "raise",
        strategy: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 500,
        n_landmarks: int | None = None,
        landmarks: Any = "uniform",
        random_state: Any = 0,
    ):
        super().__init__(
            kernel,
            gamma,
            strategy=strategy,
            tol=tol,
            max_iter=max_iter,
            n_landmarks=n_landmarks,
            landmarks=landmarks,
            random_state=random_state,
        )
        self.ensembler = ensembler
        self.on_pole = on_pole

    def _pole_policy(self) -> str:
        return check_choice("on_pole", self.on_pole, ("raise", "damp"))

    def _only_exact(self) -> str:
        return "on_pole='damp'" if self.on_pole == "damp" else ""

    def _needs_leave_one_out(self) -> bool:
        return learns(self.ensembler_)

    def _fit_views(self, X: Any, y: Any, sample_weight: Any) -> None:
        self.ensembler_ = make_ensembler(self.ensembler)
        self._fit(X, y, sample_weight)
        self.ensembler_.fit(self.loo_views_ if learns(self.ensembler_) else self._fitted_views(), self._labels(self._y))

    def _fitted_views(self) -> Views:
        """Return the views of the training samples from the dual equations: y - a/(γ v) and y - c/(γ v)."""
        Y = self._encode(self._y)[0].Y
        if self._coefficients.shape[1] != len(Y):  # on landmarks; the shape is all that is needed
            return {"source": self._outer(Y), "target": self._outer(Y)}
        scale = self.gamma_ * (1.0 if self._weights is None else self._weights[:, None])
        source, target = self._coefficients  # c and a
        return {"source": self._outer(Y - target / scale), "target": self._outer(Y - source / scale)}

    def _labels(self, y: np.ndarray) -> np.ndarray:
        """Return the targets as ensemblers see them: real numbers (integers 0 and 1 would be taken for classes)."""
        return np.asarray(y, dtype=np.float64)

    def _merge(self, views: Views) -> np.ndarray:
        return np.asarray(self.ensembler_.merge(views))

    def _merge_candidates(self, views: Views) -> np.ndarray:
        # An ensembler that learns would see each γ's targets twice: candidates are then compared by their mean view.
        if learns(self.ensembler_):
            return average(views)
        return np.asarray(make_ensembler(self.ensembler).fit(views, self._labels(self._y)).merge(views))


def _gives_probabilities(solver: Any) -> bool:
    ensembler = getattr(solver, "ensembler_", None)
    if ensembler is None:
        ensembler = make_ensembler(solver.ensembler)
    return hasattr(ensembler, "proba")


class AsKLSClassifier(ClassifierMixin, _TwoViews, DualClassifier):
    """AsK-LS classifier for any kernel, one-vs-rest, with a source and a target view.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel, optional
        Any kernel, for example ``"sne(sigma=2.0)"``.
        By default that of the chain around it, else ``rbf``.
    gamma : float, sequence of float or "loo"
        The regularisation constant γ; larger fits the data closer. Of a sequence (or of a grid fitted to the kernel
        matrix, ``"loo"``) the value with the best exact leave-one-out accuracy is taken, ties settled by squared error.
        The default is not 1, which is a pole of every kernel matrix near the identity.
    ensembler : str, class or object
        What merges the views: ``"average"``, ``"source"``, ``"target"``, ``"best"``, ``"stack"``, or one's own. One
        that learns is fitted to exact leave-one-out views.
    on_pole : {"raise", "damp"}
        What to do where 1/γ is a singular value of the centred kernel matrix: raise an error that names a safe γ, or
        take the Tikhonov solution (BᵀB + λ)⁻¹Bᵀr of the centred system, λ = 1 as in the authors' code (which damps
        the intercepts too; here they are free). At any other γ both do the same.
    strategy : {"auto", "exact", "iterative", "lowrank"}
        ``exact`` holds the kernel matrix in memory; ``iterative`` never does (Krylov methods on streamed products, no
        leave-one-out); ``lowrank`` approximates it by landmarks. ``auto`` is exact while that fits the memory budget;
        `solver_report_` says what was taken.
    tol, max_iter : float, int
        Relative residual to reach and bound on the iterations (iterative); a ConvergenceWarning says if not reached.
    n_landmarks : int, optional
        Landmarks of the approximation (lowrank, 500 by default) or of the preconditioner (iterative).
    landmarks : str or array of int
        How they are chosen: ``"uniform"``, ``"kmeans++"``, ``"entropy"``, ``"leverage"``; or their indices.
    random_state : int, Generator or None
        Of that choice.

    Attributes
    ----------
    classes_ : ndarray
    kernel_ : Kernel
        The kernel, bound to the training samples.
    ensembler_ : object
        The fitted ensembler.
    gamma_ : float
        The γ used.
    dual_coef_ : ndarray of shape (2, m) or (2, m, classes)
        c of the source view, then a of the target view.
    intercept_ : ndarray of shape (2,) or (2, classes)
    solver_report_ : SolveReport
        What ran, the residual reached, whether the solution is damped.
    n_iter_ : int
        Iterations of the Krylov method; 1 for a direct solve.
    landmarks_ : ndarray of int
        The training samples the model stands on, where the strategy is lowrank.
    loo_path_ : dict
        gamma, score and squared_error, where γ was chosen by leave-one-out.
    loo_views_, loo_residuals_, loo_score_
        See the properties; computed when first asked for. With an ensembler that learns, residuals and score are those
        of the merged leave-one-out views it was fitted to.

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AsKLSClassifier:
        """Fit to samples in rows and their classes.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d), a tuple of two of them, or sample indices for a kernel with a matrix
        y : array-like of shape (m,)
        sample_weight : array-like of shape (m,), optional
            Multiplies γ sample by sample, in both spaces. An integer weight is the same as repeating the sample, zero
            the same as leaving it out (for a row-normalised kernel: with the normalisers held fixed).
        """
        self._fit_views(X, y, sample_weight)
        return self

    def _labels(self, y: np.ndarray) -> np.ndarray:
        codes = self._codes(y)
        return np.where(codes == 1, 1, -1) if len(self.classes_) == 2 else codes

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities (n, n_classes), where the ensembler gives them."""
        views = self.decision_views(X)
        return self.ensembler_.proba(views)


class AsKLSRegressor(RegressorMixin, _TwoViews, DualRegressor):
    """AsK-LS regression for any kernel, one or several outputs, with a source and a target view.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel, optional
        Any kernel, for example ``"sne(sigma=2.0)"``.
        By default that of the chain around it, else ``rbf``.
    gamma : float, sequence of float or "loo"
        The regularisation constant γ; of a sequence (or of a grid fitted to the kernel matrix, ``"loo"``) the value
        with the best exact leave-one-out R² is taken.
    ensembler : str, class or object
        What merges the views: ``"average"``, ``"source"``, ``"target"``, ``"best"``, ``"stack"``, or one's own.
    on_pole : {"raise", "damp"}
        What to do where 1/γ is a singular value of the centred kernel matrix, see `AsKLSClassifier`.
    strategy : {"auto", "exact", "iterative", "lowrank"}
        ``exact`` holds the kernel matrix in memory; ``iterative`` never does (Krylov methods on streamed products, no
        leave-one-out); ``lowrank`` approximates it by landmarks. ``auto`` is exact while that fits the memory budget;
        `solver_report_` says what was taken.
    tol, max_iter : float, int
        Relative residual to reach and bound on the iterations (iterative); a ConvergenceWarning says if not reached.
    n_landmarks : int, optional
        Landmarks of the approximation (lowrank, 500 by default) or of the preconditioner (iterative).
    landmarks : str or array of int
        How they are chosen: ``"uniform"``, ``"kmeans++"``, ``"entropy"``, ``"leverage"``; or their indices.
    random_state : int, Generator or None
        Of that choice.

    Attributes
    ----------
    kernel_, ensembler_, gamma_, solver_report_, loo_path_, loo_views_, loo_residuals_, loo_score_
        As of `AsKLSClassifier`.
    dual_coef_ : ndarray of shape (2, m) or (2, m, outputs)
        c of the source view, then a of the target view.
    intercept_ : ndarray of shape (2,) or (2, outputs)

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 40)[:, None]
    >>> model = AsKLSRegressor(kernel="sne(sigma=0.2)", gamma="loo").fit(x, np.sin(6 * x[:, 0]))
    >>> bool(model.loo_score_ > 0.95)
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AsKLSRegressor:
        """Fit to samples in rows (or a tuple of two tables, see `AsKLSClassifier`) and their outputs.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d), a tuple of two of them, or sample indices for a kernel with a matrix
        y : array-like of shape (m,) or (m, outputs)
        sample_weight : array-like of shape (m,), optional
            Multiplies γ sample by sample, in both spaces.
        """
        self._fit_views(X, y, sample_weight)
        return self
