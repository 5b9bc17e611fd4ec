"""Which rows are looked at together: decided by the shape of the matrix, never by threads, workers or free memory.

So a function sees the same blocks wherever it runs, and returns the same bits. Only a memory budget that was set to an
amount, and is too small for these blocks, makes them smaller: for all workers, and the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

from kernreg.engine.budget import rows_within, set_amount
from kernreg.errors import ParameterError, shown

LARGEST = 4096  # rows of a block
TALL = 16_384  # of a block whose result is larger than itself; chunks of this many rows are cut as a whole set is
_ENTRIES = 1 << 23  # of a block: 64 MB in float64
_TILE = 256  # rows that compiled code fills together
_FEWEST, _PARTS = 256, 4  # small sets are cut into some blocks, too, but not into crumbs


def block_rows(n: int, m: int, largest: int = LARGEST, arrays: int | None = None, read: int = 0) -> int:
    """Return how many rows of an n × m kernel matrix are looked at together: a power of two.

    With ``arrays`` so many of the size of a block are held at once, and fit into a memory budget that is an amount,
    together with its rows of ``read`` features where these are read from disk.

    >>> block_rows(464_809, 2000), block_rows(5000, 2000), block_rows(50_000, 50_000), block_rows(100, 100)
    (4096, 1024, 128, 256)
    """
    fitting = _ENTRIES // max(1, m)
    if arrays is not None:
        fitting = min(fitting, set_amount() // (8 * arrays * max(1, m + read)))
    wanted = min(largest, max(_FEWEST, n // _PARTS), max(1, fitting))
    return 1 << (wanted.bit_length() - 1)


def blocks_of_chunk(start: int, stop: int, size: int) -> list[slice]:
    """Return the blocks of the rows start:stop, counted from the start; one without rows where there are none.

    >>> blocks_of_chunk(10, 15, 2)
    [slice(10, 12, None), slice(12, 14, None), slice(14, 15, None)]
    """
    return [slice(first, min(first + size, stop)) for first in range(start, stop, size)] or [slice(start, stop)]


def borders(chunks: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield start and stop of every chunk that has rows; (0, 0) where none has.

    >>> list(borders([3, 0, 2]))
    [(0, 3), (3, 5)]
    """
    sizes = [size for size in chunks if size] or [0]
    ends = list(accumulate(sizes))
    yield from zip([0, *ends[:-1]], ends, strict=True)


def aligned_chunks(n: int, pieces: int) -> tuple[int, ...]:
    """Return chunks of n rows, at least so many where there are blocks for them, that give the bits of one chunk.

    For engines that may choose where to cut. The unit is the largest block that any matrix of n rows is cut into.

    >>> aligned_chunks(50_000, 4), aligned_chunks(700, 2), aligned_chunks(10, 2)
    ((16384, 16384, 16384, 848), (512, 188), (10,))
    """
    size = block_rows(n, 1, TALL)
    while -(-n // (2 * size)) >= pieces and 2 * size < n:
        size *= 2
    return tuple(rows.stop - rows.start for rows in blocks_of_chunk(0, n, size))


def streamed_rows(n: int, m: int, block_rows: Any = None) -> Iterator[slice]:
    """Yield slices of rows that are held one after the other: as many as the memory budget allows, or as asked for.

    Rows are not combined here, so the budget may decide.

    Examples
    --------
    >>> list(streamed_rows(5, 3, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    if block_rows is None:
        # Whole tiles of rows where they fit; no more rows than keep a block pleasant to work with.
        block_rows = min(rows_within(m, 8), max(_TILE, (1 << 27) // max(1, 8 * m)))
        if block_rows > _TILE:
            block_rows = block_rows // _TILE * _TILE
    elif not hasattr(block_rows, "__index__") or block_rows < 1:
        raise ParameterError(
            f"block_rows={shown(block_rows)}; a block has at least one row, and a whole number of them"
        )
    for start in range(0, n, block_rows):
        yield slice(start, min(start + block_rows, n))
