"""How much memory a call takes at most: pages of this process, whoever asked the system for them.

The system itself keeps the highest count of resident pages since it was last told to forget it, so that nothing is
missed: arrays, LAPACK's and compiled code's working memory, what readers unpack. It counts what is touched, not what is
reserved.
"""

from __future__ import annotations

import ctypes
import gc
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: What malloc gives back at once, so that memory freed before does not serve a call unnoticed: pieces from this size.
_RETURNED = 1 << 17
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


@dataclass
class Measured:
    """What a call did: the bytes it took at most and still holds, what it said of memory, and how it ended."""

    result: Any
    peak: int
    kept: int
    told: list[int]
    error: Exception | None

    @property
    def said(self) -> int:
        """The most that it said it would take; 0 if it said nothing."""
        return max(self.told, default=0)


def measured(run: Callable[[], Any], *, stop: bool = False) -> Measured:
    """Run a call and measure it; with ``stop`` the warning that it takes more than the budget ends it."""
    from kernreg.engine.memory import release
    from kernreg.errors import MemoryBudgetError, MemoryBudgetWarning

    libc = ctypes.CDLL(None)
    libc.mallopt(_M_MMAP_THRESHOLD, _RETURNED)
    libc.mallopt(_M_TRIM_THRESHOLD, _RETURNED)

    def settle() -> int:
        gc.collect()
        release()
        libc.malloc_trim(0)
        return _status("VmRSS")

    before = settle()
    Path("/proc/self/clear_refs").write_text("5")
    result, error = None, None
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        if stop:
            warnings.simplefilter("error", MemoryBudgetWarning)
        try:
            result = run()
        except (MemoryBudgetWarning, MemoryBudgetError) as stopped:
            error = stopped.with_traceback(None)
    peak = _status("VmHWM") - before
    told = [amount(str(warning.message)) for warning in heard if warning.category is MemoryBudgetWarning]
    return Measured(result, max(peak, 0), max(settle() - before, 0), told, error)


def amount(message: str) -> int:
    """The bytes of which a warning speaks.

    >>> amount("this needs about 24.5 MB, more than the memory budget of 20.0 MB; …")
    24500000
    """
    found = re.search(r"needs about ([0-9.]+) (bytes|kB|MB|GB|TB)", message)
    if found is None:
        raise ValueError(f"a warning about memory names no amount: {message}")
    return round(float(found[1]) * {"bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}[found[2]])


def _status(name: str) -> int:
    text = Path("/proc/self/status").read_text()
    found = re.search(rf"^{name}:\s+(\d+) kB$", text, re.MULTILINE)
    assert found is not None
    return 1024 * int(found[1])
