"""Sections of text, tables and pictures, as one HTML file that loads nothing."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

_BROAD = 8.0  # inches, from which on a picture takes a row of its own
_STYLE = """
:root { --ink: #1b1f24; --soft: #5d6672; --line: #dfe3e8; --back: #ffffff; --panel: #f6f8fa; --accent: #0072b2; }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: var(--ink);
  background: var(--back); }
header, main, footer { max-width: 68rem; margin: 0 auto; padding: 0 1.5rem; }
header { padding-top: 2.5rem; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.25rem; margin: 0 0 .5rem; }
p { margin: .4rem 0; max-width: 48rem; }
.soft { color: var(--soft); }
nav { margin: 1.2rem 0 .5rem; display: flex; flex-wrap: wrap; gap: .4rem .5rem; }
nav a { color: var(--accent); text-decoration: none; border: 1px solid var(--line); border-radius: 1rem;
  padding: .1rem .75rem; font-size: .9rem; }
nav a:hover, nav a:focus { background: var(--panel); }
section { border-top: 1px solid var(--line); padding: 1.5rem 0; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem; margin-top: .8rem; align-items: flex-start; }
figure { margin: 0; max-width: min(100%, 31.5rem); }
figure.broad { max-width: 100%; }
img { max-width: 100%; height: auto; display: block; }
.tables { display: flex; flex-wrap: wrap; gap: 1rem 3rem; align-items: flex-start; }
.wide { overflow-x: auto; margin-top: .8rem; max-width: 100%; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; white-space: nowrap; }
th, td { padding: .25rem .8rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 2px solid var(--line); font-weight: 600; }
.skipped { background: var(--panel); border-left: 3px solid var(--line); padding: .5rem .9rem; max-width: 48rem; }
footer { color: var(--soft); font-size: .85rem; padding-bottom: 2.5rem; }
@media print { nav { display: none; } section { break-inside: avoid; } }
"""


@dataclass
class Section:
    """A heading, with paragraphs, tables and pictures under it; or the reason why there are none."""

    title: str
    text: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    figures: list[tuple[Any, str]] = field(default_factory=list)
    skipped: str = ""

    @property
    def anchor(self) -> str:
        """The name that links lead to."""
        return "".join(letter if letter.isalnum() else "-" for letter in self.title.lower())

    def html(self) -> str:
        """Return the section; its pictures are closed."""
        parts = [f"<h2>{escape(self.title)}</h2>", *(f"<p>{escape(paragraph)}</p>" for paragraph in self.text)]
        if self.skipped:
            parts.append(f'<p class="skipped">{escape(self.skipped)}</p>')
        if self.tables:
            tables = "".join(f'<div class="wide">{table}</div>' for table in self.tables)
            parts.append(f'<div class="tables">{tables}</div>')
        if self.figures:
            broad = [' class="broad"' if figure.get_size_inches()[0] > _BROAD else "" for figure, _ in self.figures]
            pictures = "".join(
                f"<figure{kind}>{image(figure, alt)}</figure>"
                for kind, (figure, alt) in zip(broad, self.figures, strict=True)
            )
            parts.append(f'<div class="figures">{pictures}</div>')
        return f'<section id="{self.anchor}">{"".join(parts)}</section>'


def image(figure: Any, alt: str) -> str:
    """Return a figure of matplotlib as an image with its data in it, and close the figure."""
    import matplotlib.pyplot as plt

    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=144, bbox_inches="tight", facecolor="white")
    width = round(figure.get_size_inches()[0] * 96)
    plt.close(figure)
    code = base64.b64encode(data.getvalue()).decode("ascii")
    return f'<img alt="{escape(alt, quote=True)}" width="{width}" src="data:image/png;base64,{code}">'


def table(header: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "", shades: Any = None) -> str:
    """Return a table; ``shades`` are numbers from 0 to 1 that colour the cells after the first of each row.

    >>> table(["class", "share"], [["a", 0.25]])
    '<table><thead><tr><th>class</th><th>share</th></tr></thead><tbody><tr><td>a</td><td>0.25</td></tr></tbody></table>'
    """
    told = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = "".join(f"<th>{escape(str(name))}</th>" for name in header)
    body = []
    for r, row in enumerate(rows):
        cells = []
        for c, value in enumerate(row):
            style = "" if shades is None or c == 0 else _shade(float(shades[r][c - 1]))
            cells.append(f"<td{style}>{escape(_text(value))}</td>")
        body.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{told}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _shade(value: float) -> str:
    ink = "#ffffff" if value > 0.6 else "inherit"
    return f' style="background: rgba(0, 114, 178, {value:.2f}); color: {ink}"'


def _text(value: Any) -> str:
    if isinstance(value, bool | int | str):
        return str(value)
    try:
        return f"{float(value):.4g}"
    except (TypeError, ValueError):
        return str(value)


def page(title: str, subtitle: str, sections: Sequence[Section], footer: str) -> str:
    """Return the whole file."""
    links = "".join(f'<a href="#{section.anchor}">{escape(section.title)}</a>' for section in sections)
    body = "".join(section.html() for section in sections)
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="generator" content="kernreg report">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f'<header><h1>{escape(title)}</h1><p class="soft">{escape(subtitle)}</p><nav>{links}</nav></header>'
        f"<main>{body}</main><footer>{escape(footer)}</footer></body></html>\n"
    )
