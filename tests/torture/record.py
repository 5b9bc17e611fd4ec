"""The table of docs/appendix/reliability.md: written by the run itself, from numbers that are kept beside the pages."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path
from typing import Any

from torture.runner import Tally

DOCS = Path(__file__).parent.parent.parent / "docs"
NUMBERS = DOCS / "measurements" / "torture.json"
BEGIN, END = "<!-- written by make torture -->", "<!-- end of what make torture writes -->"


def page() -> Path:
    """The page that holds the table, wherever it stands in the folders of docs/."""
    found = sorted(DOCS.glob("**/reliability.md"))
    if len(found) != 1:
        raise FileNotFoundError(f"expected one reliability.md in {DOCS}, found {len(found)}")
    return found[0]


def record(tallies: list[Tally], how: str) -> None:
    """Put the counts of a run into the numbers and into the page; attacks that did not run keep theirs."""
    rows = {row["attack"]: row for row in read()}
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    for tally in tallies:
        rows[tally.attack.name] = {
            "attack": tally.attack.name,
            "what": tally.attack.what,
            "cases": tally.cases,
            "violations": tally.violations,
            "seconds": round(tally.seconds),
            "seed": tally.seed,
            "run": how,
            "date": today,
        }
    NUMBERS.parent.mkdir(parents=True, exist_ok=True)
    NUMBERS.write_text(json.dumps([rows[name] for name in sorted(rows)], indent=1, ensure_ascii=False) + "\n", "utf-8")
    render()


def read() -> list[dict[str, Any]]:
    """The counts of the last runs, a row for each attack."""
    return json.loads(NUMBERS.read_text(encoding="utf-8")) if NUMBERS.exists() else []


def render() -> None:
    """Write the table into the page."""
    target = page()
    text = target.read_text(encoding="utf-8")
    changed, times = re.subn(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n\n{table(read())}\n{END}", text, flags=re.DOTALL)
    if times != 1:
        raise ValueError(f"{target} has no place for the table: expected {BEGIN} … {END} once, found {times}")
    target.write_text(changed, encoding="utf-8")


def table(rows: list[dict[str, Any]]) -> str:
    """The counts as Markdown."""
    lines = ["| attack | what is tried, and has to hold | cases | violations | seconds | seed | date |"]
    lines += ["| --- | --- | ---: | ---: | ---: | ---: | --- |"]
    for row in rows:
        cells = [f"`{row['attack']}`", row["what"], f"{row['cases']:,}", row["violations"], row["seconds"]]
        lines.append("| " + " | ".join(str(cell) for cell in [*cells, row["seed"], row["date"]]) + " |")
    cases, violations = (sum(row[name] for row in rows) for name in ("cases", "violations"))
    lines.append(f"| all | | {cases:,} | {violations} | {sum(row['seconds'] for row in rows)} | | |")
    return "\n".join(lines) + "\n"
