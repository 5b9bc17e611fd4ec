"""Prediction intervals against the truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.errors import DataError
from kernreg.plotting.base import BLUE, RED, make_axes

_MOST = 400  # samples drawn; more are thinned out evenly


class IntervalDisplay:
    """Prediction intervals sorted by prediction, with the true values; values outside their interval stand out.

    Parameters
    ----------
    predictions : array-like of shape (n,)
    intervals : array-like of shape (n, 2)
    truth : array-like of shape (n,), optional
    coverage : float, optional
        What was asked for.

    Attributes
    ----------
    covered : float or None
        The share of true values inside their intervals.
    ax_, figure_ : Axes, Figure

    Examples
    --------
    >>> IntervalDisplay([0.0, 1.0], [[-1.0, 1.0], [0.5, 2.0]], [0.5, 3.0]).covered
    0.5
    """

    def __init__(self, predictions: Any, intervals: Any, truth: Any = None, *, coverage: float | None = None):
        self.predictions, self.intervals = (np.asarray(values, dtype=np.float64) for values in (predictions, intervals))
        self.truth = None if truth is None else np.asarray(truth, dtype=np.float64)
        self.coverage = coverage
        n = len(self.predictions)
        given = self.predictions.shape == (n,) and self.intervals.shape == (n, 2)
        if not given or not n or (self.truth is not None and self.truth.shape != (n,)):
            raise DataError(
                f"predictions and intervals have the shapes {self.predictions.shape} and {self.intervals.shape}; give "
                "(n,) and (n, 2), and as many true values: one output of several"
            )

    @property
    def covered(self) -> float | None:
        """The share of true values inside their intervals."""
        if self.truth is None:
            return None
        return float(np.mean((self.intervals[:, 0] <= self.truth) & (self.truth <= self.intervals[:, 1])))

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, coverage: float = 0.9, ax: Any = None, **options: Any
    ) -> IntervalDisplay:
        """Draw the intervals of a fitted regression with one output."""
        intervals = estimator.predict_interval(X, coverage)
        return cls(estimator.predict(X), intervals, y, coverage=coverage).plot(ax, **options)

    def plot(self, ax: Any = None, *, title: str | None = None) -> IntervalDisplay:
        """Draw."""
        (self.ax_,) = make_axes(ax, 1, (6.8, 4.2))
        self.figure_ = self.ax_.figure
        order = np.argsort(self.predictions, kind="stable")
        self.shown = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), _MOST)).astype(int))]
        place = np.arange(len(self.shown))
        low, high = self.intervals[self.shown].T
        asked = "" if self.coverage is None else f" of {self.coverage:.0%}"
        self.ax_.fill_between(
            place, low, high, color=BLUE, alpha=0.2, step="mid", linewidth=0, label=f"interval{asked}"
        )
        self.ax_.plot(place, self.predictions[self.shown], color=BLUE, linewidth=1.5, label="prediction")
        if self.truth is not None:
            y = self.truth[self.shown]
            inside = (low <= y) & (y <= high)
            self.ax_.plot(place[inside], y[inside], "o", color="0.35", markersize=2.5, label="truth inside")
            self.ax_.plot(place[~inside], y[~inside], "x", color=RED, markersize=5, label="outside")
        told = "" if self.covered is None else f": {self.covered:.1%} of {len(self.predictions)} inside"
        self.ax_.set(xlabel="samples by prediction", ylabel="output", title=title or f"Prediction intervals{told}")
        self.ax_.legend(loc="upper left", fontsize="small")
        return self
