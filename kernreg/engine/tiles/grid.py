"""The fixed grid on which K is evaluated: which pairs are in a block never depends on who computes it."""

from __future__ import annotations

BLOCK = 256  # rows and columns of a block: its statistics (512 KB) stay in a core's second-level cache
HEIGHT = 64  # rows of larger blocks are multiples of this many, columns of STEP
STEP = 128  # widths are multiples of this many values, so vector loops have no remainder


def padded(count: int, multiple: int) -> int:
    """Return the least multiple that is not below the count.

    >>> padded(300, 256), padded(256, 256)
    (512, 256)
    """
    return -(-count // multiple) * multiple
