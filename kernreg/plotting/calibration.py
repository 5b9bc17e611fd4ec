"""Predicted probabilities against frequencies."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.errors import DataError
from kernreg.plotting.base import BLUE, colours, legend_outside, make_axes


class ReliabilityDisplay:
    """Observed frequency of a class against its predicted probability: on the diagonal, probabilities are right.

    Parameters
    ----------
    truth : array-like of bool of shape (n,) or (n, classes)
        Whether a sample is of the class, or of each.
    probabilities : array-like of the same shape
    bins : int
        Groups of equally many samples.
    names : sequence of str, optional
        Of the classes.

    Attributes
    ----------
    curves : list of (mean probability, frequency)
        Of each class, a value for each group.
    error : float
        The mean distance of both, weighted by group sizes: the expected calibration error.
    ax_, figure_ : Axes, Figure

    Examples
    --------
    >>> ReliabilityDisplay([False, True, False, True], [0.0, 0.5, 0.5, 1.0], bins=2).error
    0.25
    """

    def __init__(self, truth: Any, probabilities: Any, *, bins: int = 10, names: Any = None):
        T, P = np.asarray(truth), np.asarray(probabilities, dtype=np.float64)
        if T.shape != P.shape or T.ndim not in (1, 2) or not T.size:
            raise DataError(f"truth and probabilities have the shapes {T.shape} and {P.shape}; give two of the same")
        T, P = (values.reshape(len(values), -1) for values in (T, P))
        self.names = None if names is None else [str(name) for name in names]
        self.curves, errors = [], []
        for t, p in zip(T.T, P.T, strict=True):
            groups = np.array_split(np.argsort(p, kind="stable"), min(bins, len(p)))
            mean, frequency = (np.array([values[rows].mean() for rows in groups]) for values in (p, t))
            sizes = np.array([len(rows) for rows in groups])
            self.curves.append((mean, frequency))
            errors.append(float(sizes @ np.abs(mean - frequency)) / len(p))
        self.error = float(np.mean(errors))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **options: Any) -> ReliabilityDisplay:
        """Draw the reliability of a fitted classifier's ``predict_proba``, of the second of two classes or of all."""
        probabilities, classes = estimator.predict_proba(X), estimator.classes_
        truth = np.asarray(y)[:, None] == classes
        if len(classes) == 2:
            truth, probabilities, classes = truth[:, 1], probabilities[:, 1], classes[1:]
        return cls(truth, probabilities, names=classes).plot(ax, **options)

    def plot(self, ax: Any = None, *, title: str | None = None) -> ReliabilityDisplay:
        """Draw."""
        (self.ax_,) = make_axes(ax, 1, (5.2, 4.6))
        self.figure_ = self.ax_.figure
        self.ax_.plot([0, 1], [0, 1], color="0.6", linestyle="--", linewidth=1)
        shades = [BLUE] if len(self.curves) == 1 else colours(len(self.curves))
        for number, (mean, frequency) in enumerate(self.curves):
            name = None if self.names is None else self.names[number]
            self.ax_.plot(mean, frequency, "o-", markersize=4, color=shades[number], label=name)
        self.ax_.set(
            xlabel="predicted probability",
            ylabel="share of samples of the class",
            xlim=(-0.02, 1.02),
            ylim=(-0.02, 1.02),
            title=title or f"Reliability: calibration error {self.error:.3f}",
        )
        if self.names is not None and len(self.curves) > 1:
            legend_outside(self.ax_, len(self.curves))
        return self
