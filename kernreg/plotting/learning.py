"""Scores of subsets of the training samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.plotting.base import BLUE, ORANGE, make_axes


class LearningCurveDisplay:
    """Leave-one-out and training scores against the number of samples, with one standard deviation.

    Parameters
    ----------
    sizes : array-like of shape (s,)
    loo_scores, train_scores : array-like of shape (s, repeats)
    score_name : str

    Attributes
    ----------
    ax_, figure_ : Axes, Figure

    Examples
    --------
    >>> display = LearningCurveDisplay([10, 20], [[0.5, 0.6], [0.7, 0.8]], [[0.9, 0.9], [0.9, 0.9]])
    >>> len(display.plot().ax_.lines)
    2
    """

    def __init__(self, sizes: Any, loo_scores: Any, train_scores: Any, *, score_name: str = "score"):
        self.sizes = np.asarray(sizes)
        self.loo_scores, self.train_scores = np.asarray(loo_scores), np.asarray(train_scores)
        self.score_name = score_name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, title: str | None = None, **options: Any) -> Any:
        """Draw the learning curve of a fitted solver; options are those of its ``learning_curve``."""
        found = estimator.learning_curve(**options)
        name = "accuracy" if hasattr(estimator, "classes_") else "R²"
        return cls(found.sizes, found.loo_scores, found.train_scores, score_name=name).plot(ax, title=title)

    def plot(self, ax: Any = None, *, title: str | None = None) -> LearningCurveDisplay:
        """Draw."""
        (self.ax_,) = make_axes(ax, 1, (5.6, 4.2))
        self.figure_ = self.ax_.figure
        for scores, colour, name in ((self.train_scores, ORANGE, "fitted"), (self.loo_scores, BLUE, "left out")):
            mean, std = scores.mean(axis=1), scores.std(axis=1)
            self.ax_.fill_between(self.sizes, mean - std, mean + std, color=colour, alpha=0.2, linewidth=0)
            self.ax_.plot(self.sizes, mean, "o-", color=colour, markersize=4, label=name)
        self.ax_.set(xlabel="samples", ylabel=self.score_name, title=title or "Learning curve")
        self.ax_.legend(loc="best")
        return self
