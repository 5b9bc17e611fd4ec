"""Pages and pictures that are made before Sphinx reads the site: written where they have changed, and nowhere else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def write(path: Path, text: str) -> None:
    """Write a page unless it says this already: Sphinx reads again what is newer than its own copy."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def remove_others(folder: Path, kept: Iterable[Path]) -> None:
    """Remove pages of names that are no longer there."""
    kept = set(kept)
    for path in folder.rglob("*.rst"):
        if path not in kept:
            path.unlink()


@cache
def sources() -> str:
    """Return a fingerprint of the code of kernreg and of its plugins: a picture is drawn again after a change."""
    digest = hashlib.sha256()
    for folder in (ROOT / "kernreg", *sorted((ROOT / "plugins").glob("*/src"))):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def is_fresh(stamp: Path, text: str) -> bool:
    """Return whether `remember` was called with this text and this code."""
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == _mark(text)


def remember(stamp: Path, text: str) -> None:
    """Write down what was drawn, when all of it is there."""
    write(stamp, _mark(text))


def _mark(text: str) -> str:
    return hashlib.sha256((sources() + text).encode()).hexdigest()
