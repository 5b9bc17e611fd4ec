"""Files of arrays: NPZ, NPY, Parquet."""

from __future__ import annotations

import lzma
import math
import os
import zipfile
import zlib
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from kernreg.common.bounded import require_room
from kernreg.common.display import listed
from kernreg.engine.arrays import as_samples, is_sparse
from kernreg.errors import DataError, MissingExtra

Read = tuple[Any, np.ndarray | None, list[str] | None]

_TARGETS = ("y", "labels", "target")
#: What reading a zip file raises that is damaged, encrypted or oddly compressed.
DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, KeyError, RuntimeError, ValueError)
_SPARSE = {"indptr", "indices", "data", "shape"}


def read_npz(path: Path, target: str | None, columns: list[str] | None) -> Read:
    """Return the arrays ``X`` and ``y`` (or ``labels``) of an NPZ file, or its sparse matrix; pickles are not read."""
    refuse_columns(path, columns)
    try:
        with zipfile.ZipFile(path) as file:
            sizes = {info.filename.removesuffix(".npy"): info for info in file.infolist()}
            name = target or next((known for known in _TARGETS if known in sizes), None)
            if name is not None and name not in sizes:
                raise DataError(f"{path} has no array {name!r}; its arrays are {listed(sizes)}")
            dense = "X" in sizes
            if not dense and not set(sizes) >= _SPARSE:
                raise DataError(f"{path} has no array 'X' and is not a sparse matrix; its arrays are {listed(sizes)}")
            wanted = {"X"} if dense else _SPARSE | ({"format"} & set(sizes))
            found = {}
            for each in [*wanted, *([name] if name is not None else [])]:
                with file.open(sizes[each]) as member:
                    found[each] = read_array(member, sizes[each].file_size, f"{path}, array {each!r}")
    except DataError:
        raise
    except DAMAGE as error:
        raise DataError(f"{path} is not an NPZ file of plain arrays: {error}") from error
    X = found["X"] if dense else _sparse(path, found)
    return checked(path, X, None if name is None else found[name])


def read_npy(path: Path, target: str | None, columns: list[str] | None) -> Read:
    """Return the matrix of an NPY file."""
    if target is not None:
        raise DataError(f"{path} is one array without names, so it has no column {target!r}; use NPZ with 'X' and 'y'")
    refuse_columns(path, columns)
    with open(path, "rb") as file:
        X = read_array(file, os.fstat(file.fileno()).st_size, str(path))
    return checked(path, X, None)


