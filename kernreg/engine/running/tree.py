"""Results of row blocks, combined: concatenated in order, or added in a fixed binary tree.

The tree depends on the number of blocks alone: the left branch takes the largest power of two below it. Whoever comes
first waits for its neighbour, so the order in which results arrive, and so the number of threads and workers, changes
no bit. A chunk of 2ⁱ blocks is a branch of the tree: sums of such chunks, added in the tree of chunks, are the sum of
all.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import numpy as np

from kernreg.errors import ParameterError, shown

COMBINE = ("concatenate", "add")


class TreeSum:
    """The sum of a known number of results that arrive in any order, from any thread.

    >>> tree = TreeSum(3)
    >>> for number in (2, 0, 1):
    ...     tree.add(number, np.array([10.0**number]))
    >>> tree.total
    array([111.])
    """

    def __init__(self, count: int):
        self._count, self._waiting = count, dict[tuple[int, int], Any]()
        self._lock = threading.Lock()
        self.total: Any = None

    def add(self, number: int, value: Any) -> None:
        """Enter the result of block ``number``, and add up what is complete with it."""
        level, ours = 0, False  # whether the value is an array of this sum, which may be written to
        while self._count > (1 << level):
            sibling = number ^ 1
            if sibling << level < self._count:  # else there is none: the branch goes up as it is
                with self._lock:
                    other = self._waiting.pop((level, sibling), None)
                    if other is None:
                        self._waiting[level, number] = value, ours
                        return
                left, right = ((value, ours), other) if sibling > number else (other, (value, ours))
                value, ours = _sum(*left, *right)
            level, number = level + 1, number >> 1
        self.total = value


def _sum(left: Any, left_ours: bool, right: Any, right_ours: bool) -> tuple[Any, bool]:
    for target, ours in ((left, left_ours), (right, right_ours)):
        if ours and isinstance(target, np.ndarray) and target.dtype == np.result_type(left, right):
            return np.add(left, right, out=target), True
    return np.add(left, right), True


def combined(results: Iterable[Any], combine: str) -> Any:
    """Return the results of chunks (or blocks), given in the order of their rows, as one.

    >>> combined([np.array([1.0]), np.array([2.0, 3.0])], "concatenate")
    array([1., 2., 3.])
    """
    check_combine(combine)
    results = list(results)
    if combine == "concatenate":
        return results[0] if len(results) == 1 else np.concatenate(results, axis=0)
    tree = TreeSum(len(results))
    for number, result in enumerate(results):
        tree.add(number, result)
    return tree.total


def check_combine(combine: str) -> None:
    """Raise ParameterError for an unknown way to combine."""
    if combine not in COMBINE:
        raise ParameterError(f"combine={shown(combine)}; accepted are {', '.join(map(repr, COMBINE))}")
