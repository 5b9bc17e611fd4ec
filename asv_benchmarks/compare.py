"""Has anything become slower? Two commits side by side, in turns, on this machine; slow-downs are measured again.

    python -m asv_benchmarks.compare main~5            what is checked out (changes included) against main~5
    python -m asv_benchmarks.compare main~5 --only sne

The base is checked out beside the tree and imported from there by the same interpreter, with the entry points of its
own pyproject.toml, so both commits use the same packages. Each round runs both, in processes of their own, the order
changing from round to round. A call is slower if both the ratio of its best times and the median of the ratios of the
rounds say so: a disturbance in one round moves one of them only. What looks slower is measured again, longer, before it
is called so. The exit code is 1 if a slow-down was confirmed, or if something runs at the base and no longer runs now,
and 2 if there was nothing to compare.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent.parent
LIMIT = 1.3
ROUNDS, CONFIRMING_ROUNDS = 3, 6
SECONDS = 0.4  # spent on one call in one round
SLOWER, NOTHING_TO_COMPARE = 1, 2  # exit codes


def measure(names: list[str], seconds: float) -> dict[str, float | None]:
    """Return the best seconds of each workload in this process; None where this commit cannot do it."""
    import warnings

    from asv_benchmarks.workloads import WORKLOADS

    warnings.simplefilter("ignore")
    found: dict[str, float | None] = {}
    for name in names:
        try:
            call = WORKLOADS[name]()
            call()
        except Exception as reason:
            print(f"{name}: {type(reason).__name__}: {reason}", file=sys.stderr)
            found[name] = None
            continue
        best, until, count = float("inf"), time.perf_counter() + seconds, 0
        while count < 3 or time.perf_counter() < until:
            start = time.perf_counter()
            result = call()
            best = min(best, time.perf_counter() - start)
            del result
            count += 1
        found[name] = best
    return found


def announce(tree: Path) -> None:
    """Write the metadata that an installation of the tree would have: its plugins are where its own pyproject says."""
    groups = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    folder = tree / "kernreg-0.dist-info"  # found before that of the installed kernreg, whose modules may have moved
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: kernreg\nVersion: 0\n", encoding="utf-8")
    lines = [
        line
        for group, entries in groups.items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in entries.items()))
    ]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def in_process(tree: Path, names: list[str], seconds: float) -> dict[str, float | None]:
    """Measure with the package of that tree, and the workloads of this one."""
    # The folder of the tree comes first, so its kernreg is imported; these benchmarks are found behind it.
    code = (
        "import sys, json; sys.path.insert(0, sys.argv[1]); import kernreg; sys.path.append(sys.argv[2]);"
        "assert kernreg.__file__.startswith(sys.argv[1]), kernreg.__file__;"
        "from importlib.util import spec_from_file_location as f, module_from_spec as m;"
        "s = f('asv_benchmarks', sys.argv[2] + '/asv_benchmarks/__init__.py',"
        " submodule_search_locations=[sys.argv[2] + '/asv_benchmarks']);"
        "sys.modules['asv_benchmarks'] = m(s);"
        "from asv_benchmarks.compare import measure;"
        "print('\\n' + json.dumps(measure(json.loads(sys.argv[3]), float(sys.argv[4]))))"
    )
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "KERNREG_PROGRESS": "0"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [sys.executable, "-c", code, str(tree), str(HERE), json.dumps(names), str(seconds)],
        cwd=tempfile.gettempdir(),
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        print(f"measuring in {tree} failed:\n{done.stderr[-2000:]}", file=sys.stderr)
        raise SystemExit(NOTHING_TO_COMPARE)
    return json.loads(done.stdout.strip().splitlines()[-1])


@dataclass(frozen=True)
class Times:
    """Seconds of one workload in every round, with the base and with the head; empty where it cannot be run."""

    base: list[float]
    head: list[float]

    @property
    def broken(self) -> bool:
        """Whether it ran at the base and does not run now."""
        return bool(self.base) and not self.head

    @property
    def comparable(self) -> bool:
        """Whether it runs in both."""
        return bool(self.base and self.head)

    @property
    def ratio(self) -> float:
        """How many times the base's time the head takes: the smaller of two estimates."""
        rounds = [head / base for base, head in zip(self.base, self.head, strict=True)]
        return min(min(self.head) / min(self.base), median(rounds))


