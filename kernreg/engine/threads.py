"""The gate to parallel work: Python threads over nogil code, and BLAS held to one thread inside.

No Numba parallel region is ever entered, so nothing here depends on Numba's threading layer: calls from many
Python threads at once, in a forked child, or under joblib are ordinary calls. Which thread runs a task never
changes what the task computes, so results are the same bits for any number of threads.
"""

from __future__ import annotations

import contextvars
import os
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


class ThreadBuffers:
    """One working array per thread, made at its first use."""

    def __init__(self) -> None:
        self._local = threading.local()

    def get(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return this thread's array of that shape; every call of one thread gives the same array."""
        if not hasattr(self._local, "array"):
            self._local.array = np.empty(shape, dtype=dtype)
        return self._local.array


def run_tasks(task: Callable[[int], None], count: int) -> None:
    """Call ``task(0) … task(count - 1)``, each once, on the available threads.

    The first exception stops the handing out of tasks and is raised here; so is KeyboardInterrupt.
    """
    workers = min(thread_count(), count)
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
    """BLAS at one thread while any call is inside; the previous number comes back when the last one leaves."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._controller: Any = None
        self._limit: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._depth == 0:
                if self._controller is None:
                    from threadpoolctl import ThreadpoolController

                    # The libraries are looked up once: numpy's and scipy's are loaded by now.
                    self._controller = ThreadpoolController()
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._depth += 1

    def leave(self) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._limit.restore_original_limits()
                self._limit = None

    def after_fork_in_child(self) -> None:
        limit, controller = self._limit, self._controller
        self.__init__()  # type: ignore[misc]  # a forked child starts over: no other thread of the parent lives here
        self._controller = controller
        if limit is not None:
            limit.restore_original_limits()


_blas = _BlasLimit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_blas.after_fork_in_child)


@contextmanager
def single_threaded_blas(needed: bool = True) -> Iterator[None]:
    """Hold BLAS to one thread, if it is used at all: its own threads under ours cost up to ten times the work."""
    if not needed:
        yield
        return
    _blas.enter()
    try:
        yield
    finally:
        _blas.leave()
