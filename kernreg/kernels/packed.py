"""Samples that are not rows of numbers, packed into arrays: series and bags of any length, tables with categories.

Kernels pack them once. What is packed has a length, is cut by rows, hashed, pickled and written to model files, as
tables are, and compiled code reads its arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from kernreg.errors import DataError

_REMEMBERED = 2  # what kernels derived from one sample set, of the last ones that asked


class PackedSamples:
    """Samples of a structure as arrays, read-only.

    Parameters
    ----------
    structure : str
        The name of the `Structure` that packed them.
    values : ndarray of shape (total, width)
        float64. Sample i has the rows ``offsets[i]:offsets[i + 1]``, without offsets row i.
    offsets : ndarray of shape (n + 1,), optional
        int64, from 0 to total, not descending.
    about : mapping, optional
        What belongs to all samples: names of columns, say. Values are text, numbers, True, False, None and tuples.

    Examples
    --------
    >>> packed = PackedSamples("ragged", np.arange(6.0).reshape(3, 2), np.array([0, 1, 3]))
    >>> len(packed), packed.shape, packed[1].tolist()
    (2, (2, -1), [[2.0, 3.0], [4.0, 5.0]])
    >>> packed[[1, 1]].offsets.tolist()
    [0, 2, 4]
    """

    __slots__ = ("_derived", "about", "offsets", "shape", "structure", "values")

    ndim = 2
    dtype = np.dtype(np.float64)

    def __init__(
        self,
        structure: str,
        values: np.ndarray,
        offsets: np.ndarray | None = None,
        about: Mapping[str, Any] | None = None,
    ):
        self.structure = structure
        self.values = _read_only(values, np.float64, 2)
        self.offsets = None if offsets is None else _read_only(offsets, np.int64, 1)
        self.about: Mapping[str, Any] = MappingProxyType(dict(about or {}))
        if self.offsets is not None and not _fit(self.offsets, len(self.values)):
            raise DataError(f"the offsets of packed samples do not lead through their {len(self.values)} rows")
        count = len(self.values) if self.offsets is None else len(self.offsets) - 1
        self.shape = (count, -1)  # columns are the structure's own affair
        self._derived: dict[Hashable, Any] = {}

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The values, and the offsets where there are any."""
        return (self.values,) if self.offsets is None else (self.values, self.offsets)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for array in self.arrays)

    @property
    def lengths(self) -> np.ndarray:
        """How many rows each sample has."""
        return np.ones(len(self), dtype=np.int64) if self.offsets is None else np.diff(self.offsets)

    @property
    def key(self) -> tuple[str, tuple[tuple[str, Any], ...]]:
        """What two sample sets have in common whose arrays mean the same."""
        return self.structure, tuple(sorted(self.about.items()))

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, rows: Any) -> Any:
        """Return one sample, an array, or some of them, packed: by a number, a slice, indices or a mask."""
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:  # as scikit-learn asks
            rows = rows[0]
        if isinstance(rows, int | np.integer):
            number = range(len(self))[int(rows)]
            first, last = (number, number + 1) if self.offsets is None else self.offsets[number : number + 2]
            return self.values[first:last] if self.offsets is not None else self.values[number]
        found = self._some(rows)
        found._derived = {key: derived[rows] for key, derived in self._derived.items()}
        return found

    def _some(self, rows: Any) -> PackedSamples:
        if self.offsets is None:
            return PackedSamples(self.structure, self.values[rows], None, self.about)
        if isinstance(rows, slice) and rows.step in (None, 1):
            start, stop, _ = rows.indices(len(self))
            offsets = self.offsets[start : max(start, stop) + 1]
            return PackedSamples(
                self.structure, self.values[offsets[0] : offsets[-1]], offsets - offsets[0], self.about
            )
        chosen = np.arange(len(self))[rows]
        lengths = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        return PackedSamples(self.structure, self.values[places], offsets, self.about)

    def copy(self) -> PackedSamples:
        """Return the samples: nobody can change them."""
        return self

    def derived(self, key: Hashable, make: Callable[[PackedSamples], Any]) -> Any:
        """Return what a kernel makes of the samples, made once; it has a row for each sample.

        >>> packed = PackedSamples("ragged", np.ones((3, 1)), np.array([0, 1, 3]))
        >>> packed.derived("lengths", lambda samples: samples.lengths).tolist()
        [1, 2]
        >>> packed[1:].derived("lengths", None).tolist()
        [2]
        """
        found = self._derived.get(key)
        if found is None:
            found = make(self)
            while len(self._derived) >= _REMEMBERED:
                self._derived.pop(next(iter(self._derived)), None)
            self._derived[key] = found
        return found

    def __repr__(self) -> str:
        return f"<{len(self)} packed samples, {self.structure}, {len(self.values)} rows of {self.values.shape[1]}>"

    def __reduce__(self) -> Any:
        return PackedSamples, (self.structure, self.values, self.offsets, dict(self.about))


def _read_only(array: Any, dtype: Any, ndim: int) -> np.ndarray:
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != ndim:
        given = f"{array.dtype} of {array.ndim} dimension(s)" if isinstance(array, np.ndarray) else type(array).__name__
        raise DataError(f"packed samples hold {np.dtype(dtype)} of {ndim} dimension(s), got {given}")
    own = np.ascontiguousarray(array).view()
    own.flags.writeable = False
    return own


def _fit(offsets: np.ndarray, total: int) -> bool:
    return bool(len(offsets) and offsets[0] == 0 and offsets[-1] == total and (np.diff(offsets) >= 0).all())
