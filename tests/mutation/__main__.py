"""Draw mutants of linear algebra, dual solvers and kernels, try them, and count.

    PYTHONPATH=tests python -m mutation --count 300 --seed 1

Works on a copy of the tree in ``--folder``, where the recorded lines and the results stay: the same command goes on
where the last one stopped. A mutant is first tried with the quickest tests that run its line, then with more of them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from mutation.lines import record
from mutation.mutants import Mutant, mutants_of
from mutation.trial import Outcome, restore, trial

CHANGED = ["kernreg/linalg", "kernreg/solvers/dual", "kernreg/kernels"]
TESTS = ["tests/linalg", "tests/solvers/dual", "tests/kernels"]
_SLOW_TO_IMPORT = (
    *("coverage", "numba.extending", "pandas", "scipy.sparse.linalg", "scipy.stats", "sklearn.utils.estimator_checks"),
    *("sklearn.kernel_ridge", "sklearn.svm", "mpmath", "pytest"),
)
LEFT_OUT = {"test_conformance.py"}  # hundreds of runs of the kit, which the other tests make needless here
_STAGES = (3.0, 12.0, 40.0)  # CPU seconds of unchanged tests, for a mutant that has survived the stage before
#: A change of compiled code that tests must notice: else old machine code was run, and no result means anything.
_CONTROL = "kernreg/kernels/builtin.py", "-d2 / sigma / sigma"


def sites(root: Path, folders: list[str]) -> list[Mutant]:
    """Return every mutant of the modules in these folders."""
    paths = sorted(path for folder in folders for path in (root / folder).rglob("*.py"))
    return [m for path in paths for m in mutants_of(str(path.relative_to(root)), path.read_text())]


class Reach:
    """The tests that reach a line, or at least its module; the quick ones first."""

    def __init__(self, recorded: dict[str, Any]):
        self.seconds = {name: test["seconds"] for name, test in recorded.items()}
        self._by_line: dict[tuple[str, int], list[str]] = defaultdict(list)
        self._by_module: dict[str, set[str]] = defaultdict(set)
        for name, test in recorded.items():
            for module, lines in test["lines"].items():
                self._by_module[module].add(name)
                for line in lines:
                    self._by_line[module, line].append(name)

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the names of tests, those that run the line before the others."""
        near = self._by_line.get((mutant.module, mutant.line), [])
        own = Path(mutant.module).stem
        far = [name for name in self._by_module.get(mutant.module, ()) if name not in set(near)]
        return [*self._quick(near, own), *self._quick(far, own)]

    def _quick(self, names: list[str], own: str) -> list[str]:
        return sorted(names, key=lambda name: (own not in name, round(self.seconds[name], 2), name))


def stages(reach: Reach, mutant: Mutant) -> list[tuple[list[str], float]]:
    """Return groups of tests that follow one another, each with its seconds."""
    groups: list[tuple[list[str], float]] = []
    names = iter(reach.tests(mutant))
    for limit in _STAGES:
        group, total = [], 0.0
        for name in names:
            group.append(name)
            total += reach.seconds[name]
            if total > limit:
                break
        if group:
            groups.append((group, total))
    return groups


def prepared(folder: Path, tested_by: list[str]) -> tuple[Path, Reach]:
    """Copy the tree where there is no copy yet, record it, and import what is slow to import."""
    root = folder / "tree"
    here = Path(__file__).parents[2]
    if not root.exists():
        ignored = shutil.ignore_patterns("__pycache__", ".pytest_cache", "*.egg-info")
        for name in ("kernreg", "tests"):
            shutil.copytree(here / name, root / name, ignore=ignored)
        shutil.copy(here / "pyproject.toml", root)
    restore(root)
    os.environ["KERNREG_CACHE_DIR"] = str(folder / "compiled")
    compiled = here / ".pytest_cache/d/kernreg"
    if compiled.exists() and not (folder / "compiled").exists():
        shutil.copytree(compiled, folder / "compiled")
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"
    os.chdir(root)
    paths = [str(root), str(root / "tests")]
    sys.path[:0] = paths
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [*paths, os.environ.get("PYTHONPATH", "")]
    )  # of processes that tests start
    for module in _SLOW_TO_IMPORT:  # once, here: children are forked
        __import__(module)
    lines = folder / "lines"
    lines.mkdir(exist_ok=True)
    for path in sorted(path for tests in tested_by for path in (root / tests).rglob("*.py") if is_tested(path)):
        name = str(path.relative_to(root))
        target = lines / f"{name.replace('/', '-')}.json"
        if not target.exists():
            start = time.monotonic()
            child = os.fork()  # which imports kernreg: this process must not
            if child == 0:
                try:
                    record(root, CHANGED, name, target)
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
            if not target.exists():
                raise SystemExit(f"the lines of {name} could not be recorded")
            print(f"recorded {name} in {time.monotonic() - start:.0f} s", flush=True)
    recorded: dict[str, Any] = {}
    for path in lines.iterdir():
        recorded.update(json.loads(path.read_text()))
    return root, Reach(recorded)


