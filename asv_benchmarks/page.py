"""The page of measurements: one HTML file without outside scripts, and the same numbers as JSON.

    python -m asv_benchmarks.page docs/benchmarks      from the newest results that asv has written

On top the table of claims: what was done, against what, how many times faster, and whether that reaches the bar. Below
it how near the machine's limit each driver is, how time grows with the size of the problem, and every number there is.
"""

from __future__ import annotations

import argparse
import html
import json
import math
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from asv_benchmarks import svg
from asv_benchmarks.benchmarks.roofline import DRIVERS
from asv_benchmarks.benchmarks.scaling import SERIES
from asv_benchmarks.claims import CLAIMS, Claim
from asv_benchmarks.measured import RESULTS, Measured, newest, version

#: What the series of growth are drawn against, and how a reader calls it.
AGAINST = {
    "n": "samples",
    "m": "samples",
    "d": "features",
    "classes": "classes",
    "labels": "labelled samples, %",
    "landmarks": "landmarks",
}


def claim_rows(measured: list[Measured]) -> list[dict[str, Any]]:
    """Return every claim with its measured value and verdict; a claim without a number says so."""
    by_name = {each.name: each for each in measured}
    rows = []
    for claim in CLAIMS:
        value = None
        if claim.benchmark in by_name:
            found = by_name[claim.benchmark]
            value = found.at(claim.parameters) if claim.parameters else found.values[0]
        verdict = "not measured" if value is None else ("met" if claim.met(value) else "not met")
        rows.append({**asdict(claim), "value": value, "verdict": verdict, "peer_version": _versions(claim)})
    return rows


def _versions(claim: Claim) -> str:
    return ", ".join(f"{name} {version(name)}" for name in claim.packages if version(name))


def render(about: dict[str, Any], measured: list[Measured]) -> str:
    """Return the page."""
    rows = claim_rows(measured)
    verdicts = [row["verdict"] for row in rows]
    told = f"{verdicts.count('met')} of {len(rows) - verdicts.count('not measured')} measured claims hold"
    if verdicts.count("not measured"):
        told += (
            f"; {verdicts.count('not measured')} take longer or need other packages and were not measured in this run"
        )
    cores = f" ({about['cores']} cores)" if about["cores"] else ""
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items() if number)
    return (
        TEMPLATE.replace("{{told}}", html.escape(told))
        .replace("{{machine}}", html.escape(f"{about['cpu']}{cores}; Python {about['python']}; {versions}"))
        .replace("{{commit}}", html.escape(about["commit"]))
        .replace("{{claims}}", "\n".join(_claims(rows)))
        .replace("{{limits}}", "\n".join(_limits(measured)))
        .replace("{{series}}", "\n".join(_series(measured)))
        .replace("{{all}}", "\n".join(_table(each) for each in measured))
    )


def _claims(rows: list[dict[str, Any]]) -> Iterable[str]:
    area = ""
    for row in rows:
        if row["area"] != area:
            area = row["area"]
            yield f"<tr class='area'><th colspan='6'>{html.escape(area)}</th></tr>"
        yield _claim(row)


def _claim(row: dict[str, Any]) -> str:
    times = row["unit"].startswith("times")
    value = "" if row["value"] is None else _value(row["value"], row["unit"])
    bar = f"{'at most' if row['at_most'] else 'at least'} {_value(row['bar'], row['unit'])}"
    # Only ratios have a length: how many times faster, on a logarithmic scale that ends at 400.
    width = 0.0
    if times and row["value"] is not None and not row["at_most"]:
        width = min(1.0, math.log10(max(1.0, row["value"])) / math.log10(400))
    mark = {"met": "✓ holds", "not met": "✗ does not hold", "not measured": "not measured"}[row["verdict"]]
    peer = html.escape(row["peer"]) + (
        f" <small>{html.escape(row['peer_version'])}</small>" if row["peer_version"] else ""
    )
    return (
        f"<tr class='{row['verdict'].replace(' ', '-')}'><td class='work'>{html.escape(row['work'])}</td>"
        f"<td>{peer}</td>"
        f"<td class='bar'><span style='width:{100 * width:.1f}%'></span></td>"
        f"<td class='measured'>{html.escape(value)}</td>"
        f"<td class='claimed'>{html.escape(bar)}</td><td>{mark}</td></tr>"
    )


