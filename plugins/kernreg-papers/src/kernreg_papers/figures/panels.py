"""Panels that several figures draw, and their colours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kernreg.plotting import PALETTE, by_class, legend_outside

BLUE, _, GREEN = PALETTE[:3]


def clouds(axes: list[Any], values: Mapping[str, Any]) -> None:
    """Draw ``points`` in the plane, coloured by ``classes``, under a ``title``; names for more than two."""
    (ax,) = axes
    points = np.asarray(values["points"], dtype=np.float64)
    groups = by_class(values["classes"])
    size = 14.0 if len(points) < 500 else 5.0
    for rows, name, colour, marker in groups:
        ax.scatter(*points[rows].T, s=size, color=colour, marker=marker, linewidths=0, alpha=0.8, label=name)
    if len(groups) > 2:
        legend_outside(ax, len(groups), markerscale=2.0 if size < 10 else 1.0, fontsize=8)
    ax.set(title=values["title"], xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="datalim")  # distances are what is to be seen


def curves(ax: Any, x: Any, lines: Mapping[str, Any], *, title: str = "", xlabel: str = "", ylabel: str = "") -> None:
    """Draw lines over common places, with a legend where there are several."""
    for (name, y), (_, _, colour, marker) in zip(lines.items(), by_class(np.arange(len(lines))), strict=True):
        ax.plot(x, y, color=colour, marker=marker, markersize=4, label=name)
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel)
    if len(lines) > 1:
        ax.legend(fontsize=8)