def side_by_side(base: Path, head: Path, names: list[str], rounds: int) -> dict[str, Times]:
    """Return the times of each workload."""
    taken: dict[Path, list[dict[str, float | None]]] = {base: [], head: []}
    for number in range(rounds):
        for tree in (base, head) if number % 2 == 0 else (head, base):
            taken[tree].append(in_process(tree, names, SECONDS))
    found = {}
    for name in names:
        before, after = ([each[name] for each in taken[tree]] for tree in (base, head))
        found[name] = Times(*([] if None in side else [s for s in side if s is not None] for side in (before, after)))
    return found


def compare(base: Path, head: Path, names: list[str], limit: float = LIMIT, rounds: int = ROUNDS) -> dict[str, Times]:
    """Print the table and return the times; those of suspects are measured again."""
    found = side_by_side(base, head, names, rounds)
    suspects = [name for name, times in found.items() if times.comparable and times.ratio > limit]
    if suspects:
        print(f"measuring again: {', '.join(suspects)}", flush=True)
        found.update(side_by_side(base, head, suspects, CONFIRMING_ROUNDS))
    print(f"{'workload':48s}{'base ms':>10s}{'head ms':>10s}{'head/base':>11s}")
    for name, times in found.items():
        if not times.comparable:
            print(f"{name:48s}{'NO LONGER RUNS' if times.broken else 'not in both commits':>31s}")
            continue
        verdict = ""
        if name in suspects:
            verdict = "  SLOWER, confirmed" if times.ratio > limit else "  not confirmed"
        print(f"{name:48s}{1e3 * min(times.base):10.2f}{1e3 * min(times.head):10.2f}{times.ratio:11.2f}{verdict}")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Read the arguments, check the base out, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", help="a commit, branch or tag to compare with")
    parser.add_argument("--limit", type=float, default=LIMIT, help=f"slower by this factor fails (default {LIMIT})")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", nargs="*", default=[], help="workloads whose name contains one of these words")
    given = parser.parse_args(arguments)

    from asv_benchmarks.workloads import WORKLOADS

    names = [name for name in WORKLOADS if not given.only or any(word in name for word in given.only)]
    if not names:
        print(f"no workload contains {given.only}; there are: {', '.join(WORKLOADS)}", file=sys.stderr)
        return NOTHING_TO_COMPARE
    folder = Path(tempfile.mkdtemp(prefix="kernreg-base-"))
    base = folder / "tree"
    try:
        added = subprocess.run(
            ["git", "-C", str(HERE), "worktree", "add", "--quiet", "--detach", str(base), given.base],
            capture_output=True,
            text=True,
        )
        if added.returncode:
            print(f"{given.base!r} cannot be checked out: {added.stderr.strip()}", file=sys.stderr)
            return NOTHING_TO_COMPARE
        announce(base)
        found = compare(base, HERE, names, given.limit, given.rounds)
    finally:
        subprocess.run(["git", "-C", str(HERE), "worktree", "remove", "--force", str(base)], capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)
    return verdict(found, given.limit)


def verdict(found: dict[str, Times], limit: float) -> int:
    """Print what came out, and return the exit code."""
    compared = {name: times for name, times in found.items() if times.comparable}
    slower = [name for name, times in compared.items() if times.ratio > limit]
    broken = [name for name, times in found.items() if times.broken]
    if broken:
        print(f"\nran at the base and does not run now: {', '.join(broken)}")
    if slower:
        print(f"\nslower than {limit}x the base, measured twice: {', '.join(slower)}")
    if slower or broken:
        return SLOWER
    if not compared:
        print("\nnothing runs in both commits, so there is nothing to compare", file=sys.stderr)
        return NOTHING_TO_COMPARE
    print(f"\n{len(compared)} of {len(found)} compared; nothing is slower than {limit}x the base")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
