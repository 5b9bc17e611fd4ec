"""What every display needs: matplotlib when it is there, axes, colours, markers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernreg.errors import MissingExtra, ParameterError

#: Colours that differ in lightness too, and so without colour vision: blue, orange, green, red, …
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#7f7f7f", "#b8a900", "#332288", "#882255")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "<", ">", "*")
BLUE, ORANGE, GREEN, RED = PALETTE[:4]


def pyplot() -> Any:
    """Return matplotlib.pyplot, or raise MissingExtra.

    Examples
    --------
    >>> pyplot().__name__
    'matplotlib.pyplot'
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtra("pictures need matplotlib, which is not installed: pip install matplotlib") from error
    return plt


def make_axes(ax: Any, count: int, size: tuple[float, float] = (5.2, 4.4), *, share: bool = False) -> list[Any]:
    """Return the axes to draw on: those given, checked, or a new figure with `count` of them side by side.

    Parameters
    ----------
    ax : Axes, sequence of Axes or None
    count : int
    size : tuple of float
        Width and height of one panel of a new figure, in inches.
    share : bool
        Whether new panels share their axes.

    Examples
    --------
    >>> axes = make_axes(None, 2)
    >>> len(axes)
    2
    """
    plt = pyplot()
    if ax is None:
        shape = {"figsize": (size[0] * count, size[1]), "layout": "constrained", "squeeze": False}
        _, axes = plt.subplots(1, count, sharex=share, sharey=share, **shape)
        return list(axes[0])
    given = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(given) != count:
        raise ParameterError(f"ax has {len(given)} axes, and this display has {count} panels; give one for each")
    return given


def colours(count: int) -> list[Any]:
    """Return as many distinct colours."""
    if count <= len(PALETTE):
        return list(PALETTE[:count])
    return list(pyplot().get_cmap("turbo")(np.linspace(0.03, 0.97, count)))


def short(value: float) -> str:
    """Return a number with three digits, without an exponent where none is needed.

    >>> short(1000.0), short(0.0285123), short(1.5e-7)
    ('1000', '0.0285', '1.5e-07')
    """
    return f"{float(f'{value:.3g}'):g}"


def by_class(labels: Any, names: Sequence[str] | None = None) -> list[tuple[np.ndarray, str, Any, str]]:
    """Return (rows, name, colour, marker) for each class, in the order of the classes.

    Examples
    --------
    >>> [(name, rows.tolist()) for rows, name, colour, marker in by_class(["a", "b", "a"])]
    [('a', [0, 2]), ('b', [1])]
    """
    classes, codes = np.unique(np.asarray(labels), return_inverse=True)
    if names is not None and len(names) != len(classes):
        raise ParameterError(f"{len(names)} names are given for {len(classes)} classes")
    shown = [str(name) for name in (classes if names is None else names)]
    return [
        (np.flatnonzero(codes == c), shown[c], colour, MARKERS[c % len(MARKERS)])
        for c, colour in enumerate(colours(len(classes)))
    ]


def legend_outside(ax: Any, count: int, **options: Any) -> None:
    """Put a legend of many entries beside the axes, one of few where there is room inside.

    Examples
    --------
    >>> (ax,) = make_axes(None, 1)
    >>> for number in range(20):
    ...     _ = ax.plot([0, 1], [0, number], label=str(number))
    >>> legend_outside(ax, 20)
    >>> len(ax.get_legend().get_texts())
    20
    """
    if count > 6:
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), ncols=1 + (count - 1) // 16, **options)
    else:
        ax.legend(loc="best", **options)
