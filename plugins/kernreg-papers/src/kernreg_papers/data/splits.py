"""From a data set to what a method sees: training samples with targets, test samples without."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from kernreg import datasets
from kernreg.errors import DataError, MissingDataset
from kernreg_papers.data.click_logs import load_generated
from kernreg_papers.description import Row, Table


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
    n_unseen : int
        So many of the test samples, the last ones, must not be used before they are predicted.
    """

    X_train: Any
    y_train: np.ndarray
    X_test: Any
    seed: int
    graph: Any = None
    kernel_matrix: Any = None
    options: Any = field(default_factory=dict)
    n_unseen: int = 0


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
        raise MissingDataset(f"the data of {row.name} were not found anywhere. {row.note}".strip())
    if row.data.startswith("openml:") and not download:
        raise MissingDataset(f"{row.data} would have to be fetched from OpenML; allow it with --download")
    if row.data.startswith("generated:"):
        return load_generated(row.data.removeprefix("generated:"))
    place = os.environ.get("KERNREG_DATA") if folder is None else os.fspath(folder)
    return _load(row.data, row.missing, place, download)


@lru_cache(maxsize=3)
def _load(name: str, missing: str, folder: str | None, download: bool) -> Any:
    return datasets.load(name, missing=missing, folder=folder, download=download)


def is_available(row: Row, folder: str | os.PathLike[str] | None, download: bool = False) -> bool:
    """Return whether the data of a row are at hand (or may be fetched), without reading them."""
    if row.data.startswith("openml:"):
        return download
    if row.data.startswith("generated:"):
        return True
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
    n_unseen = round(table.unseen * (len(train) + len(test)))
    if table.scale == "unit":
        X_train, X_test = _to_unit(X_train, X_test)
    elif table.scale == "standard":
        X_train, X_test = _standardised(X_train, X_test, n_unseen)
    return Split(X_train, y[train], X_test, seed, options=row.options, n_unseen=n_unseen), y[test]


def _indices(table: Table, row: Row, data: Any, rng: Any, quick: bool) -> tuple[np.ndarray, np.ndarray]:
    if row.official:
        if len(data.splits) != 1:
            raise DataError(f"{row.data} has {len(data.splits)} official splits; the row {row.name} needs exactly one")
        parts = [np.asarray(part) for part in next(iter(data.splits.values()))]
        if quick:
            parts = [np.sort(rng.permutation(part)[: table.quick_samples]) for part in parts]
        return parts[0], parts[1]
    if row.subset:
        order = rng.permutation(np.asarray(data.splits[row.subset][0]))
    elif quick and data.kind == "graph":
        order = rng.permutation(busiest_nodes(data.X, table.quick_samples))
    else:
        order = rng.permutation(len(data.y))
    if quick:
        order = order[: table.quick_samples]
    n_train = round(table.train * len(order)) if row.n_train is None else min(row.n_train, len(order) // 2)
    if table.stratify:
        order = _stratified(order, np.asarray(data.y), n_train, rng)
    return tuple(np.split(order, [n_train]))  # type: ignore[return-value]


def busiest_nodes(graph: Any, count: int) -> np.ndarray:
    """Return the nodes with most edges, for the quick profile: others would have hardly an edge among them."""
    degrees = np.asarray(graph.sum(axis=0)).ravel() + np.asarray(graph.sum(axis=1)).ravel()
    return np.argsort(-degrees, kind="stable")[:count]


def _stratified(order: np.ndarray, y: np.ndarray, n_train: int, rng: Any) -> np.ndarray:
    """Arrange samples so that the first `n_train`, and any number of the last, have the classes of all."""
    # Sample j of the n_c of a class goes to (j + u)/n_c of the way, u random: an even spread of every class.
    place = np.empty(len(order))
    for label in np.unique(y[order]):
        of_class = np.flatnonzero(y[order] == label)
        place[of_class] = (np.arange(len(of_class)) + rng.random()) / len(of_class)
    spread = order[np.argsort(place, kind="stable")]
    return np.concatenate([rng.permutation(spread[:n_train]), spread[n_train:]])


def dense(X: Any) -> np.ndarray:
    """Return samples as a dense array."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)


def _standardised(X_train: Any, X_test: Any, n_unseen: int) -> tuple[np.ndarray, np.ndarray]:
    """Map the samples that are there, labelled or not, to mean 0 and deviation 1; unseen ones follow."""
    X_train, X_test = (np.asarray(dense(part), dtype=np.float64) for part in (X_train, X_test))
    there = np.concatenate([X_train, X_test[: len(X_test) - n_unseen]])
    mean, deviation = there.mean(axis=0), there.std(axis=0)
    deviation = np.where(deviation > 0.0, deviation, 1.0)
    return (X_train - mean) / deviation, (X_test - mean) / deviation


def _to_unit(X_train: Any, X_test: Any) -> tuple[np.ndarray, np.ndarray]:
    """Map the training samples to [0, 1]; the test samples follow, and may lie outside."""
    X_train, X_test = (np.asarray(dense(part), dtype=np.float64) for part in (X_train, X_test))
    low, width = X_train.min(axis=0), np.ptp(X_train, axis=0)
    width = np.where(width > 0.0, width, 1.0)  # a feature that is constant in training says nothing
    return (X_train - low) / width, (X_test - low) / width
