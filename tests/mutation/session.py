"""A process that has imported kernreg and collected all tests, and forks a child for each mutant.

The children change functions in place (patch.py) and run the tests they are given at once: neither an import nor
pytest's collection is repeated. Requests and answers are lines of JSON in two pipes.
"""

from __future__ import annotations

import dataclasses
import gc
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from mutation.mutants import Mutant
from mutation.patch import functions_below, replace, replacements

PASSED, FAILED, BROKEN, IMPORT_IT = 0, 1, 77, 78


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What ended a trial: ``"passed"``, ``"failed"``, ``"too long"`` …, and the test that failed where one did."""

    reason: str
    test: str = ""

    @property
    def survived(self) -> bool:
        """Whether every test passed."""
        return self.reason == "passed"


def enter(root: Path) -> None:
    """Import kernreg and tests from this copy from now on, in processes that tests start, too."""
    os.chdir(root)
    paths = [str(root), str(root / "tests")]
    sys.path[:0] = paths
    os.environ["PYTHONPATH"] = os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])


class Session:
    """One of the processes that answer requests."""

    def __init__(self, requests: int, answers: int):
        self._requests, self._answers = requests, os.fdopen(answers)

    def trial(self, mutant: Mutant | None, tests: Sequence[str], seconds: float) -> Outcome | None:
        """Run tests on changed functions; None where the mutant changes what an import does."""
        change = None if mutant is None else dataclasses.asdict(mutant)
        os.write(self._requests, (json.dumps([change, list(tests), seconds]) + "\n").encode())
        answer = self._answers.readline()
        if not answer:
            raise SystemExit("the process with the collected tests has ended")
        found = json.loads(answer)
        return None if found is None else Outcome(*found)


def sessions(root: Path, files: Sequence[str], count: int) -> list[Session]:
    """Collect tests in a process, and return so many copies of it; they end with the processes that use them."""
    pipes = [(*os.pipe(), *os.pipe()) for _ in range(count)]
    if os.fork() == 0:
        for _, requests, answers, _ in pipes:
            os.close(requests)
            os.close(answers)
        try:
            enter(root)
            log = os.open(root.parent / "collection.log", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            for number in range(3):
                os.dup2(log, number)
            options = [
                "-q",
                "-p",
                "no:xdist",
                "-p",
                "no:cacheprovider",
                "--capture=sys",
                "--tb=short",
                "-m",
                "not slow",
            ]
            pytest.main([*options, *files], plugins=[_Server(root, [(pipe[0], pipe[3]) for pipe in pipes])])
        finally:
            os._exit(0)
    for read, _, _, write in pipes:
        os.close(read)
        os.close(write)
    return [Session(requests, answers) for _, requests, answers, _ in pipes]


class _Server:
    """A plugin of pytest that answers requests in the place of running all tests."""

    def __init__(self, root: Path, pipes: list[tuple[int, int]]):
        self._root, self._pipes = root, pipes
        self._answers = -1
        self._failed = ""
        self._functions: list[Any] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        """Fork a process for every pair of pipes, and wait for all."""
        items = {item.nodeid: item for item in session.items}
        warm_up()
        self._functions = functions_below(self._root / "kernreg")
        gc.collect()
        gc.freeze()  # children that collect garbage copy no pages
        children = []
        for number, (requests, answers) in enumerate(self._pipes):
            child = os.fork()
            if child == 0:
                for other in (end for pair in self._pipes if pair[0] != requests for end in pair):
                    os.close(other)
                self._answers = answers
                try:
                    self._serve(os.fdopen(requests), items, self._root.parent / f"failed-{number}")
                finally:
                    os._exit(0)
            children.append(child)
        for pair in self._pipes:
            for end in pair:
                os.close(end)
        for child in children:
            os.waitpid(child, 0)
        return True

    def _serve(self, requests: Iterable[str], items: dict[str, Any], told: Path) -> None:
        for line in requests:
            change, names, seconds = json.loads(line)
            mutant = None if change is None else Mutant(**change)
            told.unlink(missing_ok=True)
            chosen = [items[name] for name in names]
            code = forked(lambda c=chosen, m=mutant, s=seconds: self._run(c, m, s, told), seconds)
            if code == IMPORT_IT:
                self._say(None)
            else:
                self._say([reason_of(code), told.read_text() if told.exists() else ""])

    def _say(self, something: Any) -> None:
        os.write(self._answers, (json.dumps(something) + "\n").encode())

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Remember a test that failed."""
        if report.failed:
            self._failed = report.nodeid

    def _run(self, items: list[Any], mutant: Mutant | None, seconds: float, told: Path) -> int:
        if mutant is not None:
            changes = replacements(self._root, mutant)
            if changes is None:
                return IMPORT_IT
            try:
                if not replace(changes, self._functions):
                    return IMPORT_IT
            except ValueError:  # other closure cells
                return IMPORT_IT
        limit_time(seconds)
        self._failed = ""
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failed:
                told.write_text(self._failed)
                return FAILED
        return PASSED


def warm_up() -> None:
    """Have Numba load its own functions, which every process that compiles something begins with."""
    import numba

    numba.njit(lambda x: x + 1)(1.0)


def limit_time(seconds: float) -> None:
    """End this process after far more CPU time than its tests take unchanged."""
    limit = int(10 + 5 * seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))


def forked(work: Callable[[], int], seconds: float) -> int:
    """Return the exit code of a child that does some work, or the negative number of the signal that ended it."""
    child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            sys.dont_write_bytecode = True
            os._exit(work())
        except BaseException:
            os._exit(BROKEN)
    limit = time.monotonic() + 40 * (10 + 5 * seconds)  # of a busy machine; the child's own limit is CPU time
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > limit:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -signal.SIGKILL
        time.sleep(0.01)


def reason_of(code: int) -> str:
    """Return the word for an exit code of `forked`."""
    if code == BROKEN:
        raise RuntimeError("pytest did not run")
    known = {PASSED: "passed", FAILED: "failed", -signal.SIGXCPU: "too long", -signal.SIGKILL: "too long"}
    return known.get(code, f"end {code}")
