"""The report: ours beside the paper's, as Markdown and as one HTML page that needs nothing else."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable
from pathlib import Path

from kernreg.errors import MissingExtra
from kernreg.papers.description import Reported, Table
from kernreg.papers.difference import difference_svg
from kernreg.papers.statistics import Comparison, friedman, nemenyi, wilcoxon
from kernreg.papers.summary import Entry, Summary, summarise
from kernreg.persistence import replacing

NAMES = {"accuracy": "accuracy", "micro_f1": "micro F1", "macro_f1": "macro F1"}

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; } th, td { border: 1px solid #ccc; padding: .3rem .6rem; }
th { background: #f3f3f3; text-align: left; } td { white-space: nowrap; } td small { color: #666; display: block; }
.near { background: #e4f3e4; } .far { background: #fbeadf; } .none { color: #888; font-style: italic; }
svg { max-width: 100%; height: auto; }
"""


def write_report(
    tables: Iterable[Table],
    out: str | os.PathLike[str],
    *,
    quick: bool = False,
    data: str | os.PathLike[str] | None = None,
) -> tuple[Path, Path]:
    """Write ``report.md`` and ``report.html`` of what was run, and return their paths.

    Parameters
    ----------
    tables : iterable of Table
    out : path
        The folder of results.
    quick : bool
        Report the quick profile.
    data : path, optional
        The data folder, to tell what is not run from what cannot be run.
    """
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    summaries = [summarise(table, folder, quick=quick, data=data) for table in tables]
    name = "report-quick" if quick else "report"
    paths = folder / f"{name}.md", folder / f"{name}.html"
    for path, text in zip(paths, (markdown(summaries), page(summaries)), strict=True):
        with replacing(path) as file:
            file.write(text.encode())
    return paths


# Words that both forms share ------------------------------------------------------------------------------------


def shown(value: float | None, std: float | None) -> str:
    """Return a mean with its deviation.

    >>> shown(0.8284, 0.0191), shown(0.734, None)
    ('0.828 ± 0.019', '0.734')
    """
    if value is None:
        return ""
    return f"{value:.3f}" + ("" if std is None else f" ± {std:.3f}")


def _paper(paper: Reported | None) -> str:
    return "" if paper is None else shown(paper.mean, paper.std)


def _profile(summary: Summary) -> str:
    table = summary.table
    if summary.quick:
        return (
            f"Quick profile: {table.quick_trials} trials, at most {table.quick_samples} samples. These numbers show "
            "that the table runs; they are not comparable with the paper's."
        )
    return f"{table.trials} trials, one where the split is official."


def _verdict(summary: Summary) -> str:
    """Say how many of the paper's numbers were met; of the quick profile nothing is said."""
    entries = [entry for part in summary.entries.values() for entry in part.values() if entry.near is not None]
    if summary.quick or not entries:
        return ""
    near = sum(bool(entry.near) for entry in entries)
    return f"{near} of {len(entries)} numbers are within the paper's deviation (0.02 where it gives none)."


def _beyond(summary: Summary) -> str:
    """Say in how many rows our own column is at least as good as the paper's best."""
    if summary.quick:
        return ""
    table, measure = summary.table, summary.table.measures[0]
    ours = [method.name for method in table.methods if method.name == "tuned"]
    wins = rows = 0
    for row in table.rows:
        printed = table.best_reported(measure, row.name)
        means = [summary.entries[measure][row.name, method].mean for method in ours]
        if printed and means and means[0] is not None:
            rows += 1
            wins += means[0] >= printed.mean
    return f"'kernreg tuned' is at least as good as the paper's best column in {wins} of {rows} rows." if rows else ""


def _notes(table: Table) -> list[str]:
    notes = list(table.differences)
    for measure, printed in table.elsewhere.items():
        for row in table.rows:
            there = [f"{column} {_paper(number)}" for (name, column), number in printed.items() if name == row.name]
            notes += [f"Not run here, {NAMES.get(measure, measure)} of {row.name} in the paper: {', '.join(there)}"]
    notes += [f"{row.name}: {row.note}" for row in table.rows if row.note]
    notes += [f"{method.label}: {method.note}" for method in table.methods if method.note]
    if table.tuned_on_test:
        notes.append(f"Tuned on test data in the paper: {table.tuned_on_test}")
    return notes


def _comparison(summary: Summary) -> tuple[list[str], Comparison | None, str]:
    """Return the labels of the methods compared, their Friedman test, and both in words."""
    rows, methods, means = summary.complete_scores()
    labels = [summary.table.method(name).label for name in methods]
    if len(rows) < 2 or len(methods) < 2:
        return labels, None, ""
    if len(methods) == 2:
        statistic, p = wilcoxon(means[:, 0], means[:, 1])
        return labels, None, f"Wilcoxon signed-rank test of the two over {len(rows)} rows: {statistic:g}, p = {p:.3g}."
    found = friedman(means)
    ranks = ", ".join(f"{label} {rank:.2f}" for label, rank in zip(labels, found.ranks, strict=True))
    critical = nemenyi(found.k, found.n)
    return (
        labels,
        found,
        f"Friedman test over {found.n} complete rows: F({found.k - 1}, {(found.k - 1) * (found.n - 1)}) = "
        f"{found.statistic:.3g}, p = {found.p_value:.3g}. Average ranks: {ranks}. "
        f"Nemenyi critical difference {critical:.2f}.",
    )


