"""Ridge regression in a Kreĭn space: least squares regularised in |Λ|, which has no poles.

Oglic & Gärtner, Learning in reproducing kernel Kreĭn spaces, ICML (2018), and Liu, Shi, Huang, Yang & Suykens, Analysis
of regularized least squares in reproducing kernel Kreĭn spaces, Machine Learning 110 (2021), regularise indefinite
kernels by their positive decomposition; see also Loosli, Canu & Ong, Learning SVM in Kreĭn spaces, TPAMI 38 (2016).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from kernreg.solvers import ClassTargets, RealTargets, TrainingSet, documented_with, row_by_row
from kernreg_krein.machine import KreinClassifier
from kernreg_krein.ridge_machine import KreinRidge

_PARAMETERS = """\
    kernel : str, KernelFamily or Kernel, optional
        A symmetric kernel, definite or not, for example ``"tl1(rho=4.0)"``; an asymmetric one is refused.
        By default that of the chain around it, else ``rbf``.
    gamma : float, "scale", "auto" or sequence of numbers
        γ₊ = 1/κ₊; larger fits the data more closely. ``"scale"`` and its multiples are 1 divided by the size of kernel
        values, as of ``ls-svm``. Of a sequence, or of a grid fitted to the spectrum (``"auto"``), the value with the
        least squared error of samples left out is taken.
    gamma_negative : float, "scale", "auto" or sequence of numbers, optional
        γ₋ = 1/κ₋, of negative eigenvalues. By default the same as gamma; where both are to be chosen, all pairs are
        tried, which costs no further decomposition.
    fit_intercept : bool
        Whether there is a bias, which is not penalised. Without one the matrix is not centred.
    selection : {"folds", "fixed-metric"}
        How γ is chosen: by folds that are left out, metric included, which takes a decomposition each; or by
        leave-one-out with the metric held fixed, which costs nothing more and is optimistic where the kernel is far
        from definite. On landmarks there is one metric, and the latter is taken in either case.
    n_folds : int
        Number of folds, at least 2.
"""

_MORE = """\
    strategy : {"auto", "exact", "lowrank"}
        ``exact`` decomposes the kernel matrix; ``lowrank`` takes features of landmarks, with the signs of their
        eigenvalues, and solves the same problem in them. ``auto`` is exact while that fits the memory budget.
    n_landmarks : int, optional
        Landmarks of lowrank; by default as many as of ``ls-svm``, if their features fit an eighth of the memory budget.
    landmarks : str or array of int
        How they are chosen: ``"uniform"``, ``"kmeans++"``, ``"entropy"``, ``"leverage"``; or their indices.
    random_state : int, Generator or None
        Of that choice.
"""

_FITTED = """\
    signature_ : tuple of int
        Numbers of positive and negative eigenvalues of the centred training matrix.
    gamma_, gamma_negative_ : float
        γ₊ and γ₋.
    gamma_path_ : dict
        gamma, gamma_negative and squared_error of all that was tried, where there was a choice.
    fixed_metric_values_ : ndarray
        Leave-one-out decision values with the metric held fixed: exact for a ridge regression with the norm of |K̃| of
        all samples. A refit without a sample has another metric, and no formula gives its value; the page on Kreĭn
        spaces says how far apart the two are.
    fixed_metric_samples_ : ndarray of int
        The samples these are of: all, or at most 5000 where the strategy is lowrank.
    fixed_metric_residuals_, fixed_metric_score_
        See the properties.
    kernel_ : Kernel
        The kernel, bound to the training samples.
    X_fit_ : array or CSR
        The training samples, or the landmarks.
    landmarks_ : ndarray of int
        Which samples they are, where the strategy is lowrank.
    solver_report_ : KreinReport
    n_iter_ : int
        1.
