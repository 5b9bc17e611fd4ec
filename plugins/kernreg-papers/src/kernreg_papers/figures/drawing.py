"""From what was computed to a picture. matplotlib is asked for only here, and in what the parts draw."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from kernreg.errors import ParameterError
from kernreg.plotting import pyplot
from kernreg_papers.figures.description import Figure

DOTS_PER_INCH = 100


def draw_figure(figure: Figure, values: Mapping[str, Mapping[str, Any]], *, ax: Any = None) -> list[Any]:
    """Draw the parts of a figure that are there, and return their axes.

    Parameters
    ----------
    figure : Figure
    values : mapping
        Part → its values, as `read_figure` returns.
    ax : sequence of Axes, optional
        One for each panel; by default a new picture is made.
    """
    parts = [part for part in figure.parts if part.name in values]
    count = sum(part.panels for part in parts)
    if not count:
        raise ParameterError(f"nothing of {figure.name} was computed; run it first: kernreg papers run {figure.name}")
    if ax is None:
        columns = min(figure.columns, count)
        rows = -(-count // columns)
        size = figure.size[0] * columns, figure.size[1] * rows
        _, made = pyplot().subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
        axes = list(made.ravel())
        for empty in axes[count:]:
            empty.axis("off")
    else:
        axes = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(axes) != count:
            raise ParameterError(f"ax has {len(axes)} axes; {figure.name} has {count} panels with data")
    place = 0
    for part in parts:
        part.draw(axes[place : place + part.panels], values[part.name])
        place += part.panels
    return axes[:count]


def figure_png(figure: Figure, values: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Return the picture as a PNG file."""
    return png(draw_figure(figure, values)[0].figure)


def png(picture: Any) -> bytes:
    """Return a picture of matplotlib as a PNG file, and close it."""
    buffer = io.BytesIO()
    picture.savefig(buffer, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None})
    pyplot().close(picture)
    return buffer.getvalue()