def read_header(file: IO[bytes], what: str) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Return shape, order (whether Fortran's) and type of an NPY file of numbers or text."""
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(file)
    except Exception as error:  # whatever the parser of the header makes of it
        reason = " ".join(str(error).split())
        raise DataError(f"{what} is not an NPY file of a plain array: {reason}") from error
    if dtype.hasobject:
        raise DataError(f"{what} is not an NPY file of a plain array: it holds Python objects, which only a pickle has")
    if any(type(length) is bool or not 0 <= length < 2**63 for length in shape):
        raise DataError(f"{what} is not an NPY file of a plain array: its shape is {shape}")
    return shape, fortran, dtype


def read_array(file: IO[bytes], size: int, what: str) -> np.ndarray:
    """Return a plain array; one that is longer than its file says so before memory is taken for it."""
    shape, fortran, dtype = read_header(file, what)
    needed = math.prod(shape) * dtype.itemsize
    if needed > size:
        raise DataError(f"{what} is cut short: an array of shape {shape} and type {dtype} has {needed} bytes")
    require_room(needed, what)
    data = np.empty(needed, dtype=np.uint8)
    filled = 0
    while filled < needed:  # a member of a zip is unpacked piece by piece
        count = file.readinto(data[filled:].data)  # type: ignore[attr-defined]  # every binary file has it
        if not count:
            raise DataError(f"{what} is cut short: an array of shape {shape} and type {dtype} has {needed} bytes")
        filled += count
    return data.view(dtype).reshape(shape, order="F" if fortran else "C")


def _sparse(path: Path, found: dict[str, np.ndarray]) -> Any:
    from kernreg.persistence.sparse import read_sparse  # which checks every index: compiled code does not

    form = bytes(found["format"].item()).decode("ascii", "replace") if "format" in found else "csr"
    if form not in ("csr", "csc", "bsr"):
        raise DataError(f"{path} holds a sparse matrix of format {form!r}; save it as CSR: scipy.sparse.save_npz")
    try:
        kept = {
            "format": form,
            "is_array": True,
            "shape": tuple(int(length) for length in found["shape"]),
            "parts": [found[part] for part in ("data", "indices", "indptr")],
        }
        return sp.csr_array(read_sparse(kept))
    except (ValueError, TypeError, IndexError) as error:
        raise DataError(f"{path} holds a sparse matrix whose parts do not fit together: {error}") from error


def read_parquet(path: Path, target: str | None, columns: list[str] | None) -> Read:
    """Return the columns of a Parquet file, which pandas and one of its engines read."""
    try:
        import pandas as pd  # type: ignore[import-untyped]  # optional, and so are its stubs

        _check_parquet_size(path)
        frame = pd.read_parquet(path)
    except ImportError as error:
        raise MissingExtra(
            f"{path}: Parquet files need pandas and pyarrow (pip install pandas pyarrow): {error}"
        ) from error
    except (ValueError, OSError) as error:  # pyarrow's errors are one or the other
        if isinstance(error, FileNotFoundError | IsADirectoryError | PermissionError):
            raise
        raise DataError(f"{path} is not a Parquet file: {' '.join(str(error).split())}") from error
    names = [str(name) for name in frame.columns]
    frame.columns = names
    for name in [*(columns or []), *([target] if target else [])]:
        if name not in names:
            raise DataError(f"{path} has no column {name!r}; its columns are {listed(names)}")
    chosen = columns or [name for name in names if name != target]
    if not chosen:
        raise DataError(f"{path} has no column but the target {target!r}")
    features = [_parquet_numbers(path, frame[name], name) for name in chosen]
    y = None if target is None else _parquet_targets(path, frame[target], target)
    return np.column_stack(features), y, chosen


def _check_parquet_size(path: Path) -> None:
    """Raise MemoryBudgetError where a file says that its columns do not fit: few bytes may stand for many rows."""
    try:
        parquet: Any = import_module("pyarrow.parquet")  # optional: of the engines of pandas the usual one
    except ImportError:  # another engine of pandas
        return
    said = parquet.read_metadata(path)
    require_room(8 * said.num_rows * said.num_columns, str(path))


def _parquet_numbers(path: Path, column: Any, name: str) -> np.ndarray:
    if column.dtype.kind not in "fiub":
        raise DataError(f"{path}, column {name!r}: holds {column.dtype}; features are numbers")
    _refuse_missing(path, column, name)
    values = as_samples(column.to_numpy().reshape(-1, 1), f"{path}, column {name!r}")
    return values[:, 0].astype(np.float64)


def _parquet_targets(path: Path, column: Any, name: str) -> np.ndarray:
    _refuse_missing(path, column, name)
    values = column.to_numpy()
    if values.dtype.kind in "fiub":
        return values
    if all(isinstance(value, str) for value in values):
        return values.astype(str)
    raise DataError(f"{path}, column {name!r}: holds {column.dtype}; targets are numbers or text")


def _refuse_missing(path: Path, column: Any, name: str) -> None:
    missing = np.flatnonzero(column.isna().to_numpy())
    if len(missing):
        raise DataError(f"{path}, row {missing[0]}, column {name!r}: the value is missing ({len(missing)} of them)")


def checked(path: Path, X: Any, y: Any) -> Read:
    """Return samples as kernels take them, and targets, or raise DataError with the place."""
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise DataError(
            f"{path}: the samples are an array of shape {X.shape} and type {X.dtype}; a numeric matrix is expected"
        )
    values: Any = X.data if is_sparse(X) else X
    if not np.all(np.isfinite(values)):
        where = np.argwhere(~np.isfinite(values))[0]
        row, column = (part[where[0]] for part in (X.tocoo().row, X.tocoo().col)) if is_sparse(X) else where
        raise DataError(f"{path}, row {row}, column {column}: {values[tuple(where)]}; kernels need finite features")
    if y is not None and (y.ndim != 1 or len(y) != X.shape[0]):
        raise DataError(f"{path}: {X.shape[0]} samples and targets of shape {y.shape}; one target for each is needed")
    if y is not None and y.dtype.kind not in "fiubUS":
        raise DataError(f"{path}: the targets are of type {y.dtype}; numbers and text are accepted")
    return (as_samples(X, f"{path}: X") if X.shape[0] and X.shape[1] else X), y, None


def refuse_columns(path: Path, columns: list[str] | None) -> None:
    """Raise DataError where columns are asked for by name from a file that has no names."""
    if columns is not None:
        raise DataError(
            f"{path} names no columns, and {', '.join(columns[:3])}{'…' if len(columns) > 3 else ''} were asked for; "
            "give a table with such columns"
        )
