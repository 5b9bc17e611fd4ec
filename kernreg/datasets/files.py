"""Files of the data folder: arrays in .npz, no pickles."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg.datasets.catalog import LAYOUT
from kernreg.datasets.dataset import Dataset
from kernreg.errors import DataError
from kernreg.graphs import graph_from_edges

_SPARSE_KEYS = {"format", "shape", "data", "indices", "indptr"}


def kind_of(keys: set[str]) -> str:
    """Return the kind of a file with these arrays; empty if it is none of them.

    >>> kind_of({"X", "y", "classes"})
    'tabular'
    >>> kind_of({"a", "b"})
    ''
    """
    if {"X", "y"} <= keys:
        return "tabular"
    if {"edges", "labels", "n_nodes"} <= keys:
        return "graph"
    if keys >= _SPARSE_KEYS and keys & {"labels", "y"}:
        return "document-term" if "labels" in keys else "tabular"
    return ""


def keys_of(path: Path) -> set[str]:
    """Return the names of the arrays in a file, without reading them; nothing for what is no .npz."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {name.removesuffix(".npy") for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError):
        return set()


def read(path: Path, name: str) -> Dataset:
    """Return the data set in a file."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(
            f"{path} cannot be read as .npz without pickled objects: {error}; get the file again"
        ) from error
    kind = kind_of(set(arrays))
    if not kind:
        accepted = "; ".join(f"{name}: {keys}" for name, keys in LAYOUT.items())
        raise DataError(f"{path} has the arrays {', '.join(sorted(arrays))}; accepted are {accepted}")
    common: dict[str, Any] = {
        "name": name,
        "kind": kind,
        "target_names": arrays.get("classes"),
        "feature_names": arrays["features"].tolist() if "features" in arrays else None,
        "splits": {},
        "source": str(path),
    }
    fields = _graph(arrays) if kind == "graph" else _sparse(arrays) if "indptr" in arrays else _table(arrays)
    return Dataset(**{**common, **fields})


def _table(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    X, y = arrays["X"], arrays["y"]
    fields: dict[str, Any] = {"data": X, "target": _targets(y)}
    if "n_train" in arrays:
        order, n_train = np.arange(len(X)), int(arrays["n_train"])
        fields["splits"] = {"official": (order[:n_train], order[n_train:])}
    return fields | {key: arrays[key] for key in ("sample_id", "study_run") if key in arrays}


def _sparse(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    layout, shape = arrays["format"].item().decode(), tuple(arrays["shape"].tolist())
    made = {"csr": sp.csr_array, "csc": sp.csc_array}
    if layout not in made:
        raise DataError(f"a sparse matrix is stored as {layout!r}; accepted are csr and csc")
    data = arrays["data"]
    data = data if data.dtype == np.float32 else data.astype(np.float64)  # counts are small integers: nothing is lost
    matrix = made[layout]((data, arrays["indices"], arrays["indptr"]), shape=shape).tocsr()
    fields: dict[str, Any] = {"data": matrix, "target": _targets(arrays["labels" if "labels" in arrays else "y"])}
    rows = np.arange(shape[0])
    nested = {key.removeprefix("idx_"): arrays[key] for key in arrays if key.startswith("idx_")}
    splits = {name: (train.astype(np.intp), np.setdiff1d(rows, train)) for name, train in nested.items()}
    return fields | {"splits": splits}


def _graph(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    n = int(arrays["n_nodes"])
    fields: dict[str, Any] = {
        "data": graph_from_edges(arrays["edges"], n),
        "edges": arrays["edges"],
        "target": _targets(arrays["labels"]),
    }
    if "G_val" in arrays:
        entries = arrays["G_val"], (arrays["G_row"], arrays["G_col"])
        fields["kernel_matrix"] = sp.csr_array(entries, shape=(n, n))
    if "node_ids" in arrays:
        fields["node_ids"] = arrays["node_ids"]
    return fields


def _targets(y: np.ndarray) -> np.ndarray:
    return y.astype(np.int64) if y.dtype.kind in "iu" else y
