"""Tables and figures by name."""

from __future__ import annotations

import difflib

from kernreg.errors import ParameterError
from kernreg_papers.description import Table
from kernreg_papers.figures import figure_names, find_figure
from kernreg_papers.figures.description import Figure
from kernreg_papers.tables import find_table, table_names


def names() -> tuple[str, ...]:
    """Return the names of all tables, then of all figures.

    >>> {"ask-table4", "scg-figure1"} <= set(names())
    True
    """
    return table_names() + figure_names()


def find(name: str) -> Table | Figure:
    """Return the description of a table or figure.

    >>> find("scg-table3").title
    'SCG Table 3: kernels learned from labels'
    """
    if name in figure_names():
        return find_figure(name)
    if name in table_names():
        return find_table(name)
    near = difflib.get_close_matches(name, names(), 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ParameterError(
        f"there is no table {name!r} and no figure of that name; there are {', '.join(names())}.{hint}"
    )
