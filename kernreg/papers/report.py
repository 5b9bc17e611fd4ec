"""The report: ours beside the paper's, as Markdown and as one HTML page that needs nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernreg.papers.description import Reported, Table
from kernreg.papers.figures.description import Figure
from kernreg.papers.figures.running import Computed, read_figure
from kernreg.papers.pictures import Picture, picture_of, picture_of_ranks
from kernreg.papers.statistics import Comparison, friedman, nemenyi, wilcoxon
from kernreg.papers.summary import Summary, summarise
from kernreg.persistence import replacing

#: How measures are called in a report.
NAMES = {
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "nmi": "NMI of documents",
    "coherence": "coherence of terms",
    "rmse": "RMSE",
    "auroc": "AUROC",
    "l1": "ℓ1 of the reconstructed graph",
    "l2": "ℓ2 of the reconstructed graph",
    "unlabelled": "accuracy of unlabelled samples",
    "unseen": "accuracy of unseen samples",
    "learning_seconds": "seconds to learn the kernel",
    "seconds_0.1": "seconds to η ≤ 0.1",
    "seconds_0.01": "seconds to η ≤ 0.01",
}


def named(measure: str, table: Table) -> str:
    """Return what a measure is called, and which way is better where that is not the usual one."""
    return NAMES.get(measure, measure.replace("_", " ")) + (" (less is better)" if measure in table.lower else "")


@dataclass(frozen=True)
class TableSection:
    """What a report says about a table: the numbers, the comparison of methods in words, and its picture."""

    summary: Summary
    comparison: str
    ranks: Picture | None


@dataclass(frozen=True)
class FigureSection:
    """What a report says about a figure."""

    computed: Computed
    picture: Picture


Section = TableSection | FigureSection


def write_report(
    entries: Iterable[Table | Figure],
    out: str | os.PathLike[str],
    *,
    quick: bool = False,
    data: str | os.PathLike[str] | None = None,
) -> tuple[Path, Path]:
    """Write ``report.md`` (with its pictures in a folder beside it) and ``report.html``, and return their paths.

    Parameters
    ----------
    entries : iterable of Table or Figure
    out : path
        The folder of results.
    quick : bool
        Report the quick profile.
    data : path, optional
        The data folder, to tell what is not run from what cannot be run.
    """
    from kernreg.papers.pages import markdown, page  # which need the words below

    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    sections = [section_of(entry, folder, quick, data) for entry in entries]
    name = "report-quick" if quick else "report"
    pictures = f"{name}-pictures"
    for section in sections:
        picture = section.picture if isinstance(section, FigureSection) else section.ranks
        if picture is not None and picture.png is not None:
            (folder / pictures).mkdir(exist_ok=True)
            with replacing(folder / pictures / f"{picture.name}.png") as file:
                file.write(picture.png)
    paths = folder / f"{name}.md", folder / f"{name}.html"
    for path, text in zip(paths, (markdown(sections, pictures), page(sections)), strict=True):
        with replacing(path) as file:
            file.write(text.encode())
    return paths


def section_of(entry: Table | Figure, folder: Path, quick: bool, data: str | os.PathLike[str] | None) -> Section:
    """Read what was run of a table or figure, and draw its picture."""
    if isinstance(entry, Figure):
        computed = read_figure(entry, folder, quick=quick, data=data)
        return FigureSection(computed, picture_of(computed))
    summary = summarise(entry, folder, quick=quick, data=data)
    labels, found, words = compare(summary)
    return TableSection(summary, words, picture_of_ranks(entry.name, labels, found))


# Words that both forms share ------------------------------------------------------------------------------------


def shown(value: float | None, std: float | None) -> str:
    """Return a mean with its deviation, at least three digits of it.

    >>> shown(0.8284, 0.0191), shown(0.734, None), shown(54.531, 2.17), shown(1933.0, None)
    ('0.828 ± 0.019', '0.734', '54.5 ± 2.2', '1933')
    """
    if value is None:
        return ""
    digits = 3 if abs(value) < 5.0 else 2 if abs(value) < 20.0 else 1 if abs(value) < 1000.0 else 0
    return f"{value:.{digits}f}" + ("" if std is None else f" ± {std:.{digits}f}")


def printed(paper: Reported | None) -> str:
    """Return the paper's number."""
    return "" if paper is None else shown(paper.mean, paper.std)


def profile(summary: Summary) -> str:
    """Say how often and on how much the table was run."""
    table = summary.table
    if summary.quick:
        return (
            f"Quick profile, trials: {table.quick_trials}, at most {table.quick_samples} samples. These numbers show "
            "that the table runs; they are not comparable with the paper's."
        )
    wanted = table.wanted_trials
    counts = {entry.trials for part in summary.entries.values() for entry in part.values() if entry.trials}
    ran = f" Trials run here: {counted(sorted(counts))}." if counts and counts != set(wanted) else ""
    official = " (official splits less often)" if any(row.official for row in table.rows) and len(wanted) > 1 else ""
    return f"Trials: {counted(wanted)}{official}.{ran}"


def counted(counts: Sequence[int]) -> str:
    """Return one number, or the smallest and the largest."""
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def time_taken(summary: Summary) -> str:
    """Say how long all cells that count took."""
    table, seconds, cells = summary.table, 0.0, 0
    for row in table.rows:
        entries = summary.entries[table.first_measure(row)]
        for method in table.methods:
            entry = entries[row.name, method.name]
            seconds += entry.trials * (entry.seconds or 0.0)
            cells += entry.trials
    return f"{cells} cells, {seconds / 60.0:.1f} minutes of one process." if cells else ""


