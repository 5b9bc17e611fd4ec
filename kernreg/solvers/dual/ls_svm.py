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

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from kernreg.errors import ParameterError
from kernreg.solvers.dual.base import DualSolver
from kernreg.solvers.dual.class_problems import Problem, one_vs_one, one_vs_rest, pairwise_votes
from kernreg.solvers.dual.prediction import DualClassifier, DualRegressor
from kernreg.solvers.dual.systems import SymmetricSystem
from kernreg.solvers.parameters import check_choice
from kernreg.solvers.samples import check_fitted


class _KreinMixin(DualSolver):
    """What the spectrum of a symmetric training matrix tells."""

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
        if self.solver_report_.strategy == "lowrank":
            raise ParameterError("strategy='lowrank' keeps landmarks only, not the training matrix; use 'exact'")
        return self._training_matrix()


class LSSVC(ClassifierMixin, DualClassifier, _KreinMixin):
    """Least squares support vector classifier.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel, optional
        A symmetric kernel, for example ``"rbf(sigma=2.0)"``; an asymmetric one is refused.
        By default that of the chain around it, else ``rbf``.
    gamma : float, sequence of float or "loo"
        The regularisation constant γ; larger fits the data closer. Of a sequence (or of a grid fitted to the kernel
        matrix, ``"loo"``) the value with the best exact leave-one-out accuracy is taken, ties settled by squared error.
    multi_class : {"one-vs-rest", "one-vs-one"}
        How more than two classes become problems of two.
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
    gamma_ : float
        The γ used.
    dual_coef_ : ndarray of shape (m,) or (m, columns)
        The coefficients a: one column for each class, or pair of classes.
    intercept_ : float or ndarray of shape (columns,)
    solver_report_ : SolveReport
        What ran, and the residual reached.
    n_iter_ : int
        Iterations of the Krylov method; 1 for a direct solve.
    landmarks_ : ndarray of int
        The training samples the model stands on, where the strategy is lowrank.
    loo_path_ : dict
        gamma, score and squared_error, where γ was chosen by leave-one-out.
    loo_views_, loo_residuals_, loo_score_, signature_
        See the properties; computed when first asked for.

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

    requires_symmetric_kernel = True
    _system = SymmetricSystem

    def __init__(
        self,
        kernel: Any = None,
        gamma: Any = 1.0,
        *,
        multi_class: str = "one-vs-rest",
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
        self.multi_class = multi_class

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LSSVC:
        """Fit to samples in rows and their classes.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d), or sample indices for a kernel that holds its matrix
        y : array-like of shape (m,)
        sample_weight : array-like of shape (m,), optional
            An integer weight is the same as repeating the sample, zero the same as leaving it out.
        """
        check_choice("multi_class", self.multi_class, ("one-vs-rest", "one-vs-one"))
        self._fit(X, y, sample_weight)
        return self

    @property
    def _pairwise_problems(self) -> bool:
        return self.multi_class == "one-vs-one" and len(self.classes_) > 2

    def _only_exact(self) -> str:
        return "multi_class='one-vs-one'" if self._pairwise_problems else ""

    def _split(self, codes: np.ndarray, n_classes: int) -> list[Problem]:
        return (one_vs_one if self.multi_class == "one-vs-one" else one_vs_rest)(codes, n_classes)

    def _outer(self, view: np.ndarray) -> np.ndarray:
        return pairwise_votes(view, len(self.classes_)) if self._pairwise_problems else super()._outer(view)

    @property
    def loo_residuals_(self) -> np.ndarray:
        """Target ±1 minus exact leave-one-out decision: (m,), (m, classes), or (m, pairs) with NaN outside a pair."""
        views = self.loo_views_
        if not self._pairwise_problems:
            return self._targets(self._y) - self._merge(views)
        assert self._loo is not None
        residuals = np.full_like(self._loo["decision"], np.nan)
        for column, problem in enumerate(self._encode(self._y)):
            residuals[problem.rows, column] = problem.Y[:, 0] - self._loo["decision"][problem.rows, column]
        return residuals


class LSSVR(RegressorMixin, DualRegressor, _KreinMixin):
    """Least squares support vector regression: kernel ridge regression with an intercept that is not penalised.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel, optional
        A symmetric kernel, for example ``"rbf(sigma=2.0)"``; an asymmetric one is refused.
        By default that of the chain around it, else ``rbf``.
    gamma : float, sequence of float or "loo"
        The regularisation constant γ; larger fits the data closer. Of a sequence (or of a grid fitted to the kernel
        matrix, ``"loo"``) the value with the best exact leave-one-out R² is taken.
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
    kernel_ : Kernel
        The kernel, bound to the training samples.
    gamma_ : float
        The γ used.
    dual_coef_ : ndarray of shape (m,) or (m, outputs)
    intercept_ : float or ndarray of shape (outputs,)
    solver_report_ : SolveReport
        What ran, and the residual reached.
    n_iter_ : int
        Iterations of the Krylov method; 1 for a direct solve.
    landmarks_ : ndarray of int
        The training samples the model stands on, where the strategy is lowrank.
    loo_path_ : dict
        gamma, score and squared_error, where γ was chosen by leave-one-out.
    loo_views_, loo_residuals_, loo_score_, signature_
        See the properties; computed when first asked for.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 30)[:, None]
    >>> model = LSSVR(kernel="rbf(sigma=0.3)", gamma="loo").fit(x, np.sin(6 * x[:, 0]))
    >>> float(np.round(model.predict([[0.5]])[0], 2)), round(float(np.sin(3.0)), 2)
    (0.14, 0.14)
    """

    requires_symmetric_kernel = True
    _system = SymmetricSystem

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LSSVR:
        """Fit to samples in rows and their outputs.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d), or sample indices for a kernel that holds its matrix
        y : array-like of shape (m,) or (m, outputs)
        sample_weight : array-like of shape (m,), optional
            An integer weight is the same as repeating the sample, zero the same as leaving it out.
        """
        self._fit(X, y, sample_weight)
        return self
