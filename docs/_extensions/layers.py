"""The picture of the layers, for architecture.md: from the contract in pyproject.toml and the imports there really are.

`make docs` draws it, as an extension of Sphinx, into ``_build``. ``python docs/_extensions/layers.py layers.svg`` draws it
alone.
"""

from __future__ import annotations

import sys
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "kernreg"

NAME, ROOMS, CELL, LINE, PAD, HEAD, GAP = 108, 452, 22, 16, 6, 92, 6  # lengths, in pixels
LETTERS = 66  # as many of 11 pixels as fit into a line of rooms, the gaps between their names included


def layers() -> list[tuple[str, ...]]:
    """Return the layers of the contract from the top down; those on one line are one layer."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (contract,) = (each for each in settings["contracts"] if each["type"] == "layers")
    return [tuple(name.strip() for name in line.split("|")) for line in contract["layers"]]


def imports(order: list[tuple[str, ...]]) -> Counter[tuple[int, int]]:
    """Return how many imports lead from one layer to another, those inside functions included."""
    import grimp

    graph = grimp.build_graph(PACKAGE, exclude_type_checking_imports=True, cache_dir=None)
    number = {name: place for place, names in enumerate(order) for name in names}
    found: Counter[tuple[int, int]] = Counter()
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            start, stop = (number.get(f"{name}.".split(".")[1]) for name in (module, imported))
            if start is not None and stop is not None and start != stop:
                found[start, stop] += 1
    return found


def rooms(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the sub-packages and the modules of a layer, but for private ones."""
    found = [path for name in names for path in (ROOT / PACKAGE / name).glob("*") if not path.name.startswith("_")]
    packages = sorted(path.name for path in found if (path / "__init__.py").is_file())
    return packages, sorted(path.stem for path in found if path.suffix == ".py")


def lines_of_rooms(names: Iterable[str]) -> list[str]:
    """Return the names of the rooms in lines that fit into a box, those of sub-packages bold and black."""
    packages, modules = rooms(names)
    styles = dict.fromkeys(packages, ' font-weight="bold" fill="#000000"')
    return [
        "".join(f'<tspan dx="{GAP}"{styles.get(name, "")}>{escape(name)}</tspan>' for name in line.split())
        for line in textwrap.wrap(" ".join(packages + modules), LETTERS)
    ]


def draw() -> str:
    """Return the picture as SVG: a box for each layer, and beside it how many imports lead to those below it."""
    order = layers()
    counted = imports(order)
    contents = [lines_of_rooms(names) for names in order]
    heights = [max(26, LINE * len(lines) + 2 * PAD) for lines in contents]
    left = NAME + ROOMS + 10
    width, height = left + CELL * len(order) + 30, HEAD + sum(height + 3 for height in heights) + 4
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" font-family="sans-serif" font-size="11" role="img" aria-labelledby="what">',
            f'<title id="what">The layers of {PACKAGE}, and how many imports lead from each to those below it</title>',
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            f'<text x="4" y="{HEAD - 10}" fill="#555555">layer, and the rooms in it</text>',
            *_boxes(order, contents, heights, counted, left),
            "</svg>\n",
        ]
    )


def _boxes(
    order: list[tuple[str, ...]], contents: Any, heights: list[int], counted: Counter[tuple[int, int]], left: int
) -> Iterator[str]:
    most, y = max(counted.values()), HEAD
    for row, (names, lines, height) in enumerate(zip(order, contents, heights, strict=True)):
        name, x = escape(" | ".join(names)), left + CELL * row
        yield f'<rect x="2" y="{y}" width="{left - 8}" height="{height}" rx="4" fill="#eef4fa" stroke="#7a9cc0"/>'
        yield f'<text x="10" y="{y + height / 2 + 4}" font-weight="bold" font-size="12">{name}</text>'
        for number, line in enumerate(lines):
            base = y + (height - LINE * len(lines)) / 2 + LINE * number + 12
            yield f'<text x="{NAME}" y="{base:.1f}" font-family="monospace" fill="#555555">{line}</text>'
        middle = x + CELL / 2 + 4
        yield f'<text transform="translate({middle} {HEAD - 6}) rotate(-60)" fill="#333333">{name}</text>'
        yield f'<rect x="{x}" y="{y}" width="{CELL - 2}" height="{height}" fill="#c9d6e4"/>'
        for column in range(len(order)):
            count = counted[row, column]
            if count:
                cell, depth = left + CELL * column, 0.12 + 0.5 * (count / most) ** 0.5
                place = f'x="{cell}" y="{y}" width="{CELL - 2}" height="{height}"'
                yield f'<rect {place} fill="#e69f00" opacity="{depth:.2f}"/>'
                place = f'x="{cell + (CELL - 2) / 2}" y="{y + height / 2 + 4}"'
                yield f'<text {place} font-size="10" text-anchor="middle">{count}</text>'
        y += height + 3


def setup(app: Any) -> dict[str, bool]:
    """Draw before Sphinx reads the pages."""
    write(Path(app.srcdir) / "_build" / "layers.svg")
    return {"parallel_read_safe": True}


def write(path: Path) -> None:
    """Draw into a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
