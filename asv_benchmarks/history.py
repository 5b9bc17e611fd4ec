"""Every benchmark over the commits it was run at: one HTML file without outside scripts.

    python -m asv_benchmarks.history docs/benchmarks     writes history.html from all the results asv has written

``asv publish`` draws the same, in pages that load their scripts from the internet; this page needs none.
"""

from __future__ import annotations

import argparse
import html
from collections import defaultdict
from pathlib import Path

from asv_benchmarks import svg
from asv_benchmarks.measured import RESULTS, Run, history
from asv_benchmarks.page import STYLE

TEMPLATE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>kernreg, measured from commit to commit</title>
<style>{{style}}</style></head><body>
<h1>kernreg, measured from commit to commit</h1>
<p>Each line is one benchmark with one choice of its parameters. The numbers below a picture count the commits of the
table, the oldest first. Machines have lines of their own.</p>
<table><tr><th>number</th><th>commit</th><th>machine</th></tr>{{commits}}</table>
{{pictures}}
</body></html>
"""


def lines_by_benchmark(runs: list[Run]) -> dict[tuple[str, str], dict[str, list[tuple[float, float]]]]:
    """Return, for each benchmark and unit, a line of (number of the commit, value) for each choice of parameters."""
    found: dict[tuple[str, str], dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    machines = {run.machine.get("machine") for run in runs}
    for number, run in enumerate(runs, start=1):
        for each in run.measured:
            for parameters, value in each.rows():
                if value is not None:
                    label = ", ".join(p.strip("'") for p in parameters) or "value"
                    if len(machines) > 1:
                        label += f" on {run.machine.get('machine', 'another machine')}"
                    found[each.name, each.unit][label].append((float(number), value))
    return found


def render(runs: list[Run]) -> str:
    """Return the page."""
    commits = "".join(
        f"<tr><td>{number}</td><td>{html.escape(run.commit[:10])}</td>"
        f"<td>{html.escape(run.machine.get('cpu', ''))}</td></tr>"
        for number, run in enumerate(runs, start=1)
    )
    pictures = []
    for (name, unit), lines in sorted(lines_by_benchmark(runs).items()):
        # More lines than colours in one picture cannot be told apart: several pictures then.
        labels = list(lines)
        for start in range(0, len(labels), len(svg.COLOURS)):
            shown = {label: lines[label] for label in labels[start : start + len(svg.COLOURS)]}
            if any(value for line in shown.values() for _, value in line):
                pictures.append(svg.plot(shown, name, "commit", unit, log_x=False, log_y=False))
    return (
        TEMPLATE.replace("{{style}}", STYLE)
        .replace("{{commits}}", commits)
        .replace("{{pictures}}", "\n".join(pictures))
    )


def main() -> None:
    """Read every result and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where history.html goes")
    parser.add_argument("--results", type=Path, default=RESULTS, help="asv's results")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    from kernreg.persistence import replacing

    with replacing(arguments.folder / "history.html") as file:
        file.write(render(history(arguments.results)).encode())
    print(arguments.folder / "history.html")


if __name__ == "__main__":
    main()
