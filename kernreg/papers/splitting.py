"""From a data set to what a method sees: training samples with targets, test samples without."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from kernreg import datasets
from kernreg.engine.arrays import is_sparse
from kernreg.errors import DataError, MissingDataset
from kernreg.papers.description import Row, Table


@dataclass(frozen=True)
class Split:
    """One trial.

    Attributes
    ----------
    X_train, y_train, X_test
        Scaled as the table says. Of a graph, node numbers.
    seed : int
        For whatever else is random in a method.
    graph : csr_array or None
        Adjacency matrix of all nodes, of a graph.
    kernel_matrix : csr_array or None
        The authors' own, where it is stored.
    options : mapping
        Those of the row.
    """

    X_train: Any
    y_train: np.ndarray
    X_test: Any
    seed: int
    graph: Any = None
    kernel_matrix: Any = None
    options: Any = field(default_factory=dict)


def seed_of(table: str, row: str, trial: int) -> int:
    """Return the seed of a trial; the same for all methods, so that they see the same samples.

    >>> seed_of("ask-table4", "sonar", 0) == seed_of("ask-table4", "sonar", 0) != seed_of("ask-table4", "sonar", 1)
    True
    """
    digest = hashlib.sha256(f"{table}/{row}/{trial}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def load_row(row: Row, folder: str | os.PathLike[str] | None, download: bool) -> Any:
    """Return the data set of a row, or raise MissingDataset."""
    if not row.data:
        raise MissingDataset(f"the data of {row.name} are nowhere to be had. {row.note}".strip())
    if row.data.startswith("openml:") and not download:
        raise MissingDataset(f"{row.data} would have to be fetched from OpenML; allow it with --download")
    place = os.environ.get("KERNREG_DATA") if folder is None else os.fspath(folder)
    return _load(row.data, row.missing, place, download)


@lru_cache(maxsize=3)
def _load(name: str, missing: str, folder: str | None, download: bool) -> Any:
    return datasets.load(name, missing=missing, folder=folder, download=download)


def is_available(row: Row, folder: str | os.PathLike[str] | None, download: bool = False) -> bool:
    """Return whether the data of a row are at hand (or may be fetched), without reading them."""
    if row.data.startswith("openml:"):
        return download
    present = {entry.name for entry in datasets.available(folder) if entry.present}
    return row.data.replace("-", "_") in present


def make_split(table: Table, row: Row, data: Any, seed: int, quick: bool) -> tuple[Split, np.ndarray]:
    """Return one trial, and the targets of its test samples (which no method sees)."""
    rng = np.random.default_rng(seed)
    train, test = _indices(table, row, data, rng, quick)
    y = np.asarray(data.y)
    if data.kind == "graph":
        nodes = np.concatenate([train, test])
        graph, matrix = data.X, data.get("kernel_matrix")
        if len(nodes) < graph.shape[0]:  # the quick profile: the graph that these nodes span
            graph = graph[nodes][:, nodes]
            matrix = None if matrix is None else matrix[nodes][:, nodes]
            y, train, test = y[nodes], np.arange(len(train)), np.arange(len(train), len(nodes))
        return Split(train, y[train], test, seed, graph, matrix, row.options), y[test]
    X_train, X_test = data.X[train], data.X[test]
    if table.scale == "unit":
        X_train, X_test = _to_unit(X_train, X_test)
    return Split(X_train, y[train], X_test, seed, options=row.options), y[test]


def _indices(table: Table, row: Row, data: Any, rng: Any, quick: bool) -> tuple[np.ndarray, np.ndarray]:
    if row.official:
        if len(data.splits) != 1:
            raise DataError(f"{row.data} has {len(data.splits)} official splits; the row {row.name} needs exactly one")
        parts = [np.asarray(part) for part in next(iter(data.splits.values()))]
        if quick:
            parts = [np.sort(rng.permutation(part)[: table.quick_samples]) for part in parts]
        return parts[0], parts[1]
    order = rng.permutation(len(data.y))
    if quick:
        order = order[: table.quick_samples]
    return tuple(np.split(order, [round(table.train * len(order))]))  # type: ignore[return-value]


def _to_unit(X_train: Any, X_test: Any) -> tuple[np.ndarray, np.ndarray]:
    """Map the training samples to [0, 1]; the test samples follow, and may lie outside."""
    if is_sparse(X_train):
        X_train, X_test = X_train.toarray(), X_test.toarray()
    X_train, X_test = (np.asarray(part, dtype=np.float64) for part in (X_train, X_test))
    low, width = X_train.min(axis=0), np.ptp(X_train, axis=0)
    width = np.where(width > 0.0, width, 1.0)  # a feature that is constant in training says nothing
    return (X_train - low) / width, (X_test - low) / width
