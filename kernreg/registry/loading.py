"""Importing a plugin: once, from any number of threads, remembering a failure like a success.

No lock of ours is held while a plugin is imported, since an import takes locks of its own and may come back
to the registry for another plugin. Instead a slot is marked as being loaded, and other threads wait for it to
settle. A thread that is itself in the middle of an import never waits: it imports the target too, under
Python's import locks, which recognise a deadlock. So nobody waits who could be waited for.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

from kernreg.common.forking import forks_wait_for, inside_an_import
from kernreg.errors import PluginError, PluginIncompatible, PluginLoadError, PluginWarning, printable, shown
from kernreg.registry.checks import problem_with
from kernreg.registry.locks import shared
from kernreg.registry.record import Claim
from kernreg.registry.versions import compare_version, declared_version

_Answer = TypeVar("_Answer")
_thread = threading.local()  # .loading: the slots this thread is loading, outermost first


class Outcome(NamedTuple):
    """What loading came to: an object, or an error to raise."""

    value: Any = None
    error: type[PluginError] | None = None
    reason: str = ""
    cause: BaseException | None = None
    warning: str = ""
    passing: bool = False  # true of this moment only

    def lasting(self, guest: bool) -> bool:
        """Whether to remember it; the failure of a thread that did not wait for its turn proves nothing."""
        return self.error is None or not (guest or self.passing)

    def result(self, claim: Claim) -> Any:
        """The object; or raise, a new exception each time so that tracebacks do not grow."""
        if self.error is None:
            return self.value
        advice = "Repair or uninstall the distribution, then call kernreg.registry.refresh()."
        raise self.error(f"cannot load the {claim}: {self.reason}. {advice}") from self.cause


class Slot:
    """A claim and, once somebody asked, what loading it came to."""

    def __init__(self, claim: Claim, outcome: Outcome | None = None) -> None:
        self.claim = claim
        self.outcome = outcome
        if outcome is None and claim.problem:
            self.outcome = Outcome(error=PluginLoadError, reason=claim.problem)
        self._loading: int | None = None  # the generation in which a thread marked it

    def copy(self) -> Slot:
        """The same claim and outcome, to be changed independently."""
        return Slot(self.claim, self.outcome)

    def load(self) -> Any:
        """The object, imported now if need be."""
        outcome = self.outcome or self._load()
        return outcome.result(self.claim)

    def _load(self) -> Outcome:
        stack: list[Slot] = _thread.__dict__.setdefault("loading", [])
        if self in stack:
            cycle = " -> ".join(repr(slot.claim.name) for slot in [*stack[stack.index(self) :], self])
            reason = f"importing it asks for itself ({cycle}); ask for plugins inside functions, not at import"
            return Outcome(error=PluginLoadError, reason=reason)
        may_wait = not stack and not inside_an_import()
        with shared.changed:
            while self.outcome is None and self._loading == shared.generation and may_wait:
                shared.changed.wait()
            if self.outcome is not None:
                return self.outcome
            guest = self._loading == shared.generation  # another thread is at it, and decides if it fails
            if not guest:
                self._loading = shared.generation
        stack.append(self)
        outcome: Outcome | None = None
        try:
            outcome = _attempt(self.claim)
        finally:  # also when interrupted from the keyboard: the next thread then takes over
            stack.pop()
            with shared.changed:
                if not guest:
                    self._loading = None
                if self.outcome is None and outcome is not None and outcome.lasting(guest):
                    self.outcome = outcome
                outcome = self.outcome or outcome
                shared.changed.notify_all()
        assert outcome is not None  # otherwise the exception is on its way
        if outcome.warning:
            warnings.warn(printable(f"{self.claim}: {outcome.warning}"), PluginWarning, stacklevel=4)
        return outcome


def _attempt(claim: Claim) -> Outcome:
    """Import, resolve, check."""
    module_name, _, path = claim.target.partition(":")
    module = None
    try:
        # Packages first: whoever imports a module holds its lock while it waits for the package around it, and another
        # thread that imports the package and needs the module would wait for that.
        names = module_name.split(".")
        for length in range(1, len(names) + 1):
            value = module = forks_wait_for(import_module, ".".join(names[:length]))
        for part in path.split("."):
            value = getattr(value, part)
    except KeyboardInterrupt:
        raise
    except BaseException as failure:  # sys.exit in a plugin must not end the program that lists it
        verdict, reason = _verdict(module_name)
        if verdict == "incompatible":  # then that is what is wrong, however it showed
            return Outcome(error=PluginIncompatible, reason=reason, cause=failure)
        # A module that is still being imported (by its own user) may have the object in a moment, and two
        # threads importing in a circle will not meet again; importlib has no public name for either.
        passing = _unfinished(module) or type(failure).__name__ == "_DeadlockError"
        return Outcome(error=PluginLoadError, reason=told(failure), cause=failure, passing=passing)
    verdict, reason = _verdict(module_name)
    if verdict == "incompatible":
        return Outcome(error=PluginIncompatible, reason=reason)
    if verdict == "unreadable":
        return Outcome(error=PluginLoadError, reason=reason)
    problem = problem_with(claim.kind, value)
    if problem:
        return Outcome(error=PluginLoadError, reason=problem)
    return Outcome(value, warning=reason if verdict == "newer" else "")


def _verdict(module_name: str) -> tuple[str, str]:
    """What the version means that a plugin declares."""
    unreadable = ("unreadable", "what it declares as __kernreg_api__ cannot be read")
    return answer_of(lambda: compare_version(declared_version(module_name)), unreadable)


def _unfinished(module: Any) -> bool:
    """Whether a module is still being imported."""
    return answer_of(lambda: bool(getattr(getattr(module, "__spec__", None), "_initializing", False)), False)


def told(failure: BaseException) -> str:
    """What happened while a plugin was imported, on one line."""
    from kernreg.registry.discovery.metadata import summary

    if not isinstance(failure, SystemExit):
        return summary(failure)
    code = answer_of(lambda: f"({shown(failure.code)})", "")
    return f"it called sys.exit{code} while it was being imported"


def answer_of(question: Callable[[], _Answer], otherwise: _Answer) -> _Answer:
    """The answer to a question about what a plugin has made: that may run its code, which may raise anything."""
    try:
        return question()
    except KeyboardInterrupt:
        raise
    except BaseException:
        return otherwise
