"""The page of measurements: one HTML file without outside scripts, and the same numbers as JSON.

    python -m asv_benchmarks.page docs/benchmarks      from the newest results that asv has written

On top the table of claims: what was done, against what, how many times faster, and whether that reaches the bar. Below
it the growth series as pictures, the fractions of what the machine can do, and every number there is.
"""

from __future__ import annotations

import argparse
import html
import importlib.metadata
import json
import math
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

from asv_benchmarks.claims import CLAIMS, Claim

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Measured:
    """One benchmark: its parameters by name, and a value for each combination of them."""

    name: str
    unit: str
    parameters: list[tuple[str, list[str]]]
    values: list[float | None]

    def rows(self) -> list[tuple[tuple[str, ...], float | None]]:
        """Return every combination of parameters with its value."""
        combinations = product(*(values for _, values in self.parameters))
        return list(zip(combinations, self.values, strict=False))

    def at(self, parameters: tuple[str, ...]) -> float | None:
        """Return the value for these parameters."""
        return next((value for found, value in self.rows() if found == parameters), None)


def newest(results: Path = RESULTS) -> tuple[dict[str, Any], list[Measured]]:
    """Return what asv's newest result file says of the machine and commit, and what it measured."""
    files = [path for path in results.glob("*/*.json") if path.name != "machine.json"]
    if not files:
        raise SystemExit(f"no results in {results}; run: make bench")
    known = json.loads((results / "benchmarks.json").read_text(encoding="utf-8"))
    latest = max(files, key=lambda path: path.stat().st_mtime)
    found = json.loads(latest.read_text(encoding="utf-8"))
    columns = found["result_columns"]
    measured = []
    for name, row in sorted(found["results"].items()):
        record = dict(zip(columns, row, strict=False))
        if record.get("result") is None or name not in known:
            continue
        values = [None if v is None or (isinstance(v, float) and math.isnan(v)) else float(v) for v in record["result"]]
        names = known[name].get("param_names") or []
        parameters = list(zip(names, record.get("params") or [], strict=False))
        measured.append(Measured(name, known[name].get("unit") or "seconds", parameters, values))
    about = {
        "commit": found["commit_hash"][:10],
        "python": platform.python_version(),
        "cpu": (found.get("params") or {}).get("cpu") or platform.machine(),
        "cores": (found.get("params") or {}).get("num_cpu") or "",
        "versions": {name: version(name) for name in ("kernreg", "numpy", "scipy", "numba", "scikit-learn")},
    }
    return about, measured


