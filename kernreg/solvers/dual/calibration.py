"""Calibration: from decision values of samples left out to class probabilities.

``sigmoid`` is p_c ∝ exp(a f_c + b_c), one slope a ≥ 0 for all classes and an offset for each, of largest likelihood.
For two classes, f_1 - f_0 = f, that is Platt's 1 / (1 + exp(-(a f + b))). The targets are smoothed as his: a sample of
a class with N samples, of C classes, is (N + 1)/(N + C) of its own class and 1/(N + C) of each other one, so that
classes which can be separated have finite slopes. Decisions of least squares estimate E y, and equal ones mean equal
probabilities: offsets are taken only where the Bayes information criterion asks for them, as it does with class
weights, and otherwise the most probable class is the one predicted.

``isotonic`` is a step function that never falls, for each class against the rest; more than two are scaled to sum 1.

Platt, Probabilistic outputs for support vector machines, Advances in Large Margin Classifiers (1999). Zadrozny & Elkan,
Transforming classifier scores into accurate multiclass probability estimates, KDD (2002).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from scipy.special import softmax
from sklearn.isotonic import IsotonicRegression

METHODS = ("sigmoid", "isotonic")
#: Slope and offsets of a sigmoid; or, for each class, where the steps are and how high.
Calibration: TypeAlias = dict[str, Any]

_ITERATIONS = 100  # of Newton's method, which needs about ten


def calibrate(
    method: str,
    decision: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    weights: np.ndarray | None,
    *,
    offsets: bool = True,
) -> Calibration:
    """Return the calibration of decision values, (m,) for two classes or (m, classes), of samples with known classes.

    Values that are not finite are left out. Without ``offsets`` a sigmoid is ½ where classes are equal, so that a label
    of an indicator matrix is predicted exactly where its probability is above ½.

    >>> f, codes = np.array([-2.0, -1.0, 0.5, 1.0, -0.5, 2.0]), np.array([0, 0, 0, 1, 1, 1])
    >>> probabilities(calibrate("sigmoid", f, codes, 2, None), np.array([-3.0, 0.0, 3.0])).round(2)
    array([[0.87, 0.13],
           [0.5 , 0.5 ],
           [0.13, 0.87]])
    """
    weights = np.ones(len(codes)) if weights is None else weights / weights.mean()
    finite = np.isfinite(decision.reshape(len(decision), -1)).all(axis=1)
    F, codes, weights = _columns(decision[finite]), codes[finite], weights[finite]
    if method == "sigmoid":
        return {"sigmoid": _sigmoid(F, codes, weights, offsets=offsets)}
    steps = []
    for c in range(1 if n_classes == 2 else 0, n_classes):
        curve = IsotonicRegression(y_min=0.0, y_max=1.0).fit(F[:, c], codes == c, sample_weight=weights)
        steps.append((curve.X_thresholds_, curve.y_thresholds_))
    return {"isotonic": steps}


def probabilities(calibration: Calibration, decision: np.ndarray) -> np.ndarray:
    """Return class probabilities (n, classes) of decision values.

    Examples
    --------
    >>> f, codes = np.array([-2.0, -1.0, 1.0, 2.0, 0.5, -0.5]), np.array([0, 0, 1, 1, 0, 1])
    >>> probabilities(calibrate("sigmoid", f, codes, 2, None), np.array([0.0])).sum(axis=1).tolist()
    [1.0]
    """
    F = _columns(decision)
    if "sigmoid" in calibration:
        slope, offsets = calibration["sigmoid"]
        return softmax(slope * F + offsets, axis=1)
    steps = calibration["isotonic"]
    P = np.column_stack([np.interp(f, x, p) for f, (x, p) in zip(F.T[-len(steps) :], steps, strict=True)])
    if len(steps) == 1:
        return np.hstack([1.0 - P, P])
    total = P.sum(axis=1, keepdims=True)
    return np.divide(P, total, out=np.full_like(P, 1.0 / P.shape[1]), where=total > 0.0)


def _columns(decision: np.ndarray) -> np.ndarray:
    """Return a value for each class: of two classes ∓f/2."""
    f = np.asarray(decision, dtype=np.float64)
    return np.column_stack([-0.5 * f, 0.5 * f]) if f.ndim == 1 else f


def _sigmoid(F: np.ndarray, codes: np.ndarray, weights: np.ndarray, *, offsets: bool) -> list[np.ndarray]:
    """Return a and b; where the best slope is negative, 0 and the logarithms of frequencies."""
    classes = F.shape[1]
    counts = np.bincount(codes, weights=weights, minlength=classes)
    T = np.repeat((1.0 / (counts + classes))[codes, None], classes, axis=1)
    T[np.arange(len(codes)), codes] *= counts[codes] + 1.0
    scale = max(float(F.std()), float(np.finfo(np.float64).tiny))
    plain, loss = _newton(F / scale, T, weights, np.zeros(1 + classes), offsets=False)
    theta = plain
    if offsets:
        shifted, lower = _newton(F / scale, T, weights, plain, offsets=True)
        theta = shifted if loss - lower > 0.5 * (classes - 1) * np.log(weights.sum()) else plain
    if theta[0] <= 0.0:  # values that say the opposite of the truth say nothing
        return [np.zeros(()), np.log(weights @ T / weights.sum())]
    return [np.asarray(theta[0] / scale), theta[1:]]


def _newton(
    G: np.ndarray, T: np.ndarray, weights: np.ndarray, start: np.ndarray, *, offsets: bool
) -> tuple[np.ndarray, float]:
    """Return (a, b) of largest likelihood and minus its logarithm, by Newton's method with halved steps."""
    size, total = len(start), float(weights.sum())
    free = slice(None) if offsets else slice(1)
    w = weights[:, None]

    def probable(theta: np.ndarray) -> tuple[np.ndarray, float]:
        Z = theta[0] * G + theta[1:]
        Z -= Z.max(axis=1, keepdims=True)
        P = np.exp(Z)
        sums = P.sum(axis=1, keepdims=True)
        return P / sums, float((w * np.log(sums)).sum() - (w * T * Z).sum())

    theta = start
    P, value = probable(theta)
    for _ in range(_ITERATIONS):
        D, W = w * (P - T), w * P
        means = (P * G).sum(axis=1, keepdims=True)
        gradient = np.append((D * G).sum(), D.sum(axis=0))
        curvature = np.empty((size, size))
        curvature[0, 0] = (W * G * (G - means)).sum()
        curvature[0, 1:] = curvature[1:, 0] = (W * (G - means)).sum(axis=0)
        curvature[1:, 1:] = np.diag(W.sum(axis=0)) - P.T @ W
        curvature[np.diag_indices(size)] += 1e-10 * total  # one offset is free
        step = np.zeros(size)
        step[free] = np.linalg.solve(curvature[free, free], gradient[free])
        if float(gradient[free] @ step[free]) <= 1e-10 * total:  # twice what is still to be gained
            break
        following, lower = probable(theta - step)
        while lower > value and np.abs(step).max() > 1e-8:
            step *= 0.5
            following, lower = probable(theta - step)
        theta, P, value = theta - step, following, lower
    return theta, value
