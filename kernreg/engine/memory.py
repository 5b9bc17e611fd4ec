"""Where results live: aligned arrays, and the pages of the last large ones kept for the next.

A new large array costs more than filling it: the operating system has to map and clear every page first. Kernel
matrices of one size are made again and again (a grid of parameters, folds, a benchmark), so the memory of a
result that nobody holds any more is kept, up to a bound, and given to the next one.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from kernreg.common.forking import held_while_forking
from kernreg.config import memory_budget

ALIGNMENT = 64  # a cache line, and the widest vector
SMALLEST = 1 << 22  # below this the allocator of the C library keeps pages by itself
SHARE = 0.1  # of the memory budget may be kept

_lock = threading.RLock()  # a lease may be dropped by the garbage collector while this thread holds the lock
held_while_forking(_lock)
_kept: list[np.ndarray] = []


class _Lease:
    """Owns one piece of memory while arrays look into it, and gives it back when the last one is gone."""

    def __init__(self, raw: np.ndarray, nbytes: int):
        self._raw = raw
        offset = -raw.ctypes.data % ALIGNMENT
        address = raw.ctypes.data + offset
        self.__array_interface__ = {"version": 3, "shape": (nbytes,), "typestr": "|u1", "data": (address, False)}

    def __del__(self) -> None:
        try:
            _keep(self._raw)
        except Exception:  # the interpreter is shutting down, and the memory with it
            return


def empty(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return an uninitialised C-ordered array, aligned, in recycled memory where there is some of that size."""
    dtype = np.dtype(dtype)
    nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if nbytes < SMALLEST:
        return np.empty(shape, dtype=dtype)
    needed = nbytes + ALIGNMENT
    raw = None
    with _lock:
        for number, candidate in enumerate(_kept):
            if needed <= candidate.nbytes <= needed * 1.2:
                raw = _kept.pop(number)
                break
    lease = _Lease(np.empty(needed, dtype=np.uint8) if raw is None else raw, nbytes)
    return np.asarray(lease).view(dtype).reshape(shape)


def release() -> int:
    """Give the kept memory back to the operating system and return how many bytes that were."""
    with _lock:
        freed = sum(piece.nbytes for piece in _kept)
        _kept.clear()
    return freed


def kept_bytes() -> int:
    """Return how much memory is kept for the next result."""
    return sum(piece.nbytes for piece in _kept)


def _keep(raw: np.ndarray) -> None:
    bound = memory_budget() * SHARE
    with _lock:
        if raw.nbytes > bound:
            return
        _kept.append(raw)
        while sum(piece.nbytes for piece in _kept) > bound:
            _kept.pop(0)
