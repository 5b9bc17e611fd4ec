"""Leverage, residuals left out and influence of each training sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.errors import DataError
from kernreg.plotting.base import BLUE, RED, make_axes


class InfluenceDisplay:
    """Samples by leverage and residual, as large as their influence; the most influential are numbered.

    Parameters
    ----------
    leverage, residuals, cook : array-like of shape (m,)
        Residuals left out; of several outputs their root mean square.
    degrees_of_freedom : float, optional
    names : sequence, optional
        Of the samples; their numbers by default.

    Attributes
    ----------
    named : ndarray of int
        The samples that are named in the picture.
    ax_, figure_ : Axes, Figure

    Examples
    --------
    >>> display = InfluenceDisplay([0.1, 0.2, 0.9], [0.1, -0.1, 2.0], [0.01, 0.02, 3.0])
    >>> 2 in display.plot().named
    True
    """

    def __init__(
        self, leverage: Any, residuals: Any, cook: Any, *, degrees_of_freedom: float | None = None, names: Any = None
    ):
        self.leverage, self.residuals, self.cook = (
            np.asarray(values, dtype=np.float64) for values in (leverage, residuals, cook)
        )
        if not (self.leverage.shape == self.residuals.shape == self.cook.shape) or self.cook.ndim != 1:
            raise DataError("leverage, residuals and cook are vectors with a number for each sample")
        self.degrees_of_freedom = degrees_of_freedom
        self.names = [str(name) for name in (range(len(self.cook)) if names is None else names)]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **options: Any) -> InfluenceDisplay:
        """Draw the influence of the training samples of a fitted solver."""
        found = estimator.influence()
        residuals = found.loo_residuals
        residuals = residuals if residuals.ndim == 1 else np.sqrt((residuals**2).mean(axis=1))
        display = cls(found.leverage, residuals, found.cook, degrees_of_freedom=found.degrees_of_freedom)
        return display.plot(ax, **options)

    def plot(self, ax: Any = None, *, label: int = 5, title: str | None = None) -> InfluenceDisplay:
        """Draw; ``label`` is how many samples are named."""
        (self.ax_,) = make_axes(ax, 1, (6.0, 4.4))
        self.figure_ = self.ax_.figure
        largest = max(float(self.cook.max(initial=0.0)), np.finfo(np.float64).tiny)
        self.named = np.argsort(-self.cook, kind="stable")[:label]
        shade = np.full(len(self.cook), BLUE, dtype=object)
        shade[self.named] = RED
        self.ax_.axhline(0.0, color="0.7", linewidth=1, zorder=0)
        self.ax_.scatter(
            self.leverage, self.residuals, s=6 + 250 * self.cook / largest, c=list(shade), alpha=0.55, linewidths=0
        )
        for i in self.named:
            self.ax_.annotate(
                self.names[i],
                (self.leverage[i], self.residuals[i]),
                fontsize="small",
                xytext=(5, 4),
                textcoords="offset points",
            )
        freedom = self.degrees_of_freedom
        told = "" if freedom is None else f": {freedom:.1f} degrees of freedom of {len(self.cook)} samples"
        self.ax_.set(xlabel="leverage", ylabel="residual left out", title=title or f"Influence{told}")
        return self
