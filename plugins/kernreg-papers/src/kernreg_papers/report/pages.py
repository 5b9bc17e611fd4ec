"""The two forms of a report: Markdown, and one HTML page."""

from __future__ import annotations

import html
from collections.abc import Sequence

from kernreg_papers.report.sections import FigureSection, Section, TableSection
from kernreg_papers.report.summary import Entry, Summary
from kernreg_papers.report.words import (
    beyond,
    misses,
    missing_parts,
    named,
    notes,
    printed,
    profile,
    shown,
    time_taken,
    verdict,
)

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 90rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
.wide { overflow-x: auto; } table { border-collapse: collapse; margin: 1rem 0; font-size: 14px; }
th, td { border: 1px solid #ccc; padding: .25rem .5rem; } caption { text-align: left; font-weight: 600; }
th { background: #f3f3f3; text-align: left; } td { white-space: nowrap; } td small { color: #666; display: block; }
.near { background: #e4f3e4; } .far { background: #fbeadf; } .none { color: #888; font-style: italic; }
td.none { white-space: normal; min-width: 5rem; } img { max-width: 100%; height: auto; }
"""


def _title(section: Section) -> tuple[str, str, str]:
    entry = section.summary.table if isinstance(section, TableSection) else section.computed.figure
    return entry.name, entry.title, entry.paper


def _versions(section: Section) -> Sequence[str]:
    return section.summary.versions if isinstance(section, TableSection) else section.computed.versions


# Markdown -------------------------------------------------------------------------------------------------------


def markdown(sections: Sequence[Section], pictures: str) -> str:
    """Return the report as Markdown; `pictures` is the folder of pictures beside it."""
    parts = ["# The papers' tables and figures", ""]
    parts += ["Ours, in brackets the paper's; mean ± standard deviation over trials.", ""]
    for section in sections:
        name, title, paper = _title(section)
        parts += [f"## {title}", "", f"{paper}. `kernreg papers run {name}`", ""]
        if isinstance(section, TableSection):
            parts += _markdown_table(section, pictures)
        else:
            parts += _markdown_figure(section, pictures)
        parts += [f"Made with {text}.\n" for text in _versions(section)]
    return "\n".join(parts).rstrip() + "\n"


def _markdown_table(section: TableSection, pictures: str) -> list[str]:
    summary = section.summary
    table = summary.table
    parts = [text + "\n" for text in (table.protocol, profile(summary)) if text]
    head = ["| | " + " | ".join(m.label for m in table.methods) + " |", "| --- |" + " --- |" * len(table.methods)]
    for measure in table.measures:
        parts += [f"**{named(measure, table)}**", "", *head]
        for row in table.rows_with(measure):
            cells = [_markdown_cell(summary.entries[measure][row.name, m.name], summary.quick) for m in table.methods]
            parts.append(f"| {row.name} | " + " | ".join(cells) + " |")
        parts.append("")
    parts += ["**seconds for a trial**", "", *head]
    for row in table.rows:
        measure = table.first_measure(row)
        entries = [summary.entries[measure][row.name, m.name] for m in table.methods]
        seconds = ["" if entry.seconds is None else f"{entry.seconds:.2f}" for entry in entries]
        parts.append(f"| {row.name} | " + " | ".join(seconds) + " |")
    parts.append("")
    words = verdict(summary), beyond(summary), section.comparison, time_taken(summary)
    parts += [text + "\n" for text in words if text]
    if section.ranks is not None:
        parts += [section.ranks.as_markdown(pictures), ""]
    for title, lines in (("Not within the paper's deviation", misses(summary)), ("What differs", notes(table))):
        parts += [f"{title}:", "", *(f"- {line}" for line in lines), ""] if lines else []
    return parts


def _markdown_figure(section: FigureSection, pictures: str) -> list[str]:
    computed = section.computed
    figure = computed.figure
    parts = [text + "\n" for text in (figure.protocol, figure.reading and f"In the paper: {figure.reading}") if text]
    parts += [section.picture.as_markdown(pictures), ""]
    parts += [f"- not shown, {line}" for line in missing_parts(computed)]
    parts += [f"- {note}" for note in figure.differences]
    if computed.seconds:
        parts.append(f"- Computed in {sum(computed.seconds.values()):.1f} s.")
    return [*parts, ""]


def _markdown_cell(entry: Entry, quick: bool) -> str:
    paper = f" [{printed(entry.paper)}]" if entry.paper else ""
    if entry.state != "done":
        return f"{entry.state}{paper}"
    trials = "" if quick else f" ×{entry.trials}"
    return f"{shown(entry.mean, entry.std)}{trials}{paper}{' near' if entry.near and not quick else ''}"


# HTML -----------------------------------------------------------------------------------------------------------


def page(sections: Sequence[Section]) -> str:
    """Return the report as one HTML page."""
    body = ["<h1>The papers' tables and figures</h1>", "<ul>"]
    for name, title, _ in map(_title, sections):
        body.append(f'<li><a href="#{name}">{html.escape(title)}</a></li>')
    body.append("</ul>")
    for section in sections:
        name, title, paper = _title(section)
        body += [f'<h2 id="{name}">{html.escape(title)}</h2>', f"<p>{html.escape(paper)}</p>"]
        body += _html_table(section) if isinstance(section, TableSection) else _html_figure(section)
        body += [f"<p><small>Made with {html.escape(text)}.</small></p>" for text in _versions(section)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>kernreg: the papers\' tables</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def _html_table(section: TableSection) -> list[str]:
    summary = section.summary
    table = summary.table
    parts = [f"<p>{html.escape(text)}</p>" for text in (table.protocol, profile(summary)) if text]
    head = "".join(f"<th>{html.escape(method.label)}</th>" for method in table.methods)
    for measure in table.measures:
        parts.append(f'<div class="wide"><table><caption>{html.escape(named(measure, table))}</caption>')
        parts.append(f"<tr><th></th>{head}</tr>")
        for row in table.rows_with(measure):
            timed = measure == table.first_measure(row)  # once for a cell is enough
            cells = [_html_cell(summary, summary.entries[measure][row.name, m.name], timed) for m in table.methods]
            parts.append(f"<tr><th>{row.name}</th>{''.join(cells)}</tr>")
        parts.append("</table></div>")
    words = verdict(summary), beyond(summary), section.comparison, time_taken(summary)
    parts += [f"<p>{html.escape(text)}</p>" for text in words if text]
    if section.ranks is not None:
        parts.append(section.ranks.as_html())
    for title, lines in (("Not within the paper's deviation", misses(summary)), ("What differs", notes(table))):
        parts += [f"<h3>{title}</h3>", *_bullets(lines)] if lines else []
    return parts


def _html_figure(section: FigureSection) -> list[str]:
    computed = section.computed
    figure = computed.figure
    words = figure.protocol, figure.reading and f"In the paper: {figure.reading}"
    parts = [f"<p>{html.escape(text)}</p>" for text in words if text]
    parts.append(section.picture.as_html())
    lines = [f"Not shown, {line}" for line in missing_parts(computed)] + list(figure.differences)
    if computed.seconds:
        lines.append(f"Computed in {sum(computed.seconds.values()):.1f} s.")
    return parts + _bullets(lines)


def _bullets(lines: Sequence[str]) -> list[str]:
    return ["<ul>", *(f"<li>{html.escape(line)}</li>" for line in lines), "</ul>"] if lines else []


def _html_cell(summary: Summary, entry: Entry, timed: bool) -> str:
    paper = f"<small>paper {printed(entry.paper)}</small>" if entry.paper else ""
    if entry.state != "done":
        return f'<td class="none" title="{html.escape(entry.error)}">{entry.state}{paper}</td>'
    mark = "" if summary.quick or entry.near is None else ' class="near"' if entry.near else ' class="far"'
    time = f"<small>{entry.trials} × {entry.seconds:.2f} s</small>" if timed else ""
    return f"<td{mark}>{shown(entry.mean, entry.std)}{paper}{time}</td>"
