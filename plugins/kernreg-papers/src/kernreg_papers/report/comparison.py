"""The methods of a table compared over its rows, and unlabelled samples with unseen ones, in words."""

from __future__ import annotations

from kernreg_papers.report.summary import Summary
from kernreg_papers.statistics import Comparison, friedman, nemenyi, wilcoxon


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
