"""The gate to parallel work: Python threads over nogil code, and BLAS held to one thread inside.

No Numba parallel region is ever entered, so nothing here depends on Numba's threading layer: calls from many
Python threads at once, in a forked child, or under joblib are ordinary calls. Which thread runs a task never
changes what the task computes, so results are the same bits for any number of threads.
"""

from __future__ import annotations

import contextvars
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from kernreg.config import get_config, usable_cores

_inside = threading.local()


def thread_count() -> int:
    """Return how many threads a call may use now: 1 inside a task, else the configuration's number."""
    if inside_task():
        return 1
    configured = get_config().threads
    if configured is not None:
        return configured
    limits = [os.environ.get(name, "") for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")]
    return max(1, min([usable_cores(), *(int(limit) for limit in limits if limit.isdigit() and int(limit) > 0)]))


def inside_task() -> bool:
    """Return whether this thread runs a task of `run_tasks`, beside others."""
    return bool(getattr(_inside, "task", False))


@contextmanager
def one_task() -> Iterator[None]:
    """Run what is inside as a task beside others, also where it happens to be alone: to the same bits, then."""
    before = inside_task()
    _inside.task = True
    try:
        yield
    finally:
        _inside.task = before


class ThreadBuffers:
    """One working array per thread, made at its first use."""

    def __init__(self) -> None:
        self._local = threading.local()

    def get(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return this thread's array of that shape; every call of one thread gives the same array."""
        if not hasattr(self._local, "array"):
            self._local.array = np.empty(shape, dtype=dtype)
        return self._local.array


def run_tasks(task: Callable[[int], None], count: int, together: int | None = None) -> None:
    """Call ``task(0) … task(count - 1)``, each once, on the available threads, at most so many ``together``.

    The first exception stops the handing out of tasks and is raised here; so is KeyboardInterrupt.
    """
    workers = min(thread_count(), count if together is None else min(count, together))
    if workers <= 1:
        for number in range(count):
            task(number)
        return
    numbers = iter(range(count))
    lock = threading.Lock()
    failures: list[BaseException] = []

    def work() -> None:
        _inside.task = True
        try:
            while not failures:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                task(number)
        except BaseException as failure:  # handed to the caller below, whatever it is
            failures.append(failure)
        finally:
            _inside.task = False

    threads = [
        threading.Thread(target=contextvars.copy_context().run, args=(work,), name="kernreg", daemon=True)
        for _ in range(workers - 1)
    ]
    for thread in threads:
        thread.start()
    try:
        work()
    finally:
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]


class _BlasLimit:
    """BLAS at no more threads than the strictest call inside allows; the last one that leaves restores the rest."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._limits: list[int] = []  # of the calls inside
        self._libraries: list[Any] | None = None
        self._with_cvxopt = False
        # Threads of each library, before the first call entered; nothing while none is inside.
        self._before: list[int] = []

    def enter(self, limit: int) -> None:
        with self._lock:
            if not self._limits:
                self._before = [library.num_threads for library in self._loaded()]
            self._change(lambda: self._limits.append(limit))

    def _loaded(self) -> list[Any]:
        """The libraries of BLAS: looked up once, and once more when cvxopt, which may bring its own, is there."""
        with_cvxopt = "cvxopt" in sys.modules
        if self._libraries is None or with_cvxopt != self._with_cvxopt:
            from scipy.linalg import blas  # noqa: F401  SciPy has a BLAS of its own, loaded by now like NumPy's
            from threadpoolctl import ThreadpoolController

            libraries = ThreadpoolController().select(user_api="blas").lib_controllers  # takes milliseconds
            self._libraries = [library for library in libraries if library.num_threads is not None]
            self._with_cvxopt = with_cvxopt
        return self._libraries

    def leave(self, limit: int) -> None:
        with self._lock:
            if limit in self._limits:  # else this is a child, forked inside, which has started over
                self._change(lambda: self._limits.remove(limit))
            if not self._limits:
                self._before = []

    def _change(self, change: Callable[[], None]) -> None:
        before = min(self._limits, default=None)
        change()
        after = min(self._limits, default=None)
        if after != before:
            for library, threads in zip(self._libraries or (), self._before, strict=True):
                now, then = (threads if limit is None else min(limit, threads) for limit in (before, after))
                if then != now:  # BLAS that has one thread anyway stays as it is: setting it takes microseconds
                    _set_threads(library, then)

    def after_fork_in_child(self) -> None:
        # A forked child starts over: no other thread of the parent lives here. One may have been about to restore BLAS.
        self._lock = threading.Lock()
        for library in self._libraries or ():
            own = getattr(getattr(library, "_SHARED_STATE", None), "lock", None)  # of threadpoolctl, from 3.8 on
            if own is not None:
                own._at_fork_reinit()
        for library, threads in zip(self._libraries or (), self._before, strict=False):
            if library.num_threads != threads:
                _set_threads(library, threads)
        self._limits, self._before = [], []


def _set_threads(library: Any, threads: int) -> None:
    """Set the number of threads of a BLAS, from any thread.

    From its version 3.8 on, threadpoolctl ignores all threads but the first that ever set it, so that they do not fight
    over the one pool of OpenBLAS. `_BlasLimit` knows of all calls that are inside, and so needs no such rule.
    """
    release = getattr(library, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)
    library.set_num_threads(threads)
    if release is not None:
        release(force=True)  # nor is anybody else kept from it


_blas = _BlasLimit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_blas.after_fork_in_child)


@contextmanager
def single_threaded_blas(needed: bool = True) -> Iterator[None]:
    """Hold BLAS to one thread, if it is used at all: its own threads under ours cost up to ten times the work."""
    with _held_to(1 if needed else None):
        yield


@contextmanager
def configured_blas() -> Iterator[None]:
    """Hold BLAS to the configuration's number of threads, where it has one; also a decorator, ``@configured_blas()``.

    The gate of every function of `kernreg.linalg` that calls LAPACK. Entering again inside costs next to nothing.
    """
    with _held_to(get_config().threads):
        yield


@contextmanager
def _held_to(limit: int | None) -> Iterator[None]:
    if limit is None:
        yield
        return
    _blas.enter(limit)
    try:
        yield
    finally:
        _blas.leave(limit)
