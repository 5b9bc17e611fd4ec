"""Sources that are read in pieces of their own: chunks of an array, files of a folder, parts of row groups.

A piece costs the same whether one row of it is wanted or all, so the last few are kept, within bounds.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections import OrderedDict
from typing import Any

import numpy as np

from kernreg.common.bounded import require_room
from kernreg.common.forking import open_in_children
from kernreg.config import memory_budget
from kernreg.engine.arrays import is_sparse
from kernreg.engine.sources.base import RowSource, stacked
from kernreg.errors import DataError

_SHARE = 16  # the part of the memory budget that pieces may take
_AT_LEAST = 2  # pieces: rows at a border belong to two


class UnitRows(RowSource):
    """A source whose rows lie in units.

    Parameters
    ----------
    starts : sequence of int
        The first row of every unit, and the number of rows at the end.

    Examples
    --------
    >>> import numpy as np
    >>> class Squares(UnitRows):
    ...     def __init__(self, n):
    ...         super().__init__([*range(0, n, 2), n])
    ...         self.shape, self.dtype, self.label = (n, 2), np.dtype(float), "squares"
    ...     def read_unit(self, number):
    ...         i = np.arange(self._starts[number], self._starts[number + 1])
    ...         return np.column_stack([i, i**2]).astype(float)
    >>> Squares(5)[1:4].tolist()
    [[1.0, 1.0], [2.0, 4.0], [3.0, 9.0]]
    """

    def __init__(self, starts: Any):
        self._starts = np.asarray(starts, dtype=np.int64)
        self._kept: OrderedDict[int, Any] = OrderedDict()
        self._lock = open_in_children(threading.Lock())

    @abstractmethod
    def read_unit(self, number: int) -> Any:
        """Return all rows of one unit; never called by two threads at once."""

    def empty(self) -> Any:
        """Return no rows."""
        return np.empty((0, self.shape[1]), dtype=self.dtype)

    def unit(self, number: int) -> Any:
        """Return all rows of one unit, which must not be changed."""
        with self._lock:
            if number in self._kept:
                self._kept.move_to_end(number)
                return self._kept[number]
            found = self._kept[number] = self.read_unit(number)
            bound = memory_budget() // _SHARE
            while len(self._kept) > _AT_LEAST and sum(map(_size, self._kept.values())) > bound:
                self._kept.popitem(last=False)
            return found

    def read(self, start: int, stop: int) -> Any:
        """Return the rows start:stop from the units they are in."""
        if stop <= start:
            return self.empty()
        first, last = np.searchsorted(self._starts, [start, stop - 1], side="right") - 1
        parts = []
        for number in range(int(first), int(last) + 1):
            origin = int(self._starts[number])
            rows = self.unit(number)[max(start - origin, 0) : stop - origin]
            if rows.shape[0]:
                parts.append(rows)
        return parts[0].copy() if len(parts) == 1 else stacked(parts, self)

    def gather(self, rows: np.ndarray) -> Any:
        """Return rows that ascend, each unit read once."""
        if not len(rows):
            return self.empty()
        units = np.searchsorted(self._starts, rows, side="right") - 1
        groups = np.split(np.arange(len(rows)), np.flatnonzero(np.diff(units)) + 1)
        parts = [self.unit(int(units[g[0]]))[rows[g] - self._starts[units[g[0]]]] for g in groups]
        return stacked(parts, self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_lock", "_kept")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=open_in_children(threading.Lock()), _kept=OrderedDict())


class ChunkedRows(UnitRows):
    """Rows of an array that is kept in chunks, such as one of zarr or h5py.

    Parameters
    ----------
    table : object with shape, dtype, chunks and slices
    label : str
    """

    def __init__(self, table: Any, label: str):
        rows, columns = table.shape
        step = max(1, int(table.chunks[0]))
        columns = int(columns)
        require_room(8 * (rows // step), f"the list of the chunks of {label}")
        require_room(min(step, rows) * columns * np.dtype(table.dtype).itemsize, f"one chunk of {label}")
        super().__init__(np.append(np.arange(0, rows, step), rows))
        self.shape, self.dtype, self.label, self._table = (int(rows), int(columns)), np.dtype(table.dtype), label, table

    def read_unit(self, number: int) -> Any:
        """Return the rows of one chunk."""
        start, stop = int(self._starts[number]), int(self._starts[number + 1])
        try:
            return np.asarray(self._table[start:stop])
        except MemoryError:
            raise
        except Exception as error:  # whatever the library behind it makes of damaged chunks
            raise DataError(f"{self.label}, rows {start} to {stop} cannot be read: {error}") from error


def _size(rows: Any) -> int:
    if is_sparse(rows):
        return rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes
    return rows.nbytes