def version(distribution: str) -> str:
    """Return the installed version, or nothing."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def claim_rows(measured: list[Measured]) -> list[dict[str, Any]]:
    """Return every claim with its measured value and verdict; a claim without a number says so."""
    by_name = {each.name: each for each in measured}
    rows = []
    for claim in CLAIMS:
        value = by_name[claim.benchmark].at(claim.parameters) if claim.benchmark in by_name else None
        verdict = "not measured" if value is None else ("met" if claim.met(value) else "not met")
        rows.append({**asdict(claim), "value": value, "verdict": verdict, "peer_version": _versions(claim)})
    return rows


def _versions(claim: Claim) -> str:
    return ", ".join(f"{name} {version(name)}" for name in claim.packages)


def render(about: dict[str, Any], measured: list[Measured]) -> str:
    """Return the page."""
    rows = claim_rows(measured)
    verdicts = [row["verdict"] for row in rows]
    told = f"{verdicts.count('met')} of {len(rows)} claims met"
    if verdicts.count("not measured"):
        told += f", {verdicts.count('not measured')} not measured in this run (the full profile has them)"
    cores = f" ({about['cores']} cores)" if about["cores"] else ""
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items() if number)
    return (
        TEMPLATE.replace("{{told}}", html.escape(told))
        .replace("{{machine}}", html.escape(f"{about['cpu']}{cores}; Python {about['python']}; {versions}"))
        .replace("{{commit}}", html.escape(about["commit"]))
        .replace("{{claims}}", "\n".join(_claim(row) for row in rows))
        .replace("{{limits}}", "\n".join(_limits(measured)))
        .replace("{{series}}", "\n".join(_series(measured)))
        .replace("{{all}}", "\n".join(_table(each) for each in measured))
    )


def _claim(row: dict[str, Any]) -> str:
    value = "" if row["value"] is None else f"{row['value']:.3g}×"
    bar = f"{'≤' if row['at_most'] else '≥'} {row['bar']:g}×"
    width = 0.0 if row["value"] is None else min(1.0, math.log10(1 + row["value"]) / math.log10(401))
    mark = {"met": "yes", "not met": "no", "not measured": "–"}[row["verdict"]]
    peer = html.escape(row["peer"]) + (
        f" <small>{html.escape(row['peer_version'])}</small>" if row["peer_version"] else ""
    )
    return (
        f"<tr class='{row['verdict'].replace(' ', '-')}'><td>{html.escape(row['work'])}</td><td>{peer}</td>"
        f"<td class='bar'><span style='width:{100 * width:.1f}%'></span></td>"
        f"<td class='number'>{value}</td><td class='unit'>{html.escape(row['unit'])}</td>"
        f"<td class='number'>{bar}</td><td>{mark}</td></tr>"
    )


def _limits(measured: list[Measured]) -> Iterable[str]:
    for each in measured:
        if "Limit" not in each.name:
            continue
        what = "writing the result to memory" if "Write" in each.name else "the matrix product alone (BLAS)"
        for parameters, value in each.rows():
            if value is not None:
                yield (
                    f"<tr><td>{html.escape(', '.join(p.strip(chr(39)) for p in parameters))}</td><td>{what}</td>"
                    f"<td class='bar'><span style='width:{100 * min(1.0, value):.0f}%'></span></td>"
                    f"<td class='number'>{100 * value:.0f} %</td></tr>"
                )


def _series(measured: list[Measured]) -> Iterable[str]:
    """Yield a picture for each benchmark whose last parameter is a size."""
    for each in measured:
        if not each.parameters or each.parameters[-1][0] not in ("n", "m", "d", "landmarks", "labels", "ratio"):
            continue
        sizes = [float(size) for size in each.parameters[-1][1]]
        if len(sizes) < 3:
            continue
        lines: dict[str, list[tuple[float, float]]] = {}
        for parameters, value in each.rows():
            if value is not None and value > 0:
                label = ", ".join(p.strip("'") for p in parameters[:-1]) or each.name
                lines.setdefault(label, []).append((float(parameters[-1]), value))
        if lines:
            yield f"<figure>{_plot(lines, each)}<figcaption>{html.escape(_title(each))}</figcaption></figure>"


def _title(each: Measured) -> str:
    words = each.name.rsplit(".", 1)[-1]
    for prefix in ("track_", "time_", "peakmem_"):
        words = words.removeprefix(prefix)
    return f"{words.replace('_', ' ')} ({each.unit}) against {each.parameters[-1][0]}"


COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")


def _plot(lines: dict[str, list[tuple[float, float]]], each: Measured) -> str:
    """Return an SVG of the lines, sizes on a logarithmic axis, values on a linear one from zero."""
    width, height, left, bottom, top, right = 420, 240, 52, 34, 12, 110
    xs = [x for line in lines.values() for x, _ in line]
    highest = 1.15 * max(y for line in lines.values() for _, y in line)
    low, high = math.log(min(xs)), math.log(max(xs))

    def place(x: float, y: float) -> tuple[float, float]:
        across = left + (width - left - right) * ((math.log(x) - low) / (high - low) if high > low else 0.5)
        return across, height - bottom - (height - bottom - top) * y / highest

    parts = [f"<svg viewBox='0 0 {width} {height}' role='img' aria-label='{html.escape(_title(each))}'>"]
    for step in range(5):
        value = highest * step / 4
        y = place(min(xs), value)[1]
        parts.append(f"<line class='grid' x1='{left}' x2='{width - right}' y1='{y:.1f}' y2='{y:.1f}'/>")
        parts.append(f"<text x='{left - 6}' y='{y + 4:.1f}' text-anchor='end'>{value:.3g}</text>")
    for x in sorted(set(xs)):
        parts.append(f"<text x='{place(x, 0)[0]:.1f}' y='{height - bottom + 16}' text-anchor='middle'>{x:g}</text>")
    for (label, line), colour in zip(lines.items(), COLOURS * 9, strict=False):
        points = [place(x, y) for x, y in sorted(line)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='2'/>")
        parts += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' fill='{colour}'/>" for x, y in points]
        x, y = points[-1]
        parts.append(f"<text x='{x + 8:.1f}' y='{y + 4:.1f}' fill='{colour}'>{html.escape(label)}</text>")
    return "".join([*parts, "</svg>"])


def _table(each: Measured) -> str:
    names = "".join(f"<th>{html.escape(name)}</th>" for name, _ in each.parameters)
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{html.escape(p.strip(chr(39)))}</td>" for p in parameters)
        + f"<td class='number'>{'skipped' if value is None else f'{value:.4g}'}</td></tr>"
        for parameters, value in (each.rows() if each.parameters else [((), each.values[0] if each.values else None)])
    )
    return (
        f"<details><summary>{html.escape(each.name)}</summary><table><tr>{names}<th>{html.escape(each.unit)}</th></tr>"
        f"{rows}</table></details>"
    )


TEMPLATE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>kernreg: measured</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:1080px;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
h1{font-size:1.6rem;margin-bottom:.2rem}h2{margin-top:2.2rem;font-size:1.2rem}
table{border-collapse:collapse;width:100%}td,th{padding:.28rem .6rem;text-align:left;border-bottom:1px solid #e4e4e4}
th{font-weight:600;border-bottom:2px solid #999}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.unit,small{color:#666;white-space:nowrap}.bar{width:18%}
.bar span{display:block;height:.75rem;background:#0072b2;border-radius:2px}
.met td:last-child{color:#007a52;font-weight:600}.not-met td:last-child{color:#b32d00;font-weight:600}
.not-met .bar span{background:#d55e00}.not-measured td{color:#999}
figure{display:inline-block;width:48%;margin:0 1% 1rem 0;vertical-align:top}figcaption{color:#444;font-size:.9rem}
svg{width:100%;height:auto}svg text{font-size:11px;fill:#444}.grid{stroke:#e4e4e4}
details{border-bottom:1px solid #eee;padding:.25rem 0}
summary{cursor:pointer;font-family:ui-monospace,monospace;font-size:.85rem}
@media(max-width:700px){figure{width:100%}}
</style></head><body>
<h1>kernreg, measured</h1>
<p>kernreg evaluates kernels (similarities between samples) and solves the learning problems built on them. This page
says how fast, beside what one would use instead. Both sides of a ratio ran in one process, in turns, on two threads,
and the best of several runs counts; before being timed they were checked to compute the same thing.</p>
<p><strong>{{told}}.</strong> Machine: {{machine}}. Commit {{commit}}.</p>
<h2>Claims</h2>
<table><tr><th>work</th><th>measured against</th><th>ratio, logarithmic</th><th class="number">ratio</th><th></th>
<th class="number">bar</th><th>met?</th></tr>
{{claims}}</table>
<h2>How near the machine's limit</h2>
<p>100 % would mean that evaluating the whole kernel matrix takes no longer than this part of it alone.</p>
<table><tr><th>kernel, features, type</th><th>limit</th><th>fraction of the limit</th><th></th></tr>
{{limits}}</table>
<h2>Growth</h2>
{{series}}
<h2>Every number</h2>
{{all}}
<p><small>The same numbers are in <a href="benchmarks.json">benchmarks.json</a>. Run them again:
<code>make bench</code>; all of them: <code>make bench PROFILE=full</code>.</small></p>
</body></html>
"""


def main() -> None:
    """Read the newest results and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where index.html and benchmarks.json go")
    parser.add_argument("--results", type=Path, default=RESULTS, help="asv's results")
    arguments = parser.parse_args()
    about, measured = newest(arguments.results)
    rows = claim_rows(measured)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    from kernreg.persistence import replacing

    with replacing(arguments.folder / "index.html") as file:
        file.write(render(about, measured).encode())
    with replacing(arguments.folder / "benchmarks.json") as file:
        numbers = {each.name: [{"parameters": list(p), "value": v} for p, v in each.rows()] for each in measured}
        file.write(json.dumps({"about": about, "claims": rows, "benchmarks": numbers}, indent=1).encode())
    for row in rows:
        if row["value"] is not None:
            print(f"{row['verdict']:8s} {row['value']:8.2f} (bar {row['bar']:g}) {row['work']} against {row['peer']}")
    print(arguments.folder / "index.html")


if __name__ == "__main__":
    main()
