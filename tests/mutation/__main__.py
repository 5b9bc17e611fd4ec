"""Draw mutants of linear algebra, dual solvers and kernels, try them, and count.

    PYTHONPATH=tests python -m mutation --count 300 --seed 1

Works on a copy of the tree in ``--folder``, where the recorded lines and the results stay: the same command goes on
where the last one stopped. A mutant is first tried with the quickest tests that run its line, then with more of them.
With ``--again`` those that survived and are not explained as equivalent are tried anew, with the tests of now.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from mutation import page
from mutation.laboratory import Laboratory
from mutation.mutants import Mutant, mutants_of
from mutation.reach import Reach
from mutation.session import sessions
from mutation.tree import copied, prepare, record_all, record_imports, side_by_side

CHANGED = ["kernreg/linalg", "kernreg/solvers/dual", "kernreg/kernels"]
TESTS = [
    *("tests/linalg", "tests/solvers/dual", "tests/kernels"),
    *(f"tests/engine/test_{name}.py" for name in ("elsewhere", "operator", "row_sources", "samples")),
    *(f"tests/solvers/inference/test_{name}.py" for name in ("gaussian_process", "influence", "robust")),
    "tests/persistence/test_other_formats.py",
]


def sites(root: Path, folders: list[str]) -> list[Mutant]:
    """Return every mutant of the modules in these folders."""
    paths = sorted(path for folder in folders for path in (root / folder).rglob("*.py"))
    return [m for path in paths for m in mutants_of(str(path.relative_to(root)), path.read_text())]


def known(results: Path) -> dict[str, dict[str, Any]]:
    """Return what became of mutants in earlier runs."""
    if not results.exists():
        return {}
    return {entry["mutant"]: entry for entry in map(json.loads, results.read_text().splitlines())}


def main() -> int:
    """Return 1 where fewer mutants are killed than ``--bar`` asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bar", type=float, default=0.9)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "kernreg-mutation")
    parser.add_argument("--modules", nargs="+", default=CHANGED, help="folders whose modules are changed")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="folders or files of the tests that should notice")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--again", action="store_true", help="try those again that have survived: after new tests")
    parser.add_argument("--record", action="store_true", help="write the counts into docs/appendix/reliability.md")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    prepare(folder)
    recorded = record_all(folder, CHANGED, options.tests, options.workers)
    results = folder / f"results-{options.seed}.jsonl"
    root = copied(folder, "worker-0/tree")
    everything = sites(root, options.modules)
    drawn = random.Random(options.seed).sample(everything, min(options.count, len(everything)))
    print(f"{len(drawn)} of {len(everything)} mutants, seed {options.seed}", flush=True)
    compiled = {m.module for m in everything if "\nfrom kernreg.jit import" in (root / m.module).read_text()}
    reach = Reach(recorded, record_imports(folder, CHANGED), compiled)
    before = known(results)
    done = set(before)
    if options.again:
        done = page.equivalent(options.seed) | {n for n, e in before.items() if e["outcome"] not in page.UNNOTICED}
    todo = [mutant for mutant in drawn if str(mutant) not in done]

    files = sorted({name.partition("::")[0] for name in recorded})
    collected = sessions(copied(folder, "collected/tree"), files, options.workers) if todo else []

    def work(root: Path, number: int) -> None:
        laboratory = Laboratory(root, reach, collected[number])
        if number == 0:
            laboratory.check_itself(everything)
        for mutant in todo[number :: options.workers]:
            entry = laboratory.tried(mutant)
            with open(results, "a") as file:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
            print(f"{entry['outcome']:9s} {entry['seconds']:6.1f} s  {mutant}", flush=True)

    if todo:
        side_by_side(folder, options.workers, work)
    after = known(results)
    entries = [after[str(mutant)] for mutant in drawn]
    if options.record:
        page.record(options.seed, len(everything), entries, options.modules)
    outcomes = Counter(entry["outcome"] for entry in entries)
    share = (outcomes["killed"] + outcomes["too long"]) / len(drawn)
    print(f"{dict(outcomes)}: {100 * share:.1f} % killed")
    return int(share < options.bar)


if __name__ == "__main__":
    sys.exit(main())
