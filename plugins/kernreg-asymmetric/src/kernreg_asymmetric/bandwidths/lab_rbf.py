"""lab-rbf: few Gaussians with bandwidths of their own in place of one for each sample with a common one.

He, He, Shi, Huang & Suykens, Learning analysis of kernel ridgeless regression with asymmetric kernel learning,
arXiv:2406.01435 (2024).

    f(x) = Σ_i α_i exp(-|θ_i ⊙ (x - x_i)|²) + b,      x_i some of the samples, θ_i one bandwidth for each feature

α is solved exactly; θ and the ridge follow the gradient, by L-BFGS, of the squared error of samples held out from
that solve one at a time (adaptation.py), and θ stay near each other unless samples say otherwise (descent.py). Parts of
the samples are held out in turn to choose how free θ is: one for each feature, or one for each feature of each centre,
and then centres are where residuals are worst (growth.py, freedom.py). In the end α is solved on all samples. The
paper solves α on the centres alone, without a ridge, which is for targets with little noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from kernreg import get_config
from kernreg.errors import DataError, ParameterError, shown
from kernreg.linalg import generator
from kernreg.solvers import AtomicFit, Display, check_count, check_weights, documented_with
from kernreg_asymmetric.bandwidths.adaptation import Expansion, Sample
from kernreg_asymmetric.bandwidths.freedom import FREEDOMS, learn
from kernreg_asymmetric.bandwidths.growth import Plan, stage_sizes
from kernreg_asymmetric.bandwidths.per_centre import lab_rbf
from kernreg_asymmetric.targets import class_codes, dense_table, one_vs_rest, real_targets

_SMALL = 1_000_000  # kernel values of samples and centres
_AT_ONCE = 1 << 18  # kernel values of a prediction: some arrays of 2 MB


@dataclass(frozen=True)
class AdaptationReport(Display):
    """How bandwidths were learned.

    Attributes
    ----------
    supports, samples, folds : int
        Centres, samples that bandwidths were learned on, and parts of them that were held out in turn.
    freedom : str
        What was chosen: ``"feature"``, one bandwidth for each feature, or ``"centre"``, one for each feature of each
        centre.
    ridge : float
        λ, of kernel values of about 1 and standardised targets.
    iterations : int
        Steps of descent, all of them.
    loo_error, held_out_error : float
        Mean squared errors, of standardised targets: leave-one-out at the end, all samples, with centres and bandwidths
        held fixed; and of parts that were held out, with the freedom that was chosen.
    """

    supports: int
    samples: int
    folds: int
    freedom: str
    ridge: float
    iterations: int
    loo_error: float
    held_out_error: float


class _LABRBF(AtomicFit, BaseEstimator):
    """The fit of both machines."""

    def __init__(
        self,
        n_supports: Any = 0.2,
        *,
        stages: int = 2,
        max_iter: int = 40,
        folds: int = 5,
        random_state: Any = 0,
    ):
        self.n_supports = n_supports
        self.stages = stages
        self.max_iter = max_iter
        self.folds = folds
        self.random_state = random_state

    def _fit(self, X: Any, Y: np.ndarray, sample_weight: Any) -> None:
        X = X.astype(np.float64, copy=False)
        weights = np.ones(len(Y))
        if sample_weight is not None:
            weights = check_weights(sample_weight, len(Y))
            kept = np.flatnonzero(weights)
            X, Y, weights = X[kept], Y[kept], weights[kept]
        n = len(Y)
        if n < 4:
            raise DataError(f"n_samples={n}: lab-rbf learns on some samples and holds out others; give at least 4")
        plan = self._plan(n)
        share = weights / weights.sum()
        self._mean, self._scale = share @ X, _deviations(X, share)
        self._target_mean, self._target_scale = share @ Y, _deviations(Y, share)
        data = Sample((X - self._mean) / self._scale, (Y - self._target_mean) / self._target_scale, share)
        # Threads of BLAS wait for each other longer than small products take.
        threads = get_config().thread_count() if n * plan.sizes[-1] > _SMALL else 1
        with threadpool_limits(threads, user_api="blas"):
            state, choice = learn(data, plan, generator(self.random_state))
            solved = state.solve(data)
        self._expansion = solved.expansion
        self.support_ = state.supports
        self.centres_ = X[state.supports].copy()
        self.theta_ = np.exp(0.5 * state.log_squares) / self._scale
        self.dual_coef_ = self._expansion.coefficients * self._target_scale
        self.intercept_ = self._expansion.intercept * self._target_scale + self._target_mean
        self.kernel_ = lab_rbf(centres=self.centres_, theta=self.theta_)
        self.held_out_errors_ = choice.errors
        self.n_iter_ = state.steps + choice.steps
        self.solver_report_ = AdaptationReport(
            supports=len(state.supports),
            samples=n,
            folds=plan.folds,
            freedom=FREEDOMS[choice.freedom],
            ridge=float(np.exp(state.log_ridge)),
            iterations=self.n_iter_,
            loo_error=float(share @ np.square(solved.left_out).sum(axis=1)),
            held_out_error=float(choice.errors[choice.freedom]),
        )

    def _plan(self, n: int) -> Plan:
        """Return what is asked for; raise ParameterError."""
        stages, max_iter = check_count("stages", self.stages), check_count("max_iter", self.max_iter)
        folds = check_count("folds", self.folds, 2)
        count = float(self.n_supports) if isinstance(self.n_supports, np.floating) else self.n_supports
        numeric = isinstance(count, Real) and not isinstance(count, bool | np.bool_ | np.timedelta64)
        if not numeric or not 0 < count < 2**31 or (count > 1 and count != int(count)):
            raise ParameterError(
                f"n_supports={shown(count)} is not accepted; give a positive integer, or a part of the samples, at "
                "most 1"
            )
        whole = isinstance(count, Integral) or count > 1
        largest = min(n, max(1, int(count) if whole else int(count * n)))
        return Plan(stage_sizes(largest, stages), max_iter, min(folds, n // 2))

    def _values(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = dense_table(self, X, reset=False)
        scaled = (X.astype(np.float64, copy=False) - self._mean) / self._scale
        found: Expansion = self._expansion
        values = np.empty((len(X), len(self.intercept_)), dtype=X.dtype)
        step = max(1, _AT_ONCE // max(1, len(found.centres)))
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            values[rows] = found.exactly(scaled[rows]) * self._target_scale + self._target_mean
        return values


_documented = documented_with(
    {
        "parameters": """\
    n_supports : float or int
        Most centres: a part of the samples (at most 1), or a number of them.
    stages : int
        How often centres are added where residuals are worst, when every centre has its own bandwidths; each stage has
        about twice as many as the one before.
    max_iter : int
        Most steps of each descent.
    folds : int
        Parts of the samples that are held out in turn, to choose how free bandwidths are.
    random_state : int, Generator, RandomState or None
        Of which samples are held out, and which are the first centres.
