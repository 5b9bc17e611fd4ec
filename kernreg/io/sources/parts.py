"""Folders of NPZ files, each with some of the rows: sparse ones as scipy.sparse.save_npz writes them, or arrays X."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from kernreg.common.bounded import require_readable
from kernreg.common.display import listed
from kernreg.engine.arrays import is_sparse
from kernreg.engine.sources.units import UnitRows
from kernreg.errors import DataError
from kernreg.io.arrays import DAMAGE, read_array, read_header, read_npz


class PartRows(UnitRows):
    """Rows of NPZ files one after the other, in the order of their names; a file is read as a whole."""

    def __init__(self, paths: list[Path], target: str | None):
        self._paths, self.label = paths, str(paths[0].parent if len(paths) > 1 else paths[0])
        shapes = [_shape(path) for path in paths]
        widths = {width for _, width in shapes}
        if len(widths) > 1:
            odd = next(i for i, (_, width) in enumerate(shapes) if width != shapes[0][1])
            raise DataError(f"{paths[odd]} has {shapes[odd][1]} columns, and {paths[0]} has {shapes[0][1]}")
        super().__init__(np.cumsum([0, *(rows for rows, _ in shapes)]))
        self.shape = (int(self._starts[-1]), shapes[0][1])
        first = self.unit(0)
        self.sparse, self.dtype, self._none = is_sparse(first), np.dtype(first.dtype), first[:0]
        self.targets = self._read_targets(target)

    def read_unit(self, number: int) -> Any:
        """Return the rows of one file, checked."""
        found = read_npz(self._paths[number], None, None)[0]
        kept = vars(self).get("dtype")
        if kept is not None and found.dtype != kept:
            raise DataError(f"{self._paths[number]} holds {found.dtype}, and {self._paths[0]} {kept}; use one type")
        return found

    def empty(self) -> Any:
        """Return no rows."""
        return self._none.copy()

    def _read_targets(self, target: str | None) -> np.ndarray | None:
        found = [_targets(path, target) for path in self._paths]
        if all(part is None for part in found):
            return None
        for path, part, rows in zip(self._paths, found, np.diff(self._starts), strict=True):
            if part is None or part.shape != (rows,):
                given = "none" if part is None else f"of shape {part.shape}"
                raise DataError(f"{path}: {rows} samples, and targets {given}; one for each is needed")
        return np.concatenate(found)  # type: ignore[arg-type]  # none of them is None


def _shape(path: Path) -> tuple[int, int]:
    """Return the shape of the samples in a file, from as little of it as can be."""
    with _opened(path) as file:
        names = set(file.namelist())
        if "shape.npy" in names:
            shape = tuple(_array(file, path, "shape").tolist())
        elif "X.npy" in names:
            with file.open("X.npy") as member:
                shape, _, _ = read_header(member, f"{path}, array 'X'")
        else:
            raise DataError(
                f"{path} has no array 'X' and is not a sparse matrix; its arrays are {listed(sorted(names))}"
            )
    if len(shape) != 2 or not all(isinstance(length, int) and length >= 0 for length in shape):
        raise DataError(f"{path} holds samples of shape {shape!r:.100}; a numeric matrix is expected")
    return shape[0], shape[1]


def _targets(path: Path, target: str | None) -> np.ndarray | None:
    with _opened(path) as file:
        names = [name.removesuffix(".npy") for name in file.namelist()]
        name = target or next((known for known in ("y", "labels", "target") if known in names), None)
        if name is None:
            return None
        if name not in names:
            raise DataError(f"{path} has no array {name!r}; its arrays are {listed(names)}")
        return _array(file, path, name)


def _array(file: zipfile.ZipFile, path: Path, name: str) -> np.ndarray:
    info = file.getinfo(f"{name}.npy")
    with file.open(info) as member:
        return read_array(member, info.file_size, f"{path}, array {name!r}")


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    require_readable(path)
    try:
        with zipfile.ZipFile(path) as file:
            yield file
    except DataError:
        raise
    except DAMAGE as error:
        raise DataError(f"{path} is not an NPZ file of plain arrays: {error}") from error
