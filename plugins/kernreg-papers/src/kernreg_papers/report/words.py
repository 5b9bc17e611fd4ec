"""What both forms of a report say in words: numbers, verdicts, what differs, what is missing."""

from __future__ import annotations

from collections.abc import Sequence

from kernreg_papers.description import Reported, Table
from kernreg_papers.report.summary import Summary
from kernreg_papers.runner.figures import Computed

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
