"""The tables of the papers, run again: each is described once, and one runner runs them all.

    description.py  Table, Row, Method, Reported: what a description says
    splitting.py    from a data set to training and test samples
    cells.py        one result = one JSON file, written whole or not at all
    running.py      run: every cell that is not there yet
    summary.py      mean, deviation and verdict of each cell, beside the paper's
    report.py       the same as Markdown and as one HTML page
    statistics.py   Friedman, Nemenyi, Wilcoxon
    difference.py   the critical-difference picture
    methods/        what the columns of the tables do
    tables/         the descriptions

Nothing in the core imports this package.
"""

from __future__ import annotations

from kernreg.papers.description import Method, Outcome, Reported, Row, Table
from kernreg.papers.report import write_report
from kernreg.papers.running import run
from kernreg.papers.statistics import friedman, nemenyi, wilcoxon
from kernreg.papers.tables import find_table, table_names

__all__ = [
    "Method",
    "Outcome",
    "Reported",
    "Row",
    "Table",
    "find_table",
    "friedman",
    "nemenyi",
    "run",
    "table_names",
    "wilcoxon",
    "write_report",
]
