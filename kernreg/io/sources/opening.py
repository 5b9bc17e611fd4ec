"""One function for everything that is read some rows at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernreg.common.bounded import require_readable
from kernreg.engine.sources.base import ArrayRows, RowSource, is_row_source
from kernreg.engine.sources.views import as_row_source
from kernreg.errors import DataError, KernregError
from kernreg.io.sources.chunks import open_zarr
from kernreg.io.sources.columns import ColumnRows
from kernreg.io.sources.npy import open_npy
from kernreg.io.sources.parts import PartRows

#: Suffixes of files that are read some rows at a time.
TABLES = (".parquet", ".pq", ".arrow", ".feather")
STREAMED = (".npy", ".npz", ".zarr", *TABLES)


def open_samples(path: Any, target: str | None = None, columns: Sequence[str] | None = None) -> RowSource:
    """Return samples that stay on disk and are read some rows at a time.

    Solvers and kernels take what is returned in place of an array: predictions, transforms, low-rank fits and
    ``nystrom`` read blocks of it within the memory budget, and check each row when they first read it.

    Parameters
    ----------
    path : path or array
        A file that ends in ``.npy``, ``.npz``, ``.parquet``, ``.arrow`` or ``.feather``; a folder of ``.npz`` files
        (CSR, or arrays ``X``), Parquet or Arrow files, whose rows follow one another in the order of their names; a
        zarr array, or group with an array ``X``. Also a `numpy.memmap`, or any other object with shape, dtype and
        slices.
    target : str, optional
        The column (of NPZ files and zarr groups, the array) that holds the targets. They are read at once, and are
        `targets` of what is returned. NPZ files and zarr groups with an array ``y`` need none named.
    columns : sequence of str, optional
        The columns to take as features, where they have names; all but the target by default.

    Returns
    -------
    RowSource
        With ``shape``, ``dtype``, ``names``, ``targets``; ``source[a:b]`` are rows, in memory.

    Raises
    ------
    DataError
        If it cannot be read.
    MissingExtra
        For Parquet and Arrow files without pyarrow, and zarr arrays without zarr.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> path = Path(tempfile.mkdtemp()) / "big.npy"
    >>> np.save(path, np.arange(12.0).reshape(4, 3))
    >>> source = open_samples(path)
    >>> source.shape, source[1:3].tolist()
    ((4, 3), [[3.0, 4.0, 5.0], [6.0, 7.0, 8.0]])
    """
    if not isinstance(path, str | Path):
        return _of_object(path, target, columns)
    path = Path(path)
    try:
        return _of_path(path, target, columns)
    except FileNotFoundError as error:
        raise DataError(f"there is no file {path}") from error
    except IsADirectoryError as error:
        raise DataError(f"{error.filename or path} is a folder; a file is expected there") from error
    except (OSError, RuntimeError, ValueError) as error:  # the second: a circle of links; the third: pyarrow's
        if isinstance(error, KernregError):
            raise
        raise DataError(f"{path} cannot be read: {' '.join(str(error).split())}") from error


def _of_object(table: Any, target: str | None, columns: Sequence[str] | None) -> RowSource:
    if target is not None or columns is not None:
        raise DataError("an array has no names of columns, so target= and columns= are for files; leave them out")
    if is_row_source(table):
        return as_row_source(table)
    if getattr(table, "ndim", 0) == 2 and getattr(getattr(table, "dtype", None), "kind", "") in ("f", "i", "u", "b"):
        return ArrayRows(table)
    raise DataError(
        f"open_samples takes a path, or a two-dimensional object with shape, dtype and slices; {type(table).__name__} "
        "is neither"
    )


def _of_path(path: Path, target: str | None, columns: Sequence[str] | None) -> RowSource:
    suffix = path.suffix.lower()
    inside = sorted(path.iterdir()) if path.is_dir() else []
    if suffix == ".zarr" or any(each.name in ("zarr.json", ".zarray", ".zgroup") for each in inside):
        _refuse(path, columns)
        return open_zarr(path, target)
    parts = [each for each in inside if each.suffix.lower() == ".npz"]
    tables = [each for each in inside if each.suffix.lower() in TABLES]
    if path.is_dir() and bool(parts) == bool(tables):
        what = "both NPZ and Parquet or Arrow files" if parts else "no NPZ, Parquet or Arrow files"
        raise DataError(f"{path} is a folder with {what}; a folder of one kind is read, or a file")
    if parts or suffix == ".npz":
        _refuse(path, columns)
        return PartRows([_there(each) for each in parts or [path]], target)
    if tables or suffix in TABLES:
        return ColumnRows([_there(each) for each in tables or [path]], target, columns)
    if suffix == ".npy":
        _refuse(path, columns)
        if target is not None:
            raise DataError(f"{path} is one array without names, so it has no column {target!r}; give y apart")
        return open_npy(path)
    raise DataError(
        f"{path} has the suffix {suffix!r}; read some rows at a time are {', '.join(STREAMED)}, and folders of .npz or "
        "Parquet files. kernreg.io.read_samples reads other formats, all at once"
    )


def _there(path: Path) -> Path:
    require_readable(path)
    with open(path, "rb"):
        return path


def _refuse(path: Path, columns: Sequence[str] | None) -> None:
    if columns is not None:
        raise DataError(
            f"{path} names no columns, and {', '.join(list(columns)[:3])} were asked for; give a table with such "
            "columns"
        )
