"""The figures of the papers, one module for each. A module is imported when its figure is asked for.

description.py  Figure, Part: what a description says
drawing.py      the picture of what was computed
panels.py       panels and colours that several figures share
"""

from __future__ import annotations

from importlib import import_module

from kernreg.errors import ParameterError
from kernreg_papers.figures.description import Figure

NAMES = ("ind-figure1", "ksvd-figure4", "ksvd-figure5", "scg-figure1", "scg-figure2", "scg-figure3")


def figure_names() -> tuple[str, ...]:
    """Return the names of all figures.

    Examples
    --------
    >>> "scg-figure1" in figure_names()
    True
    """
    return NAMES


def find_figure(name: str) -> Figure:
    """Return the description of a figure.

    Examples
    --------
    >>> find_figure("scg-figure1").name
    'scg-figure1'
    """
    if name not in NAMES:
        raise ParameterError(f"there is no figure {name!r}; there are {', '.join(NAMES)}")
    figure: Figure = import_module(f"kernreg_papers.figures.{name.replace('-', '_')}").FIGURE
    return figure
