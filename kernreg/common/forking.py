"""Locks and forks: what a child finds open, whatever other threads were doing.

A child has only the thread that forked. A lock that another thread held would stay locked in it for ever, and what that
lock guards would stay half done. So the thread that forks waits for some locks, and both processes let go of them
(`held_while_forking`). Others guard what is whole at any moment, or are held for as long as somebody else's code
runs: nobody waits for these, and a child finds them new (`open_in_children`).
"""

from __future__ import annotations

import _thread
import os
import signal
import threading
from typing import Any, TypeVar
from weakref import WeakSet

_SOON = 0.05  # seconds after a fork

_Lock = TypeVar("_Lock")
_opened: WeakSet[Any] = WeakSet()


def held_while_forking(*locks: Any) -> None:
    """Let every fork of this process wait until it holds these locks, in this order; re-entrant ones only.

    The order is that in which a thread that takes several takes them. What is raised while a fork waits, a
    KeyboardInterrupt for example, Python would ignore, with some of the locks held: it goes on waiting, and the
    interrupt comes after the fork.

    >>> import threading
    >>> held_while_forking(threading.RLock())
    """
    if not hasattr(os, "register_at_fork"):  # Windows
        return
    fork = threading.local()  # .taken: those that this thread did not hold already, .interrupted

    def hold() -> None:
        fork.interrupted = False
        fork.taken = [lock for lock in locks if not lock._is_owned()]
        for lock in fork.taken:
            while not lock._is_owned():  # an interrupt may come after it is acquired
                try:
                    lock.acquire()
                except BaseException:
                    fork.interrupted = True

    def let_go() -> None:
        for lock in reversed(fork.taken):
            while lock._is_owned():
                try:
                    lock.release()
                except BaseException:
                    fork.interrupted = True

    def let_go_in_parent() -> None:
        let_go()
        if fork.interrupted and threading.current_thread() is threading.main_thread():
            threading.Timer(_SOON, _interrupt_main).start()  # what is raised here is ignored, too

    os.register_at_fork(before=hold, after_in_parent=let_go_in_parent, after_in_child=let_go)


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
