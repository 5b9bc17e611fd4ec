"""Warnings about a fit, which a search over many fits collects instead: only the fit it keeps is worth a warning."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from kernreg.engine.budget import beyond_budget
from kernreg.errors import MemoryBudgetWarning


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


def warn_beyond_budget(needed: float, what: str, instead: str, *, stacklevel: int = 2) -> None:
    """Warn, before it is done, of what was asked for and takes more memory than the budget.

    Parameters
    ----------
    needed : float
        Bytes held at once, about.
    what : str
        What takes them, in the words of users.
    instead : str
        What takes less.
    stacklevel : int
        As of `warnings.warn`; in a function that ``fit`` calls, 3 is the caller of ``fit``.

    Examples
    --------
    >>> import warnings
    >>> from kernreg import config_context
    >>> with config_context(memory="10MB"), warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always")
    ...     warn_beyond_budget(8 * 3 * 1000**2, "this fit of 1000 samples", "take fewer samples")
    >>> str(heard[0].message).partition(";")[0]
    'this fit of 1000 samples needs about 24.0 MB, more than the memory budget of 10.0 MB'
    """
    if message := beyond_budget(int(needed), what, instead):
        advise(message, MemoryBudgetWarning, stacklevel=stacklevel + 1)


@contextmanager
def collecting() -> Iterator[list[Advice]]:
    """Collect the warnings of `advise`, in this thread.

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
