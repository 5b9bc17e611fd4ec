"""Failing cases as files: written when they are found, and run again by `make torture REPLAY=file`."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

from torture.attack import Attack, Case


def write_failure(folder: Path, attack: Attack, case: Case, details: dict[str, Any]) -> Path:
    """Write a case and what is known of it, and return the path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{attack.name}-{details['seed']}-{details['index']}.json"
    known = {"attack": attack.name, "case": case, "python": platform.python_version(), **details}
    path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    return path


def read_failure(path: Path) -> tuple[str, Case]:
    """Return the name of the attack and the case of a file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return content["attack"], content["case"]
