"""Linear heads: what a compatibility is learned for, regularised least squares and logistic regression.

A head takes features S (n, r), targets Y (n, columns) and a ridge, finds its weights θ and intercept exactly, and
returns the loss (1/n) Σ_i ℓ(y_i, s_iᵀθ + b) + (ridge/2) ‖θ‖², its derivative by the predictions, and θ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg
from scipy.special import expit
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import type_of_target

from kernreg.errors import DataError

Head: TypeAlias = Callable[[np.ndarray, np.ndarray, float], tuple[float, np.ndarray, np.ndarray]]

_NEWTON_STEPS = 100


def least_squares_head(S: np.ndarray, Y: np.ndarray, ridge: float) -> tuple[float, np.ndarray, np.ndarray]:
    """Return loss, ∂ℓ/∂predictions and θ of ridge regression with an intercept; Y is centred, of variance one."""
    n, means = len(S), S.mean(axis=0)
    centred = S - means
    theta = scipy.linalg.solve(
        centred.T @ centred / n + ridge * np.eye(S.shape[1]), centred.T @ Y / n, assume_a="pos", check_finite=False
    )
    rest = centred @ theta - Y
    return float(0.5 * (rest * rest).sum() / n + 0.5 * ridge * (theta * theta).sum()), rest / n, theta


def logistic_head(S: np.ndarray, Y: np.ndarray, ridge: float) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the same of logistic regressions, one for each column of Y (zeros and ones), by damped Newton steps."""
    n, r, columns = len(S), S.shape[1], Y.shape[1]
    features = np.hstack([S, np.ones((n, 1))])
    penalty = np.append(np.full(r, ridge), 0.0)
    total, residuals, thetas = 0.0, np.empty_like(Y), np.empty((r, columns))
    for column in range(columns):
        y = Y[:, column]

        def loss(w: np.ndarray, y: np.ndarray = y) -> float:
            f = features @ w
            return float(np.mean(np.logaddexp(0.0, f) - y * f) + 0.5 * (penalty * w * w).sum())

        share = y.mean()
        w = np.zeros(r + 1)
        w[-1] = np.log(share / (1.0 - share))
        value = loss(w)
        for _ in range(_NEWTON_STEPS):
            p = expit(features @ w)
            gradient = features.T @ (p - y) / n + penalty * w
            hessian = (features.T * (p * (1.0 - p) / n)) @ features + np.diag(penalty)
            hessian[np.diag_indices(r + 1)] += 1e-14 * np.trace(hessian)
            step = scipy.linalg.solve(hessian, gradient, assume_a="pos", check_finite=False)
            decrease, size = float(gradient @ step), 1.0
            if decrease <= 1e-24:
                break
            while size > 1e-8 and not (new := loss(w - size * step)) <= value - 1e-4 * size * decrease:
                size *= 0.5
            if size <= 1e-8:  # no progress but rounding errors: this is the minimum
                w = w - step if decrease < 1e-12 else w
                break
            w, value = w - size * step, new
        total += loss(w) / columns
        residuals[:, column] = (expit(features @ w) - y) / (n * columns)
        thetas[:, column] = w[:-1]
    return total, residuals, thetas


HEADS: dict[str, Head] = {"least-squares": least_squares_head, "logistic": logistic_head}


def targets(head: str, y: Any, n: int) -> tuple[str, np.ndarray]:
    """Return which head, and the targets of n samples as it takes them.

    ``"auto"`` is logistic for two values and for classes that are not floating point numbers, else least squares.

    Examples
    --------
    >>> targets("auto", ["a", "b", "b"], 3)[1].ravel().tolist()
    [0.0, 1.0, 1.0]
    >>> targets("auto", [1.0, 2.0, 3.0], 3)[0]
    'least-squares'
    """
    if y is None:
        raise DataError("compatibility='a3' is learned on targets: requires y to be passed, but the target y is None")
    y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
    kind = type_of_target(y, input_name="y")
    if head == "auto":
        classes = kind == "binary" or (kind == "multiclass" and y.dtype.kind != "f")
        head = "logistic" if classes else "least-squares"
    if head == "logistic":
        if kind not in ("binary", "multiclass"):
            raise DataError(f"head='logistic' is for classes, and y is {kind}; use head='least-squares'")
        check_consistent_length(y, np.empty(n))
        labels, codes = np.unique(y.ravel(), return_inverse=True)
        if len(labels) < 2:
            raise DataError(f"y has one class, {labels[0]!r}; there is nothing to learn from 1 class")
        Y = np.eye(len(labels))[codes]
        return head, Y[:, 1:] if len(labels) == 2 else Y
    Y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    check_consistent_length(Y, np.empty(n))
    Y = Y.reshape(n, -1)
    largest = np.abs(Y).max(axis=0)
    Y = Y - Y.mean(axis=0)
    spread = np.sqrt((Y * Y).mean(axis=0))
    if not np.all(spread > 1e-14 * largest):
        raise DataError("y is constant; there is nothing to learn from it")
    return head, Y / (spread * np.sqrt(Y.shape[1]))
