"""Warnings about a fit, which a search over many fits collects instead: only the fit it keeps is worth a warning."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Advice(str):
    """What a warning would have said, and its category."""

    __slots__ = ("category",)

    category: type[Warning]


_collected: ContextVar[list[Advice] | None] = ContextVar("collected", default=None)


def advise(message: str, category: type[Warning], *, stacklevel: int) -> None:
    """Warn, or add to what is being collected in this thread."""
    collected = _collected.get()
    if collected is None:
        warnings.warn(message, category, stacklevel=stacklevel + 1)
    else:
        heard = Advice(message)
        heard.category = category
        collected.append(heard)


@contextmanager
def collecting() -> Iterator[list[Advice]]:
    """Collect what `advise` has to say, in this thread.

    >>> with collecting() as heard:
    ...     advise("a smaller gamma is better", UserWarning, stacklevel=1)
    >>> heard
    ['a smaller gamma is better']
    """
    heard: list[Advice] = []
    token = _collected.set(heard)
    try:
        yield heard
    finally:
        _collected.reset(token)
