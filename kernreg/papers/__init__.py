"""The tables and figures of the papers, run again: each is described once, and one runner runs them all.

    description.py  Table, Row, Method, Reported: what a description says
    splitting.py    from a data set to training and test samples
    generated.py    tables that are made on the spot
    cells.py        one result = one JSON file, written whole or not at all
    running.py      run: every cell that is not there yet
    summary.py      mean, deviation and verdict of each cell, beside the paper's
    report.py       what a report says; pages.py: as Markdown and as one HTML page; pictures.py: its pictures
    statistics.py   Friedman, Nemenyi, Wilcoxon
    difference.py   the critical-difference picture
    methods/        what the columns of the tables do
    tables/         the descriptions of tables
    figures/        those of figures, how they are computed and drawn
    finding.py      both by name

Nothing in the core imports this package.
"""

from __future__ import annotations

from kernreg.papers.description import Method, Outcome, Reported, Row, Table
from kernreg.papers.figures import figure_names, find_figure
from kernreg.papers.figures.description import Figure, Part
from kernreg.papers.finding import find, names
from kernreg.papers.report import write_report
from kernreg.papers.running import run
from kernreg.papers.statistics import friedman, nemenyi, wilcoxon
from kernreg.papers.tables import find_table, table_names

__all__ = [
    "Figure",
    "Method",
    "Outcome",
    "Part",
    "Reported",
    "Row",
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
