"""What a row source is: shape, dtype, and some rows at a time, as arrays in memory.

A source is no array: whoever takes one reads blocks of it, and `loaded` is the only way to all of it.
"""

from __future__ import annotations

import mmap
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from kernreg.common.sizes import readable
from kernreg.config import memory_budget
from kernreg.engine.arrays import is_sparse
from kernreg.errors import DataError, MemoryBudgetError

_GAP = 64  # rows between two that are wanted, up to which reading them is cheaper than reading twice
_RUN = 1024  # rows that are read together for some of them, at most
_LARGE_MAP = 8  # a memmap beyond this part of the memory budget is read in blocks; a smaller one is an array


class RowSource(ABC):
    """A table of samples that is read some rows at a time.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy dtype
        Of what is read.
    label : str
        What messages call it: a path, for example.
    names : list of str or None
        Of the columns, where they are known.
    targets : ndarray of shape (n,) or None
        Where they were asked for; these are in memory.
    sparse : bool
        Whether rows are read as CSR.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import kernreg as kr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/x.npy", np.arange(6.0).reshape(3, 2))
    ...     samples = kr.open_samples(f"{folder}/x.npy")
    ...     isinstance(samples, RowSource), samples.shape, samples[1:2].tolist()
    (True, (3, 2), [[2.0, 3.0]])
    """

    shape: tuple[int, int]
    dtype: np.dtype
    ndim = 2
    label = "samples"
    names: Sequence[str] | None = None
    targets: np.ndarray | None = None
    sparse = False

    @abstractmethod
    def read(self, start: int, stop: int) -> Any:
        """Return the rows start:stop, an array or CSR of the caller's own; called by several threads."""

    def gather(self, rows: np.ndarray) -> Any:
        """Return rows whose numbers ascend and are all different."""
        apart = (np.diff(rows) > _GAP) | (np.diff(rows // _RUN) > 0)
        runs = np.split(rows, np.flatnonzero(apart) + 1)
        return stacked([self.read(int(run[0]), int(run[-1]) + 1)[run - run[0]] for run in runs if len(run)], self)

    def __getitem__(self, rows: Any) -> Any:
        n = self.shape[0]
        if isinstance(rows, tuple) and len(rows) == 2 and _all_columns(rows[1]):
            rows = rows[0]  # as scikit-learn asks for some samples of a table
        if isinstance(rows, slice):
            start, stop, step = rows.indices(n)
            if step == 1:
                return self.read(start, max(start, stop))
            rows = np.arange(start, stop, step)
        index = np.asarray(rows, dtype=object if isinstance(rows, tuple) else None)
        if index.dtype == bool and index.shape == (n,):
            index = np.flatnonzero(index)
        if index.dtype.kind not in "iu" or index.ndim > 1:
            raise IndexError(f"{self.label} is read by rows: a slice, a number, or a vector of numbers of rows")
        index = np.where(index < 0, index + n, index)
        if index.size and (index.min() < 0 or index.max() >= n):
            raise IndexError(f"{self.label} has {n} rows, and row {int(index.max())} was asked for")
        if index.ndim == 0:
            return self.read(int(index), int(index) + 1)[0]
        ascending, places = np.unique(index, return_inverse=True)
        found = self.gather(ascending)
        return found if np.array_equal(ascending, index) else found[places]

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """Bytes of all rows as a dense table."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def loaded(self, why: str = "") -> Any:
        """Return all rows in memory, or raise MemoryBudgetError, which tells `why` they are needed at once."""
        check_loadable(self.label, self.shape, self.nbytes, why)
        return self.read(0, self.shape[0])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        found = self.loaded()
        if is_sparse(found):
            raise DataError(f"{self.label} is sparse, and a dense array was asked for; take some rows, source[a:b]")
        return found if dtype is None else found.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.label!r}, shape={self.shape}, dtype={self.dtype})"


def _all_columns(columns: Any) -> bool:
    return columns is Ellipsis or (isinstance(columns, slice) and columns == slice(None))


class ArrayRows(RowSource):
    """Rows of any object with shape, dtype and slices: a memmap, an array of a library that reads from disk.

    Examples
    --------
    >>> source = ArrayRows(np.arange(6.0).reshape(3, 2))
    >>> source[1:].tolist(), source[[2, 0]].tolist()
    ([[2.0, 3.0], [4.0, 5.0]], [[4.0, 5.0], [0.0, 1.0]])
    """

    def __init__(self, table: Any, label: str | None = None):
        rows, columns = table.shape
        self.shape, self.dtype = (int(rows), int(columns)), np.dtype(table.dtype)
        self.label = type(table).__name__ if label is None else label
        self._table = table

    def read(self, start: int, stop: int) -> Any:
        """Return some rows, copied."""
        found = np.array(self._table[start:stop])
        if isinstance(self._table, np.memmap):
            _forget(self._table, start, stop)
        return found


def is_row_source(X: Any) -> bool:
    """Return whether X is read some rows at a time: a `RowSource`, or what has shape, dtype and slices but is no array.

    A `numpy.memmap` is one where it is larger than an eighth of the memory budget. Sparse arrays, data frames and
    whatever else is in memory are not.

    >>> is_row_source(np.eye(2)), is_row_source(ArrayRows(np.eye(2)))
    (False, True)
    """
    if isinstance(X, np.ndarray):  # first: the check of an abstract class takes longer
        return isinstance(X, np.memmap) and X.ndim == 2 and X.nbytes > memory_budget() // _LARGE_MAP
    if isinstance(X, RowSource):
        return True
    shape = getattr(X, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2 or is_sparse(X) or hasattr(X, "iloc"):
        return False
    if not all(isinstance(length, int | np.integer) and length >= 0 for length in shape):
        return False
    return hasattr(X, "__getitem__") and isinstance(getattr(X, "dtype", None), np.dtype)


def stacked(parts: list[Any], like: RowSource) -> Any:
    """Return pieces of rows one below the other; no rows where there is no piece."""
    if not parts:
        return like.read(0, 0)
    if len(parts) == 1:
        return parts[0]
    if is_sparse(parts[0]):
        from scipy.sparse import csr_array, vstack

        return csr_array(vstack(parts, format="csr"))
    return np.concatenate(parts, axis=0)


def check_loadable(label: str, shape: tuple[int, ...], nbytes: int, why: str = "") -> None:
    """Raise MemoryBudgetError where a table on disk is larger than half of the memory budget."""
    budget = memory_budget()
    if nbytes <= budget // 2:
        return
    reason = f"{why}, and " if why else ""
    raise MemoryBudgetError(
        f"{reason}{label} ({shape[0]} × {shape[1]}, {readable(nbytes)}) is too large to be read into memory: the "
        f"budget is {readable(budget)}, of which samples may take half. Use strategy='lowrank' or solver 'nystrom', "
        "which read blocks, a kernel of two samples alone such as 'rbf', fewer rows, or raise the budget with "
        "kernreg.config_context(memory=…)"
    )


def _forget(table: np.memmap, start: int, stop: int) -> None:
    """Let go of the pages that rows were read from: they would count as memory of this process."""
    mapped, advice = getattr(table, "_mmap", None), getattr(mmap, "MADV_DONTNEED", None)
    # Pages of a private mapping (mode "c") may hold changes that are nowhere else.
    if mapped is None or advice is None or table.mode == "c" or not table.flags.c_contiguous:
        return
    first = table.ctypes.data - np.frombuffer(mapped, dtype=np.uint8).ctypes.data
    page, row = mmap.PAGESIZE, table.strides[0]
    begin, end = (first + start * row) // page * page, min(first + stop * row, len(mapped))
    if end > begin:
        mapped.madvise(advice, begin, end - begin)
