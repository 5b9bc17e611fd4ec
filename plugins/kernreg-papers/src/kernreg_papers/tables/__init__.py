"""The tables of the papers, one folder for each paper, one module for each table.

A module is imported when its table is asked for: ``ask-table4`` is ``TABLE`` in ask/table4.py.
"""

from __future__ import annotations

import difflib
from importlib import import_module

from kernreg.errors import ParameterError
from kernreg_papers.description import Table

NAMES = (
    "ask-table1",
    "ind-table1",
    "ask-table4",
    "ask-table3",
    "ind-table2",
    "scg-table3",
    "scg-table4",
    "scg-table5",
    "ksvd-table1",
    "ksvd-table2",
    "ksvd-table3",
    "ksvd-table4",
    "ksvd-table5",
    "ksvd-table7",
)


def table_names() -> tuple[str, ...]:
    """Return the names of all tables.

    >>> "ask-table4" in table_names()
    True
    """
    return NAMES


def find_table(name: str) -> Table:
    """Return the description of a table.

    >>> find_table("ask-table4").title
    'ASK Table IV: UCI data, symmetric and asymmetric kernels'
    """
    if name not in NAMES:
        near = difflib.get_close_matches(name, NAMES, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ParameterError(f"there is no table {name!r}; there are {', '.join(NAMES)}.{hint}")
    table: Table = import_module(f"kernreg_papers.tables.{name.replace('-', '.')}").TABLE
    return table
