"""Files that a kernel matrix is written to row block by row block, and that say how far they have come.

=============  ==========================================  =====================================================
``K.npy``      one array, to be mapped by numpy            until it is complete it is ``K.npy.partial``, beside a
                                                           record ``K.npy.partial.json``
``K.zarr``     a zarr array                                the record is its attribute ``kernreg``
``K``          a folder of ``.npy`` files, a block each    the record is its ``index.json``
=============  ==========================================  =====================================================

A record is replaced after each block, once the block is on the disk: whatever happens, the rows it counts are there.
"""

from __future__ import annotations

import json
import os
import shutil
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from kernreg.common.atomic import replacing, require_ordinary, take_place
from kernreg.errors import DataError
from kernreg.io.sources.chunks import require_zarr

_CHUNK = 256, 4096  # rows and columns of a chunk of zarr


class MatrixFile(ABC):
    """A kernel matrix that is being written.

    Attributes
    ----------
    record : dict
        ``complete``, ``rows`` (how many are there), and what the matrix is: ``kernel``, ``shape``, ``dtype``,
        ``samples``.
    """

    def __init__(self, path: Path):
        self.path = path
        self.record: dict[str, Any] = {}

    @abstractmethod
    def found(self) -> dict[str, Any] | None:
        """Return the record of what is there already, None where there is nothing, or nothing of kernreg's."""

    @abstractmethod
    def begin(self) -> None:
        """Make room for the matrix of the record, in place of whatever is there."""

    @abstractmethod
    def put(self, rows: slice, block: np.ndarray) -> None:
        """Write a block, all of it, before returning."""

    @abstractmethod
    def note(self) -> None:
        """Write the record."""

    def finish(self) -> None:
        """Say that the matrix is complete."""
        self.record["complete"] = True
        self.note()


class NpyFile(MatrixFile):
    """One NPY file."""

    def __init__(self, path: Path):
        super().__init__(path)
        self._target = Path(os.path.realpath(path))  # a link stays one
        self.partial = self._target.with_name(self._target.name + ".partial")
        self._note = self._target.with_name(self._target.name + ".partial.json")

    def found(self) -> dict[str, Any] | None:
        """Return the record beside an incomplete file."""
        ordinary = self.partial.is_file() and not self.partial.is_symlink()
        return _read(self._note) if ordinary else None

    def begin(self) -> None:
        """Write the header."""
        header = {"descr": self.record["dtype"], "fortran_order": False, "shape": tuple(self.record["shape"])}
        for path in (self._target, self.partial, self._note):
            require_ordinary(path)
        for path in (self.partial, self._note):  # links that somebody put there are not followed
            path.unlink(missing_ok=True)
        with open(self.partial, "xb") as file:
            np.lib.format.write_array_header_2_0(file, header)
        self.note()

    def put(self, rows: slice, block: np.ndarray) -> None:
        """Write a block where its rows belong."""
        with open(self.partial, "r+b") as file:
            np.lib.format.read_magic(file)
            np.lib.format.read_array_header_2_0(file)
            file.seek(rows.start * block.shape[1] * block.dtype.itemsize, os.SEEK_CUR)
            file.write(np.ascontiguousarray(block).data)
            file.flush()
            os.fsync(file.fileno())

    def note(self) -> None:
        """Write the record beside the file."""
        _write(self._note, self.record)

    def finish(self) -> None:
        """Give the file its name."""
        take_place(self.partial, self._target)
        self._note.unlink()


class BlockFolder(MatrixFile):
    """A folder of NPY files, one for each block, with an index."""

    def found(self) -> dict[str, Any] | None:
        """Return the index, where it is one of kernreg's."""
        record = _read(self.path / "index.json")
        return None if record is None or "blocks" not in record else {"complete": True, **record}

    def begin(self) -> None:
        """Make the folder, without the blocks of another matrix."""
        self.path.mkdir(parents=True, exist_ok=True)
        for block in (self.found() or {}).get("blocks", ()):
            (self.path / Path(block["file"]).name).unlink(missing_ok=True)
        self.record["blocks"] = []
        self.note()

    def put(self, rows: slice, block: np.ndarray) -> None:
        """Write a file."""
        name = f"block-{len(self.record['blocks']):06d}.npy"
        with replacing(self.path / name) as file:
            np.lib.format.write_array(file, np.ascontiguousarray(block), allow_pickle=False)
        self.record["blocks"].append({"file": name, "start": rows.start, "stop": rows.stop})

    def note(self) -> None:
        """Write the index."""
        _write(self.path / "index.json", self.record)


class ZarrFile(MatrixFile):
    """A zarr array, whose attribute ``kernreg`` is the record."""

    def __init__(self, path: Path):
        super().__init__(path)
        self._zarr = require_zarr(path)
        self._array: Any = None

    def found(self) -> dict[str, Any] | None:
        """Return the attribute of an array that is there."""
        if not self.path.exists():
            return None
        try:
            array = self._zarr.open_array(str(self.path), mode="r+")
            record = dict(array.attrs["kernreg"])
        except (KeyError, ValueError, TypeError, FileNotFoundError):  # no array, or somebody else's
            return None
        self._array = array
        return record

    def begin(self) -> None:
        """Make the array."""
        if self.path.exists():
            shutil.rmtree(self.path)
        n, m = self.record["shape"]
        chunks = max(1, min(n, _CHUNK[0])), max(1, min(m, _CHUNK[1]))
        self._array = self._zarr.create_array(
            str(self.path), shape=(n, m), chunks=chunks, dtype=self.record["dtype"], fill_value=float("nan")
        )
        self.note()

    def put(self, rows: slice, block: np.ndarray) -> None:
        """Write the chunks of a block."""
        self._array[rows] = block

    def note(self) -> None:
        """Write the attribute."""
        self._array.attrs["kernreg"] = self.record


def matrix_file(path: Path) -> MatrixFile:
    """Return the file that a path stands for, by its suffix."""
    kinds: dict[str, type[MatrixFile]] = {".npy": NpyFile, ".zarr": ZarrFile, "": BlockFolder}
    if path.suffix not in kinds:
        raise DataError(
            f"a kernel matrix is written to a file that ends in .npy or .zarr, or to a folder; {path} ends in "
            f"{path.suffix!r}"
        )
    return kinds[path.suffix](path)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _write(path: Path, record: dict[str, Any]) -> None:
    with replacing(path) as file:
        file.write(json.dumps(record, indent=2).encode())
