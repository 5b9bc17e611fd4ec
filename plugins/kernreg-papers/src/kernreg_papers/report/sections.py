"""What a report says about one table or figure: what was run of it, and its picture."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from kernreg_papers.description import Table
from kernreg_papers.figures.description import Figure
from kernreg_papers.report.comparison import compare
from kernreg_papers.report.pictures import Picture, picture_of, picture_of_ranks
from kernreg_papers.report.summary import Summary, summarise
from kernreg_papers.runner.figures import Computed, read_figure


@dataclass(frozen=True)
class TableSection:
    """What a report says about a table: the numbers, the comparison of methods in words, and its picture."""

    summary: Summary
    comparison: str
    ranks: Picture | None


@dataclass(frozen=True)
class FigureSection:
    """What a report says about a figure."""

    computed: Computed
    picture: Picture


Section = TableSection | FigureSection


def section_of(entry: Table | Figure, folder: Path, quick: bool, data: str | os.PathLike[str] | None) -> Section:
    """Read what was run of a table or figure, and draw its picture."""
    if isinstance(entry, Figure):
        computed = read_figure(entry, folder, quick=quick, data=data)
        return FigureSection(computed, picture_of(computed))
    summary = summarise(entry, folder, quick=quick, data=data)
    labels, found, words = compare(summary)
    return TableSection(summary, words, picture_of_ranks(entry.name, labels, found))
