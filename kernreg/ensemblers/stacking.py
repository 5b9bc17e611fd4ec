"""Stacked generalisation: a small regression on the views, fitted to decision values of samples left out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from kernreg.common.checks import as_number
from kernreg.ensemblers.base import Ensembler
from kernreg.ensemblers.views import Targets, Views
from kernreg.errors import DataError, ParameterError, shown

METHODS = ("ridge", "logistic")
ITERATIONS = 100  # of Newton's method, which needs about ten


def _is_logistic(ensembler: Stack) -> bool:
    return bool(vars(ensembler).get("_method", ensembler.method) == "logistic")  # as fitted, not as set since


class Stack(Ensembler):
    r"""b + Σ_v w_v f_v, with weights and intercept learnt for each class from leave-one-out views.

    For each class (column) c the views f_v, standardised to mean 0 and deviation 1, are the features of

    - ``ridge``: min Σ_i u_i (t_i - b - Σ_v β_v f_v(x_i))² + alpha |β|², with targets t = ±1 or real;
    - ``logistic``: min Σ_i u_i log(1 + exp(-t_i (b + Σ_v β_v f_v(x_i)))) + alpha |β|²/2, whose result is log-odds,

    with sample weights u_i scaled to mean 1.

    Parameters
    ----------
    method : {"ridge", "logistic"}
        ``logistic`` is for classes only, and gives probabilities.
    alpha : float
        Strength of the penalty, positive.

    Attributes
    ----------
    weights_ : dict
        The weight of each view, on the scale of the view: a number, or an array with one for each class.
    intercept_ : float or ndarray of shape (C,)

    References
    ----------
    Wolpert, Stacked generalization, Neural Networks 5 (1992). He et al., Learning with asymmetric kernels, TPAMI 45
    (2023), merge f_s and f_t by logistic regression on out-of-fold values.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1, -1, 1, -1])
    >>> views = {"shifted": 2.0 * y + 3.0, "useless": [1.0, 1.0, -1.0, -1.0]}
    >>> stack = Stack(alpha=1e-9).fit(views, y)
    >>> stack.merge(views).round(6)
    array([ 1., -1.,  1., -1.])
    >>> {name: round(weight, 6) + 0.0 for name, weight in stack.weights_.items()}
    {'shifted': 0.5, 'useless': 0.0}
    """

    def __init__(self, method: str = "ridge", alpha: float = 1.0):
        self.method = method
        self.alpha = alpha

    def _learn(self, views: Views, goal: Targets) -> None:
        alpha = self._check_parameters(goal)
        features = np.stack([view.reshape(len(view), -1) for view in views.values()], axis=2).astype(np.float64)
        T = goal.values.reshape(len(goal.values), -1)
        if not len(T):
            raise DataError("the views hold no samples; stacking learns from at least one")
        weights, intercepts = np.empty((T.shape[1], len(views))), np.empty(T.shape[1])
        u = goal.sample_weight
        solve = _logistic if self.method == "logistic" else _ridge
        for c in range(T.shape[1]):
            F = features[:, c]
            mean = np.average(F, axis=0, weights=u)
            scale = np.sqrt(np.average((F - mean) ** 2, axis=0, weights=u))
            # A view that is constant up to rounding says nothing; standardised, it would be noise.
            scale[scale <= 1e-12 * np.abs(F).max(axis=0, initial=0.0)] = np.inf
            try:
                beta, b = solve((F - mean) / scale, T[:, c], alpha, u)
            except np.linalg.LinAlgError:
                raise ParameterError(
                    f"stack: alpha={shown(self.alpha)} is too small for views that say nearly the same; give a larger "
                    "one"
                ) from None
            weights[c] = beta / scale
            intercepts[c] = b - weights[c] @ mean
        flat = goal.values.ndim == 1
        self._weights, self._intercepts, self._method = weights, intercepts, self.method
        self.weights_ = {name: float(w[0]) if flat else w for name, w in zip(views, weights.T, strict=True)}
        self.intercept_ = float(intercepts[0]) if flat else intercepts

    def _check_parameters(self, goal: Targets) -> float:
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise ParameterError(f"stack: method={shown(self.method)}; accepted are {' and '.join(map(repr, METHODS))}")
        alpha = as_number(self.alpha)
        if not (np.isfinite(alpha) and alpha > 0):
            raise ParameterError(f"stack: alpha={shown(self.alpha)}; accepted is a finite number > 0")
        if self.method == "logistic":
            if not goal.classes:
                raise DataError("stack: method='logistic' is for classes, and these targets are real; use 'ridge'")
            single = [c for c, t in enumerate(goal.values.reshape(len(goal.values), -1).T) if np.all(t == t[:1])]
            if single:
                raise DataError(
                    f"stack: method='logistic' needs samples in and outside of every class; y has none for column "
                    f"{single[0]}. Use method='ridge', or give more samples"
                )
        return alpha

    def _combine(self, views: Views) -> np.ndarray:
        first = next(iter(views.values()))
        merged = np.tile(self._intercepts, (len(first), 1))
        for number, view in enumerate(views.values()):
            merged += self._weights[:, number] * view.reshape(merged.shape)
        return merged.reshape(first.shape).astype(first.dtype)

    @available_if(_is_logistic)
    def proba(self, views: Any) -> np.ndarray:
        """Return class probabilities: (n, 2) for views (n,), else (n, C), each class against the rest, scaled to 1."""
        from scipy.special import expit

        odds = self.merge(views)
        if odds.ndim == 1:
            return np.column_stack([expit(-odds), expit(odds)])
        # Shifted in logarithms: where every class is very unlikely by itself, the ratios still count.
        logs = -np.logaddexp(0.0, -odds)
        logs -= logs.max(axis=1, keepdims=True)
        weights = np.exp(logs)
        return weights / weights.sum(axis=1, keepdims=True)


def _ridge(F: np.ndarray, t: np.ndarray, alpha: float, u: np.ndarray) -> tuple[np.ndarray, float]:
    b = np.average(t, weights=u)
    beta = np.linalg.solve((F.T * u) @ F + alpha * np.eye(F.shape[1]), F.T @ (u * (t - b)))
    return beta, float(b)


def _logistic(F: np.ndarray, t: np.ndarray, alpha: float, u: np.ndarray) -> tuple[np.ndarray, float]:
    """Newton's method with halved steps; the intercept, the last entry, is not penalised."""
    design = np.column_stack([F, np.ones(len(F))])
    penalty = np.append(np.full(F.shape[1], alpha), 0.0)
    theta = np.zeros(design.shape[1])
    theta[-1] = np.log(u[t > 0].sum() / u[t < 0].sum())

    def loss(theta: np.ndarray) -> float:
        return float(u @ np.logaddexp(0.0, -t * (design @ theta)) + 0.5 * penalty @ theta**2)

    value = loss(theta)
    for _ in range(ITERATIONS):
        margin = t * (design @ theta)
        p = np.exp(-np.logaddexp(0.0, margin))  # of the wrong class
        gradient = -design.T @ (u * t * p) + penalty * theta
        curvature = (design * (u * p * (1.0 - p))[:, None]).T @ design + np.diag(penalty)
        curvature[-1, -1] += 1e-12 * len(t)  # the intercept alone may be flat
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while size > 1e-8 and loss(theta - size * step) > value:
            size *= 0.5
        theta = theta - size * step
        improved, value = value - loss(theta), loss(theta)
        if improved <= 1e-14 * max(1.0, abs(value)):
            break
    return theta[:-1], float(theta[-1])
