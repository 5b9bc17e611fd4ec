"""The parts of a figure: which are to be computed, how one is, and what is there."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernreg.errors import MissingDataset
from kernreg_papers.data.splits import is_available, load_row, seed_of
from kernreg_papers.figures.description import Figure, Part
from kernreg_papers.runner.cells import FORMAT, is_done, part_path, read_cell, versions, versions_of, write_cell
from kernreg_papers.runner.execution import FAILURES, Place, RunReport, Selection, Work, check_names, execute, timed


def run_figure(figure: Figure, place: Place, only: Selection, jobs: int, say: Callable[[str], None]) -> RunReport:
    """Compute every part of a figure that is not there yet; `run` calls it."""
    check_names(figure.name, "part", only.rows, [part.name for part in figure.parts])
    started, work = time.perf_counter(), Work([], 0, [])
    for part in figure.parts:
        if only.rows and part.name not in only.rows:
            continue
        cell = read_cell(part_path(place.out, place.quick, figure.name, part.name))
        if is_done(cell, made_with(figure, part, place.quick)):
            work.kept += 1
            continue
        try:
            if part.row is not None:
                load_row(part.row, place.data, place.download)
        except MissingDataset as error:
            work.missing.append(f"{part.name}: {error}")
            say(f"{part.name}: data not available")
            continue
        work.todo.append((figure, part.name, place))
    return execute(run_part, work, jobs, say, started)


def made_with(figure: Figure, part: Part, quick: bool) -> dict[str, Any]:
    """Return all that a part depends on, but for versions."""
    return {
        "seed": seed_of(figure.name, part.name, 0),
        "quick": quick,
        "data": part.data,
        "missing": part.missing,
        "settings": part.settings_of(quick),
    }


def run_part(figure: Figure, name: str, place: Place) -> tuple[bool, str]:
    """Compute one part and write its file; return whether it went well, and a line about it."""
    part = figure.part(name)
    how = made_with(figure, part, place.quick)
    cell: dict[str, Any] = {
        "format": FORMAT,
        "figure": figure.name,
        "part": name,
        "made_with": how,
        "versions": versions(),
    }
    loaded = None if part.row is None else load_row(part.row, place.data, place.download)
    try:
        settings = part.settings_of(place.quick)
        cell["values"] = timed(cell, lambda: dict(part.compute(loaded, how["seed"], **settings)))
    except FAILURES as error:
        cell["error"] = f"{type(error).__name__}: {error}"
    write_cell(part_path(place.out, place.quick, figure.name, name), cell)
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