# Markdown -------------------------------------------------------------------------------------------------------


def markdown(summaries: list[Summary]) -> str:
    """Return the report as Markdown."""
    parts = ["# The papers' tables", "", "Ours, in brackets the paper's; mean ± standard deviation over trials.", ""]
    for summary in summaries:
        table = summary.table
        parts += [f"## {table.title}", "", f"{table.paper}. `kernreg papers run {table.name}`", ""]
        parts += [text + "\n" for text in (table.protocol, _profile(summary)) if text]
        for measure in table.measures:
            parts += [
                f"**{NAMES.get(measure, measure)}**",
                "",
                "| | " + " | ".join(m.label for m in table.methods) + " |",
            ]
            parts += ["| --- |" + " --- |" * len(table.methods)]
            for row in table.rows:
                cells = [_markdown_cell(summary.entries[measure][row.name, m.name]) for m in table.methods]
                parts.append(f"| {row.name} | " + " | ".join(cells) + " |")
            parts.append("")
        parts += ["**seconds for a trial**", "", "| | " + " | ".join(m.label for m in table.methods) + " |"]
        parts += ["| --- |" + " --- |" * len(table.methods)]
        for row in table.rows:
            entries = [summary.entries[table.measures[0]][row.name, m.name] for m in table.methods]
            seconds = ["" if entry.seconds is None else f"{entry.seconds:.2f}" for entry in entries]
            parts.append(f"| {row.name} | " + " | ".join(seconds) + " |")
        parts.append("")
        parts += [text + "\n" for text in (_verdict(summary), _beyond(summary), _comparison(summary)[2]) if text]
        notes = _notes(table)
        parts += (["What differs:", "", *(f"- {note}" for note in notes), ""]) if notes else []
        parts += [f"Made with {text}.\n" for text in summary.versions]
    return "\n".join(parts).rstrip() + "\n"


def _markdown_cell(entry: Entry) -> str:
    paper = f" [{_paper(entry.paper)}]" if entry.paper else ""
    return f"{shown(entry.mean, entry.std) if entry.state == 'done' else entry.state}{paper}"


# HTML -----------------------------------------------------------------------------------------------------------


def page(summaries: list[Summary]) -> str:
    """Return the report as one HTML page."""
    body = ["<h1>The papers' tables</h1>", "<ul>"]
    body += [f'<li><a href="#{s.table.name}">{html.escape(s.table.title)}</a></li>' for s in summaries]
    body.append("</ul>")
    for summary in summaries:
        body += _section(summary)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>kernreg: the papers\' tables</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def _section(summary: Summary) -> list[str]:
    table = summary.table
    labels, found, words = _comparison(summary)
    parts = [f'<h2 id="{table.name}">{html.escape(table.title)}</h2>', f"<p>{html.escape(table.paper)}</p>"]
    parts += [f"<p>{html.escape(text)}</p>" for text in (table.protocol, _profile(summary)) if text]
    head = "".join(f"<th>{html.escape(method.label)}</th>" for method in table.methods)
    for measure in table.measures:
        parts.append(f"<table><tr><th>{html.escape(NAMES.get(measure, measure))}</th>{head}</tr>")
        for row in table.rows:
            cells = [_html_cell(summary, summary.entries[measure][row.name, m.name]) for m in table.methods]
            parts.append(f"<tr><th>{row.name}</th>{''.join(cells)}</tr>")
        parts.append("</table>")
    parts += [f"<p>{html.escape(text)}</p>" for text in (_verdict(summary), _beyond(summary), words) if text]
    if found is not None:
        try:
            parts.append(difference_svg(labels, found.ranks, nemenyi(found.k, found.n)))
        except MissingExtra as error:
            parts.append(f'<p class="none">No picture: {html.escape(str(error))}</p>')
    notes = _notes(table)
    if notes:
        parts += ["<h3>What differs</h3><ul>", *(f"<li>{html.escape(note)}</li>" for note in notes), "</ul>"]
    parts += [f"<p><small>Made with {html.escape(text)}.</small></p>" for text in summary.versions]
    return parts


def _html_cell(summary: Summary, entry: Entry) -> str:
    paper = f"<small>paper {_paper(entry.paper)}</small>" if entry.paper else ""
    if entry.state != "done":
        return f'<td class="none" title="{html.escape(entry.error)}">{entry.state}{paper}</td>'
    mark = "" if summary.quick or entry.near is None else ' class="near"' if entry.near else ' class="far"'
    time = f"<small>{entry.trials} × {entry.seconds:.2f} s</small>"
    return f"<td{mark}>{shown(entry.mean, entry.std)}{paper}{time}</td>"
