"""Refits that fail: at every call of kernels and of linear algebra, and by Ctrl-C at any time."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from kernreg.testing.solver_state import loses_errors
from torture.attack import Attack, Case, Outcome
from torture.solvers import COMPOSED, alike, answers, make, problem, same, subjects

#: Every so-many-th call of a refit fails in one case; the cases of one solver begin one call later each.
EVERY = 97
ERRORS = ("MemoryError", "KeyboardInterrupt", "LinAlgError", "OSError")
FIRST, SECOND, NEW = 40, 46, 12
SLOW = 120


@functools.cache
def error_class(name: str) -> type[BaseException]:
    """A subclass of an error, which tells injected ones from others."""
    from numpy.linalg import LinAlgError

    base = {"MemoryError": MemoryError, "KeyboardInterrupt": KeyboardInterrupt, "OSError": OSError}.get(
        name, LinAlgError
    )
    return type(f"Injected{name}", (base,), {})


@functools.cache
def watched() -> tuple[str, ...]:
    """Folders of the functions that fail: kernels, their evaluation, linear algebra."""
    import numpy.linalg
    import scipy.linalg
    import scipy.sparse.linalg

    import kernreg

    root = Path(kernreg.__file__).parent
    own = [str(root / part) + os.sep for part in ("kernels", "engine", "linalg")]
    return (*own, *(str(Path(module.__file__).parent) for module in (numpy.linalg, scipy.linalg, scipy.sparse.linalg)))


def failing(action: Callable[[], Any], at: int, error: type[BaseException]) -> tuple[int, BaseException | None]:
    """Run an action whose ``at``-th watched call raises; return the number of calls and what came out of it."""
    count, places = 0, watched()

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        if frame.f_code.co_filename.startswith(places) and not loses_errors(frame):
            count += 1
            if count == at:
                raise error(f"injected into {frame.f_code.co_qualname}")

    sys.settrace(watch)
    try:
        action()
    except BaseException as raised:
        return count, raised
    finally:
        sys.settrace(None)
    return count, None


@functools.cache
def prepared(solver: str, params: str, first: int, second: int) -> dict[str, Any]:
    """Fits of a solver to two problems, and what they say: made once for all cases of the solver."""
    import json

    case = {"solver": solver, "params": json.loads(params)}
    A, B, new = problem(case, 0, first), problem(case, 1, second), problem(case, 2, NEW)[0]
    old, other = make(case).fit(*A), make(case)
    start = time.perf_counter()
    other.fit(*B)
    took = time.perf_counter() - start
    calls, _ = failing(lambda: make(case).fit(*B), 0, ValueError)
    found = {"case": case, "A": A, "B": B, "new": new, "calls": calls, "seconds": took}
    return found | {"before": answers(old, new), "after": answers(other, new)}


def prepared_for(case: Case, first: int, second: int) -> dict[str, Any]:
    import json

    return prepared(case["solver"], json.dumps(case["params"], sort_keys=True), first, second)


def verdict(model: Any, ready: dict[str, Any], error: BaseException | None, where: str) -> str | None:
    """What is wrong with a model after a refit that should have failed; None if nothing is."""
    from sklearn.exceptions import NotFittedError

    try:
        found = answers(model, ready["new"])
    except NotFittedError:
        return None if error is not None else f"lost: {where}, fit returned and left nothing"
    if same(found, ready["before"]):
        return None if error is not None else f"old: {where}, fit returned and changed nothing"
    if alike(found, ready["after"]):
        return None
    if error is None and alike(found, ready["after"], 1e-3):
        return None  # it took another road to the answer
    names = [name for name in found if name not in ready["before"] or (found[name] != ready["before"][name]).any()]
    return f"hybrid: {where}, {', '.join(names)} are neither the old nor the new ones ({error!r})"


def failure_cases(rng: Random) -> Iterator[Case]:
    grid = [
        {"solver": name, "params": params, "first": first * step, "every": EVERY * step}
        for name, params in subjects()
        for step in [20 if name in COMPOSED else 1]  # these call far more, and take longer
        for first in range(1, EVERY + 1)
    ]
    rng.shuffle(grid)
    for case in grid:
        yield case | {"error": rng.choice(ERRORS)}


def run_failures(case: Case) -> Outcome:
    error, attempts = error_class(case["error"]), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ready = prepared_for(case, FIRST, SECOND)
        model = make(case).fit(*ready["A"])
        for at in range(case["first"], ready["calls"] + 1, case["every"]):
            _, raised = failing(functools.partial(model.fit, *ready["B"]), at, error)
            where = f"{case['error']} in call {at} of {ready['calls']}"
            wrong = verdict(model, ready, raised, where)
            if wrong is None and raised is not None and not _from(raised, error):
                wrong = f"other error: {where} came out as {raised!r}"
            if wrong is not None:
                return wrong
            attempts += 1
            if not same(answers(model, ready["new"]), ready["before"]):
                model = make(case).fit(*ready["A"])
    return attempts


def _from(raised: BaseException | None, error: type[BaseException]) -> bool:
    """Whether an error is the injected one, or was raised because of it."""
    while raised is not None:
        if isinstance(raised, error):
            return True
        raised = raised.__cause__ or raised.__context__
    return False


def fewer_calls(case: Case) -> Iterator[Case]:
    """One call instead of several."""
    if case["every"] < 10**9:
        for step in range(60):
            yield case | {"first": case["first"] + step * case["every"], "every": 10**9}


# Ctrl-C -----------------------------------------------------------------------------------------------------


def interrupt_cases(rng: Random) -> Iterator[Case]:
    while True:
        for name, params in subjects():
            yield {"solver": name, "params": params, "times": [round(rng.uniform(0.0, 1.1), 4) for _ in range(5)]}


class Interruption:
    """Sends SIGINT after a time, which raises KeyboardInterrupt in the main thread while it is armed."""

    def __init__(self) -> None:
        self.armed = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        if self.armed:
            self.armed = False
            raise KeyboardInterrupt

    def during(self, action: Callable[[], Any], seconds: float) -> BaseException | None:
        """Run an action and return what came out of it."""
        timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
        raised: BaseException | None = None
        before = signal.signal(signal.SIGINT, self.handle)
        try:
            timer.start()
            self.armed = True
            action()
            self.armed = False
        except BaseException as error:
            raised = error
        self.armed = False
        timer.cancel()
        timer.join()
        time.sleep(0.001)  # a signal sent just now is handled here, where it does nothing
        signal.signal(signal.SIGINT, before)
        return raised


def run_interrupts(case: Case) -> Outcome:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ready = prepared_for(case, SLOW, SLOW + 10)
        model = make(case).fit(*ready["A"])
        for fraction in case["times"]:
            delay = fraction * ready["seconds"]
            raised = Interruption().during(functools.partial(model.fit, *ready["B"]), delay)
            if raised is not None and not isinstance(raised, KeyboardInterrupt):
                return f"other error: SIGINT after {delay:.4f} s came out as {raised!r}"
            wrong = verdict(model, ready, raised, f"SIGINT after {delay:.4f} s")
            if wrong is not None and not (raised is None and wrong.startswith("old")):
                return wrong
            if not same(answers(model, ready["new"]), ready["before"]):
                model = make(case).fit(*ready["A"])
    return len(case["times"])


ATTACKS = [
    Attack(
        "solver-failures",
        "a refit of every solver fails in a call of kernels or linear algebra: the old answers, or NotFittedError",
        failure_cases,
        run_failures,
        full=5000,
        ci=25,
        minutes=15.0,
        seconds=300.0,
        shrink=fewer_calls,
    ),
    Attack(
        "solver-interrupts",
        "SIGINT at a random time of a refit of every solver: the old answers, the new ones, or NotFittedError",
        interrupt_cases,
        run_interrupts,
        full=980,
        ci=14,
        minutes=6.0,
        seconds=300.0,
    ),
]
