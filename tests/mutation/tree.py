"""Copies of the tree in which mutants are tried, processes that work in them, and the recorded lines.

The tests of the copies follow those of the repository; the code stays what it was when the folder was made, since
results of another code are others. A new folder begins anew.
"""

from __future__ import annotations

import filecmp
import hashlib
import json
import os
import shutil
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mutation import lines
from mutation.session import enter
from mutation.trial import restore

HERE = Path(__file__).parents[2]
_SLOW_TO_IMPORT = (
    *("coverage", "numba.extending", "pandas", "scipy.sparse.linalg", "scipy.stats", "sklearn.utils.estimator_checks"),
    *("sklearn.kernel_ridge", "sklearn.svm", "mpmath", "pytest"),
)
_LEFT_OUT = {"test_conformance.py"}  # hundreds of runs of the kit, which the other tests make needless here


def copied(folder: Path, name: str) -> Path:
    """Return a copy of the tree with the tests of now, without changes that a killed process has left in it."""
    root = folder / name
    if not root.exists():
        ignored = shutil.ignore_patterns("__pycache__", ".pytest_cache", "*.egg-info")
        for part in ("kernreg", "tests"):
            shutil.copytree(HERE / part, root / part, ignore=ignored)
        shutil.copy(HERE / "pyproject.toml", root)
    restore(root)
    for path in (HERE / "tests").rglob("*.py"):
        target = root / path.relative_to(HERE)
        if not target.exists() or not filecmp.cmp(path, target, shallow=False):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
    return root


def prepare(folder: Path) -> None:
    """Import what is slow to import, once: processes are forked from this one, which must not import kernreg."""
    os.environ["KERNREG_CACHE_DIR"] = str(folder / "compiled")
    compiled = HERE / ".pytest_cache/d/kernreg"
    if compiled.exists() and not (folder / "compiled").exists():
        shutil.copytree(compiled, folder / "compiled")
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"
    for module in _SLOW_TO_IMPORT:
        __import__(module)


def side_by_side(folder: Path, workers: int, work: Callable[[Path, int], None]) -> None:
    """Call ``work(root, number)`` in so many processes, each with a copy of the tree of its own."""
    children = []
    for number in range(workers):
        root = copied(folder, f"worker-{number}/tree")
        child = os.fork()
        if child == 0:
            code = 1
            try:
                enter(root)
                work(root, number)
                code = 0
            finally:
                if code:
                    traceback.print_exc()
                    sys.stderr.flush()
                os._exit(code)
        children.append(child)
    codes = [os.waitpid(child, 0)[1] for child in children]
    if any(codes):
        raise SystemExit("a worker failed; the same command goes on where it stopped")


def record_all(folder: Path, changed: list[str], tests: list[str], workers: int) -> dict[str, Any]:
    """Record the lines of the changed folders that tests run, where that is not done yet, and return all."""
    names = [str(path.relative_to(HERE)) for place in tests for path in files_of_tests(HERE / place)]
    (folder / "lines").mkdir(exist_ok=True)
    targets = {name: _target(folder, name) for name in names}
    missing = [name for name in names if not targets[name].exists()]

    def work(root: Path, number: int) -> None:
        for name in missing[number::workers]:
            start = time.monotonic()
            child = os.fork()  # which imports kernreg: this process must not
            if child == 0:
                try:
                    lines.record(root, changed, name, targets[name])
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
            if not targets[name].exists():
                raise SystemExit(f"the lines of {name} could not be recorded")
            print(f"recorded {name} in {time.monotonic() - start:.0f} s", flush=True)

    if missing:
        side_by_side(folder, workers, work)
    recorded: dict[str, Any] = {}
    for target in targets.values():
        recorded.update(json.loads(target.read_text()))
    return recorded


def record_imports(folder: Path, changed: list[str]) -> dict[str, list[int]]:
    """Return the lines of each module that an import runs."""
    target = folder / "lines" / "imports.json"
    if not target.exists():
        child = os.fork()
        if child == 0:
            try:
                root = copied(folder, "worker-0/tree")
                enter(root)
                lines.record_imports(root, changed, target)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
    return json.loads(target.read_text())


def _target(folder: Path, name: str) -> Path:
    digest = hashlib.sha256((HERE / name).read_bytes()).hexdigest()[:12]
    return folder / "lines" / f"{name.replace('/', '-').removesuffix('.py')}-{digest}.json"


def files_of_tests(place: Path) -> list[Path]:
    """Return the files of tests in a folder, or a single one."""
    paths = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    return [path for path in paths if path.name not in _LEFT_OUT and path.name.startswith("test_")]
