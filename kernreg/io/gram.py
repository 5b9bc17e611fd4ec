"""Kernel matrices on disk: written in row blocks within the memory budget; a run that was stopped can go on."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from kernreg.common.progress import progress
from kernreg.common.sizes import readable
from kernreg.engine import is_row_source
from kernreg.engine.arrays import is_sparse
from kernreg.engine.sources.views import SomeRows, as_row_source
from kernreg.errors import DataError
from kernreg.factory import make_kernel
from kernreg.io.matrix_files import MatrixFile, matrix_file

_LOOKED_AT = 1000  # rows that tell whether samples are those of the run before


def write_gram(
    kernel: Any,
    X: Any,
    path: str | Path,
    Z: Any = None,
    *,
    block_rows: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
) -> tuple[tuple[int, int], np.dtype]:
    """Write the kernel matrix of samples to a file, row block by row block; return its shape and type.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel
    X, Z : samples or row sources
        As a kernel takes them; Z is X by default.
    path : path
        Ends in ``.npy`` (which numpy maps), in ``.zarr``, or in nothing: a folder of ``.npy`` files, one for each
        block, with an ``index.json``. While it is written, it says so: a ``.npy`` file is called ``.npy.partial`` and
        has a record ``.npy.partial.json`` beside it, an array of zarr has the attribute ``kernreg``, a folder its
        index.
    block_rows : int, optional
        Rows of a block; as many as fit the memory budget by default.
    resume : bool
        Go on with a run that was stopped; begin where there is none. The kernel must be the same, and the samples of
        the same shape with the same values in 1000 rows that are looked at.
    overwrite : bool
        Begin anew where a run was stopped.

    Examples
    --------
    >>> import tempfile
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> path = Path(tempfile.mkdtemp()) / "K.npy"
    >>> write_gram("linear", X, path)
    ((3, 3), dtype('float64'))
    >>> np.array_equal(np.load(path, mmap_mode="r"), X @ X.T)
    True
    """
    k, path = make_kernel(kernel), Path(path)
    columns = X if Z is None else Z
    n, m = X.shape[0], columns.shape[0]
    dtype = k(X[:1], columns[:1]).dtype if n and m else np.dtype(np.float64)
    file = matrix_file(path)
    samples = _fingerprint(X) if Z is None else f"{_fingerprint(X)}-{_fingerprint(Z)}"
    record = {"complete": False, "rows": 0, "kernel": repr(k), "shape": [n, m], "dtype": dtype.str, "samples": samples}
    done = _begin(file, record, resume, overwrite)
    rest = X if done == 0 else SomeRows(as_row_source(X), np.arange(done, n)) if is_row_source(X) else X[done:]
    with progress("gram", n) as report:
        report(done)
        # From the beginning it is K(X), of which a kernel may compute one half.
        for rows, block in k.blocks(rest, Z if done == 0 else columns, block_rows=block_rows) if done < n else ():
            file.put(slice(done + rows.start, done + rows.stop), block)
            file.record["rows"] = done + rows.stop
            file.note()
            report(done + rows.stop)
    file.finish()
    return (n, m), dtype


def _begin(file: MatrixFile, record: dict[str, Any], resume: bool, overwrite: bool) -> int:
    """Return how many rows are there already: zero in a new file."""
    found = file.found()
    stopped = found is not None and not found.get("complete", True)
    if found is not None and stopped and not overwrite:
        done = int(found["rows"])
        if not resume:
            raise DataError(
                f"{file.path} was started before, and {done} of {found['shape'][0]} rows are done; continue with "
                "resume=True (--resume), or start over with overwrite=True (--force)"
            )
        for what in ("kernel", "shape", "dtype", "samples"):
            if found.get(what) != record[what]:
                other = f"its {what} is {found.get(what)}, and now it is {record[what]}"
                other = "it was started with other samples" if what == "samples" else other
                raise DataError(f"{file.path} cannot be continued: {other}; start over with overwrite=True (--force)")
        file.record = found
        return done
    needed = record["shape"][0] * record["shape"][1] * np.dtype(record["dtype"]).itemsize
    folder = file.path.absolute().parent
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise DataError(f"{file.path} needs {readable(needed)}, and the disk has {readable(free)} left")
    file.record = record
    file.begin()
    return 0


def _fingerprint(X: Any) -> str:
    """Return what tells samples from others: shape, type, and the values of some rows."""
    n = X.shape[0]
    rows = X[np.unique(np.linspace(0, max(n - 1, 0), min(n, _LOOKED_AT)).astype(np.intp))] if n else X[:0]
    parts = (rows.data, rows.indices, rows.indptr) if is_sparse(rows) else (np.asarray(rows),)
    found = hashlib.blake2b(repr((tuple(X.shape), str(X.dtype))).encode(), digest_size=16)
    for part in parts:
        found.update(np.ascontiguousarray(part).tobytes())
    return found.hexdigest()
