"""Jackknife+ and CV+: from predictions of models that have not seen a sample to intervals and sets that cover.

For a new sample x and each training sample i, let μ_i(x) be the prediction of a model that has not seen i, and R_i its
absolute residual at i. The interval::

    [ the ⌊α (m + 1)⌋-th smallest of μ_i(x) - R_i,   the ⌈(1 - α)(m + 1)⌉-th smallest of μ_i(x) + R_i ]

covers with probability at least 1 - 2α where samples are exchangeable, whatever the model and the distribution, and
with 1 - α in practice. Where there are too few samples for α it is infinite. A set of classes holds c unless fewer than
α (m + 1) of the training samples conform as little to their class as x would to c, by the models without them.

Weighted samples count as often as their weight says, and the new one as the mean of them.

Barber, Candès, Ramdas & Tibshirani, Predictive inference with the jackknife+, Annals of Statistics 49 (2021). Romano,
Sesia & Candès, Classification with valid and adaptive coverage, NeurIPS 2020.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.common.checks import as_number
from kernreg.errors import ParameterError, shown

#: A count that is a whole number but for the rounding of α is that number.
_ROUNDING = 1e-9


def check_coverage(coverage: Any) -> float:
    """Return α = 1 - coverage.

    >>> round(check_coverage(0.9), 12)
    0.1
    """
    if 0.0 < as_number(coverage) < 1.0:
        return 1.0 - float(coverage)
    raise ParameterError(f"coverage={shown(coverage)} is not accepted; give a number between 0 and 1, for example 0.9")


def interval(
    predictions: np.ndarray, residuals: np.ndarray, alpha: float, weights: np.ndarray | None = None
) -> np.ndarray:
    """Return the intervals (n, 2) of n new samples.

    Parameters
    ----------
    predictions : ndarray of shape (n, m)
        μ_i(x); overwritten.
    residuals : ndarray of shape (m,)
        Absolute; one that is not finite stands for a model that says nothing.
    alpha : float
    weights : ndarray of shape (m,), optional

    Examples
    --------
    >>> mean = np.zeros((1, 19))
    >>> interval(mean, np.arange(1.0, 20.0), 0.1).tolist()  # the 18th of 19 residuals
    [[-18.0, 18.0]]
    """
    silent = ~(np.isfinite(residuals) & np.isfinite(predictions).all(axis=0))
    radii = np.where(silent, np.inf, residuals)
    predictions[:, silent] = 0.0
    low = -upper_quantile(radii - predictions, alpha, weights)
    return np.stack([low, upper_quantile(radii + predictions, alpha, weights)], axis=1)


def upper_quantile(values: np.ndarray, alpha: float, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the ⌈(1 - α)(m + 1)⌉-th smallest value of each row, infinite where there is none.

    With weights w, the smallest value v such that those up to v have a share of at least 1 - α in Σ w + mean(w).

    >>> upper_quantile(np.arange(1.0, 20.0)[None], 0.1).tolist(), upper_quantile(np.ones((1, 5)), 0.1).tolist()
    ([18.0], [inf])
    """
    m = values.shape[1]
    if weights is None or np.ptp(weights) == 0.0:
        rank = int(np.ceil((1.0 - alpha) * (m + 1) - _ROUNDING))
        if rank > m:
            return np.full(len(values), np.inf)
        return np.partition(values, rank - 1, axis=1)[:, rank - 1]
    order = np.argsort(values, axis=1)
    shares = np.cumsum(weights[order], axis=1)
    needed = (1.0 - alpha) * (weights.sum() + weights.mean())
    place = (shares < needed * (1.0 - _ROUNDING)).sum(axis=1)
    found = np.take_along_axis(values, np.take_along_axis(order, np.minimum(place, m - 1)[:, None], 1), 1)[:, 0]
    return np.where(place < m, found, np.inf)


def conforming(scores: np.ndarray, training: np.ndarray, alpha: float, weights: np.ndarray | None = None) -> np.ndarray:
    """Return which classes (n, classes) a set of coverage 1 - α holds.

    Parameters
    ----------
    scores : ndarray of shape (n, m, classes)
        How little x conforms to a class, by the model without sample i.
    training : ndarray of shape (m,)
        How little sample i conforms to its own, by the same model.
    alpha : float
    weights : ndarray of shape (m,), optional

    Examples
    --------
    >>> training = np.arange(1.0, 20.0)
    >>> conforming(np.broadcast_to([[[18.0, 18.5]]], (1, 19, 2)), training, 0.1).tolist()
    [[True, False]]
    """
    worse = training[:, None] >= scores
    worse |= ~np.isfinite(scores) | ~np.isfinite(training)[:, None]  # a model that says nothing excludes nothing
    if weights is None:
        mass, total, own = worse.sum(axis=1).astype(np.float64), float(len(training)), 1.0
    else:
        mass, total, own = np.einsum("i,nic->nc", weights, worse), float(weights.sum()), float(weights.mean())
    return mass + own > alpha * (total + own) * (1.0 + _ROUNDING)
