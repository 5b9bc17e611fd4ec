"""Which rows have been looked at: ranges, in whatever order they come, from any thread."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right

from kernreg.common.forking import open_in_children


class RowRanges:
    """A set of rows, kept as ranges that do not touch.

    >>> seen = RowRanges()
    >>> seen.add(0, 4), seen.add(8, 12), seen.add(4, 8)
    (None, None, None)
    >>> seen.covers(2, 12), seen.covers(2, 13), seen.ranges
    (True, False, [(0, 12)])
    """

    def __init__(self) -> None:
        self._starts, self._stops = list[int](), list[int]()
        self._lock = open_in_children(threading.Lock())

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The ranges, in order."""
        return list(zip(self._starts, self._stops, strict=True))

    def covers(self, start: int, stop: int) -> bool:
        """Return whether all rows start:stop are in the set."""
        with self._lock:
            place = bisect_right(self._starts, start) - 1
            return start >= stop or (place >= 0 and stop <= self._stops[place])

    def add(self, start: int, stop: int) -> None:
        """Put the rows start:stop into the set."""
        if start >= stop:
            return
        with self._lock:
            first, last = bisect_left(self._stops, start), bisect_right(self._starts, stop)
            if first < last:  # these touch the new range, and become one with it
                start, stop = min(start, self._starts[first]), max(stop, self._stops[last - 1])
            self._starts[first:last], self._stops[first:last] = [start], [stop]
