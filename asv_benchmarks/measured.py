"""What asv has written: one result file per commit, read into plain numbers."""

from __future__ import annotations

import importlib.metadata
import json
import math
import platform
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("kernreg", "numpy", "scipy", "numba", "scikit-learn")


@dataclass(frozen=True)
class Measured:
    """One benchmark: its parameters by name, and a value for each combination of them."""

    name: str
    unit: str
    parameters: list[tuple[str, list[str]]]
    values: list[float | None]

    def rows(self) -> list[tuple[tuple[str, ...], float | None]]:
        """Return every combination of parameters with its value."""
        combinations = product(*(values for _, values in self.parameters))
        return list(zip(combinations, self.values, strict=False))

    def at(self, parameters: tuple[str, ...]) -> float | None:
        """Return the value for these parameters."""
        return next((value for found, value in self.rows() if found == parameters), None)


@dataclass(frozen=True)
class Run:
    """Everything measured at one commit on one machine."""

    commit: str
    date: int
    machine: dict[str, str]
    measured: list[Measured]

    def about(self) -> dict[str, Any]:
        """Return what a page says of where its numbers come from."""
        return {
            "commit": self.commit[:10],
            "python": platform.python_version(),
            "cpu": self.machine.get("cpu") or platform.machine(),
            "cores": self.machine.get("num_cpu") or "",
            "versions": {name: version(name) for name in PACKAGES},
        }


def version(distribution: str) -> str:
    """Return the installed version, or nothing."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def files(results: Path = RESULTS) -> list[Path]:
    """Return asv's result files, the oldest first."""
    found = [path for path in results.glob("*/*.json") if path.name != "machine.json"]
    if not found:
        raise SystemExit(f"no results in {results}; run: make bench")
    return sorted(found, key=lambda path: path.stat().st_mtime)


def read(path: Path) -> Run:
    """Return what one file holds; benchmarks that were not run, failed or are no longer there are left out."""
    known = json.loads((path.parent.parent / "benchmarks.json").read_text(encoding="utf-8"))
    found = json.loads(path.read_text(encoding="utf-8"))
    measured = []
    for name, row in sorted(found["results"].items()):
        record = dict(zip(found["result_columns"], row, strict=False))
        if record.get("result") is None or name not in known:
            continue
        values = [None if v is None or (isinstance(v, float) and math.isnan(v)) else float(v) for v in record["result"]]
        names = known[name].get("param_names") or []
        parameters = list(zip(names, record.get("params") or [], strict=False))
        measured.append(Measured(name, known[name].get("unit") or "seconds", parameters, values))
    return Run(found["commit_hash"], int(found.get("date", 0)), dict(found.get("params") or {}), measured)


def newest(results: Path = RESULTS) -> Run:
    """Return the run whose file was written last."""
    return read(files(results)[-1])


def history(results: Path = RESULTS) -> list[Run]:
    """Return every run there is, in the order of the commits' dates."""
    return sorted((read(path) for path in files(results)), key=lambda run: run.date)
