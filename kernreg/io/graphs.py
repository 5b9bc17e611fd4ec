"""Graphs and matrices as samples: the row of a node says whom it links to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg.errors import DataError
from kernreg.io.delimited import open_text

Read = tuple[sp.csr_array, np.ndarray | None, list[str] | None]


def read_edges(path: Path, target: str | None, columns: list[str] | None) -> Read:
    """Return the adjacency matrix of an edge list: ``source target [weight]`` on each line, # begins a comment.

    Nodes are numbers from 0, or names; names are numbered in the order in which they appear and become the names of
    the columns.
    """
    _refuse_columns(path, target, columns)
    pairs: list[tuple[str, str]] = []
    weights: list[float] = []
    with open_text(path) as file:
        for number, text in enumerate(file, 1):
            parts = text.split("#")[0].replace(",", " ").split()
            if not parts:
                continue
            if len(parts) not in (2, 3):
                raise DataError(
                    f"{path}, line {number}: {len(parts)} words; an edge is 'source target' or 'source target weight'"
                )
            pairs.append((parts[0], parts[1]))
            try:
                weights.append(float(parts[2]) if len(parts) == 3 else 1.0)
            except ValueError:
                column = text.index(parts[2]) + 1
                raise DataError(
                    f"{path}, line {number}, column {column}: the weight {parts[2]!r} is not a number"
                ) from None
            if not np.isfinite(weights[-1]):
                raise DataError(f"{path}, line {number}: the weight {parts[2]} is not finite")
    numbers, names = _numbered(pairs)
    n = len(names) if names is not None else int(numbers.max(initial=-1)) + 1
    graph = sp.csr_array((weights, (numbers[:, 0], numbers[:, 1])), shape=(n, n))
    graph.sum_duplicates()
    return graph, None, names


def _numbered(pairs: list[tuple[str, str]]) -> tuple[np.ndarray, list[str] | None]:
    if all(node.isdecimal() for pair in pairs for node in pair):
        return np.array(pairs, dtype=np.int64).reshape(-1, 2), None
    order: dict[str, int] = {}
    found = [[order.setdefault(node, len(order)) for node in pair] for pair in pairs]
    return np.array(found, dtype=np.int64).reshape(-1, 2), list(order)


def read_matrix_market(path: Path, target: str | None, columns: list[str] | None) -> Read:
    """Return the matrix of a Matrix Market file."""
    from scipy.io import mmread

    _refuse_columns(path, target, columns)
    try:
        matrix: Any = mmread(path)
    except ValueError as error:
        raise DataError(f"{path} is not a Matrix Market file: {error}") from error
    if matrix.dtype.kind == "c":
        raise DataError(f"{path} holds complex numbers; real ones are expected")
    found = sp.csr_array(matrix, dtype=np.float64)
    if not np.all(np.isfinite(found.data)):
        raise DataError(f"{path} contains NaN or infinity")
    return found, None, None


def _refuse_columns(path: Path, target: str | None, columns: list[str] | None) -> None:
    if target is not None or columns is not None:
        raise DataError(f"{path} is a graph, whose columns are nodes; it has no target or named features")
