"""Compute the parts of a figure that are not there yet, and read those that are."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from kernreg.errors import MissingDataset
from kernreg.papers.cells import FORMAT, is_done, part_path, read_cell, versions, versions_of, write_cell
from kernreg.papers.figures.description import Figure, Part
from kernreg.papers.running import FAILURES, MOST_WARNINGS, RunReport, check_names
from kernreg.papers.splitting import is_available, load_row, seed_of


def run_figure(
    figure: Figure,
    out: Path,
    *,
    jobs: int,
    data: Any,
    quick: bool,
    download: bool,
    rows: tuple[str, ...],
    say: Callable[[str], None],
) -> RunReport:
    """Compute every part of a figure that `out` does not hold yet; `kernreg.papers.run` calls it."""
    check_names(figure.name, "part", rows, [part.name for part in figure.parts])
    started, todo, kept, missing = time.perf_counter(), [], 0, []
    for part in figure.parts:
        if rows and part.name not in rows:
            continue
        if is_done(read_cell(part_path(out, quick, figure.name, part.name)), made_with(figure, part, quick)):
            kept += 1
            continue
        try:
            if part.row is not None:
                load_row(part.row, data, download)
        except MissingDataset as error:
            missing.append(f"{part.name}: {error}")
            say(f"{part.name}: data not available")
            continue
        todo.append(part.name)
    tasks = (delayed(run_part)(figure, name, out, data, quick, download) for name in todo)
    failed = 0
    for number, (done, line) in enumerate(Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks), 1):
        failed += not done
        say(f"[{number}/{len(todo)}] {line}")
    return RunReport(len(todo) - failed, kept, failed, tuple(missing), time.perf_counter() - started)


def made_with(figure: Figure, part: Part, quick: bool) -> dict[str, Any]:
    """Return all that a part depends on, but for versions."""
    return {
        "seed": seed_of(figure.name, part.name, 0),
        "quick": quick,
        "data": part.data,
        "missing": part.missing,
        "settings": part.settings_of(quick),
    }


def run_part(figure: Figure, name: str, out: Path, data: Any, quick: bool, download: bool) -> tuple[bool, str]:
    """Compute one part and write its file; return whether it went well, and a line about it."""
    part = figure.part(name)
    how = made_with(figure, part, quick)
    cell: dict[str, Any] = {
        "format": FORMAT,
        "figure": figure.name,
        "part": name,
        "made_with": how,
        "versions": versions(),
    }
    loaded = None if part.row is None else load_row(part.row, data, download)
    started = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as warned:  # kept in the result instead of printed
            warnings.simplefilter("always")
            cell["values"] = dict(part.compute(loaded, how["seed"], **part.settings_of(quick)))
        cell["warnings"] = sorted({f"{item.category.__name__}: {item.message}" for item in warned})[:MOST_WARNINGS]
        cell["seconds"] = time.perf_counter() - started
    except FAILURES as error:
        cell["error"] = f"{type(error).__name__}: {error}"
    write_cell(part_path(out, quick, figure.name, name), cell)
    if "error" in cell:
        return False, f"{name}: failed, {cell['error']}"
    return True, f"{name}: computed ({cell['seconds']:.1f} s)"


@dataclass(frozen=True)
class Computed:
    """A figure with what was computed of it.

    Attributes
    ----------
    figure : Figure
    quick : bool
    values : dict
        Part → what its `compute` returned, of the parts that are there.
    states : dict
        Part → "done", "failed", "not run" or "data not available".
    errors : dict
        Part → message, of those that failed.
    seconds : dict
        Part → time it took.
    versions : tuple of str
    """

    figure: Figure
    quick: bool
    values: dict[str, dict[str, Any]]
    states: dict[str, str]
    errors: dict[str, str]
    seconds: dict[str, float]
    versions: tuple[str, ...]


def read_figure(figure: Figure, out: Path, *, quick: bool, data: Any = None) -> Computed:
    """Read what was computed of a figure. Results of other settings than the description's are not counted."""
    values, states, errors, seconds, seen = {}, {}, {}, {}, set()
    for part in figure.parts:
        cell = read_cell(part_path(out, quick, figure.name, part.name))
        if cell is not None and is_done(cell, made_with(figure, part, quick)):
            values[part.name], states[part.name] = cell["values"], "done"
            seconds[part.name] = cell["seconds"]
            seen.add(versions_of(cell))
        elif cell is not None and "error" in cell:
            states[part.name], errors[part.name] = "failed", cell["error"]
        else:
            present = part.row is None or is_available(part.row, data)
            states[part.name] = "not run" if present else "data not available"
    return Computed(figure, quick, values, states, errors, seconds, tuple(sorted(seen)))
