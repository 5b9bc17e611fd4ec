"""Numbers of bytes for people."""

from __future__ import annotations


def readable(size: float) -> str:
    """Return a number of bytes for people.

    >>> readable(288_000_000)
    '288.0 MB'
    """
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size:.0f} bytes"