def misses(summary: Summary) -> list[str]:
    """Return the numbers that are not within the paper's deviation, one line for each row of a measure."""
    table = summary.table
    found: list[str] = []
    if summary.quick:
        return found
    for measure in table.measures:
        for row in table.rows_with(measure):
            entries = [(method, summary.entries[measure][row.name, method.name]) for method in table.methods]
            far = [
                f"{method.label} {shown(entry.mean, entry.std)} [{printed(entry.paper)}]"
                for method, entry in entries
                if entry.near is False
            ]
            if far:
                name = f"{row.name}, {NAMES.get(measure, measure)}" if len(table.measures) > 1 else row.name
                found.append(f"{name}: {', '.join(far)}")
    return found


def verdict(summary: Summary) -> str:
    """Say how many of the paper's numbers were met; of the quick profile nothing is said."""
    entries = [entry for part in summary.entries.values() for entry in part.values() if entry.near is not None]
    if summary.quick or not entries:
        return ""
    near = sum(bool(entry.near) for entry in entries)
    return f"{near} of {len(entries)} numbers are within the paper's deviation (0.02, or 2 %, where it gives none)."


def beyond(summary: Summary) -> str:
    """Say in how many rows our own column is at least as good as the paper's best."""
    if summary.quick or all(method.name != "tuned" for method in summary.table.methods):
        return ""
    table = summary.table
    wins = rows = 0
    for row in table.rows:
        measure = table.first_measure(row)
        if measure in table.unmarked:
            continue
        best, ours = table.best_reported(measure, row.name), summary.entries[measure][row.name, "tuned"].mean
        if best is not None and ours is not None:
            rows += 1
            wins += ours <= best.mean if measure in table.lower else ours >= best.mean
    return f"'kernreg tuned' is at least as good as the paper's best column in {wins} of {rows} rows." if rows else ""


def notes(table: Table) -> list[str]:
    """Return what differs from the paper, and what it has that is not run here."""
    found = list(table.differences)
    for measure, columns in table.elsewhere.items():
        there: dict[str, list[str]] = {}
        for (row_name, column), number in columns.items():
            there.setdefault(row_name, []).append(f"{column} {printed(number)}")
        lines = "; ".join(f"{name}: {', '.join(numbers)}" for name, numbers in there.items())
        found.append(f"Columns that are not run here, {NAMES.get(measure, measure)} in the paper. {lines}.")
    found += [f"{row.name}: {row.note}" for row in table.rows if row.note]
    found += [f"{method.label}: {method.note}" for method in table.methods if method.note]
    if table.tuned_on_test:
        found.append(f"Tuned on test data in the paper: {table.tuned_on_test}")
    return found


def missing_parts(computed: Computed) -> list[str]:
    """Return the parts of a figure that are not in the picture, and why."""
    return [
        f"{part.label}: {computed.states[part.name]}"
        + (f", {computed.errors[part.name]}" if part.name in computed.errors else "")
        for part in computed.figure.parts
        if computed.states[part.name] != "done"
    ]


def compare(summary: Summary) -> tuple[list[str], Comparison | None, str]:
    """Return the labels of the methods compared, their Friedman test, and all tests in words."""
    labels, found, words = _compare_methods(summary)
    return labels, found, " ".join(filter(None, (words, _compare_parts(summary))))


def _compare_parts(summary: Summary) -> str:
    """Compare unlabelled samples with unseen ones over rows, for each method, where a table has both."""
    words = []
    if {"unlabelled", "unseen"} <= set(summary.table.measures):
        for method in summary.table.methods:
            pairs = [
                (summary.entries["unlabelled"][row.name, method.name], summary.entries["unseen"][row.name, method.name])
                for row in summary.table.rows
            ]
            means = [(a.mean, b.mean) for a, b in pairs if a.mean is not None and b.mean is not None]
            if len(means) > 1:
                statistic, p = wilcoxon(*zip(*means, strict=True))
                words.append(
                    f"Unlabelled against unseen samples, {method.label}, Wilcoxon signed-rank test over {len(means)} "
                    f"rows: {statistic:g}, p = {p:.3g}."
                )
    return " ".join(words)


def _compare_methods(summary: Summary) -> tuple[list[str], Comparison | None, str]:
    rows, methods, means = summary.complete_scores()
    labels = [summary.table.method(name).label for name in methods]
    if len(rows) < 2 or len(methods) < 2 or summary.table.measures[0] in summary.table.unmarked:
        return labels, None, ""
    if len(methods) == 2:
        statistic, p = wilcoxon(means[:, 0], means[:, 1])
        return labels, None, f"Wilcoxon signed-rank test of the two over {len(rows)} rows: {statistic:g}, p = {p:.3g}."
    found = friedman(means, greater_is_better=summary.table.measures[0] not in summary.table.lower)
    ranks = ", ".join(f"{label} {rank:.2f}" for label, rank in zip(labels, found.ranks, strict=True))
    critical = nemenyi(found.k, found.n)
    return (
        labels,
        found,
        f"Friedman test over {found.n} complete rows: F({found.k - 1}, {(found.k - 1) * (found.n - 1)}) = "
        f"{found.statistic:.3g}, p = {found.p_value:.3g}. Average ranks: {ranks}. "
        f"Nemenyi critical difference {critical:.2f}.",
    )
