"""Reading graphs: from a matrix or a list of edges to a checked sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg.errors import DataError, ParameterError


def graph_from_edges(edges: Any, n_nodes: int | None = None, weights: Any = None) -> sp.csr_array:
    """Return the adjacency matrix of a list of edges.

    Parameters
    ----------
    edges : array-like of shape (n_edges, 2)
        Pairs of node numbers, from and to.
    n_nodes : int, optional
        The number of nodes; by default the largest number in `edges` plus one.
    weights : array-like of shape (n_edges,), optional
        Without weights every edge counts 1, however often it is listed; with weights repeated edges add up.

    Examples
    --------
    >>> graph_from_edges([[0, 1], [2, 1]], n_nodes=4).toarray().astype(int).tolist()
    [[0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    """
    pairs = np.asarray(edges)
    if pairs.size == 0:
        pairs = np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise DataError(
            f"edges has shape {pairs.shape} and dtype {pairs.dtype}; accepted are integers of shape (n_edges, 2), "
            "each row an edge: the node it leaves and the node it enters"
        )
    last = int(pairs.max(initial=-1))
    if pairs.min(initial=0) < 0:
        raise DataError(f"edges has the negative node number {int(pairs.min())}; nodes are counted from 0")
    size = last + 1 if n_nodes is None else n_nodes
    if size <= last:
        raise DataError(f"edges names node {last}, and n_nodes={n_nodes} has nodes 0 … {size - 1}; raise n_nodes")
    values = np.ones(len(pairs)) if weights is None else np.asarray(weights, dtype=np.float64)
    if values.shape != (len(pairs),):
        raise DataError(f"weights has shape {values.shape} for {len(pairs)} edges; give one number for each edge")
    graph = sp.csr_array((values, (pairs[:, 0], pairs[:, 1])), shape=(size, size))
    if weights is None:
        graph.data[:] = 1.0
    return graph


def as_graph(graph: Any, kernel: str) -> sp.csr_array:
    """Return the graph as CSR without stored zeros; raise ParameterError unless square and without negative weights."""
    A = sp.csr_array(graph, dtype=np.float64, copy=True)
    if A.shape[0] != A.shape[1] or A.shape[0] == 0:
        raise ParameterError(
            f"{kernel}: graph has shape {A.shape}; an adjacency matrix is square, one row and one column for "
            "each node. From a list of edges, make it with kernreg_graph.graph_from_edges"
        )
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
