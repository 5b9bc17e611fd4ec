"""NPY files, read by offset: mapped pages would count as memory of the process, and these do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kernreg.common.bounded import require_readable
from kernreg.engine.sources.base import ArrayRows, RowSource
from kernreg.errors import DataError
from kernreg.io.arrays import read_header


class NpyRows(RowSource):
    """Rows of an NPY file in C order.

    Parameters
    ----------
    path : Path
    shape, dtype, offset
        As its header says.
    """

    def __init__(self, path: Path, shape: tuple[int, int], dtype: np.dtype, offset: int):
        self.shape, self.dtype, self.label = shape, dtype, str(path)
        self._path, self._offset = path, offset

    def read(self, start: int, stop: int) -> Any:
        """Return some rows."""
        count, width = max(0, stop - start), self.shape[1]
        offset = self._offset + start * width * self.dtype.itemsize
        found = np.fromfile(self._path, self.dtype, count * width, offset=offset)
        if found.size != count * width:
            raise DataError(f"{self.label} became shorter while it was being read: rows {start} to {stop} are missing")
        return found.reshape(count, width)


def open_npy(path: Path) -> RowSource:
    """Return the rows of an NPY file with a table of numbers."""
    require_readable(path)
    with open(path, "rb") as file:
        shape, fortran, dtype = read_header(file, str(path))
        offset = file.tell()
    if len(shape) != 2 or dtype.kind not in "fiub":
        raise DataError(f"{path} holds an array of shape {shape} and type {dtype}; samples are a numeric matrix")
    rows, columns = shape
    _require_whole(path, offset + rows * columns * dtype.itemsize)
    if fortran and rows and columns:
        return ArrayRows(np.lib.format.open_memmap(path, mode="r"), str(path))
    return NpyRows(path, (rows, columns), dtype, offset)


def _require_whole(path: Path, needed: int) -> None:
    size = path.stat().st_size
    if size < needed:
        raise DataError(f"{path} is cut short: what its header says needs {needed} bytes, and it has {size}")
