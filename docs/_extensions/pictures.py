"""Draws the pictures of pages: runs their Python, and keeps what each block has drawn.

The n-th picture of ``guide/page.md`` is ``_build/pictures/page-n.png``, so what a page shows is what its code draws.
Runs as an extension of Sphinx, and by itself: ``python docs/_extensions/pictures.py docs/guide/uncertainty.md folder``.
A page is run again when it or the code of kernreg has changed. The picture of test error against seconds is drawn from
measurements.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^```\{image\} \.?\.?/?_build/pictures/(\S+)$", re.MULTILINE)


def setup(app: Any) -> dict[str, bool]:
    """Draw before Sphinx reads the pages."""
    app.connect("builder-inited", lambda app: draw_all(Path(app.srcdir)))
    return {"parallel_read_safe": True}


def draw_all(docs: Path) -> None:
    """Draw the pictures of all pages, where they are not what they would be."""
    import files

    from asv_benchmarks.time_to_accuracy import draw as draw_contest

    folder = docs / "_build/pictures"
    for page in pages(docs):
        stamp, text = folder / f"{page.stem}.stamp", page.read_text(encoding="utf-8")
        if not files.is_fresh(stamp, text) or not all((folder / name).is_file() for name in shown(page)):
            draw(page, folder)
            files.remember(stamp, text)
    draw_contest(folder / "time_to_accuracy.png")


def shown(page: Path) -> list[str]:
    """Return the names of the pictures that a page shows."""
    return [name for name in SHOWN.findall(page.read_text(encoding="utf-8")) if name.startswith(f"{page.stem}-")]


def pages(docs: Path) -> list[Path]:
    """Return the pages that show what their code draws."""
    return [page for page in sorted(docs.glob("**/*.md")) if shown(page)]


def draw(page: Path, folder: Path) -> list[Path]:
    """Run the Python of a page and write its pictures into a folder; return them."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from kernreg.registry import isolated

    folder.mkdir(parents=True, exist_ok=True)
    namespace: dict[str, object] = {"__name__": "__main__"}
    written: list[Path] = []
    plt.close("all")
    with isolated():  # what a page registers is not for the catalogues
        for block in FENCE.finditer(page.read_text(encoding="utf-8")):
            if ">>>" in block[1]:  # a session, which the tests compare with what it shows
                continue
            exec(compile(block[1], str(page), "exec"), namespace)
            for number in plt.get_fignums():
                written.append(folder / f"{page.stem}-{len(written) + 1}.png")
                plt.figure(number).savefig(written[-1], dpi=110, bbox_inches="tight", facecolor="white")
            plt.close("all")
    return written


if __name__ == "__main__":
    for path in draw(Path(sys.argv[1]), Path(sys.argv[2])):
        print(path)
