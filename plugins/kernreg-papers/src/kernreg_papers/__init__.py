"""The tables and figures of the papers, run again: each is described once, and one runner runs them all.

    description.py  Table, Row, Method, Reported: what a description says
    catalogue.py    tables and figures by name
    statistics.py   Friedman, Nemenyi, Wilcoxon
    data/           from a data set to training and test samples
    methods/        what the columns of the tables do
    tables/         the descriptions of tables
    figures/        those of figures, and how they are drawn
    runner/         run: every cell that is not there yet
    report/         our numbers beside the papers'
    command.py      kernreg papers

It uses public names of kernreg only.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__kernreg_api__ = "1.0"

__all__ = [
    "Figure",
    "Method",
    "Outcome",
    "Part",
    "Reported",
    "Row",
    "RunReport",
    "Selection",
    "Table",
    "figure_names",
    "find",
    "find_figure",
    "find_table",
    "friedman",
    "names",
    "nemenyi",
    "run",
    "table_names",
    "wilcoxon",
    "write_report",
]

if TYPE_CHECKING:
    from kernreg_papers.catalogue import find, names
    from kernreg_papers.description import Method, Outcome, Reported, Row, Table
    from kernreg_papers.figures import figure_names, find_figure
    from kernreg_papers.figures.description import Figure, Part
    from kernreg_papers.report.files import write_report
    from kernreg_papers.runner.execution import RunReport, Selection
    from kernreg_papers.runner.run import run
    from kernreg_papers.statistics import friedman, nemenyi, wilcoxon
    from kernreg_papers.tables import find_table, table_names

# Loaded when first used: `kernreg papers --help` needs no numerical package.
_HOMES = {
    "kernreg_papers.catalogue": ("find", "names"),
    "kernreg_papers.description": ("Method", "Outcome", "Reported", "Row", "Table"),
    "kernreg_papers.figures": ("figure_names", "find_figure"),
    "kernreg_papers.figures.description": ("Figure", "Part"),
    "kernreg_papers.report.files": ("write_report",),
    "kernreg_papers.runner.execution": ("RunReport", "Selection"),
    "kernreg_papers.runner.run": ("run",),
    "kernreg_papers.statistics": ("friedman", "nemenyi", "wilcoxon"),
    "kernreg_papers.tables": ("find_table", "table_names"),
}


def __getattr__(name: str) -> Any:
    home = next((module for module, held in _HOMES.items() if name in held), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; its names are {', '.join(__all__)}")
    value = globals()[name] = getattr(import_module(home), name)
    return value
