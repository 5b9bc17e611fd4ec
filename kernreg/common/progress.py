"""Progress bars: on a terminal only, or as the configuration says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kernreg.config import get_config


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yield a function that is told how much of the total is done."""
    if not get_config().show_progress():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done)


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
