"""Compiled functions that release the lock of the interpreter, kept on disk where that can be written to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Any:
    """Return a function compiled by Numba; products and sums may be contracted, nothing else is relaxed."""
    try:
        return numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})(function)
    except RuntimeError:  # no folder for the cache is writable
        return numba.njit(nogil=True, error_model="numpy", fastmath={"contract"})(function)
