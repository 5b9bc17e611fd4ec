"""Locks that a forked child finds open.

A child has only the thread that forked. A lock that another thread held would stay locked in it for ever, and what that
lock guards would stay half done. So the thread that forks waits for the locks, and both processes let go of them.
"""

from __future__ import annotations

import os
from typing import Any


def held_while_forking(*locks: Any) -> None:
    """Let every fork of this process wait until it holds these locks, in this order; re-entrant ones only.

    The order is that in which a thread that takes several takes them.

    >>> import threading
    >>> held_while_forking(threading.RLock())
    """
    if not hasattr(os, "register_at_fork"):  # Windows
        return

    def hold() -> None:
        for lock in locks:
            lock.acquire()

    def let_go() -> None:
        for lock in reversed(locks):
            lock.release()

    os.register_at_fork(before=hold, after_in_parent=let_go, after_in_child=let_go)
