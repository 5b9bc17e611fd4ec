"""Draws the pictures of pages: runs their Python, and keeps what each block has drawn.

The n-th picture of ``page.md`` is ``_build/page-n.png``, so what a page shows is what its code draws. Runs as an
extension of Sphinx, and by itself: ``python docs/_extensions/pictures.py docs/guide/uncertainty.md folder``. The picture of test error
against seconds is drawn from measurements.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

#: The pages that show what their code draws.
PAGES = ("guide/asymmetric.md", "guide/krein.md", "guide/structured.md", "guide/uncertainty.md")
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def setup(app: Any) -> dict[str, bool]:
    """Draw before Sphinx reads the pages."""
    docs = Path(app.srcdir)
    for name in PAGES:
        draw(docs / name, docs / "_build")
    sys.path.insert(0, str(docs.parent))
    from asv_benchmarks.time_to_accuracy import draw as draw_contest

    draw_contest(docs / "_build" / "time_to_accuracy.png")
    return {"parallel_read_safe": True}


def draw(page: Path, folder: Path) -> list[Path]:
    """Run the Python of a page and write its pictures into a folder; return them."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    namespace: dict[str, object] = {"__name__": "__main__"}
    written: list[Path] = []
    plt.close("all")
    for block in FENCE.finditer(page.read_text(encoding="utf-8")):
        exec(compile(block[1], str(page), "exec"), namespace)
        for number in plt.get_fignums():
            written.append(folder / f"{page.stem}-{len(written) + 1}.png")
            plt.figure(number).savefig(written[-1], dpi=110, bbox_inches="tight", facecolor="white")
        plt.close("all")
    return written


if __name__ == "__main__":
    for path in draw(Path(sys.argv[1]), Path(sys.argv[2])):
        print(path)
