"""Samples where an engine has put them, and arguments that are cut along with the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernreg.engine.arrays import is_sparse
from kernreg.engine.running.row_ranges import RowRanges
from kernreg.engine.sources.base import RowSource, check_loadable
from kernreg.engine.sources.views import SomeRows
from kernreg.errors import DataError


class Handle(ABC):
    """Samples that an engine has placed. What it says about them takes no data.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns; columns are -1 where kernels of a combination see different ones.
    dtype : numpy dtype
        Of the checked samples.
    chunks : tuple of int
        How many rows lie together. Blocks start anew at each of these borders. Chunks of 16 384 · 2ⁱ rows (the last
        one may have fewer), or those of `aligned_chunks`, give the bits that one chunk gives.

    Examples
    --------
    >>> import numpy as np
    >>> import kernreg as kr
    >>> handle = kr.make_engine("local").place(np.ones((6, 2)))
    >>> handle.shape, len(handle), handle.chunks
    ((6, 2), 6, (6,))
    """

    shape: tuple[int, int]
    dtype: np.dtype
    chunks: tuple[int, ...]
    ndim = 2

    @abstractmethod
    def __getitem__(self, rows: Any) -> Any:
        """Bring some rows here: checked samples of a slice or of an array of indices."""

    def __len__(self) -> int:
        return self.shape[0]


class HeldSamples(Handle):
    """Samples of this process: an array, or anything with shape, dtype and slices of rows, which are read as needed.

    Rows of a `RowSource` that have been checked once are not checked again, where the check does not change them.

    >>> handle = HeldSamples(np.arange(6.0).reshape(3, 2))
    >>> handle.shape, handle.chunks, handle[1:].tolist()
    ((3, 2), (3,), [[2.0, 3.0], [4.0, 5.0]])
    """

    def __init__(self, samples: Any, check: Callable[[Any], Any] | None = None, chunks: tuple[int, ...] | None = None):
        self.samples, self._check = samples, check
        looked_at = samples if check is None else check(samples[:0])  # what a check makes of no rows: type and width
        self.ndim = looked_at.ndim
        width = looked_at.shape[1] if looked_at.ndim > 1 else 1
        self.shape, self.dtype = (samples.shape[0], width), np.dtype(looked_at.dtype)
        self.chunks = (self.shape[0],) if chunks is None else chunks
        if sum(self.chunks) != self.shape[0]:
            raise DataError(f"chunks of {sum(self.chunks)} rows together, and the samples have {self.shape[0]}")
        self._seen = RowRanges()

    @property
    def streamed(self) -> bool:
        """Whether rows are read from a source, each time they are asked for."""
        return isinstance(self.samples, RowSource)

    @property
    def nbytes(self) -> int:
        """Bytes of all rows, dense, as they are after the check."""
        return self.samples.shape[0] * abs(self.shape[1]) * self.dtype.itemsize

    def __getitem__(self, rows: Any) -> Any:
        found = self.samples[rows]
        if self._check is None:
            return found
        if not (self.streamed and isinstance(rows, slice)):
            return self._check(found)
        start, stop, step = rows.indices(self.shape[0])
        if step == 1 and self._seen.covers(start, stop):
            return found
        try:
            checked = self._check(found)
        except DataError as error:
            raise DataError(f"{self.samples.label}, in the block of rows {start} to {stop - 1}: {error}") from error
        if step == 1 and _unchanged(checked, found):
            self._seen.add(start, stop)
        return checked

    def some(self, rows: np.ndarray) -> Handle:
        """Return a handle of some rows, which ascend; those of a source are not read for it."""
        if self.streamed:
            return HeldSamples(SomeRows(self.samples, rows), self._check)
        return HeldSamples(self[rows])


def _unchanged(checked: Any, found: Any) -> bool:
    """Return whether a check has left samples as they were, so that another one could not either."""
    if is_sparse(found) and is_sparse(checked):
        return checked.data is found.data and bool(found.has_canonical_format)
    return checked is found


def is_streamed(samples: Any) -> bool:
    """Return whether these are samples whose rows are read from a source, each time they are asked for."""
    return isinstance(samples, HeldSamples) and samples.streamed


@dataclass(frozen=True)
class ByRow:
    """An argument of a function with a row for each row of X: each block gets its own rows of it.

    Attributes
    ----------
    values : ndarray, CSR, SampleParts or Handle

    Examples
    --------
    >>> import numpy as np
    >>> ByRow(np.arange(5)).cut(slice(1, 3)).values
    array([1, 2])
    """

    values: Any

    def cut(self, rows: slice) -> ByRow:
        """Return the argument of these rows."""
        return ByRow(self.values[rows])


def cut(args: Any, rows: slice) -> tuple[Any, ...]:
    """Return the arguments of some rows: what is by row is cut, the rest is whole.

    >>> cut((ByRow(np.arange(5)), "whole"), slice(1, 3))
    (ByRow(values=array([1, 2])), 'whole')
    """
    return tuple(arg.cut(rows) if isinstance(arg, ByRow) else arg for arg in args)


def whole(samples: Any, why: str = "") -> Any:
    """Return all rows, here, of samples or a handle of them; anything else as it is.

    Samples that are read from a source must fit the memory budget; the error tells `why` they are needed at once.

    Examples
    --------
    >>> import numpy as np
    >>> import kernreg as kr
    >>> whole(kr.make_engine("local").place(np.ones((2, 1)))).tolist()
    [[1.0], [1.0]]
    """
    if isinstance(samples, HeldSamples) and samples.streamed:
        check_loadable(samples.samples.label, samples.shape, samples.nbytes, why)
    return samples[:] if isinstance(samples, Handle) else samples


def own_handle(handle: Handle, kind: type[Handle], engine: str) -> Handle:
    """Return the handle, or raise DataError where another engine has placed it.

    Examples
    --------
    >>> import numpy as np
    >>> import kernreg as kr
    >>> handle = kr.make_engine("local").place(np.ones((2, 1)))
    >>> own_handle(handle, type(handle), "local") is handle
    True
    """
    if isinstance(handle, kind):
        return handle
    raise DataError(
        f"these samples were placed by another engine (a {type(handle).__name__}), and the engine {engine!r} has no "
        "access to them; give it the samples themselves, or use the engine that has placed them"
    )
