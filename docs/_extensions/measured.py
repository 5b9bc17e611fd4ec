"""Takes the page that `make bench` has written into the site, where there is one."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

FOLDER = "benchmarks"


def setup(app: Any) -> dict[str, bool]:
    """Say whether there is a page before Sphinx reads the others, and copy it after they are written."""
    app.connect("builder-inited", tell)
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True}


def tell(app: Any) -> None:
    """Let pages say ``only:: benchmarks``."""
    if (Path(app.srcdir) / FOLDER / "index.html").is_file():
        app.tags.add(FOLDER)


def copy(app: Any, error: Exception | None) -> None:
    """Copy the page with all that is beside it."""
    if error is None and app.tags.has(FOLDER):
        shutil.copytree(Path(app.srcdir) / FOLDER, Path(app.outdir) / FOLDER, dirs_exist_ok=True)
