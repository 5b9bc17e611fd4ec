"""Progress bars: on a terminal only, or as the configuration says."""

from __future__ import annotations

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
