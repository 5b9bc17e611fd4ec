"""What the cells of a table say together, beside what the paper says."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernreg_papers.data.splits import is_available
from kernreg_papers.description import Method, Reported, Row, Table
from kernreg_papers.runner.cells import cell_path, plain, profile_folder, read_cell, versions_of
from kernreg_papers.runner.tables import made_with

#: How far from the paper's number is near, where the paper gives no deviation; of numbers above one, as a share.
NEAR = 0.02


@dataclass(frozen=True)
class Entry:
    """A cell of the finished table, for one measure.

    Attributes
    ----------
    state : {"done", "failed", "not run", "too large", "data not available", "plugin not installed", "–"}
        The last where the method ran, and has no such measure.
    trials : int
    mean, std, seconds : float or None
        Over trials; the deviation is that of a sample (n - 1), None for a single trial.
    paper : Reported or None
    error : str
    judged : bool
        Whether nearness says anything.
    """

    state: str
    trials: int = 0
    mean: float | None = None
    std: float | None = None
    seconds: float | None = None
    paper: Reported | None = None
    error: str = ""
    judged: bool = True

    @property
    def near(self) -> bool | None:
        """Whether ours is within the paper's deviation (0.02, or 2 %, where none is given); None without both."""
        if self.mean is None or self.paper is None or not self.judged:
            return None
        allowed = NEAR * max(1.0, abs(self.paper.mean)) if self.paper.std is None else self.paper.std
        return abs(self.mean - self.paper.mean) <= allowed + 1e-9


@dataclass(frozen=True)
class Summary:
    """A table with our numbers: entries[measure][row, method]."""

    table: Table
    quick: bool
    entries: dict[str, dict[tuple[str, str], Entry]]
    versions: tuple[str, ...]

    @property
    def anything(self) -> bool:
        """Whether any cell was run."""
        return any(entry.trials for entries in self.entries.values() for entry in entries.values())

    def complete_scores(self) -> tuple[list[str], list[str], np.ndarray]:
        """Return rows, methods and means of the first measure, for all rows in which every method that ran has one."""
        measure = self.table.measures[0]
        entries, having = self.entries[measure], self.table.rows_with(measure)
        methods = [m.name for m in self.table.methods if any(entries[r.name, m.name].trials for r in having)]
        rows = [r.name for r in having if all(entries[r.name, m].trials for m in methods)] if methods else []
        means = np.array([[entries[row, method].mean for method in methods] for row in rows], dtype=np.float64)
        return rows, methods, means


def summarise(
    table: Table, out: str | os.PathLike[str], *, quick: bool = False, data: str | os.PathLike[str] | None = None
) -> Summary:
    """Read what was run of a table. Results of other settings than the description's are not counted."""
    folder, seen = Path(out), set()
    here = profile_folder(folder, quick) / table.name
    names = sorted(path.name for path in here.glob("*.json")) if here.is_dir() else []
    measures: dict[str, dict[tuple[str, str], Entry]] = {measure: {} for measure in table.measures}
    for row in table.rows:
        present = is_available(row, data)
        for method in table.methods:
            start = f"{row.name}.{method.name}."
            trials = [int(name[len(start) : -5]) for name in names if name.startswith(start)]
            found = [
                cell
                for trial in trials
                if (cell := read_cell(cell_path(folder, quick, table.name, row.name, method.name, trial))) is not None
                and cell["made_with"] == plain(made_with(table, row.name, method.name, trial, quick))
            ]
            cells = [cell for cell in found if "error" not in cell]
            errors = [cell["error"] for cell in found if "error" in cell]
            seen |= {versions_of(cell) for cell in cells}
            for measure in table.measures:
                if row.measures and measure not in row.measures:
                    continue
                measures[measure][row.name, method.name] = _entry(table, row, method, measure, cells, errors, present)
    return Summary(table, quick, measures, tuple(sorted(seen)))


def _entry(
    table: Table, row: Row, method: Method, measure: str, cells: list[dict], errors: list[str], present: bool
) -> Entry:
    paper = table.reported.get(measure, {}).get((row.name, method.name))
    ran = bool(cells)
    cells = [cell for cell in cells if measure in cell["scores"]]
    if ran and not cells:
        return Entry("–", paper=paper)
    if not cells:
        state = "failed" if errors else "not run" if present else "data not available"
        if state == "not run" and row.name in method.too_large:
            state = "too large"
        if not method.is_installed and not errors:
            state = "plugin not installed"
        return Entry(state, paper=paper, error=errors[0] if errors else "")
    values = np.array([cell["scores"][measure] for cell in cells])
    return Entry(
        "done",
        len(values),
        float(values.mean()),
        float(values.std(ddof=1)) if len(values) > 1 else None,
        float(np.mean([cell["seconds"] for cell in cells])),
        paper,
        errors[0] if errors else "",
        measure not in table.unmarked,
    )
