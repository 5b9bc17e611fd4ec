"""Which tests run which lines of the modules to be changed: recorded once for each file of tests, kept as JSON.

coverage's tracer, in C, looks at the changed folders only, so that tests take little longer than they do. Lines of
fixtures that tests share count for every test that asks for them. What Numba compiles, and what runs while a module is
imported, is not seen so: the first is tried with all tests, the second recorded on its own.
"""

from __future__ import annotations

import importlib
import json
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

_FIXTURE = "fixture "


class Recorder:
    """A plugin of pytest: tells coverage which test runs, and measures the CPU seconds it takes."""

    def __init__(self, coverage: Any):
        self._coverage = coverage
        self._useless: set[str] = set()
        self._seconds: dict[str, float] = {}
        self._fixtures: dict[str, list[str]] = {}
        self._running = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Generator[None, Any, Any]:
        """Keep what a shared fixture runs apart."""
        if fixturedef.scope == "function" or not self._running:
            return (yield)
        self._coverage.switch_context(f"{_FIXTURE}{fixturedef.baseid}::{fixturedef.argname}")
        try:
            return (yield)
        finally:
            self._coverage.switch_context(self._running)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Generator[None, Any, Any]:
        """Record one test."""
        self._running, start = item.nodeid, time.process_time()
        self._coverage.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            self._seconds[item.nodeid] = time.process_time() - start
            self._fixtures[item.nodeid] = list(getattr(item, "fixturenames", ()))
            self._running = ""
            self._coverage.switch_context("")

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A test that does not pass unchanged says nothing of a change."""
        if report.failed or report.skipped:
            self._useless.add(report.nodeid)

    def useful(self, root: Path) -> dict[str, dict[str, Any]]:
        """Return the tests that passed, each with its seconds and its lines by module."""
        lines: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        data = self._coverage.get_data()
        for file in data.measured_files():
            module = str(Path(file).relative_to(root))
            for line, contexts in data.contexts_by_lineno(file).items():
                for context in contexts:
                    lines[context][module].add(line)
        tests = {}
        for name, seconds in self._seconds.items():
            if name in self._useless:
                continue
            found = {module: set(some) for module, some in lines[name].items()}
            for context in list(lines):
                base, _, fixture = context.removeprefix(_FIXTURE).rpartition("::")
                if context.startswith(_FIXTURE) and name.startswith(base) and fixture in self._fixtures[name]:
                    for module, some in lines[context].items():
                        found.setdefault(module, set()).update(some)
            tests[name] = {"seconds": seconds, "lines": {module: sorted(some) for module, some in found.items()}}
        return tests


def record_imports(root: Path, folders: list[str], target: Path) -> None:
    """Import every module of the folders, and write which lines that runs."""
    import coverage

    cover = coverage.Coverage(data_file=None, source=[str(root / folder) for folder in folders], messages=False)
    names = [
        path.relative_to(root).with_suffix("") for folder in folders for path in sorted((root / folder).rglob("*.py"))
    ]
    cover.start()
    try:
        for name in names:
            importlib.import_module(".".join(name.parts).removesuffix(".__init__"))
    finally:
        cover.stop()
    data = cover.get_data()
    lines = {str(Path(file).relative_to(root)): sorted(data.lines(file) or ()) for file in data.measured_files()}
    target.write_text(json.dumps(lines))


def record(root: Path, folders: list[str], tests: str, target: Path) -> None:
    """Run the tests of a file, and write which lines each runs."""
    import coverage

    cover = coverage.Coverage(data_file=None, source=[str(root / folder) for folder in folders], messages=False)
    recorder = Recorder(cover)
    options = ["-q", "-m", "not slow", "-p", "no:xdist", "-p", "no:cacheprovider", "--no-header", "--tb=short"]
    cover.start()
    try:
        pytest.main([*options, tests], plugins=[recorder])
    finally:
        cover.stop()
    target.write_text(json.dumps(recorder.useful(root)))
