"""The report as files: Markdown with its pictures beside it, and one HTML page that needs nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from kernreg.persistence import replacing
from kernreg_papers.description import Table
from kernreg_papers.figures.description import Figure
from kernreg_papers.report.pages import markdown, page
from kernreg_papers.report.sections import FigureSection, section_of


def write_report(
    entries: Iterable[Table | Figure],
    out: str | os.PathLike[str],
    *,
    quick: bool = False,
    data: str | os.PathLike[str] | None = None,
) -> tuple[Path, Path]:
    """Write ``report.md`` (with its pictures in a folder beside it) and ``report.html``, and return their paths.

    Parameters
    ----------
    entries : iterable of Table or Figure
    out : path
        The folder of results.
    quick : bool
        Report the quick profile.
    data : path, optional
        The data folder, to tell what is not run from what cannot be run.

    Examples
    --------
    >>> import tempfile
    >>> from kernreg_papers import find_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = write_report([find_table("ask-table4")], folder, quick=True, data=folder)
    >>> [path.name for path in paths]
    ['report-quick.md', 'report-quick.html']
    """
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    sections = [section_of(entry, folder, quick, data) for entry in entries]
    name = "report-quick" if quick else "report"
    pictures = f"{name}-pictures"
    for section in sections:
        picture = section.picture if isinstance(section, FigureSection) else section.ranks
        if picture is not None and picture.png is not None:
            (folder / pictures).mkdir(exist_ok=True)
            with replacing(folder / pictures / f"{picture.name}.png") as file:
                file.write(picture.png)
    paths = folder / f"{name}.md", folder / f"{name}.html"
    for path, text in zip(paths, (markdown(sections, pictures), page(sections)), strict=True):
        with replacing(path) as file:
            file.write(text.encode())
    return paths
