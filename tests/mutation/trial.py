"""One mutant against tests, in a forked child that has imported everything but kernreg."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.util
import os
import resource
import signal
import sys
import time
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from mutation.mutants import Mutant, mutated

UNCHANGED = -1  # the number of a mutant that is none
_PASSED = 0
_FAILED = 1
_BROKEN = 77


class _Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the changed module in place of the one on disk."""

    def __init__(self, root: Path, mutant: Mutant):
        self._path = root / mutant.module
        dotted = mutant.module.removesuffix(".py").replace("/", ".")
        self._name = dotted.removesuffix(".__init__")
        source = self._path.read_text()
        tree = ast.parse(source) if mutant.number == UNCHANGED else mutated(source, mutant.number)
        self._code = compile(tree, str(self._path), "exec")

    def find_spec(self, fullname: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the changed module, None for all others."""
        if fullname != self._name:
            return None
        places = [str(self._path.parent)] if self._path.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            fullname, self._path, loader=self, submodule_search_locations=places
        )

    def exec_module(self, module: ModuleType) -> None:
        """Run it."""
        exec(self._code, module.__dict__)


def survives(root: Path, mutant: Mutant, tests: Sequence[str], seconds: float) -> tuple[bool, str]:
    """Return whether every test passes, and what ended the trial; ``seconds`` is what the tests take unchanged."""
    child = os.fork()
    if child == 0:
        os._exit(_run(root, mutant, tests, seconds))
    limit = time.monotonic() + 40 * (10 + 5 * seconds)  # of a busy machine; the child's own limit is CPU time
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > limit:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return False, "no end"
        time.sleep(0.02)
    code = os.waitstatus_to_exitcode(status)
    if code == _BROKEN:
        raise RuntimeError(f"pytest did not run {tests}")
    if code == _PASSED:
        return True, "passed"
    return False, {_FAILED: "failed", -signal.SIGXCPU: "too long", -signal.SIGKILL: "too long"}.get(code, f"end {code}")


def _run(root: Path, mutant: Mutant, tests: Sequence[str], seconds: float) -> int:
    import pytest

    os.setpgid(0, 0)
    limit = int(10 + 5 * seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    quiet = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(quiet, number)
    try:
        sys.meta_path.insert(0, _Loader(root, mutant))
    except SyntaxError:
        return _FAILED
    options = ["-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "--tb=no", "--no-header", "-m", "not slow"]
    try:
        code = int(pytest.main([*options, *tests]))
    except BaseException:
        return _BROKEN
    return {0: _PASSED, 5: _PASSED, 4: _BROKEN}.get(code, _FAILED)  # 5: no tests here; 4: pytest was called wrongly
