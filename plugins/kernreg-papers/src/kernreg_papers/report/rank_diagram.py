"""The critical-difference picture: methods on a line of average ranks, bars over those that do not differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernreg.plotting import PALETTE, make_axes
from kernreg_papers.figures.drawing import png
from kernreg_papers.statistics import groups


def draw_difference(labels: Sequence[str], ranks: Any, difference: float, *, ax: Any = None) -> Any:
    """Draw average ranks, best on the left, with a bar over each group within the critical difference.

    Parameters
    ----------
    labels : sequence of str
    ranks : array-like of shape (k,)
    difference : float
        As `nemenyi` returns.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    values = np.asarray(ranks, dtype=np.float64)
    k = len(values)
    (axes,) = make_axes(ax, 1, (7.0, 1.2 + 0.28 * k))
    order = np.argsort(values, kind="stable")
    left = (k + 1) // 2
    axes.plot([1, k], [0, 0], color="black", linewidth=1)
    for place, method in enumerate(order):
        good = place < left
        depth = -1.0 - (place if good else k - 1 - place)
        end = 0.6 if good else k + 0.4
        axes.plot([values[method], values[method], end], [0, depth, depth], color="black", linewidth=0.8)
        axes.text(end, depth, f"{labels[method]} {values[method]:.2f} ", ha="right" if good else "left", va="center")
    for level, group in enumerate(groups(values, difference)):
        ends = [values[group].min() - 0.04, values[group].max() + 0.04]
        axes.plot(ends, [-0.25 - 0.18 * level] * 2, color=PALETTE[0], linewidth=3, solid_capstyle="round")
    axes.plot([1, 1 + difference], [1, 1], color="black", linewidth=2)
    axes.text(1 + difference / 2, 1.15, f"critical difference {difference:.2f}", ha="center", va="bottom")
    for rank in range(1, k + 1):
        axes.plot([rank, rank], [0, 0.12], color="black", linewidth=0.8)
        axes.text(rank, 0.2, str(rank), ha="center", va="bottom", fontsize=8)
    axes.set_xlim(-1.5, k + 2.5)
    axes.axis("off")
    return axes


def difference_png(labels: Sequence[str], ranks: Any, difference: float) -> bytes:
    """Return the picture as a PNG file."""
    return png(draw_difference(labels, ranks, difference).figure)
