"""The figures of the papers, one module for each. A module is imported when its figure is asked for.

description.py  Figure, Part: what a description says
running.py      parts are computed once, and kept as cells of tables are
drawing.py      the picture of what was computed
"""

from __future__ import annotations

from importlib import import_module

from kernreg.errors import ParameterError
from kernreg.papers.figures.description import Figure

#: Name of a figure: its module, which holds it as FIGURE.
MODULES: dict[str, str] = {
    "ind-figure1": "ind1",
    "ksvd-figure4": "ksvd4",
    "ksvd-figure5": "ksvd5",
    "scg-figure1": "scg1",
    "scg-figure2": "scg2",
    "scg-figure3": "scg3",
}


def figure_names() -> tuple[str, ...]:
    """Return the names of all figures."""
    return tuple(MODULES)


def find_figure(name: str) -> Figure:
    """Return the description of a figure."""
    if name not in MODULES:
        raise ParameterError(f"there is no figure {name!r}; there are {', '.join(MODULES) or 'none'}")
    figure: Figure = import_module(f"kernreg.papers.figures.{MODULES[name]}").FIGURE
    return figure
