"""Results on disk: one JSON file for each table × row × method × trial, and for each part of a figure.

A run that was interrupted has whole files only, and goes on where it stopped. A file is used again if it can be read
and was made with the same seed and settings; otherwise the cell is run again.
"""

from __future__ import annotations

import json
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from kernreg.persistence import replacing

FORMAT = 1
_LARGEST = 64 << 20  # bytes of a result
_PACKAGES = ("kernreg", "kernreg-papers", "numpy", "scipy", "scikit-learn", "numba")


def versions() -> dict[str, str]:
    """Return the versions that results depend on."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def versions_of(cell: dict[str, Any]) -> str:
    """Return the versions that a cell was made with, in words."""
    return ", ".join(f"{name} {number}" for name, number in sorted(cell.get("versions", {}).items()))


def profile_folder(out: Path, quick: bool) -> Path:
    """Return where the results of a profile are; those of the two are never mixed."""
    return out / ("quick" if quick else "full")


def cell_path(out: Path, quick: bool, table: str, row: str, method: str, trial: int) -> Path:
    """Return the file of a cell."""
    return profile_folder(out, quick) / table / f"{row}.{method}.{trial:03d}.json"


def part_path(out: Path, quick: bool, figure: str, part: str) -> Path:
    """Return the file of a part of a figure."""
    return profile_folder(out, quick) / figure / f"{part}.json"


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it; of what it cannot, the text."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def write_cell(path: Path, cell: dict[str, Any]) -> None:
    """Write a cell, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(json.dumps(plain(cell), indent=1, ensure_ascii=False, sort_keys=True).encode())


def read_cell(path: Path) -> dict[str, Any] | None:
    """Return a cell, or None where there is no file or nothing usable in it."""
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:  # a pipe may never end
            return None
        cell = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return cell if _is_cell(cell) else None


def _is_cell(cell: Any) -> bool:
    if not isinstance(cell, dict) or cell.get("format") != FORMAT or not isinstance(cell.get("made_with"), dict):
        return False
    if not isinstance(cell.get("versions", {}), dict):
        return False
    if isinstance(cell.get("error"), str):
        return True
    scores, seconds = cell.get("scores"), cell.get("seconds")
    if "part" in cell:
        return isinstance(cell.get("values"), dict) and bool(cell["values"]) and _is_number(seconds)
    return (
        isinstance(scores, dict)
        and bool(scores)
        and all(_is_number(value) for value in scores.values())
        and _is_number(seconds)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def is_done(cell: dict[str, Any] | None, made_with: dict[str, Any]) -> bool:
    """Return whether a cell is a result of these settings; a failure is not, and is tried again."""
    return cell is not None and "error" not in cell and cell["made_with"] == plain(made_with)
