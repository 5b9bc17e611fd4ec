"""Files of arrays: NPZ, NPY, Parquet, svmlight."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg.errors import DataError, MissingExtra

Read = tuple[Any, np.ndarray | None, list[str] | None]


def read_npz(path: Path, target: str | None, columns: list[str] | None) -> Read:
    """Return the arrays ``X`` and ``y`` (or ``labels``) of an NPZ file, or its sparse matrix; pickles are not read."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (zipfile.BadZipFile, ValueError) as error:
        raise DataError(f"{path} is not an NPZ file of plain arrays: {error}") from error
    name = target or next((known for known in ("y", "labels", "target") if known in arrays), None)
    if name is not None and name not in arrays:
        raise DataError(f"{path} has no array {name!r}; its arrays are {', '.join(arrays)}")
    y = None if name is None else arrays[name]
    if "X" in arrays:
        X: Any = arrays["X"]
    elif {"indptr", "indices", "data", "shape"} <= set(arrays):
        X = sp.csr_array(sp.load_npz(path))
    else:
        raise DataError(f"{path} has no array 'X' and is no sparse matrix; its arrays are {', '.join(arrays)}")
    return _checked(path, X, y, columns)


def read_npy(path: Path, target: str | None, columns: list[str] | None) -> Read:
    """Return the matrix of an NPY file."""
    if target is not None:
        raise DataError(f"{path} is one array without names, so it has no column {target!r}; use NPZ with 'X' and 'y'")
    try:
        X = np.load(path, allow_pickle=False)
    except ValueError as error:
        raise DataError(f"{path} is not an NPY file of a plain array: {error}") from error
    return _checked(path, X, None, columns)


def read_parquet(path: Path, target: str | None, columns: list[str] | None) -> Read:
    """Return the columns of a Parquet file, which pandas and one of its engines read."""
    try:
        import pandas as pd  # type: ignore[import-untyped]  # optional, and so are its stubs

        frame = pd.read_parquet(path)
    except ImportError as error:
        raise MissingExtra(
            f"{path}: Parquet files need pandas and pyarrow (pip install pandas pyarrow): {error}"
        ) from error
    except ValueError as error:  # pyarrow's errors are ValueErrors
        raise DataError(f"{path} is not a Parquet file: {error}") from error
    names = [str(name) for name in frame.columns]
    frame.columns = names
    for name in [*(columns or []), *([target] if target else [])]:
        if name not in names:
            raise DataError(f"{path} has no column {name!r}; its columns are {', '.join(names)}")
    chosen = columns or [name for name in names if name != target]
    for name in chosen:
        if frame[name].dtype.kind not in "fiub":
            raise DataError(f"{path}, column {name!r}: holds {frame[name].dtype}; features are numbers")
    y = None if target is None else frame[target].to_numpy()
    if y is not None and y.dtype.kind == "O":
        y = y.astype(str)
    X, y, _ = _checked(path, frame[chosen].to_numpy(dtype=np.float64), y, None)
    return X, y, chosen


def read_svmlight(path: Path, target: str | None, columns: list[str] | None) -> Read:
    """Return the sparse samples and targets of an svmlight (libsvm) file."""
    from sklearn.datasets import load_svmlight_file

    if target is not None:
        raise DataError(f"{path}: svmlight files hold the target on each line and name no columns; leave --target out")
    if columns is not None:
        raise DataError(f"{path}: svmlight files name no columns, and {', '.join(columns[:3])} … are asked for")
    try:
        X, y = load_svmlight_file(str(path))
    except ValueError as error:
        raise DataError(f"{path}{_bad_line(path)}: {error}") from error
    if len(y) and np.all(y == np.round(y)):
        y = y.astype(np.int64)
    return _checked(path, sp.csr_array(X), y, None)


def _bad_line(path: Path) -> str:
    """Return where an svmlight file is wrong, as far as a look at each line tells."""
    from kernreg.io.delimited import open_text

    with open_text(path) as file:
        for number, text in enumerate(file, 1):
            parts = text.split("#")[0].split()
            for position, part in enumerate(parts):
                try:
                    if position == 0:
                        float(part)
                    elif not part.startswith("qid:"):
                        index, _, value = part.partition(":")
                        int(index), float(value)
                except ValueError:
                    return f", line {number}, column {text.index(part) + 1}: {part!r}"
    return ""


def _checked(path: Path, X: Any, y: Any, columns: list[str] | None) -> Read:
    if columns is not None:
        raise DataError(
            f"{path} names no columns, and {', '.join(columns[:3])}{'…' if len(columns) > 3 else ''} are asked for"
        )
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise DataError(
            f"{path}: the samples are an array of shape {X.shape} and type {X.dtype}; a numeric matrix is expected"
        )
    if X.dtype not in (np.float64, np.float32):
        X = X.astype(np.float64)
    values: Any = X.data if sp.issparse(X) else X  # type: ignore[attr-defined]  # sparse arrays have it
    if not np.all(np.isfinite(values)):
        if sp.issparse(X):
            raise DataError(f"{path}: the samples contain NaN or infinity")
        row, column = (int(number) for number in np.argwhere(~np.isfinite(X))[0])
        raise DataError(f"{path}, row {row}, column {column}: {X[row, column]}; kernels need finite features")
    if y is not None and (y.ndim != 1 or len(y) != X.shape[0]):
        raise DataError(f"{path}: {X.shape[0]} samples and targets of shape {y.shape}")
    return X, y, None
