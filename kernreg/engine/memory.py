"""Where results live: aligned arrays, and the pages of the last large ones kept for the next.

A new large array costs more than filling it: the operating system has to map and clear every page first. Kernel
matrices of one size are made again and again (a grid of parameters, folds, a benchmark), so the memory of a
result that nobody holds any more is kept, up to a bound, and given to the next one. So is the working memory of a call.
"""

from __future__ import annotations

import math
import threading
import time
from typing import Any

import numpy as np

from kernreg.common.forking import held_while_forking
from kernreg.config import get_config, memory_budget

ALIGNMENT = 64  # a cache line, and the widest vector
SMALLEST = 1 << 18  # below this the allocator of the C library keeps pages by itself; it may give back larger ones
SMALL = 1 << 22  # a piece below this is kept beside the others, within
SMALL_BOUND = 1 << 25
STALE = 1.0  # seconds
SHARE = 0.1  # of the memory budget may be kept

_lock = threading.RLock()  # a lease may be dropped by the garbage collector while this thread holds the lock
held_while_forking(_lock)
_kept: list[np.ndarray] = []
_small: list[np.ndarray] = []
_read: tuple[float, float, float] | None = None  # the share of the available memory that was asked for, when, the bound


class _Lease:
    """Owns one piece of memory while arrays look into it, and gives it back when the last one is gone."""

    def __init__(self, raw: np.ndarray, shape: tuple[int, ...], dtype: np.dtype):
        self._raw = raw
        address = raw.__array_interface__["data"][0]
        address += -address % ALIGNMENT
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": dtype.str, "data": (address, False)}

    def __del__(self) -> None:
        try:
            _keep(self._raw)
        except Exception:  # the interpreter is shutting down, and the memory with it
            return


def empty(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return an uninitialised C-ordered array, aligned, in recycled memory where there is some of that size."""
    dtype = np.dtype(dtype)
    shape = tuple(map(int, shape))
    nbytes = math.prod(shape) * dtype.itemsize
    if nbytes < SMALLEST:
        return np.empty(shape, dtype=dtype)
    needed = nbytes + ALIGNMENT
    raw = None
    with _lock:
        kept = _small if needed < SMALL else _kept
        for number, candidate in enumerate(kept):
            if needed <= candidate.nbytes <= needed * 1.2:
                raw = kept.pop(number)
                break
    return np.asarray(_Lease(np.empty(needed, dtype=np.uint8) if raw is None else raw, shape, dtype))


def release() -> int:
    """Give the kept memory back to the operating system and return how many bytes that were."""
    with _lock:
        freed = kept_bytes()
        _kept.clear()
        _small.clear()
    return freed


def kept_bytes() -> int:
    """Return how much memory is kept for the next result."""
    with _lock:
        return sum(piece.nbytes for kept in (_kept, _small) for piece in kept)


def _keep(raw: np.ndarray) -> None:
    small = raw.nbytes < SMALL
    bound, kept = (min(SMALL_BOUND, _bound(small)), _small) if small else (_bound(), _kept)
    with _lock:
        if raw.nbytes > bound:
            return
        kept.append(raw)
        while sum(piece.nbytes for piece in kept) > bound:
            kept.pop(0)


def _bound(small: bool = False) -> float:
    """Return how many bytes may be kept; how much memory there is takes a millisecond to read, and is read at times."""
    setting = get_config().memory
    if isinstance(setting, int):
        return SHARE * setting
    return SMALL_BOUND if small else recent_share(setting)


def recent_share(setting: float) -> float:
    """Return a tenth of the memory budget as it was within the last second, for a budget that is a share of memory."""
    global _read
    now = time.monotonic()
    if _read is None or _read[0] != setting or now - _read[1] > STALE:
        _read = setting, now, SHARE * memory_budget()
    return _read[2]
