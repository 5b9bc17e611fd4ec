"""Locks and forks: what a child finds open, whatever other threads were doing.

A child has only the thread that forked. A lock that another thread held would stay locked in it for ever, and what that
lock guards would stay half done. So the thread that forks waits for some locks, and both processes let go of them
(`held_while_forking`). Others guard what is whole at any moment, or are held for as long as somebody else's code
runs: nobody waits for these, and a child finds them new (`open_in_children`).

Python's own locks of modules that are being imported cannot be opened in a child. So a fork waits, too, until other
threads have imported what kernreg asked them for: plugins (`forks_wait_for`) and what its functions import.
"""

from __future__ import annotations

import _thread

# Before this module is: their locks are held through forks as well, and what is registered last is taken first. Who
# forks must not hold them while it waits for an import, which takes them.
import concurrent.futures.thread  # noqa: F401
import logging  # noqa: F401
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, ParamSpec, TypeVar
from weakref import WeakSet

_SOON = 0.05  # seconds after a fork
_PAUSE = 0.005  # seconds between two looks at what others import
_PATIENCE = 60.0  # seconds, for an import may wait for what the thread that forks holds

_Lock = TypeVar("_Lock")
_Given = ParamSpec("_Given")
_Returned = TypeVar("_Returned")
_opened: WeakSet[Any] = WeakSet()
_held: list[Any] = []  # in the order in which they are taken
_gate = threading.RLock()  # held by nobody but forks


class _Fork(threading.local):
    def __init__(self) -> None:
        # The locks that forks of this thread have taken, the innermost fork last: while one waits, the handler of a
        # signal may fork.
        self.taken: list[list[Any]] = []
        self.interrupted = False


_fork = _Fork()


def held_while_forking(*locks: Any) -> None:
    """Let every fork of this process wait until it holds these locks, in this order; re-entrant ones only.

    The order is that in which a thread that takes several takes them. What is raised while a fork waits, a
    KeyboardInterrupt for example, Python would ignore, with some of the locks held: it goes on waiting, and the
    interrupt comes after the fork.

    >>> import threading
    >>> held_while_forking(threading.RLock())
    """
    _held[:0] = locks


def forks_wait_for(function: Callable[_Given, _Returned], *args: _Given.args, **named: _Given.kwargs) -> _Returned:
    """Call a function that imports: forks of other threads wait until it is done, and it waits until a fork is.

    A thread that is itself in the middle of an import forks at once, for others may wait for it. Nor does any fork wait
    for longer than a minute.

    >>> forks_wait_for(int, "3")
    3
    """
    with _gate:
        pass
    return function(*args, **named)


def _hold() -> None:
    taken: list[Any] = []
    _fork.taken.append(taken)
    if len(_fork.taken) == 1:
        _fork.interrupted = False
    patient = not (inside_an_import() or _imports_for_us(sys._getframe()))
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            locks = (*_held, _gate)
            for lock in locks:
                if not lock._is_owned():
                    taken.append(lock)  # first: an interrupt may come after it was acquired
                    lock.acquire()
            patient = patient and time.monotonic() < end
            # What others import may have more locks to be held, before those that are held already.
            if locks == (*_held, _gate) and not (patient and _others_import()):
                return
            _release(taken)
            time.sleep(_PAUSE)
        except BaseException:
            _fork.interrupted = True


def _release(taken: list[Any]) -> None:
    for lock in reversed(taken):
        while lock._is_owned():
            try:
                lock.release()
            except BaseException:
                _fork.interrupted = True
    taken.clear()


def _let_go() -> None:
    if _fork.taken:
        _release(_fork.taken.pop())


def _let_go_in_parent() -> None:
    _let_go()
    outermost = not _fork.taken
    if _fork.interrupted and outermost and threading.current_thread() is threading.main_thread():
        threading.Timer(_SOON, _interrupt_main).start()  # what is raised here is ignored, too


def _others_import() -> bool:
    """Whether another thread imports something for kernreg."""
    own = threading.get_ident()
    return any(_imports_for_us(frame) for thread, frame in sys._current_frames().items() if thread != own)


def _imports_for_us(frame: FrameType) -> bool:
    inside = False
    for outer in _stack(frame):
        if outer.f_code is forks_wait_for.__code__:
            return True
        if _of_importlib(outer):
            inside = True
        elif inside and str(outer.f_globals.get("__name__")).startswith("kernreg"):
            return True
    return False


def inside_an_import() -> bool:
    """Whether this thread is running some module's top-level code, and so holds its import lock.

    >>> inside_an_import()
    False
    """
    return any(_of_importlib(frame) for frame in _stack(sys._getframe()))


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _of_importlib(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith("<frozen importlib")


def _interrupt_main() -> None:
    if hasattr(signal, "pthread_kill"):  # which ends a sleep, too
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()


def open_in_children(lock: _Lock) -> _Lock:
    """Return a lock that is open in every forked child, whichever other thread of the parent held it.

    For what is never half done, as entries of a dictionary.

    >>> import threading
    >>> with open_in_children(threading.Lock()):
    ...     pass
    """
    _opened.add(lock)
    return lock


def _open_all() -> None:
    for lock in list(_opened):
        if not (hasattr(lock, "_is_owned") and lock._is_owned()):  # this thread goes on here, and lets go of its own
            lock._at_fork_reinit()  # as Python's own modules do


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open_all)
    os.register_at_fork(before=_hold, after_in_parent=_let_go_in_parent, after_in_child=_let_go)
