"""How many kernels a kernel is made of, counted as often as they are evaluated.

A file may refer to one kernel many times: 22 sums of a kernel with itself are 22 entries in it, and four million
kernels when they are evaluated, hashed or only looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernreg.kernels import Kernel

MAX_KERNELS = 4096


class KernelSizes:
    """The sizes of the kernels seen so far."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}
        self._alive: list[Kernel] = []  # so that no address is used twice

    def of(self, parts: Iterable[Any]) -> int:
        """Return the size of a kernel made of these parts; raise ValueError where it is too large to be a kernel."""
        size = 1 + sum(self._sizes.get(id(part), 1) for part in parts if isinstance(part, Kernel))
        if size > MAX_KERNELS:
            raise ValueError(f"a kernel is made of more than {MAX_KERNELS} kernels")
        return size

    def add(self, kernel: Kernel, size: int) -> None:
        """Remember the size of a kernel."""
        self._sizes[id(kernel)] = size
        self._alive.append(kernel)
