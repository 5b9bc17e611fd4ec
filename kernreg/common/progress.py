"""Progress bars: on a terminal only, or as the configuration says."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from kernreg.config import get_config

_rows: ContextVar[Callable[[int], None] | None] = ContextVar("rows", default=None)  # of the pass that is under way
_drawn: ContextVar[bool] = ContextVar("drawn", default=False)  # whether a bar is there already: it goes first


@contextmanager
def progress(label: str, total: int | None, *, worthwhile: bool = True) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with how much of the total is done; inside another bar it shows nothing."""
    if not worthwhile or _drawn.get() or not get_config().show_progress():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    token = _drawn.set(True)
    try:
        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(label, total=total)
            yield lambda done: bar.update(task, completed=done)
    finally:
        _drawn.reset(token)


@contextmanager
def row_progress(label: str, total: int) -> Iterator[None]:
    """Show how many rows of a pass over samples are done: engines tell by `advance`."""
    lock, done = threading.Lock(), 0
    with progress(label, total) as show:

        def watch(count: int) -> None:
            nonlocal done
            with lock:
                done += count
                show(done)

        token = _rows.set(watch)
        try:
            yield
        finally:
            _rows.reset(token)


def advance(count: int) -> None:
    """Say, from any thread of the pass, that so many more rows are done; nothing happens where nobody watches.

    Examples
    --------
    >>> advance(100)  # without a bar that counts them, nothing happens
    """
    watch = _rows.get()
    if watch is not None:
        watch(count)


@contextmanager
def residual_progress(label: str) -> Iterator[Callable[[int, float], None]]:
    """Yield a callback ``(step, residual / tol)`` that shows how many digits of the residual are done."""
    first: list[float] = []
    with progress(label, 100) as show:

        def watch(step: int, ratio: float) -> None:
            digits = math.log10(max(ratio, 1.0))
            first.append(max(digits, 1e-3))
            show(int(100 * (1.0 - min(1.0, digits / first[0]))))

        yield watch
