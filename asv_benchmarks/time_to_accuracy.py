"""Test error against seconds: kernreg's machines and their peers, on the same data in the same run.

    python -m asv_benchmarks.time_to_accuracy                       all problems, everybody; hours
    python -m asv_benchmarks.time_to_accuracy kin40k --only kernreg LightGBM
    python -m asv_benchmarks.time_to_accuracy --draw docs/_build/pictures/time_to_accuracy.png

Each setting runs in a process of its own, so that its memory is its own and what takes longer than ``--limit`` seconds
can be stopped and is said to be so. Every number is added to the file of measurements as it comes, in place of an older
one of the same setting; the picture and the table are made from that file.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from asv_benchmarks.contestants import PROBLEMS, contestants

MEASUREMENTS = Path(__file__).resolve().parent.parent / "docs" / "measurements" / "time_to_accuracy.json"
TITLES = {"covtype": "covtype: wrong classes", "mnist": "mnist: wrong classes", "kin40k": "kin40k: RMSE"}


def measure(problem: str, name: str, setting: int, rows: int | None) -> dict[str, Any]:
    """Fit one contestant with one of its settings in this process; return its error, seconds and memory."""
    task = PROBLEMS[problem]().first(rows)
    contestant = next(each for each in contestants(problem) if each.name == name)
    before = _peak()
    estimator = contestant.make(contestant.settings[setting])
    start = time.perf_counter()
    estimator.fit(task.X, task.y)
    fitted = time.perf_counter()
    error = task.error(estimator.predict(task.X_test))
    return {
        "problem": problem,
        "name": name,
        "setting": repr(contestant.settings[setting]),
        "ours": contestant.ours,
        "rows": len(task.X),
        "error": error,
        "fit": fitted - start,
        "predict": time.perf_counter() - fitted,
        "gigabytes": (_peak() - before) / 1e9,
    }


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def in_process(problem: str, name: str, setting: int, rows: int | None, limit: float) -> dict[str, Any]:
    """Return what `measure` does, in a process of its own; without an error where it took too long or failed."""
    code = (
        "import json, sys, warnings; warnings.simplefilter('ignore')\n"
        "from asv_benchmarks.time_to_accuracy import measure\n"
        "print(json.dumps(measure(*json.loads(sys.argv[1]))))"
    )
    found: dict[str, Any] = {"problem": problem, "name": name}
    found["setting"] = repr(next(each for each in contestants(problem) if each.name == name).settings[setting])
    command = [sys.executable, "-c", code, json.dumps([problem, name, setting, rows])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True)
    except subprocess.TimeoutExpired:
        return {**found, "failed": f"not done after {limit:g} s"}
    except subprocess.CalledProcessError as failure:
        return {**found, "failed": (failure.stderr.strip().splitlines() or ["it was killed"])[-1][:200]}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def recorded(path: Path = MEASUREMENTS) -> list[dict[str, Any]]:
    """Return what was measured."""
    return json.loads(path.read_text(encoding="utf-8"))["runs"] if path.exists() else []


def record(found: dict[str, Any], path: Path = MEASUREMENTS) -> None:
    """Add one measurement to the file, in place of an older one."""
    same = [each for each in recorded(path) if any(each[key] != found[key] for key in ("problem", "name", "setting"))]
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {"cores": os.cpu_count(), "packages": _versions()}
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps({**about, "runs": [*same, found]}, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)


def _versions() -> dict[str, str]:
    from asv_benchmarks.measured import version

    names = ("kernreg", "numpy", "scipy", "scikit-learn", "lightgbm", "xgboost")
    return {name: found for name in names if (found := version(name))}


def draw(path: Path, runs: list[dict[str, Any]] | None = None) -> None:
    """Draw test error against seconds of fit and prediction, a panel for each problem."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter

    runs = [each for each in (recorded() if runs is None else runs) if "error" in each]
    problems = [name for name in PROBLEMS if any(each["problem"] == name for each in runs)]
    figure, axes = plt.subplots(1, max(1, len(problems)), figsize=(4.6 * max(1, len(problems)), 3.9), squeeze=False)
    names = list(dict.fromkeys(each["name"] for each in sorted(runs, key=lambda each: not each["ours"])))
    colours = dict(zip(names, [plt.get_cmap("tab20")(number % 20) for number in range(len(names))], strict=True))
    for axis, problem in zip(axes[0], problems, strict=False):
        for name in names:
            points = sorted(
                (each["fit"] + each["predict"], each["error"])
                for each in runs
                if (each["problem"], each["name"]) == (problem, name)
            )
            if points:
                ours = name.startswith("kernreg")
                style: dict[str, Any] = {"lw": 2.4, "marker": "o", "zorder": 3} if ours else {"lw": 1.0, "marker": "s"}
                axis.plot(*zip(*points, strict=True), label=name, color=colours[name], ms=5, **style)
        axis.set(xscale="log", yscale="log", xlabel="seconds, fit and prediction", title=TITLES[problem])
        for side in (axis.xaxis, axis.yaxis):
            side.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            side.set_major_formatter(lambda value, _: f"{value:g}")
            side.set_minor_formatter(NullFormatter())
        axis.grid(True, which="both", alpha=0.25)
    lines = {line.get_label(): line for axis in axes[0] for line in axis.get_lines()}
    figure.legend(list(lines.values()), list(lines), loc="lower center", ncol=4, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0.0, 0.05 + 0.05 * -(-len(lines) // 4), 1.0, 1.0))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130, facecolor="white")
    plt.close(figure)


def table(runs: list[dict[str, Any]] | None = None) -> str:
    """Return the measurements as a table in Markdown."""
    lines = ["| problem | who | setting | test error | fit | prediction | memory |", "| --- " * 7 + "|"]
    for each in sorted(
        recorded() if runs is None else runs, key=lambda each: (each["problem"], each.get("error", 9.0))
    ):
        start = f"| {each['problem']} | {each['name']} | {each['setting']} |"
        if "error" not in each:
            lines.append(f"{start} {each['failed']} | | | |")
        else:
            lines.append(
                f"{start} {each['error']:.4f} | {each['fit']:.0f} s | {each['predict']:.1f} s | "
                f"{each['gigabytes']:.1f} GB |"
            )
    return "\n".join(lines)


def main() -> None:
    """Read the command line, measure, and show the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="*", choices=[*PROBLEMS, []], help="all of them by default")
    parser.add_argument("--only", nargs="+", help="contestants whose name has one of these in it")
    parser.add_argument("--rows", type=int, help="the first training rows only; not recorded")
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds that one setting may take")
    parser.add_argument("--draw", type=Path, help="only draw what was measured, into this file")
    chosen = parser.parse_args()
    if chosen.draw:
        draw(chosen.draw)
        return
    seen = []
    for problem in chosen.problems or PROBLEMS:
        for contestant in contestants(problem):
            if chosen.only and not any(part in contestant.name for part in chosen.only):
                continue
            if importlib.util.find_spec(contestant.needs) is None:
                print(f"{contestant.name}: {contestant.needs} is not installed (pip install 'kernreg[peers]')")
                continue
            for number in range(len(contestant.settings)):
                found = in_process(problem, contestant.name, number, chosen.rows, chosen.limit)
                print(json.dumps(found), flush=True)
                seen.append(found)
                if chosen.rows is None:
                    record(found)
    print(table(seen))


if __name__ == "__main__":
    main()
