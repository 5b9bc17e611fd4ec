"""Which tests run which lines of the modules to be changed: recorded once, kept as JSON.

Lines of fixtures that tests share count for every test that asks for them. What Numba compiles, and what runs while a
module is imported, is not seen: mutants there are tried with every test of the files that reach the module.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest


class Recorder:
    """A plugin of pytest: the lines each test runs, and the CPU seconds it takes."""

    def __init__(self, root: Path, folders: list[str]):
        self._prefixes = tuple(str(root / folder) + "/" for folder in folders)
        self._root = str(root) + "/"
        self._lines: set[tuple[str, int]] = set()
        self._shared: dict[Any, set[tuple[str, int]]] = defaultdict(set)
        self._useless: set[str] = set()
        self.tests: dict[str, dict[str, Any]] = {}

    def _trace(self, frame: Any, event: str, argument: Any) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(self._prefixes):
            return None
        lines = self._lines

        def local(frame: Any, event: str, argument: Any) -> Any:
            if event == "line":
                lines.add((name, frame.f_lineno))
            return local

        lines.add((name, frame.f_lineno))
        return local

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Generator[None, Any, Any]:
        """Keep what a shared fixture runs apart."""
        if fixturedef.scope == "function":
            return (yield)
        before, self._lines = self._lines, self._shared[fixturedef.argname, fixturedef.baseid]
        try:
            return (yield)
        finally:
            self._lines = before

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Generator[None, Any, Any]:
        """Record one test."""
        self._lines = set()
        start = time.process_time()
        threading.settrace(self._trace)
        sys.settrace(self._trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]  # None is what undoes it
            lines = set(self._lines)
            for (name, base), shared in self._shared.items():
                if name in getattr(item, "fixturenames", ()) and item.nodeid.startswith(base):
                    lines |= shared
            found: dict[str, list[int]] = defaultdict(list)
            for file, line in sorted(lines):
                found[file.removeprefix(self._root)].append(line)
            self.tests[item.nodeid] = {"seconds": time.process_time() - start, "lines": found}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A test that does not pass unchanged says nothing of a change."""
        if report.failed or report.skipped:
            self._useless.add(report.nodeid)

    def useful(self) -> dict[str, dict[str, Any]]:
        """Return the tests that passed."""
        return {name: test for name, test in self.tests.items() if name not in self._useless}


def record(root: Path, folders: list[str], tests: str, target: Path) -> None:
    """Run the tests of a file or folder, and write which lines each runs."""
    recorder = Recorder(root, folders)
    options = ["-q", "-m", "not slow", "-p", "no:xdist", "-p", "no:cacheprovider", "--no-header", "--tb=short"]
    pytest.main([*options, tests], plugins=[recorder])
    target.write_text(json.dumps(recorder.useful()))
