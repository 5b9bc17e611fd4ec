"""A process that has imported kernreg and collected all tests, and forks a child for each mutant.

The children change functions in place (patch.py) and run the tests they are given at once: neither an import nor
pytest's collection is repeated. Requests and answers are lines of JSON in two pipes.
"""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from mutation.mutants import Mutant
from mutation.patch import replace, replacements

PASSED, FAILED, IMPORT_IT = 0, 1, 78


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What ended a trial: ``"passed"``, ``"failed"``, ``"too long"`` …, and the test that failed where one did."""

    reason: str
    test: str = ""

    @property
    def survived(self) -> bool:
        """Whether every test passed."""
        return self.reason == "passed"


class Session:
    """Tests collected in a process of its own; it ends with this one."""

    def __init__(self, root: Path, files: Sequence[str]):
        read_requests, self._requests = os.pipe()
        self._answers_read, write_answers = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            os.close(self._requests)
            os.close(self._answers_read)
            _serve(root, files, read_requests, write_answers)
            os._exit(0)
        os.close(read_requests)
        os.close(write_answers)
        self._answers = os.fdopen(self._answers_read)
        if json.loads(self._answers.readline() or "null") is None:
            raise SystemExit("pytest could not collect the tests")

    def trial(self, mutant: Mutant | None, tests: Sequence[str], seconds: float) -> Outcome | None:
        """Run tests on changed functions; None where the mutant changes what an import does."""
        change = None if mutant is None else dataclasses.asdict(mutant)
        os.write(self._requests, (json.dumps([change, list(tests), seconds]) + "\n").encode())
        answer = self._answers.readline()
        if not answer:
            raise SystemExit("the process with the collected tests has ended")
        found = json.loads(answer)
        return None if found is None else Outcome(*found)


def _serve(root: Path, files: Sequence[str], requests: int, answers: int) -> None:
    quiet = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(quiet, number)
    options = ["-q", "-p", "no:xdist", "-p", "no:cacheprovider", "--capture=sys", "--tb=no", "-m", "not slow"]
    pytest.main([*options, *files], plugins=[_Server(root, os.fdopen(requests), answers)])


class _Server:
    """A plugin of pytest that answers requests in the place of running all tests."""

    def __init__(self, root: Path, requests: Any, answers: int):
        self._root, self._requests, self._answers = root, requests, answers
        self._failed = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        items = {item.nodeid: item for item in session.items}
        self._say(len(items))
        for line in self._requests:
            change, names, seconds = json.loads(line)
            mutant = None if change is None else Mutant(**change)
            told = self._root.parent / "failed"
            told.unlink(missing_ok=True)
            chosen = [items[name] for name in names]
            code = forked(lambda c=chosen, m=mutant, s=seconds, t=told: self._run(c, m, s, t), seconds)
            if code == IMPORT_IT:
                self._say(None)
            else:
                self._say([reason_of(code), told.read_text() if told.exists() else ""])
        return True

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
                if not replace(changes):
                    return IMPORT_IT
            except ValueError:  # other closure cells
                return IMPORT_IT
        limit_time(seconds)
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failed:
                told.write_text(self._failed)
                return FAILED
        return PASSED


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
            os._exit(FAILED)
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
    known = {PASSED: "passed", FAILED: "failed", -signal.SIGXCPU: "too long", -signal.SIGKILL: "too long"}
    return known.get(code, f"end {code}")
