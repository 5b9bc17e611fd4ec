"""Time that an iteration may take."""

from __future__ import annotations

import time


class Clock:
    """Started when it is made; it is given the laps, and says when there is no time for another one.

    Parameters
    ----------
    seconds : float, optional
        That everything may take; without bound by default.

    Examples
    --------
    >>> Clock(None).over(), Clock(1e-9).over(), Clock(3600.0).over(reserve=1e6)
    (False, True, True)
    """

    def __init__(self, seconds: float | None = None):
        self.seconds = seconds
        self._start = self._last = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    def lap(self) -> float:
        """Return the seconds since the last lap, or since the start."""
        now = time.monotonic()
        passed, self._last = now - self._last, now
        return passed

    def over(self, reserve: float = 0.0) -> bool:
        """Whether less than a reserve of the time is left."""
        return self.seconds is not None and self.elapsed + reserve >= self.seconds