def is_tested(path: Path) -> bool:
    """Whether a file holds tests."""
    return path.name not in LEFT_OUT and path.name.startswith("test_")


def main() -> int:
    """Return 1 where fewer mutants are killed than ``--bar`` asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bar", type=float, default=0.9)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "kernreg-mutation")
    parser.add_argument("--modules", nargs="+", default=CHANGED, help="folders whose modules are changed")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="folders of the tests that should notice")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    root, reach = prepared(options.folder.resolve(), options.tests)
    results = options.folder.resolve() / f"results-{options.seed}.jsonl"
    known = {}
    if results.exists():
        known = {entry["mutant"]: entry for entry in map(json.loads, results.read_text().splitlines())}
    everything = sites(root, options.modules)
    drawn = random.Random(options.seed).sample(everything, min(options.count, len(everything)))
    print(f"{len(drawn)} of {len(everything)} mutants, seed {options.seed}", flush=True)
    laboratory = Laboratory(root, reach)
    laboratory.check_itself(everything)
    for number, mutant in enumerate(drawn):
        if str(mutant) not in known:
            known[str(mutant)] = entry = laboratory.tried(mutant)
            with open(results, "a") as file:
                file.write(json.dumps(entry) + "\n")
            print(f"{number + 1:4d} {entry['outcome']:9s} {entry['seconds']:6.1f} s  {mutant}", flush=True)
    outcomes = Counter(known[str(mutant)]["outcome"] for mutant in drawn)
    share = (outcomes["killed"] + outcomes["too long"]) / len(drawn)
    print(f"{dict(outcomes)}: {100 * share:.1f} % killed")
    return int(share < options.bar)


class Laboratory:
    """Tries mutants, and makes sure that what fails does so because of them."""

    def __init__(self, root: Path, reach: Reach):
        self._root, self._reach = root, reach
        self._sound: set[tuple[str, ...]] = set()  # tests that pass unchanged, in this order
        self._unsound: set[str] = set()

    def check_itself(self, everything: list[Mutant]) -> None:
        """Raise SystemExit where a change of compiled code goes unnoticed."""
        module, text = _CONTROL
        control = next((m for m in everything if (m.module, m.before, m.kind) == (module, text, "arithmetic")), None)
        if control is None:
            print(
                "no compiled kernels among these modules: whether old machine code is run was not checked", flush=True
            )
        elif self.tried(control)["outcome"] != "killed":
            raise SystemExit(f"no test noticed {control}: old machine code is run, or the tests do not reach it")

    def tried(self, mutant: Mutant) -> dict[str, Any]:
        """Return what became of a mutant, and how long that took."""
        start, outcome, count = time.monotonic(), Outcome("passed"), 0
        for group, seconds in stages(self._reach, mutant):
            outcome = self._outcome(mutant, group, seconds)
            count += len(group)
            if not outcome.survived:
                break
        word = {"passed": "survived" if count else "unreached", "too long": "too long"}.get(outcome.reason, "killed")
        seconds = round(time.monotonic() - start, 2)
        return {"mutant": str(mutant), "outcome": word, "by": outcome.test, "tests": count, "seconds": seconds}

    def _outcome(self, mutant: Mutant, group: list[str], seconds: float) -> Outcome:
        """Return what ended a trial; a test that fails unchanged, too, is left out of all."""
        while True:
            names = [name for name in group if name not in self._unsound]
            outcome = trial(self._root, mutant, names, seconds) if names else Outcome("passed")
            if outcome.survived:
                return outcome
            until = names[: names.index(outcome.test) + 1] if outcome.test in names else names
            if tuple(until) not in self._sound:
                unchanged = trial(self._root, None, until, seconds)
                if not unchanged.survived:
                    if unchanged.test not in names:
                        raise SystemExit(f"with nothing changed: {unchanged.reason}, {until}")
                    self._unsound.add(unchanged.test)
                    print(f"fails with nothing changed, and is left out: {unchanged.test}", flush=True)
                    continue
                self._sound.add(tuple(until))
            return outcome


if __name__ == "__main__":
    sys.exit(main())
