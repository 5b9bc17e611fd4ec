"""AsK-LS on random Fourier features: O(n D²) for n samples and D features, whatever the kernel's asymmetry.

He, He, Shi, Huang & Suykens, Learning with asymmetric kernels: least squares and feature interpretation, TPAMI 45
(2023), with K ≈ Φ_s Φ_tᵀ of AsK-RFFs (He, He, Liu & Huang, arXiv:2209.08461, 2022).
"""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from kernreg import get_config, make_ensembler
from kernreg.errors import DataError, ParameterError, shown
from kernreg.solvers import Display, KernelParameters, check_number, check_table, check_weights
from kernreg_asymmetric.random_features.documentation import documented
from kernreg_asymmetric.random_features.dual_spectrum import (
    DualSpectrum,
    LeftOut,
    moments,
    row_blocks,
    warn_of_matrices,
)
from kernreg_asymmetric.random_features.feature_kernel import kernel_of_features
from kernreg_asymmetric.random_features.transformer import fitted_features
from kernreg_asymmetric.targets import class_codes, one_vs_rest, real_targets

_SOME = 5000  # samples whose leave-one-out residuals choose γ
_GAMMAS = 49
_LEAST = 1e-307  # of γ: 1/γ is a number


@dataclass(frozen=True)
class FeatureReport(Display):
    """How a machine on features was fitted.

    Attributes
    ----------
    size, features, rank : int
        Samples, features of each side, and how many directions they span.
    gamma : float
    largest : float
        The largest singular value of the centred kernel matrix.
    left_out : int
        Samples whose leave-one-out residuals chose γ and the ensembler; 0 where γ was given.
    """

    size: int
    features: int
    rank: int
    gamma: float
    largest: float
    left_out: int


