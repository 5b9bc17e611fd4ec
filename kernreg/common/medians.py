"""The median of values that occur some number of times."""

from __future__ import annotations

import numpy as np


def weighted_median(values: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Return the median: a value of weight w counts as w copies of it.

    >>> weighted_median(np.array([3.0, 1.0, 2.0, 10.0])), weighted_median(np.array([1.0, 5.0]), np.array([1.0, 2.0]))
    (2.5, 5.0)
    """
    if weights is None:
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    middle = [np.searchsorted(below, 0.5 * below[-1], side) for side in ("left", "right")]
    return float(np.mean(values[order][np.minimum(middle, len(values) - 1)]))
