"""What has to hold whatever plugins are installed: right answers, right reports, and nothing else changed."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from torture.attack import Outcome
from torture.attacks.caches import child

SECONDS = 5.0  # of computing, for one question
LONGEST, PATIENCE = 60.0, 500  # of computing, and of waiting, for a case: another process may need the machine
POLICIES = ["all", "none", "plugin-1", "Plugin_0, plugin.2", "kernreg-graph", "nobody"]
#: Exit codes of commands about a plugin, by what is to come of it.
CODES = {"works": (0,), "broken": (2,), "blocked": (2,), "gone": (2,), "open": (0, 1, 2)}


@cache
def ready() -> dict[tuple[str, str], Any]:
    """Import all that is installed, so that children import the plugins of a case alone; return what has which name."""
    import kernreg as kr
    from kernreg.registry import get_registry

    for words in (["doctor"], ["list"], ["--help"], ["info", "kernel", "rbf"]):
        wrong = printed_wrong(words)
        assert wrong is None, wrong
    there = [entry for entry in kr.available() if entry.status == "loaded"]
    return {(one.kind, f"{one.distribution}:{one.name}"): get_registry(one.kind).get(one.name) for one in there}


def in_child(work: Callable[[Path], str | None], policy: str | None) -> Outcome:
    """Return what is wrong in a process of its own, with a folder of its own: what it imports is then gone."""
    ready()
    variables = {} if policy is None else {"KERNREG_PLUGINS": policy}
    with tempfile.TemporaryDirectory() as name:

        def watched() -> str | None:
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            signal.alarm(PATIENCE)
            sys.dont_write_bytecode = True
            for descriptor in (1, 2):  # what plugins print
                os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
            return work(Path(name))

        answer = child(Path(name) / "cache", watched, **variables)
    if "error" not in answer:
        return answer["value"]
    ended = answer["error"].strip()
    over = ended in (f"ended with {-signal.SIGALRM}", f"ended with {-signal.SIGPROF}")
    return f"{'hang' if over else 'crash'}: {ended.splitlines()[-1]}: {ended}"


def ask(kind: str, name: str) -> tuple[Any, str, str | None]:
    """Ask for a plugin; return it, the class and text of its error, and what is wrong with how it was answered."""
    from kernreg.errors import KernregError
    from kernreg.registry import get_registry

    start, shown = time.process_time(), f"{kind} {name!r:.100}"
    value, told = None, ""
    try:
        value = get_registry(kind).get(name)
    except KernregError as error:
        told = f"{type(error).__name__}: {error}"
        if not 20 < len(told) < 5000 or unprintable(told):
            return value, told, f"message: {shown}: {told!r:.600}"
    except KeyboardInterrupt:
        told = "interrupted"
    except BaseException as error:
        return value, told, f"{type(error).__name__}: {shown}: {steps_to(error)}"
    took = time.process_time() - start
    return value, told, f"slow: {shown}: {took:.1f} s" if took > SECONDS else None


def is_it(value: Any, point: dict[str, Any]) -> bool:
    """Whether this is what the module of a point defines."""
    if point["kind"] == "kernel":
        return value()([[1.0]], [[2.0]]).tolist() == [[2.0 * point["number"]]]
    return value.number == point["number"]


def others_wrong() -> str | None:
    """Return whether anything that was there before is not what it was, or would be saved by another name."""
    from kernreg.registry.naming import requirement_of
    from kernreg.registry.policy import current_policy

    allowed = current_policy().allowed
    for (kind, name), known in ready().items():
        provider = name.partition(":")[0]
        if allowed is not None and provider != "kernreg" and provider not in allowed:
            continue
        value, told, wrong = ask(kind, name)
        if wrong or value is not known:
            return wrong or f"taken: {kind} {name}: {told}"
    for kind, name in (("kernel", "rbf"), ("solver", "ls-svm"), ("ensembler", "average")):
        asked = requirement_of(ready()[kind, f"kernreg:{name}"])
        if asked is None or (asked.name, asked.distribution) != (name, "kernreg"):
            return f"origin: {kind} {name} is saved as {asked}"
    return None


def reasons_wrong(entries: Iterable[Any]) -> str | None:
    """Return what is wrong with the reports of plugins that do not work."""
    for one in entries:
        working = one.status in ("available", "loaded")
        if working != (not one.reason) or len(one.reason) > 5000:
            return f"reason: {one.kind} {one.name!r:.100}, {one.status}: {one.reason!r:.300}"
    return None


def printed_wrong(words: list[str], what: str = "works") -> str | None:
    """Return what is wrong with what a command prints about plugins of which this is to come."""
    from click.testing import CliRunner

    from kernreg.cli.app import application

    start, shown = time.process_time(), f"kernreg {' '.join(words)!r:.200}"
    done = CliRunner().invoke(
        application, words, prog_name="kernreg", color=True
    )  # nothing taken away, as on a terminal
    took = time.process_time() - start
    if not isinstance(done.exception, SystemExit | None):
        return f"{type(done.exception).__name__}: {shown}: {steps_to(done.exception)}"
    if done.exit_code not in ((0, 1) if words[0] == "doctor" else CODES[what]):
        return f"exit code: {shown}: {done.exit_code}, {done.output[-600:]!r}"
    if unprintable(done.output):
        return f"unprintable: {shown}: {next(filter(unprintable, done.output.splitlines()))!r:.300}"
    if took > SECONDS or len(done.output) > 20_000_000:
        return f"slow: {shown}: {took:.1f} s, {len(done.output)} characters"
    return None


def unprintable(text: str) -> bool:
    return any(not character.isprintable() and character not in "\n\t" for character in text)


def steps_to(error: BaseException) -> str:
    """Return where an error was raised; its own text may be what raises."""
    return " ".join(f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-4:])
