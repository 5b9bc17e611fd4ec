"""Run a table or a figure: everything that is not there yet, in this process or in several."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from kernreg_papers.description import Table
from kernreg_papers.figures.description import Figure
from kernreg_papers.runner.execution import Place, RunReport, Selection
from kernreg_papers.runner.figures import run_figure
from kernreg_papers.runner.tables import run_table


def run(
    table: Table | Figure,
    out: str | os.PathLike[str],
    only: Selection | None = None,
    *,
    jobs: int = 1,
    data: str | os.PathLike[str] | None = None,
    quick: bool = False,
    download: bool = False,
    tell: Callable[[str], None] | None = None,
) -> RunReport:
    """Run every cell of a table, or part of a figure, that `out` does not hold yet.

    Parameters
    ----------
    table : Table or Figure
    out : path
        Folder of results. Interrupt at any time; the next call goes on.
    only : Selection, optional
        Some rows, methods or trials; everything by default.
    jobs : int
        Processes.
    data : path, optional
        The data folder, by default the one KERNREG_DATA names.
    quick : bool
        Few trials on small subsets; kept apart from full results.
    download : bool
        Whether OpenML may be asked.
    tell : callable, optional
        Called with a line about each cell.

    Returns
    -------
    RunReport

    Examples
    --------
    >>> import tempfile
    >>> from kernreg_papers import Selection, find_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     nothing = run(find_table("ask-table4"), folder, data=folder, quick=True)  # no data in an empty folder
    >>> nothing.made, len(nothing.missing) > 0
    (0, True)
    """
    place, only, say = Place(Path(out), quick, data, download), only or Selection(), tell or (lambda line: None)
    if isinstance(table, Figure):
        return run_figure(table, place, only, jobs, say)
    return run_table(table, place, only, jobs, say)
