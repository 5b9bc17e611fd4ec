"""The one lock of the registry.

It guards the marks and outcomes of slots, the tables of names and the last walk over the path. It is never
held while a plugin is imported. After a fork the child has only the thread that forked: the lock is then
replaced, and the generation raised so that marks left by threads that are gone mean nothing.
"""

from __future__ import annotations

import os
import threading


class _Shared:
    def __init__(self) -> None:
        self.changed = threading.Condition()  # re-entrant
        self.generation = 0

    def after_fork(self) -> None:
        self.changed = threading.Condition()
        self.generation += 1


shared = _Shared()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=shared.after_fork)