class _AsKRFFMachine(KernelParameters):
    """The fit of both machines: two views, merged by an ensembler."""

    def __init__(  # an estimator takes each of its settings as a parameter
        self,
        kernel: Any = None,
        n_frequencies: Any = 256,
        gamma: Any = "loo",
        *,
        form: str = "polar",
        ensembler: Any = "average",
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.n_frequencies = n_frequencies
        self.gamma = gamma
        self.form = form
        self.ensembler = ensembler
        self.random_state = random_state

    def _fit(self, X: Any, Y: np.ndarray, labels: np.ndarray, sample_weight: Any) -> None:
        """Fit to checked samples, columns of targets, and targets as ensemblers see them."""
        weights = None
        if sample_weight is not None:
            weights = check_weights(sample_weight, len(Y))
            kept = np.flatnonzero(weights)
            X, Y, labels, weights = X[kept], Y[kept], labels[kept], weights[kept]
        if len(Y) < 2:
            raise DataError(f"n_samples={len(Y)}; AsK-LS needs at least 2 samples")
        self.approximated_, features, _ = fitted_features(
            self.resolve_kernel(), X, weights, self.n_frequencies, self.form, self.random_state
        )
        warn_of_matrices(features.width, min(len(Y), features.width), before=True)
        with threadpool_limits(get_config().thread_count(), user_api="blas"):
            spectrum = DualSpectrum(features, moments(features, X, Y, weights))
            some = np.unique(np.linspace(0, len(Y) - 1, min(len(Y), _SOME)).astype(np.intp))
            ensembler = make_ensembler(self.ensembler)
            gamma = self._given_gamma()
            if gamma is None or getattr(ensembler, "uses_targets", True):
                some_weights = None if weights is None else weights[some]
                left_out = spectrum.left_out(X[some], Y[some], some_weights)
                if gamma is None:
                    gamma, views = self._chosen_gamma(spectrum, left_out, ensembler, labels[some])
                else:
                    views = _views_left_out(left_out.Y, left_out.residuals(gamma))
            else:
                some = some[:0]
                views = {"source": Y[:2], "target": Y[:2]}  # an ensembler that learns nothing sees the shape
            solution = spectrum.at(gamma)
        views = {name: _flat(view) for name, view in views.items()}
        seen, options = labels[some] if len(some) else labels[:2], {}
        if len(some) and weights is not None and "sample_weight" in signature(ensembler.fit).parameters:
            options["sample_weight"] = weights[some]
        self.ensembler_ = ensembler.fit(views, seen, **options)
        self._features, self._solution = features, solution
        self.kernel_, self.gamma_ = kernel_of_features(features), gamma
        self.coef_ = np.stack([solution.source.T, solution.target.T])
        self.intercept_ = np.stack([solution.source_intercept, solution.target_intercept])
        rank, largest = len(spectrum.values), float(spectrum.values[0])
        self.solver_report_ = FeatureReport(len(Y), features.width, rank, gamma, largest, len(some))

    def _given_gamma(self) -> float | None:
        """Return γ where it is a number, None where it is to be chosen."""
        if isinstance(self.gamma, str) and self.gamma == "loo":
            return None
        given = self.gamma.tolist() if isinstance(self.gamma, np.ndarray) else self.gamma
        if isinstance(given, Real):
            return check_number("gamma", given, _LEAST)
        if not isinstance(given, list | tuple) or not given:
            raise ParameterError(
                f"gamma={shown(self.gamma)} is not accepted; give 'loo', a positive number, or a sequence of them"
            )
        for value in given:
            check_number("gamma", value, _LEAST)
        return None

    def _chosen_gamma(
        self, spectrum: DualSpectrum, left_out: LeftOut, ensembler: Any, labels: np.ndarray
    ) -> tuple[float, dict[str, np.ndarray]]:
        """Return the γ of the best leave-one-out score, and its views.

        Views are merged as the ensembler does, or by the mean if it learns.
        """
        if isinstance(self.gamma, str):
            candidates = np.geomspace(1e-3, 1e7, _GAMMAS) / spectrum.values[0]
        else:
            candidates = np.asarray(self.gamma, dtype=float)
        merge = make_ensembler("average" if getattr(ensembler, "uses_targets", True) else self.ensembler)
        Y, best, chosen = left_out.Y, (-np.inf, -np.inf), None
        usable = [float(gamma) for gamma in candidates if not spectrum.is_pole(gamma)]
        for gamma, residuals in zip(usable, left_out.path(usable), strict=True):
            views = _views_left_out(Y, residuals)
            merged = merge.fit(views, labels).merge(views)
            score = self._score_of(merged.reshape(Y.shape), Y, left_out.weights)
            if np.isfinite(score[1]) and score > best:
                best, chosen = score, (gamma, views)
        if chosen is None:
            raise ParameterError(f"every gamma of {shown(self.gamma)} is at a pole; give others, or gamma='loo'")
        self.loo_score_ = best[0]
        return chosen

    def _score_of(self, decision: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
        """Return a score, and what settles ties: larger is better."""
        raise NotImplementedError

    def _views(self, X: Any) -> dict[str, np.ndarray]:
        check_is_fitted(self)
        X = check_table(self, X, reset=False)
        features, found = self._features, self._solution
        dtype = X.dtype
        shape = X.shape[0], found.source.shape[1]
        source, target = np.empty(shape, dtype), np.empty(shape, dtype)
        # f_s(x) = ψ(x)ᵀ R source + b₁: one set of waves serves both views.
        both = np.hstack([features.rotated(found.source), found.target])
        for rows in row_blocks(X.shape[0], features.width):
            values = features.right(X[rows]).astype(np.float64, copy=False) @ both
            source[rows] = values[:, : shape[1]] + found.source_intercept
            target[rows] = values[:, shape[1] :] + found.target_intercept
        return {"source": _flat(source), "target": _flat(target)}

    def _merged(self, X: Any) -> np.ndarray:
        views = self._views(X)
        return np.asarray(self.ensembler_.merge(views))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@documented
class AsKRFFClassifier(ClassifierMixin, _AsKRFFMachine):
    """AsK-LS classifier on random Fourier features: two views of a shift-invariant kernel, one-vs-rest.

    Parameters
    ----------
    {features}
    gamma : "loo", float or sequence of numbers
        γ of AsK-LS. ``"loo"`` takes that with the best leave-one-out accuracy, ties settled by squared error, of a grid
        fitted to the spectrum, and a sequence that of its own; exact leave-one-out, with the features held fixed, of at
        most 5000 of the samples. Of a sample with a weight above one, one unit of weight is left out, as if it were
        one of several copies.
    {ensembler}

    Attributes
    ----------
    classes_ : ndarray
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AsKRFFClassifier("shift-gauss(sigma=3.0, shift=0.3)", n_frequencies=100).fit(X, y)
    >>> bool(clf.score(X, y) > 0.95), clf.decision_views(X[:2])["source"].shape
    (True, (2, 3))
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AsKRFFClassifier:
        """Fit to samples in rows and their classes."""
        X = check_table(self, X)
        self.classes_, codes = class_codes(X, y)
        labels = np.where(codes == 1, 1, -1) if len(self.classes_) == 2 else codes
        self._fit(X, one_vs_rest(codes, len(self.classes_)), labels, sample_weight)
        return self

    def _score_of(self, decision: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
        if Y.shape[1] == 1:
            right = (decision > 0.0)[:, 0] == (Y > 0.0)[:, 0]
        else:
            right = decision.argmax(axis=1) == Y.argmax(axis=1)
        squared = np.square(decision - Y).mean(axis=1)
        return float(np.average(right, weights=weights)), -float(np.average(squared, weights=weights))

    def decision_views(self, X: Any) -> dict[str, np.ndarray]:
        """Return the decision values of the source and of the target view."""
        return self._views(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the merged decision values: (n,) for two classes, else (n, classes)."""
        return self._merged(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each sample."""
        decision = self._merged(X)
        return self.classes_[(decision > 0.0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)]


@documented
class AsKRFFRegressor(RegressorMixin, _AsKRFFMachine):
    """AsK-LS regression on random Fourier features, one or several outputs, with a source and a target view.

    Parameters
    ----------
    {features}
    gamma : "loo", float or sequence of numbers
        γ of AsK-LS. ``"loo"`` takes that with the best leave-one-out R² of a grid fitted to the spectrum, and a
        sequence that of its own; exact leave-one-out, with the features held fixed, of at most 5000 of the samples. Of
        a sample with a weight above one, one unit of weight is left out, as if it were one of several copies.
    {ensembler}

    Attributes
    ----------
    {fitted}

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 6, 200)[:, None]
    >>> model = AsKRFFRegressor("cosh-gauss(sigma=1.0, beta=0.5)", n_frequencies=50).fit(x, np.sin(x[:, 0]))
    >>> bool(model.score(x, np.sin(x[:, 0])) > 0.99)
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AsKRFFRegressor:
        """Fit to samples in rows and their outputs, (n,) or (n, outputs)."""
        X = check_table(self, X)
        y = real_targets(X, y)
        self._fit(X, y.reshape(len(y), -1), y, sample_weight)
        self._flat = y.ndim == 1
        return self

    def _score_of(self, decision: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
        return float(r2_score(Y, decision, sample_weight=weights)) if np.all(np.isfinite(decision)) else -np.inf, 0.0

    def decision_views(self, X: Any) -> dict[str, np.ndarray]:
        """Return the predictions of the source and of the target view."""
        return self._views(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return the outputs of each sample."""
        merged = self._merged(X)
        return merged if self._flat else merged.reshape(len(merged), -1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _views_left_out(Y: np.ndarray, residuals: tuple[np.ndarray, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: Y - rest for name, rest in zip(("source", "target"), residuals, strict=True)}


def _flat(view: np.ndarray) -> np.ndarray:
    return view[:, 0] if view.shape[1] == 1 else view
