"""Shapley values: of many predictions, on average, and of one."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.common.checks import check_choice
from kernreg.errors import DataError, ParameterError
from kernreg.plotting.base import BLUE, RED, make_axes, short

KINDS = ("beeswarm", "bar", "one")


class ExplanationDisplay:
    """What each feature adds: as a point for each sample, as a mean magnitude, or from the base to one prediction.

    Parameters
    ----------
    values : array-like of shape (n, d)
        What each feature adds to each prediction.
    data : array-like of shape (n, d)
        The features, which colour the points.
    feature_names : sequence of str
    base : float
        The prediction without any feature.

    Attributes
    ----------
    order : ndarray of int
        The features drawn, from the top down: those with the largest values first.
    offsets : ndarray of shape (n, shown)
        Of a beeswarm: how far each point stands above or below its line.
    ax_, figure_ : Axes, Figure

    Examples
    --------
    >>> display = ExplanationDisplay([[0.5, -0.1], [0.3, 0.2]], [[1.0, 2.0], [3.0, 4.0]], ["age", "height"], 0.0)
    >>> display.plot().order.tolist()
    [0, 1]
    """

    def __init__(self, values: Any, data: Any, feature_names: Any, base: float = 0.0):
        self.values, self.data = np.asarray(values, dtype=np.float64), np.asarray(data, dtype=np.float64)
        self.feature_names, self.base = [str(name) for name in feature_names], float(base)
        if self.values.ndim != 2 or self.values.shape != self.data.shape or not self.values.size:
            raise DataError(
                f"values and data have the shapes {self.values.shape} and {self.data.shape}; give a row for each "
                "sample and a column for each feature"
            )
        if len(self.feature_names) != self.values.shape[1]:
            raise DataError(f"{len(self.feature_names)} names are given for {self.values.shape[1]} features")

    @classmethod
    def from_explanation(
        cls, explanation: Any, kind: str = "beeswarm", *, output: int = 0, ax: Any = None, **options: Any
    ) -> ExplanationDisplay:
        """Draw what ``explain`` of a solver returned.

        Parameters
        ----------
        explanation : Explanation
        kind : {"beeswarm", "bar", "one"}
        output : int
            The class or output, where there are several.
        ax, **options
            As for `plot`.
        """
        base = np.ravel(explanation.base_values)
        values = explanation.of_output(output)
        display = cls(values, explanation.data, explanation.feature_names, base[output if base.size > 1 else 0])
        return display.plot(ax, kind=kind, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "beeswarm",
        sample: int = 0,
        max_features: int = 12,
        title: str | None = None,
    ) -> ExplanationDisplay:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
        kind : {"beeswarm", "bar", "one"}
        sample : int
            The prediction that ``"one"`` shows.
        max_features : int
            How many features get a line; the rest are added up in one prediction, and left out elsewhere.
        title : str, optional
        """
        check_choice("kind", kind, KINDS)
        n = len(self.values)
        if self.values.shape[1] == max_features + 1:  # one line for it, or one for "1 other"
            max_features += 1
        if kind == "one" and not -n <= sample < n:
            raise ParameterError(f"sample={sample} is not accepted; there are {n} samples, from 0")
        sizes = np.abs(self.values[sample]) if kind == "one" else np.abs(self.values).mean(axis=0)
        self.order = np.argsort(-sizes, kind="stable")[:max_features]
        (self.ax_,) = make_axes(ax, 1, (6.4, 1.2 + 0.34 * (len(self.order) + (kind == "one"))))
        self.figure_ = self.ax_.figure
        {"beeswarm": self._swarm, "bar": self._bars, "one": self._one}[kind](sample)
        self.ax_.invert_yaxis()
        named = {"beeswarm": "What each feature adds", "bar": "Mean magnitude of what a feature adds", "one": ""}[kind]
        if kind == "one":
            named = f"From the base {short(self.base)} to {short(self.base + self.values[sample].sum())}"
        self.ax_.set_title(title or named)
        return self

    def _lines(self, names: list[str]) -> None:
        self.ax_.set_yticks(range(len(names)), names)
        self.ax_.tick_params(axis="y", length=0)
        for side in ("top", "right", "left"):
            self.ax_.spines[side].set_visible(False)

    def _swarm(self, sample: int) -> None:
        self.offsets = np.empty((len(self.values), len(self.order)))
        low, high = np.nanpercentile(self.data, [5, 95], axis=0)
        for line, j in enumerate(self.order):
            self.offsets[:, line] = _swarm_offsets(self.values[:, j])
            shade = np.clip((self.data[:, j] - low[j]) / (high[j] - low[j] if high[j] > low[j] else 1.0), 0.0, 1.0)
            points = self.ax_.scatter(
                self.values[:, j],
                line + self.offsets[:, line],
                c=shade,
                cmap="coolwarm",
                s=9,
                vmin=0,
                vmax=1,
                linewidths=0,
                rasterized=len(self.values) > 2000,
            )
        self.ax_.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)
        self._lines([self.feature_names[j] for j in self.order])
        self.ax_.set_xlabel("added to the decision value")
        bar = self.figure_.colorbar(points, ax=self.ax_, ticks=[0, 1], aspect=40, pad=0.02)
        bar.ax.set_yticklabels(["low", "high"])
        bar.set_label("value of the feature", labelpad=-10)
        bar.outline.set_visible(False)

    def _bars(self, sample: int) -> None:
        sizes = np.abs(self.values).mean(axis=0)[self.order]
        self.ax_.barh(range(len(self.order)), sizes, color=BLUE, height=0.65)
        self._lines([self.feature_names[j] for j in self.order])
        self.ax_.set_xlabel("mean magnitude added to the decision value")

    def _one(self, sample: int) -> None:
        values, names = (
            self.values[sample],
            [f"{self.feature_names[j]} = {short(self.data[sample, j])}" for j in self.order],
        )
        parts = list(values[self.order])
        if len(self.order) < len(values):
            names.append(f"{len(values) - len(self.order)} others")
            parts.append(values.sum() - sum(parts))
        reached = self.base + sum(parts)  # from the bottom up: the largest steps last
        for line, part in enumerate(parts):
            before = reached - part
            self.ax_.barh(line, part, left=before, color=RED if part > 0 else BLUE, height=0.65)
            self.ax_.text(
                max(before, reached),
                line,
                f" {'+' if part > 0 else '−'}{short(abs(part))}",
                va="center",
                fontsize="small",
            )
            reached = before
        self.ax_.axvline(self.base, color="0.6", linewidth=0.8, zorder=0)
        self.ax_.margins(x=0.12)
        self._lines(names)
        self.ax_.set_xlabel("decision value")


def _swarm_offsets(values: np.ndarray, width: float = 0.38) -> np.ndarray:
    """Return offsets that spread points of nearly equal value to both sides of their line, within ±width."""
    span = float(np.ptp(values))
    cells = (
        np.zeros(len(values), dtype=np.intp) if span == 0.0 else ((values - values.min()) / span * 60).astype(np.intp)
    )
    offsets = np.zeros(len(values))
    largest = max(np.bincount(cells).max(), 12)
    for cell in np.unique(cells):
        rows = np.flatnonzero(cells == cell)
        ranks = np.arange(len(rows))
        offsets[rows] = np.where(ranks % 2 == 0, 1, -1) * ((ranks + 1) // 2) * (2.0 * width / largest)
    return offsets
