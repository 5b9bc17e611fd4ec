"""Residuals of samples left out."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np

from kernreg.errors import DataError
from kernreg.plotting.base import BLUE, make_axes


class ResidualDisplay:
    """Residuals against predictions, and their quantiles against those of the normal distribution.

    Parameters
    ----------
    predictions, residuals : array-like of shape (n,)

    Attributes
    ----------
    quantiles : ndarray of shape (n,)
        Of the normal distribution, for the residuals in ascending order.
    axes_, figure_ : list of Axes, Figure

    Examples
    --------
    >>> ResidualDisplay([0.0, 1.0, 2.0], [0.1, -0.2, 0.1]).quantiles.round(2).tolist()[1]
    0.0
    """

    def __init__(self, predictions: Any, residuals: Any):
        self.predictions, self.residuals = (np.asarray(values, dtype=np.float64) for values in (predictions, residuals))
        if self.predictions.shape != self.residuals.shape or self.residuals.ndim != 1 or not self.residuals.size:
            raise DataError(
                f"predictions and residuals have the shapes {self.predictions.shape} and {self.residuals.shape}; give "
                "two vectors as long as each other: one output of several"
            )
        n, normal = len(self.residuals), NormalDist()
        self.quantiles = np.array([normal.inv_cdf((i + 0.5) / n) for i in range(n)])

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **options: Any) -> ResidualDisplay:
        """Draw the leave-one-out residuals of a fitted solver with one output."""
        residuals = np.asarray(estimator.loo_residuals_)
        truth = estimator._targets.values(estimator._y)
        return cls(truth - residuals, residuals).plot(ax, **options)

    def plot(self, ax: Any = None, *, title: str | None = None) -> ResidualDisplay:
        """Draw, on two axes."""
        self.axes_ = make_axes(ax, 2, (4.8, 4.2))
        self.figure_ = self.axes_[0].figure
        first, second = self.axes_
        first.axhline(0.0, color="0.6", linewidth=1)
        first.plot(self.predictions, self.residuals, "o", color=BLUE, markersize=3, alpha=0.6)
        first.set(xlabel="prediction left out", ylabel="residual left out", title=title or "Residuals left out")
        ordered = np.sort(self.residuals)
        low, high = np.quantile(self.residuals, [0.25, 0.75])
        slope = (high - low) / (2 * NormalDist().inv_cdf(0.75))
        ends = self.quantiles[[0, -1]]
        second.plot(ends, (low + high) / 2 + slope * ends, color="0.6", linewidth=1)
        second.plot(self.quantiles, ordered, "o", color=BLUE, markersize=3, alpha=0.6)
        second.set(xlabel="quantile of the normal distribution", ylabel="residual left out", title="Are they normal?")
        return self
