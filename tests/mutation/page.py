"""The counts in docs/appendix/reliability.md: written by the run itself, from numbers that are kept beside the pages.

In docs/measurements/mutation.json the ``note`` on a run and the ``why`` of a survivor are written by hand; the latter
stays there while the mutant survives. ``equivalent`` says that no test can notice it.
"""

from __future__ import annotations

import datetime
import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent.parent / "docs"
BEGIN, END = "<!-- written by make mutation -->", "<!-- end of what make mutation writes -->"
_OUTCOMES = ("killed", "too long", "survived", "unreached")
UNNOTICED = ("survived", "unreached")


def numbers() -> Path:
    """The file with the counts and the explanations."""
    return DOCS / "measurements" / "mutation.json"


def read() -> list[dict[str, Any]]:
    """The runs that were recorded, one for each seed."""
    return json.loads(numbers().read_text(encoding="utf-8")) if numbers().exists() else []


def equivalent(seed: int) -> set[str]:
    """The mutants of a seed of which it is written down that no test can notice them."""
    runs = [run for run in read() if run["seed"] == seed]
    return {mutant["mutant"] for run in runs for mutant in run["survivors"] if mutant["equivalent"]}


def record(seed: int, of: int, entries: Iterable[dict[str, Any]], folders: Iterable[str]) -> None:
    """Put the outcomes of a run into the numbers and into the page; what the first run of a seed counted stays."""
    entries = list(entries)
    runs = {run["seed"]: run for run in read()}
    old = runs.get(seed, {})
    reasons = {mutant["mutant"]: mutant for mutant in old.get("survivors", [])}
    counts = {}
    for folder in folders:
        outcomes = Counter(entry["outcome"] for entry in entries if entry["mutant"].startswith(f"{folder}/"))
        counts[folder] = {"drawn": outcomes.total()} | {name: outcomes[name] for name in _OUTCOMES}
    survivors = []
    for entry in sorted(entries, key=lambda entry: entry["mutant"]):
        if entry["outcome"] in UNNOTICED:
            reason = reasons.get(entry["mutant"], {"equivalent": False, "why": ""})
            survivors.append({"mutant": entry["mutant"], "equivalent": reason["equivalent"], "why": reason["why"]})
    runs[seed] = {
        "seed": seed,
        "of": of,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "first": old.get("first", counts),
        "now": counts,
        "note": old.get("note", ""),
        "survivors": survivors,
    }
    numbers().write_text(
        json.dumps([runs[key] for key in sorted(runs)], indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    render()


def render() -> None:
    """Write the counts into the page."""
    target = DOCS / "appendix" / "reliability.md"
    text = target.read_text(encoding="utf-8")
    changed, times = re.subn(
        f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n\n{section(read())}\n{END}", text, flags=re.DOTALL
    )
    if times != 1:
        raise ValueError(f"{target} has no place for the counts: expected {BEGIN} … {END} once, found {times}")
    target.write_text(changed, encoding="utf-8")


def section(runs: list[dict[str, Any]]) -> str:
    """The counts and the survivors as Markdown."""
    names = "drawn | killed | too long | survived | not reached | of them equivalent | noticed | of those that can be"
    lines = [f"| seed | changed | {names} |", "| --- | --- |" + " ---: |" * 8]
    for run in runs:
        for name, counts in (("at first", run["first"]), ("now", run["now"])):
            if name == "at first" and run["first"] == run["now"]:
                continue
            for folder, row in counts.items():
                equivalent = _equivalent(run, folder)
                lines.append(_row(f"{run['seed']}, {name}", f"`{folder}`", row, equivalent))
            total = {key: sum(row[key] for row in counts.values()) for key in ("drawn", *_OUTCOMES)}
            lines.append(_row(f"{run['seed']}, {name}", "all", total, _equivalent(run, "")))
    for run in runs:
        if run["note"]:
            lines += ["", f"Seed {run['seed']}: {run['note']}"]
        if run["survivors"]:
            lines += [
                "",
                f"What no test notices, of seed {run['seed']} ({run['date']}, drawn from {run['of']:,} changes):",
                "",
            ]
            lines += [_line(mutant) for mutant in run["survivors"]]
    return "\n".join(lines) + "\n"


def _equivalent(run: dict[str, Any], folder: str) -> int:
    return sum(mutant["equivalent"] for mutant in run["survivors"] if mutant["mutant"].startswith(folder))


def _row(run: str, folder: str, row: dict[str, int], equivalent: int) -> str:
    noticed = row["killed"] + row["too long"]
    shares = [f"{100 * noticed / of:.1f} %" if of else "" for of in (row["drawn"], row["drawn"] - equivalent)]
    cells = [run, folder, row["drawn"], *(row[name] for name in _OUTCOMES), equivalent, *shares]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _line(mutant: dict[str, Any]) -> str:
    place, _, change = mutant["mutant"].partition(" ")
    kind, _, text = change.partition(": ")
    before, _, after = text.partition("  →  ")
    word = "equivalent: " if mutant["equivalent"] else ""
    return f"- `{place}` {kind}, `{before}` → `{after}`: {word}{mutant['why'] or 'not explained yet'}"
