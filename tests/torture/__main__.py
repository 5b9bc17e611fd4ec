"""The command line of the torture suite; `make torture` calls it."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from torture.attack import Attack, attacks, selected
from torture.failures import read_failure
from torture.process import Worker, environment
from torture.record import record
from torture.runner import Limit, Setting, Tally, replay, run_attack

ROOT = Path(__file__).parent.parent.parent
OUTPUT = ROOT / "torture_output"
#: What is said again at the end: so many messages of an attack, and so much of each.
SHOWN, LONGEST = 3, 1000


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; 1 if anything was wrong."""
    options = parsed(arguments)
    OUTPUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        variables = environment(Path(folder), ROOT / ".pytest_cache/d/kernreg")  # of the tests, too
        if options.replay:
            return replayed(options.replay, variables)
        chosen = selected(options.attacks)
        seed = options.seed if options.seed is not None else 0 if options.part == "ci" else random.randrange(10**6)
        print(f"torture: {len(chosen)} attacks, seed {seed} (SEED={seed} repeats it)", flush=True)
        setting = Setting(seed, [Worker(variables) for _ in range(options.workers)], OUTPUT / "failures")
        tallies = []
        for attack in chosen:
            tallies.append(shown(run_attack(attack, limit_of(attack, chosen, options), setting)))
            if options.record:  # after each: a run may be ended early
                record(tallies[-1:], how_long(options))
        for worker in setting.workers:
            worker.close()
    return summed_up(tallies)


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(
        prog="torture", description="Attack everything; --part ci for a few minutes of it."
    )
    parser.add_argument("attacks", nargs="*", help="names or patterns of attacks (solver-*); all by default")
    parser.add_argument("--part", choices=["full", "ci"], default="full", help="how many cases of each attack")
    parser.add_argument("--budget", type=duration, help="end by the clock: 20m, 90s; divided among the attacks")
    parser.add_argument("--seed", type=int, help="the seed of all cases; a new one by default, 0 for --part ci")
    parser.add_argument("--workers", type=int, default=2, help="how many processes run cases")
    parser.add_argument("--replay", type=Path, help="a file of a failure: run its case alone")
    parser.add_argument("--record", action="store_true", help="write the counts into docs/appendix/reliability.md")
    return parser.parse_args(arguments)


def duration(text: str) -> float:
    """Seconds from "90", "90s", "5m" or "1h"."""
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    number = text[:-1] if text[-1:] in units else text
    try:
        seconds = float(number) * units.get(text[-1:], 1.0)
    except ValueError:
        seconds = 0.0
    if not seconds > 0.0:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; 90s, 5m and 1h are")
    return seconds


def limit_of(attack: Attack, chosen: list[Attack], options: argparse.Namespace) -> Limit:
    """When an attack ends."""
    if options.budget is None:
        return Limit(attack.ci) if options.part == "ci" else Limit(attack.full, lasts=60.0 * attack.lasts)
    share = attack.minutes / sum(other.minutes for other in chosen)
    return Limit(sys.maxsize, time.monotonic() + share * options.budget)


def how_long(options: argparse.Namespace) -> str:
    """How long a run was to be, for the numbers."""
    return options.part if options.budget is None else f"{options.budget:g} s"


def shown(tally: Tally) -> Tally:
    """Print a line about an attack."""
    counts = f"{tally.cases:>7,} cases {tally.violations:>3} violations {tally.seconds:>7.1f} s"
    print(f"  {tally.attack.name:<28} {counts}", flush=True)
    return tally


def summed_up(tallies: list[Tally]) -> int:
    """Print the sum of a run, and what was wrong once more, since the end of a log is kept; 1 if anything was."""
    violations = sum(tally.violations for tally in tallies)
    for tally in tallies:
        for message in tally.messages[:SHOWN]:
            print(f"  {tally.attack.name}: {message[:LONGEST]}")
    print(f"torture: {sum(tally.cases for tally in tallies):,} cases, {violations} violations")
    return 1 if violations else 0


def replayed(path: Path, variables: dict[str, str]) -> int:
    """Run the case of a file, and say what came of it."""
    name, case = read_failure(path)
    answer = replay(attacks()[name], case, variables)
    if isinstance(answer["outcome"], str):
        print(f"{name}: {answer['outcome']}\n{answer.get('traceback') or ''}")
        return 1
    print(f"{name}: all well")
    return 0


if __name__ == "__main__":
    sys.exit(main())
