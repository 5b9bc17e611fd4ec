"""Graphs as the kernels here take them: square, sparse, without negative weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg.errors import DataError, ParameterError
from kernreg.graphs import check_graph


def as_graph(graph: Any, kernel: str) -> sp.csr_array:
    """Return the graph as CSR without stored zeros; raise ParameterError unless square and without negative weights."""
    try:
        A = check_graph(graph)
    except DataError as error:
        raise ParameterError(f"{kernel}: {error}") from None
    if A.shape[0] == 0:
        raise ParameterError(f"{kernel}: graph has shape (0, 0); give one with at least one node")
    A.sum_duplicates()
    A.eliminate_zeros()
    if A.data.min(initial=0.0) < 0.0:
        raise ParameterError(
            f"{kernel}: graph has the negative weight {A.data.min():g}; accepted are weights >= 0, and 0 is no edge"
        )
    # The compiled graph algorithms and factorisations of scipy take 32-bit indices only.
    A.indices, A.indptr = A.indices.astype(np.int32, copy=False), A.indptr.astype(np.int32, copy=False)
    return A


def check_nodes(rows: np.ndarray, columns: np.ndarray, size: int, kernel: str) -> None:
    """Raise DataError unless all are nodes of a graph of that size."""
    last = max(int(rows.max(initial=-1)), int(columns.max(initial=-1)))
    if last >= size:
        raise DataError(f"{kernel}: there is no node {last}; the graph has {size} nodes, 0 … {size - 1}")


def inverse_or_zero(values: np.ndarray) -> np.ndarray:
    """Return 1 / value, and 0 for 0: a node without edges has a row of zeros.

    >>> inverse_or_zero(np.array([2.0, 0.0])).tolist()
    [0.5, 0.0]
    """
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0.0)


def random_graph(rng: np.random.Generator, n: int) -> sp.csr_array:
    """Return a sparse random directed graph in which some nodes have no outgoing edge: for trying kernels."""
    dense = rng.random((n, n)) < 2.0 / max(n, 2)
    dense[:: max(n // 3, 1)] = False
    return sp.csr_array(dense.astype(np.float64))