def _value(value: float, unit: str) -> str:
    """Return a value with its unit as a reader says it."""
    if unit == "times faster":
        return f"{value:.3g}× faster"
    if unit == "times the time":
        return f"{value:.3g}× the time"
    if unit == "bytes":
        return f"{value / 1e9:.3g} GB" if value >= 1e9 else f"{value / 1e6:.3g} MB"
    return f"{value:.3g} {unit}"


def _limits(measured: list[Measured]) -> Iterable[str]:
    """Yield a row per driver: its time, its three limits, and the fraction of the longest of them it reaches."""
    by_name = {each.name.removeprefix("roofline.Roofline.track_"): each for each in measured}
    if "fraction" not in by_name:
        return
    kinds = {
        "write_limit": "writing the result",
        "arithmetic_limit": "arithmetic",
        "exponential_limit": "exponentials",
    }
    for driver in DRIVERS:
        at = (repr(driver),)
        fraction, taken = by_name["fraction"].at(at), by_name["milliseconds"].at(at)
        limits = {kind: by_name[kind].at(at) or 0.0 for kind in kinds}
        if fraction is None or taken is None:
            continue
        binding = max(limits, key=lambda kind: limits[kind])
        cells = "".join(
            f"<td class='number{' binding' if kind == binding else ''}'>{value:.3g}</td>" if value else "<td></td>"
            for kind, value in limits.items()
        )
        yield (
            f"<tr><td>{html.escape(driver)}</td><td class='number'>{taken:.3g}</td>{cells}"
            f"<td class='bar'><span style='width:{100 * min(1.0, fraction):.0f}%'></span></td>"
            f"<td class='number'>{100 * fraction:.0f} %</td></tr>"
        )


def _growth(track: Measured, exponents: Measured, against: str, unit: float) -> dict[str, list[tuple[float, float]]]:
    """Return a line for each series that grows with this: its points, and its exponent in its name."""
    lines = {}
    for name, series in SERIES.items():
        power = exponents.at((repr(name),))
        if AGAINST[series.against] != against or power is None:
            continue
        found = [track.at((repr(name), repr(i))) for i in range(len(series.sizes))]
        points = [(float(s), v / unit) for s, v in zip(series.sizes, found, strict=True) if v is not None and v > 0]
        if points:
            lines[f"{series.work}: grows like size^{power:.2f}"] = points
    return lines


def _series(measured: list[Measured]) -> Iterable[str]:
    """Yield pictures of seconds and of memory, one for each thing that grows; each line with its exponent."""
    by_name = {each.name: each for each in measured}
    for track, exponents, up, unit in (
        ("scaling.Points.track_seconds", "scaling.Exponents.track_time", "seconds", 1.0),
        ("scaling.Points.track_bytes", "scaling.Exponents.track_memory", "MB at the peak", 1e6),
    ):
        if track not in by_name or exponents not in by_name:
            continue
        for against in dict.fromkeys(AGAINST.values()):
            lines = _growth(by_name[track], by_name[exponents], against, unit)
            if lines:
                yield svg.plot(lines, f"Growth with {against.removesuffix(', %')}", against, up)
    per_value = by_name.get("kernels.Growth.track_nanoseconds_per_value")
    if per_value is not None:
        values: dict[str, list[tuple[float, float]]] = {}
        for (kernel, n), value in per_value.rows():
            if value is not None:
                values.setdefault(kernel.strip("'"), []).append((float(n), value))
        if values:
            yield svg.plot(values, "Cost of one kernel value, streamed", "samples", "nanoseconds", log_y=False)


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


STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:1120px;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
h1{font-size:1.6rem;margin-bottom:.2rem}h2{margin-top:2.2rem;font-size:1.2rem}
table{border-collapse:collapse;width:100%}td,th{padding:.28rem .6rem;text-align:left;border-bottom:1px solid #e4e4e4}
th{font-weight:600;border-bottom:2px solid #999}.area th{border-bottom:1px solid #999;padding-top:1.1rem;color:#0072b2}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.claimed,small{color:#666}small{white-space:nowrap}.claimed{width:13%}.bar{width:11%}.work{width:32%}.binding{font-weight:600}.measured{text-align:right;width:12%}
.bar span{display:block;height:.75rem;background:#0072b2;border-radius:2px}
.met td:last-child{color:#007a52;font-weight:600;white-space:nowrap}
.not-met td:last-child{color:#b32d00;font-weight:600;white-space:nowrap}
.not-met .bar span{background:#d55e00}.not-measured td{color:#999}
figure{display:inline-block;width:48%;margin:0 1% 1.4rem 0;vertical-align:top}figcaption{color:#222}
.legend{margin:.2rem 0 0 3.5rem;font-size:.85rem;line-height:1.35;color:#333}
svg{width:100%;height:auto}svg text{font-size:11px;fill:#444}svg .axis{fill:#777}.grid{stroke:#e4e4e4}
details{border-bottom:1px solid #eee;padding:.25rem 0}
summary{cursor:pointer;font-family:ui-monospace,monospace;font-size:.85rem}
@media(max-width:700px){figure{width:100%}.bar{display:none}table{display:block;overflow-x:auto;font-size:.8rem}
td,th{padding:.25rem .3rem}small{white-space:normal}.work{width:auto}}
"""

TEMPLATE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>kernreg, measured</title>
<style>{{style}}</style></head><body>
<h1>kernreg, measured</h1>
<p>kernreg evaluates kernels (similarities between samples) and solves the learning problems built on them. This page
says how fast, beside what one would use instead. Both sides of a ratio ran in one process on two threads. They took
turns, and the best time of each counts; what lasts longer than a few seconds ran once. Kernel matrices were compared
before being timed, and results of kernreg are written to memory that an earlier call has used, as they are in a search
over parameters; the very first call takes 20 to 40 ms longer.</p>
<p><strong>{{told}}.</strong> Machine: {{machine}}. Commit {{commit}}.</p>
<h2>Claims</h2>
<table><tr><th>what kernreg does</th><th>measured against</th><th class="bar">from 1× to 400×</th>
<th class="number">measured</th><th>claimed</th><th></th></tr>
{{claims}}</table>
<h2>How near the machine's limit</h2>
<p>Whoever computes a kernel matrix must write it, must multiply and add once per feature of each pair, and must take
one exponential per pair. The machine was timed doing each of these alone; the longest, in bold, is a limit
for any program that does the same. Products of sparse samples read what they would have to write. 100 % means that
kernreg needs no longer than that.</p>
<table><tr><th>work</th><th class="number">took, ms</th><th class="number">writing, ms</th>
<th class="number">arithmetic, ms</th><th class="number">exponentials, ms</th><th>share of the limit</th>
<th class="bar"></th></tr>
{{limits}}</table>
<h2>Growth</h2>
<p>Both axes are logarithmic. Twice the size takes 2<sup>p</sup> times as long where a line grows like
size<sup>p</sup>.</p>
{{series}}
<h2>Every number</h2>
{{all}}
<p><small>The same numbers are in <a href="benchmarks.json">benchmarks.json</a>. Run them again:
<code>make bench</code>; the long claims, too: <code>make bench PROFILE=claims</code>; all of them:
<code>make bench PROFILE=full</code>.</small></p>
</body></html>
""".replace("{{style}}", STYLE)


def main() -> None:
    """Read the newest results and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where index.html and benchmarks.json go")
    parser.add_argument("--results", type=Path, default=RESULTS, help="asv's results")
    arguments = parser.parse_args()
    run = newest(arguments.results)
    about, measured = run.about(), run.measured
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
