"""One mutant against tests in a forked child that has imported everything but kernreg, and imports the changed source.

The changed module is written into the copy of the tree, where compiled functions, which follow their sources, see it as
a user's edit: a cache of machine code that served the old function would be a fault of kernreg's own.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mutation.mutants import Mutant, mutated
from mutation.session import BROKEN, FAILED, PASSED, Outcome, forked, limit_time, reason_of

_edits = iter(range(1, 1_000_000))


@contextmanager
def changed(root: Path, mutant: Mutant | None) -> Iterator[None]:
    """Have the changed module in the tree, and the old one afterwards; None changes nothing."""
    if mutant is None:
        yield
        return
    path = root / mutant.module
    before, times = path.read_text(), path.stat()
    kept = root.parent / "before"  # for a process that was killed meanwhile
    kept.write_text(f"{mutant.module}\n{before}")
    path.write_text(ast.unparse(mutated(before, mutant.number)) + "\n")
    moment = int(times.st_mtime) + next(_edits)  # no compiled module is of this moment
    os.utime(path, (moment, moment))
    try:
        yield
    finally:
        path.write_text(before)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        kept.unlink()


def restore(root: Path) -> None:
    """Take back a change that a killed process has left in the tree."""
    kept = root.parent / "before"
    if kept.exists():
        module, _, before = kept.read_text().partition("\n")
        (root / module).write_text(before)
        kept.unlink()


def trial(root: Path, mutant: Mutant | None, tests: Sequence[str], seconds: float) -> Outcome:
    """Run tests on a changed tree; ``seconds`` is what they take unchanged."""
    told = root.parent / "failed"
    told.unlink(missing_ok=True)
    with changed(root, mutant):
        code = forked(lambda: _run(tests, seconds, told), seconds)
    return Outcome(reason_of(code), told.read_text() if told.exists() else "")


class _Teller:
    """A plugin of pytest that writes the name of a test that failed."""

    def __init__(self, told: Path):
        self._told = told

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Write it."""
        if report.failed and not self._told.exists():
            self._told.write_text(report.nodeid)


def _run(tests: Sequence[str], seconds: float, told: Path) -> int:
    import pytest

    limit_time(seconds)
    quiet = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(quiet, number)
    options = ["-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "--tb=no", "--no-header", "-m", "not slow"]
    try:
        code = int(pytest.main([*options, *tests], plugins=[_Teller(told)]))
    except BaseException:
        return BROKEN
    # 5: no tests here; 4: pytest was called wrongly, or a conftest could not import the changed module
    return {0: PASSED, 5: PASSED}.get(code, FAILED)
