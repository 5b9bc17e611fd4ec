"""Samples where an engine has put them, and arguments that are cut along with the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

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
        How many rows lie together. Blocks start anew at each of these borders. Chunks of 4096 · 2ⁱ rows (the last one
        may have fewer), or those of `aligned_chunks`, give the bits that one chunk gives.
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

    def __getitem__(self, rows: Any) -> Any:
        found = self.samples[rows]
        return found if self._check is None else self._check(found)


@dataclass(frozen=True)
class ByRow:
    """An argument of a function with a row for each row of X: each block gets its own rows of it.

    Attributes
    ----------
    values : ndarray, CSR, SampleParts or Handle
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


def whole(samples: Any) -> Any:
    """Return all rows, here, of samples or a handle of them; anything else as it is."""
    return samples[:] if isinstance(samples, Handle) else samples


def own_handle(handle: Handle, kind: type[Handle], engine: str) -> Handle:
    """Return the handle, or raise DataError where another engine has placed it."""
    if isinstance(handle, kind):
        return handle
    raise DataError(
        f"these samples were placed by another engine (a {type(handle).__name__}), and the engine {engine!r} has no "
        "access to them; give it the samples themselves, or use the engine that has placed them"
    )
