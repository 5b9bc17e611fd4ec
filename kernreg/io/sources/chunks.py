"""Arrays of zarr: one array, or a group with the arrays X and y."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from kernreg.common.bounded import require_room
from kernreg.common.display import listed
from kernreg.engine.sources.base import RowSource
from kernreg.engine.sources.units import ChunkedRows
from kernreg.errors import DataError, MissingExtra

_TARGETS = ("y", "labels", "target")


def require_zarr(what: object) -> Any:
    """Return the package zarr, or raise MissingExtra."""
    try:
        import zarr
    except ImportError as error:
        raise MissingExtra(f"{what}: zarr arrays need zarr (pip install zarr)") from error
    return zarr


def open_zarr(path: Path, target: str | None) -> RowSource:
    """Return the rows of a zarr array, or of the array ``X`` of a group; targets are the group's ``y``."""
    zarr = require_zarr(path)
    try:
        found = zarr.open(str(path), mode="r")
        names = [] if hasattr(found, "shape") else sorted(name for name, _ in found.arrays())
    except Exception as error:  # zarr raises what its stores, codecs and parsers raise
        raise DataError(f"{path} is not a zarr array or group: {' '.join(str(error).split())}") from error
    table, y = found, None
    if not hasattr(found, "shape"):
        if "X" not in names:
            raise DataError(f"{path} is a zarr group without an array 'X'; its arrays are {listed(names) or 'none'}")
        table, chosen = found["X"], target or next((name for name in _TARGETS if name in names), None)
        if chosen is not None and chosen not in names:
            raise DataError(f"{path} has no array {chosen!r}; its arrays are {listed(names)}")
        y = None if chosen is None else _targets(found[chosen], f"{path}, array {chosen!r}")
    elif target is not None:
        raise DataError(f"{path} is one array without names, so it has no {target!r}; use a group with 'X' and 'y'")
    if len(table.shape) != 2 or np.dtype(table.dtype).kind not in "fiub":
        raise DataError(
            f"{path} holds an array of shape {table.shape} and type {table.dtype}; a numeric matrix is read"
        )
    source = ChunkedRows(table, str(path))
    if y is not None and y.shape[:1] != (source.shape[0],):
        raise DataError(f"{path}: {source.shape[0]} samples and targets of shape {y.shape}; one for each is needed")
    source.targets = y
    return source


def _targets(array: Any, what: str) -> np.ndarray:
    require_room(math.prod(array.shape) * np.dtype(array.dtype).itemsize, what)
    try:
        return np.asarray(array[:])
    except MemoryError:
        raise
    except Exception as error:  # whatever the codec makes of damaged chunks
        raise DataError(f"{what} cannot be read: {error}") from error
