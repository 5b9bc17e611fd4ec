"""Parquet and Arrow files, and folders of them: columns of numbers, read some rows at a time.

A row group of Parquet may be larger than memory, so it is gone through from its start in pieces of some rows; a pass in
order reads every row once. Record batches of Arrow files are pieces as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernreg.common.bounded import require_room
from kernreg.engine.sources.units import UnitRows
from kernreg.errors import DataError, MissingExtra

_BYTES = 1 << 24  # of a piece
_BUFFER = 1 << 16  # bytes of a column that are read ahead
_EXACT_INTEGER = 2**53


def require_pyarrow(what: object) -> Any:
    """Return the package pyarrow, or raise MissingExtra."""
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra(f"{what}: Parquet and Arrow files need pyarrow (pip install pyarrow)") from error
    return pyarrow


class ColumnRows(UnitRows):
    """Rows of files with named columns.

    Parameters
    ----------
    paths : list of Path
        Their rows follow one another; the columns are those of the first.
    target : str, optional
        The column of targets, which is read at once.
    columns : sequence of str, optional
        Those to take as features; all but the target by default.
    """

    def __init__(self, paths: list[Path], target: str | None, columns: Sequence[str] | None):
        self._paths, self.label = paths, str(paths[0].parent if len(paths) > 1 else paths[0])
        pyarrow = require_pyarrow(self.label)
        files = [_opened(pyarrow, path) for path in paths]
        schema = files[0].schema_arrow
        for name in [*(columns or []), *([target] if target else [])]:
            if name not in schema.names:
                raise DataError(f"{self.label} has no column {name!r}; its columns are {', '.join(schema.names)}")
        self.names = list(columns) if columns else [name for name in schema.names if name != target]
        if not self.names:
            raise DataError(f"{self.label} has no column but the target {target!r}")
        self.dtype = np.dtype(self._common_type(pyarrow, schema))
        step = max(1024, min(1 << 16, _BYTES // (8 * len(self.names))))
        units = [(f, group, first, min(first + step, rows) if cut else rows)
                 for f, file in enumerate(files)
                 for group, rows, cut in file.groups()
                 for first in (range(0, rows, step) if cut else [0])]  # fmt: skip
        super().__init__(np.cumsum([0, *(stop - start for _, _, start, stop in units)]))
        self._units, self.shape = units, (int(self._starts[-1]), len(self.names))
        self._place: Any = None  # (file, group, row) up to which the pieces that follow were read
        self._pieces: Iterator[Any] = iter(())
        self._left: list[Any] = []
        self.targets = None if target is None else _target(self.label, target, files)

    def _common_type(self, pyarrow: Any, schema: Any) -> type:
        types = [schema.field(name).type for name in self.names or ()]
        for name, kind in zip(self.names or (), types, strict=True):
            if not (pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind) or kind == pyarrow.bool_()):
                raise DataError(f"{self.label}, column {name!r}: holds {kind}; features are numbers. Choose columns")
        return np.float32 if all(str(kind) in ("float", "halffloat") for kind in types) else np.float64

    def read_unit(self, number: int) -> np.ndarray:
        """Return one piece; those after the last one read are the cheap ones."""
        file, group, start, stop = self._units[number]
        if self._place is None or self._place[:2] != (file, group) or self._place[2] > start:
            opened = _opened(require_pyarrow(self.label), self._paths[file])
            self._pieces = opened.pieces(group, list(self.names or ()), stop - start)
            self._left, self._place = [], (file, group, 0)
        if self._place[2] < start:
            self._next(start - self._place[2])
        table = self._next(stop - start)
        self._place = file, group, stop
        first = int(self._starts[number])
        found = np.empty((stop - start, self.shape[1]), dtype=self.dtype)
        for column, name in enumerate(self.names or ()):
            at = 0
            for piece in table:
                values = self._numbers(piece.column(name), name, first + at)
                found[at : at + len(values), column] = values
                at += len(values)
        return found

    def _next(self, count: int) -> list[Any]:
        """Return the next rows of the pieces under way."""
        found = []
        while count:
            try:
                piece = self._left.pop() if self._left else next(self._pieces, None)
            except (ValueError, OSError) as error:  # pyarrow's errors are one or the other
                raise DataError(f"{self.label} cannot be read: {' '.join(str(error).split())}") from error
            if piece is None:
                raise DataError(f"{self.label} became shorter while it was being read")
            if piece.num_rows > count:
                self._left.append(piece.slice(count))
                piece = piece.slice(0, count)
            count -= piece.num_rows
            found.append(piece)
        return found

    def _numbers(self, column: Any, name: str, first: int) -> np.ndarray:
        if column.null_count:
            row = first + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise DataError(f"{self.label}, row {row}, column {name!r}: the value is missing; leave such rows out")
        values = column.to_numpy(zero_copy_only=False)
        large = values.dtype.kind in "iu" and values.dtype.itemsize > 4 and values.size
        if large and max(-int(values.min()), int(values.max())) > _EXACT_INTEGER:
            raise DataError(f"{self.label}, column {name!r}: integers beyond 2**53, which float64 cannot represent")
        if values.dtype.kind == "f" and not (finite := np.isfinite(values)).all():
            at = int(np.argmin(finite))
            raise DataError(
                f"{self.label}, row {first + at}, column {name!r}: {values[at]}; kernels need finite features"
            )
        return values

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_pieces": iter(()), "_left": [], "_place": None}


def column_names(path: Path) -> list[str]:
    """Return the names of all columns of a file."""
    return list(_opened(require_pyarrow(path), path).schema_arrow.names)


class _ParquetFile:
    def __init__(self, pyarrow: Any, path: Path):
        # Without buffering ahead, which holds all columns of a row group, compressed.
        self._file = pyarrow.parquet.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)
        self.schema_arrow = self._file.schema_arrow

    def groups(self) -> list[tuple[int, int, bool]]:
        """Return number and rows of every row group, which may be cut."""
        meta = self._file.metadata
        return [(g, meta.row_group(g).num_rows, True) for g in range(meta.num_row_groups) if meta.row_group(g).num_rows]

    def pieces(self, group: int, names: list[str], rows: int) -> Iterator[Any]:
        """Return record batches of a row group, from its start."""
        return self._file.iter_batches(batch_size=rows, row_groups=[group], columns=names, use_threads=False)

    def column(self, name: str) -> list[Any]:
        """Return a whole column, in chunks."""
        return self._file.read(columns=[name]).column(name).chunks


class _ArrowFile:
    def __init__(self, pyarrow: Any, path: Path):
        self._path, self._file = path, pyarrow.ipc.open_file(pyarrow.OSFile(str(path)))
        self.schema_arrow = self._file.schema

    def groups(self) -> list[tuple[int, int, bool]]:
        """Return number and rows of every record batch, which is read as a whole."""
        sizes = [(g, self._batch(g).num_rows, False) for g in range(self._file.num_record_batches)]
        return [group for group in sizes if group[1]]

    def _batch(self, number: int) -> Any:
        batch = self._file.get_batch(number)
        require_room(batch.nbytes, f"record batch {number} of {self._path}")
        return batch

    def pieces(self, group: int, names: list[str], rows: int) -> Iterator[Any]:
        """Return the record batch."""
        yield self._batch(group).select(names)

    def column(self, name: str) -> list[Any]:
        """Return a whole column, in chunks."""
        return [self._batch(g).column(name) for g in range(self._file.num_record_batches)]


def _opened(pyarrow: Any, path: Path) -> Any:
    try:
        return (_ArrowFile if path.suffix.lower() in (".arrow", ".feather") else _ParquetFile)(pyarrow, path)
    except (pyarrow.ArrowInvalid, OSError) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise DataError(f"{path} is not a Parquet or Arrow file: {' '.join(str(error).split())}") from error


def _target(label: str, name: str, files: list[Any]) -> np.ndarray:
    found = []
    for file in files:
        for chunk in file.column(name):
            if chunk.null_count:
                raise DataError(
                    f"{label}, column {name!r}: {chunk.null_count} targets are missing; leave these rows out"
                )
            values = chunk.to_numpy(zero_copy_only=False)
            if values.dtype == object:
                if not all(isinstance(value, str) for value in values):
                    raise DataError(f"{label}, column {name!r}: holds {chunk.type}; targets are numbers or text")
                values = values.astype(str)
            found.append(values)
    return np.concatenate(found) if found else np.empty(0)