"""


_documented = documented_with({"parameters": _PARAMETERS, "more": _MORE, "fitted": _FITTED})


@_documented
class KreinRidgeClassifier(KreinClassifier, KreinRidge):
    """Ridge classifier for an indefinite kernel: least squares regularised in the associated Hilbert space.

    Least squares machines of an indefinite kernel have poles: (K̃ + I/γ) is singular where -1/γ is an eigenvalue. Here
    the penalty is the norm of the associated Hilbert space, K̃ = U Λ Uᵀ being the centred training matrix::

        min_{α, b}  Σ_i v_i (y_i - f(x_i))² + αᵀ U (κ|Λ|) Uᵀ α,      f = K α + b,    Σ α = 0
        α = U diag(sign(λ) / (|λ| + κ)) Uᵀ y,      fitted values U diag(|λ| / (|λ| + κ)) Uᵀ y + mean(y)

    with sample weights v_i and κ = 1/γ₊ for positive, 1/γ₋ for negative eigenvalues. It is defined for every κ > 0. For
    a positive semi-definite kernel it is ``ls-svm`` with the same γ. The decision uses the kernel as it is, also at new
    samples. Classes are ±1, one against the rest.

    Parameters
    ----------
    {parameters}
    class_weight : dict or "balanced", optional
        Multiplies the weights of the samples of a class; ``"balanced"`` gives all classes the same sum.
    calibration : {"sigmoid", "isotonic"}
        How decision values of samples held out become the probabilities of `predict_proba`. When these are first asked
        for, the machine is fitted again without a fifth of the samples, up to five times; on landmarks they are
        leave-one-out values with the metric held fixed.
    {more}

    Attributes
    ----------
    classes_ : ndarray
    dual_coef_ : ndarray of shape (m,) or (m, classes)
    intercept_ : float or ndarray of shape (classes,)
    {fitted}

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> clf = KreinRidgeClassifier("tl1(rho=0.7)", gamma="auto").fit(X[:100], y[:100])
    >>> clf.signature_[1] > 0, bool(clf.score(X[100:], y[100:]) > 0.9)
    (True, True)
    """

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        kernel: Any = None,
        gamma: Any = "scale",
        *,
        gamma_negative: Any = None,
        fit_intercept: bool = True,
        selection: str = "folds",
        n_folds: int = 10,
        class_weight: Any = None,
        calibration: str = "sigmoid",
        strategy: str = "auto",
        n_landmarks: int | None = None,
        landmarks: Any = "uniform",
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.gamma_negative = gamma_negative
        self.fit_intercept = fit_intercept
        self.selection = selection
        self.n_folds = n_folds
        self.class_weight = class_weight
        self.calibration = calibration
        self.strategy = strategy
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KreinRidgeClassifier:
        """Fit to samples in rows and their classes.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d), or sample indices for a kernel that holds its matrix
        y : array-like of shape (m,)
        sample_weight : array-like of shape (m,), optional
            An integer weight is the same as repeating the sample, zero the same as leaving it out.
        """
        self._fit(X, y, sample_weight)
        return self

    def _encode(self, data: TrainingSet) -> ClassTargets:
        return ClassTargets.of(data.y)

    def _keep_own(self, data: TrainingSet, targets: Any, held_out: tuple[np.ndarray, np.ndarray] | None) -> None:
        self._keep_targets(
            data,
            targets,
            held_out,
            gamma=self.gamma_,
            gamma_negative=self.gamma_negative_,
            fit_intercept=self.fit_intercept,
            strategy="exact",
        )


@_documented
class KreinRidgeRegressor(RegressorMixin, KreinRidge):
    """Ridge regression for an indefinite kernel in the associated Hilbert space, with one or several outputs.

    See `KreinRidgeClassifier` for the problem. For a positive semi-definite kernel it is ``ls-svr`` with the same γ.

    Parameters
    ----------
    {parameters}
    {more}

    Attributes
    ----------
    dual_coef_ : ndarray of shape (m,) or (m, outputs)
    intercept_ : float or ndarray of shape (outputs,)
    {fitted}

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 60)[:, None]
    >>> model = KreinRidgeRegressor("tl1(rho=0.4)", gamma="auto").fit(x, np.sin(6 * x[:, 0]))
    >>> bool(abs(model.predict([[0.505]])[0] - np.sin(3.03)) < 0.02)
    True
    """

    for_asymmetric_kernels = "ask-lsr"
    _flat: bool

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        kernel: Any = None,
        gamma: Any = "scale",
        *,
        gamma_negative: Any = None,
        fit_intercept: bool = True,
        selection: str = "folds",
        n_folds: int = 10,
        strategy: str = "auto",
        n_landmarks: int | None = None,
        landmarks: Any = "uniform",
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.gamma_negative = gamma_negative
        self.fit_intercept = fit_intercept
        self.selection = selection
        self.n_folds = n_folds
        self.strategy = strategy
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KreinRidgeRegressor:
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

    @property
    def _targets(self) -> RealTargets:
        return RealTargets(flat=self._flat)

    def _encode(self, data: TrainingSet) -> RealTargets:
        return RealTargets(flat=data.y.ndim == 1)

    def _keep_own(self, data: TrainingSet, targets: Any, held_out: tuple[np.ndarray, np.ndarray] | None) -> None:
        self._flat, self._y, self._weights = targets.flat, data.y, data.weights

    @row_by_row
    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted output(s) of each sample."""
        return self.decision_views(X)["decision"]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
