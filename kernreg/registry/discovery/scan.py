"""The last walk over the path, shared by all registries: made when first needed, kept until forgotten."""

from __future__ import annotations

import importlib

from kernreg.registry.discovery.walk import Discovery, discover
from kernreg.registry.locks import shared

_current: Discovery | None = None


def current_discovery() -> Discovery:
    """The last walk, made now if there is none."""
    found = _current
    if found is not None:
        return found
    with shared.changed:  # many threads, one walk
        if _current is None:
            restore_discovery(discover())
        assert _current is not None
        return _current


def last_discovery() -> Discovery | None:
    """The last walk, None if there is none yet."""
    return _current


def restore_discovery(discovery: Discovery | None) -> None:
    """Make this the last walk; None makes the next question walk again."""
    global _current
    _current = discovery


def forget_discovery() -> None:
    """Make the next question walk again, and let Python see modules installed in the meantime."""
    importlib.invalidate_caches()
    restore_discovery(None)