""",
        "fitted": """\
    support_ : ndarray of int
        The samples that are centres (among those of positive weight).
    centres_, theta_ : ndarray of shape (m, d)
        Centres and their bandwidths θ.
    dual_coef_ : ndarray of shape (m, outputs)
        Columns are outputs, or classes, one for two classes.
    intercept_ : ndarray of shape (outputs,)
    kernel_ : Kernel
        ``lab-rbf(centres, theta)``: f(x) = kernel_(x, centres_) @ dual_coef_ + intercept_.
    held_out_errors_ : ndarray of shape (2,)
        Mean squared errors held out, of standardised targets: with one bandwidth for each feature, and with one for
        each feature of each centre, in the turns in which it was tried.
    n_iter_ : int
        Steps of descent, all of them.
    solver_report_ : AdaptationReport
""",
    }
)


@_documented
class LABRBFRegressor(RegressorMixin, _LABRBF):
    """Regression with a few Gaussians, each with its own bandwidth for every feature.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {fitted}

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = np.sort(rng.uniform(0.0, 1.0, 300))[:, None]
    >>> y = np.sin(1.0 / (0.05 + 0.4 * x[:, 0]))  # fast on the left, slow on the right
    >>> model = LABRBFRegressor(n_supports=30).fit(x, y)
    >>> bool(model.score(x, y) > 0.99), len(model.support_) <= 30
    (True, True)
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LABRBFRegressor:
        """Fit to samples in rows and their outputs, (n,) or (n, outputs)."""
        X = dense_table(self, X)
        y = real_targets(X, y)
        self._fit(X, y.reshape(len(y), -1), sample_weight)
        self._flat = y.ndim == 1
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the outputs of each sample."""
        values = self._values(X)
        return values[:, 0] if self._flat else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


@_documented
class LABRBFClassifier(ClassifierMixin, _LABRBF):
    """Classification with a few Gaussians that have their own bandwidths: least squares on ±1 targets, one-vs-rest.

    All classes share centres and bandwidths.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LABRBFClassifier().fit(X, y)
    >>> bool(clf.score(X, y) > 0.95), clf.decision_function(X[:2]).shape
    (True, (2, 3))
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LABRBFClassifier:
        """Fit to samples in rows and their classes."""
        X = dense_table(self, X)
        self.classes_, codes = class_codes(X, y)
        self._fit(X, one_vs_rest(codes, len(self.classes_)), sample_weight)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values: (n,) for two classes, else (n, classes)."""
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each sample."""
        decision = self.decision_function(X)
        return self.classes_[(decision > 0.0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)]


def _deviations(values: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return weighted standard deviations of columns, 1 where a column is constant."""
    spread = np.sqrt(share @ np.square(values - share @ values))
    return np.where(spread > 1e-14 * np.abs(values).max(axis=0, initial=0.0), spread, 1.0)
