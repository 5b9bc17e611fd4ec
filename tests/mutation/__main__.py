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
from mutation.trial import UNCHANGED, survives

CHANGED = ["kernreg/linalg", "kernreg/solvers/dual", "kernreg/kernels"]
TESTS = ["tests/linalg", "tests/solvers/dual", "tests/kernels", *CHANGED]  # the last for their examples
LEFT_OUT = {"test_conformance.py"}  # hundreds of runs of the kit, which the other tests make needless here
# The test files of a module, where no lines are recorded: by the beginning of its path, the likeliest first.
BY_PATH = {
    "kernreg/linalg/exact/": ["linalg/exact", "solvers/dual/test_ls_svm.py", "solvers/dual/test_ask_ls.py"],
    "kernreg/linalg/krylov/block_": ["linalg/krylov/test_block_descent.py", "solvers/dual/test_strategies.py"],
    "kernreg/linalg/krylov/sketched": ["linalg/krylov/test_sketched_systems.py", "solvers/dual/test_sketched.py"],
    "kernreg/linalg/krylov/": ["linalg/krylov/test_iterative.py", "solvers/dual/test_strategies.py", "linalg/krylov"],
    "kernreg/linalg/landmarks/pivot": ["linalg/landmarks/test_pivoted_cholesky.py", "linalg/landmarks"],
    "kernreg/linalg/landmarks/sketch": ["linalg/landmarks/test_sketching.py", "linalg/landmarks"],
    "kernreg/linalg/landmarks/lowrank": ["linalg/landmarks/test_lowrank.py", "linalg/landmarks"],
    "kernreg/linalg/landmarks/": ["linalg/landmarks"],
    "kernreg/linalg/spectra/": ["linalg/spectra", "solvers/decompositions/test_kpca.py"],
    "kernreg/linalg/": ["linalg"],
    "kernreg/solvers/dual/ask_ls": ["solvers/dual/test_ask_ls.py", "solvers/dual"],
    "kernreg/solvers/dual/calibration": ["solvers/dual/test_probabilities.py", "solvers/dual"],
    "kernreg/solvers/dual/gamma": ["solvers/dual/test_gamma.py", "solvers/dual"],
    "kernreg/solvers/dual/": ["solvers/dual/test_ls_svm.py", "solvers/dual"],
    "kernreg/kernels/builtin": ["kernels/test_builtin_values.py", "kernels"],
    "kernreg/kernels/combinations/": ["kernels/test_combinators.py", "kernels/test_reference_kernels.py", "kernels"],
    "kernreg/kernels/": ["kernels"],
}
_STAGES = (4.0, 30.0, 90.0)  # CPU seconds of unchanged tests, for a mutant that has survived the stage before


def sites(root: Path) -> list[Mutant]:
    """Return every mutant there is."""
    paths = sorted(path for folder in CHANGED for path in (root / folder).rglob("*.py"))
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

    def knows(self, mutant: Mutant) -> bool:
        """Whether more than the module's own examples are recorded for it."""
        return any(name.startswith("tests/") for name in self._by_module.get(mutant.module, ()))

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
    if not reach.knows(mutant):
        begin = next(begin for begin in BY_PATH if mutant.module.startswith(begin))
        return [([f"tests/{name}"], 60.0) for name in BY_PATH[begin]]
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


def prepared(folder: Path, recording: bool = True) -> tuple[Path, Reach]:
    """Copy the tree where there is no copy yet, record it, and import what is slow to import."""
    root = folder / "tree"
    here = Path(__file__).parents[2]
    if not root.exists():
        ignored = shutil.ignore_patterns("__pycache__", ".pytest_cache", "*.egg-info")
        for name in ("kernreg", "tests"):
            shutil.copytree(here / name, root / name, ignore=ignored)
        shutil.copy(here / "pyproject.toml", root)
    os.environ["KERNREG_CACHE_DIR"] = str(folder / "compiled")
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"
    os.chdir(root)
    sys.path[:0] = [str(root), str(root / "tests")]
    lines = folder / "lines"
    lines.mkdir(exist_ok=True)
    for path in sorted(path for tests in TESTS for path in (root / tests).rglob("*.py") if is_tested(path)):
        name = str(path.relative_to(root))
        if not recording:
            break
        target = lines / f"{name.replace('/', '-')}.json"
        if not target.exists():
            child = os.fork()  # which imports kernreg: this process must not
            if child == 0:
                record(root, CHANGED, name, target)
                os._exit(0)
            os.waitpid(child, 0)
    for module in ("numba.extending", "pandas", "scipy.sparse.linalg", "scipy.stats"):
        __import__(module)
    for module in ("sklearn.utils.estimator_checks", "sklearn.kernel_ridge", "sklearn.svm", "mpmath", "cvxopt"):
        __import__(module)
    recorded: dict[str, Any] = {}
    for path in lines.iterdir():
        recorded.update(json.loads(path.read_text()))
    return root, Reach(recorded)


def is_tested(path: Path) -> bool:
    """Whether a file holds tests or examples."""
    return path.name not in LEFT_OUT and (path.name.startswith("test_") or ">>>" in path.read_text())


def main() -> int:
    """Return 1 where fewer mutants are killed than ``--bar`` asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bar", type=float, default=0.9)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "kernreg-mutation")
    parser.add_argument("--without-lines", action="store_true", help="do not record lines: choose tests by path")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    root, reach = prepared(options.folder.resolve(), not options.without_lines)
    results = options.folder.resolve() / f"results-{options.seed}.jsonl"
    known = {}
    if results.exists():
        known = {entry["mutant"]: entry for entry in map(json.loads, results.read_text().splitlines())}
    everything = sites(root)
    drawn = random.Random(options.seed).sample(everything, min(options.count, len(everything)))
    print(f"{len(drawn)} of {len(everything)} mutants, seed {options.seed}", flush=True)
    unchanged = Mutant("kernreg/linalg/exact/triangles.py", UNCHANGED, 1, "control", "nothing", "nothing")
    if not survives(root, unchanged, ["tests/linalg/exact/test_triangles.py"], 10.0)[0]:
        raise SystemExit("tests fail with nothing changed: every mutant would count as killed")
    for number, mutant in enumerate(drawn):
        if str(mutant) not in known:
            known[str(mutant)] = entry = tried(root, reach, mutant)
            with open(results, "a") as file:
                file.write(json.dumps(entry) + "\n")
            print(f"{number + 1:4d} {entry['outcome']:9s} {entry['seconds']:6.1f} s  {mutant}", flush=True)
    outcomes = Counter(known[str(mutant)]["outcome"] for mutant in drawn)
    share = outcomes["killed"] / len(drawn)
    print(f"{dict(outcomes)}: {100 * share:.1f} % killed")
    return int(share < options.bar)


def tried(root: Path, reach: Reach, mutant: Mutant) -> dict[str, Any]:
    """Return what became of a mutant, and how long that took."""
    start, reason, count = time.monotonic(), "no test reaches it", 0
    for names, seconds in stages(reach, mutant):
        alive, reason = survives(root, mutant, names, seconds)
        count += len(names)
        if not alive:
            break
    else:
        alive = True
    outcome = "survived" if alive else "killed"
    seconds = round(time.monotonic() - start, 2)
    return {"mutant": str(mutant), "outcome": outcome, "reason": reason, "tests": count, "seconds": seconds}


if __name__ == "__main__":
    sys.exit(main())
