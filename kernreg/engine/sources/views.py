"""Sources made of sources: some rows, rows mapped by a function; and the windows of rows that are read together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kernreg.config import memory_budget
from kernreg.engine.arrays import is_sparse
from kernreg.engine.sources.base import ArrayRows, RowSource
from kernreg.engine.sources.units import ChunkedRows

_WINDOW_SHARE = 32  # the part of the memory budget that a window takes
_UNIT, _MOST = 4096, 1 << 18  # rows of a window: a multiple of the first, no more than the second


class SomeRows(RowSource):
    """Some rows of a source, in ascending order.

    >>> SomeRows(ArrayRows(np.eye(3)), np.array([0, 2]))[:].tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """

    def __init__(self, source: RowSource, rows: np.ndarray):
        self._source, self._rows = source, rows
        self.shape, self.dtype = (len(rows), source.shape[1]), source.dtype
        self.label, self.names, self.sparse = source.label, source.names, source.sparse
        self.targets = None if source.targets is None else source.targets[rows]

    def read(self, start: int, stop: int) -> Any:
        """Return some of these rows."""
        return self._source.gather(self._rows[start:stop]) if stop > start else self._source.read(0, 0)

    def gather(self, rows: np.ndarray) -> Any:
        """Return some of these rows."""
        return self._source.gather(self._rows[rows]) if len(rows) else self._source.read(0, 0)


class MappedRows(RowSource):
    """A source whose rows go through a function when they are read: features that are never held whole.

    Parameters
    ----------
    source : RowSource
    function : callable
        From a table to a table with as many rows; each row by itself.

    Examples
    --------
    >>> MappedRows(ArrayRows(np.eye(2)), lambda X: 3.0 * X)[1:].tolist()
    [[0.0, 3.0]]
    """

    def __init__(self, source: RowSource, function: Callable[[Any], Any]):
        self._source, self._function = source, function
        looked_at = function(source[:1])
        self.shape, self.dtype = (source.shape[0], looked_at.shape[1]), np.dtype(looked_at.dtype)
        self.label, self.targets, self.sparse = source.label, source.targets, is_sparse(looked_at)
        self._none = looked_at[:0]

    def read(self, start: int, stop: int) -> Any:
        """Return some rows, mapped."""
        return self._function(self._source.read(start, stop)) if stop > start else self._none.copy()

    def gather(self, rows: np.ndarray) -> Any:
        """Return some rows, mapped."""
        return self._function(self._source.gather(rows)) if len(rows) else self._none.copy()


def as_row_source(X: Any) -> RowSource:
    """Return the source that X is, or one that reads it: in its own chunks, where it has some."""
    if isinstance(X, RowSource):
        return X
    label = f"this {type(X).__name__}"
    chunks = getattr(X, "chunks", None)
    if isinstance(chunks, tuple) and chunks and isinstance(chunks[0], int | np.integer):
        return ChunkedRows(X, label)
    return ArrayRows(X, label)


def windows(source: RowSource) -> Iterator[slice]:
    """Yield the rows that are read and looked at together: few enough to be held with what is made of them.

    >>> list(windows(ArrayRows(np.zeros((3, 2)))))
    [slice(0, 3, None)]
    """
    rows = memory_budget() // _WINDOW_SHARE // max(1, 8 * source.shape[1])
    step = min(_MOST, max(1, rows // _UNIT) * _UNIT)
    for start in range(0, max(source.shape[0], 1), step):
        yield slice(start, min(start + step, source.shape[0]))
