"""The pictures of a report: what was computed of each figure, and the average ranks of methods.

A picture is drawn once. The page holds it, as text; beside the Markdown page it is a file.
"""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass

from kernreg.errors import KernregError, MissingExtra
from kernreg_papers.figures.drawing import figure_png
from kernreg_papers.report.rank_diagram import difference_png
from kernreg_papers.runner.figures import Computed
from kernreg_papers.statistics import Comparison, nemenyi


@dataclass(frozen=True)
class Picture:
    """A picture, or why there is none.

    Attributes
    ----------
    name : str
        Of its file, without the ending.
    alt : str
        What it shows, in words.
    png : bytes or None
    why_not : str
    """

    name: str
    alt: str
    png: bytes | None = None
    why_not: str = ""

    def as_markdown(self, folder: str) -> str:
        """Return the line that shows it, from a page beside the folder of pictures."""
        return f"No picture: {self.why_not}" if self.png is None else f"![{self.alt}]({folder}/{self.name}.png)"

    def as_html(self) -> str:
        """Return an element that holds it."""
        if self.png is None:
            return f'<p class="none">No picture: {html.escape(self.why_not)}</p>'
        text = base64.b64encode(self.png).decode()
        return f'<img alt="{html.escape(self.alt, quote=True)}" src="data:image/png;base64,{text}">'


def picture_of(computed: Computed) -> Picture:
    """Return the picture of a figure."""
    figure = computed.figure
    if not computed.values:
        return Picture(figure.name, figure.title, None, "; ".join(sorted(set(computed.states.values()))))
    try:
        return Picture(figure.name, figure.title, figure_png(figure, computed.values))
    except MissingExtra as error:
        return Picture(figure.name, figure.title, None, str(error))
    except KernregError as error:
        return Picture(figure.name, figure.title, None, f"drawing failed: {error}")


def picture_of_ranks(name: str, labels: list[str], found: Comparison | None) -> Picture | None:
    """Return the critical-difference picture of a table, None where methods were not compared."""
    if found is None:
        return None
    alt = "Average ranks of the methods, with the critical difference of Nemenyi's test"
    try:
        png = difference_png(labels, found.ranks, nemenyi(found.k, found.n))
    except MissingExtra as error:
        return Picture(f"{name}-ranks", alt, None, str(error))
    return Picture(f"{name}-ranks", alt, png)
