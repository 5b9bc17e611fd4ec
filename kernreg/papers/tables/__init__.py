"""The descriptions, one module for each table. A module is imported when its table is asked for."""

from __future__ import annotations

import difflib
from importlib import import_module

from kernreg.errors import ParameterError
from kernreg.papers.description import Table

#: Name of a table: its module, which holds it as TABLE.
MODULES = {
    "ask-table1": "ask1",
    "ind-table1": "ind1",
    "ask-table4": "ask4",
    "ask-table3": "ask3",
    "ind-table2": "ind2",
    "scg-table3": "scg3",
    "scg-table4": "scg4",
    "scg-table5": "scg5",
    "ksvd-table1": "ksvd1",
    "ksvd-table2": "ksvd2",
    "ksvd-table3": "ksvd3",
    "ksvd-table4": "ksvd4",
    "ksvd-table5": "ksvd5",
    "ksvd-table7": "ksvd7",
}


def table_names() -> tuple[str, ...]:
    """Return the names of all tables.

    >>> "ask-table4" in table_names()
    True
    """
    return tuple(MODULES)


def find_table(name: str) -> Table:
    """Return the description of a table.

    >>> find_table("ask-table4").title
    'ASK Table IV: UCI data, symmetric and asymmetric kernels'
    """
    if name not in MODULES:
        near = difflib.get_close_matches(name, MODULES, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ParameterError(f"there is no table {name!r}; there are {', '.join(MODULES)}.{hint}")
    table: Table = import_module(f"kernreg.papers.tables.{MODULES[name]}").TABLE
    return table
