"""Numba's own locks, and the children of processes whose threads hold them.

A fork waits for the lock of the compiler: what it guards may be half done (`compile`). Others are held for a moment,
while a property of a type or a target is computed that is whole at any time: children find them open.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from numba import types
from numba.core.registry import cpu_target

from kernreg.common.forking import open_in_children


def open_properties_in_children() -> None:
    """Let children find the locks open that Numba's properties hold.

    Those of types are held in Python 3.11 alone, those of the target in every version. Its contexts are made
    before, which takes the lock of the compiler inside of theirs.

    >>> open_properties_in_children()
    """
    _ = cpu_target.target_context
    for lock in _locks():
        open_in_children(lock)


def _locks() -> Iterator[Any]:
    for owner in (type(cpu_target), *vars(types).values()):
        for property_ in vars(owner).values() if isinstance(owner, type) else ():
            if isinstance(property_, cached_property):
                yield from (getattr(property_, name) for name in ("lock", "_lock") if hasattr(property_, name))
