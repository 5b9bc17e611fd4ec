"""Directed graphs: from edges to a matrix, from there to samples, and back from embeddings to edges.

A graph is a square sparse matrix A with ``A[i, j] != 0`` for an edge from node i to node j. Row i describes node i as a
source, column i as a target. Wherever a graph is taken, one of networkx is too: its nodes are numbered in their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg.common.checks import check_choice
from kernreg.config import get_config
from kernreg.engine.arrays import is_sparse
from kernreg.errors import DataError, ParameterError, shown
from kernreg.kernels.domains import adjacency_matrix
from kernreg.linalg.randomness import generator

#: How embeddings of nodes are compared: by distance or by inner product.
MEASURES = ("euclidean", "inner")


def graph_from_edges(edges: Any, n_nodes: int | None = None, weights: Any = None) -> sp.csr_array:
    """Return the adjacency matrix of a list of edges.

    Parameters
    ----------
    edges : array-like of int, shape (n_edges, 2)
        Each row an edge: the node it leaves, the node it enters.
    n_nodes : int, optional
        By default the largest node number plus one.
    weights : array-like of shape (n_edges,), optional
        Those of an edge listed more than once add up. Without weights an edge counts 1, however often it is listed.

    Examples
    --------
    >>> graph_from_edges([[0, 2], [1, 0], [1, 0]], n_nodes=3).toarray().astype(int).tolist()
    [[0, 0, 1], [1, 0, 0], [0, 0, 0]]
    """
    table = np.asarray(edges)
    table = table.reshape(0, 2).astype(np.intp) if table.size == 0 else table
    if table.ndim != 2 or table.shape[1] != 2 or table.dtype.kind not in "iu":
        raise DataError(
            f"edges has shape {table.shape} and dtype {table.dtype}; accepted are integers of shape (n_edges, 2), a "
            "source and a target in each row"
        )
    lowest, highest = int(table.min(initial=0)), int(table.max(initial=-1))
    n = highest + 1 if n_nodes is None else int(n_nodes)
    if lowest < 0 or highest >= n:
        raise DataError(
            f"edges names node {lowest if lowest < 0 else highest}; nodes are numbered 0 … {n - 1}"
            + ("" if n_nodes is None else f" (n_nodes={n_nodes})")
        )
    values = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
    if values.shape != (len(table),):
        raise DataError(f"weights has shape {values.shape}; give one number for each of the {len(table)} edges")
    graph = sp.csr_array((values, (table[:, 0], table[:, 1])), shape=(n, n))
    if weights is None:
        graph.data[:] = 1.0
    return graph


def check_graph(graph: Any) -> sp.csr_array:
    """Return a copy of a square matrix, or of a graph of networkx, as CSR of float64; raise DataError for others.

    Examples
    --------
    >>> check_graph([[0, 1], [0, 0]]).toarray().tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    try:
        A = sp.csr_array(adjacency_matrix(graph), dtype=np.float64, copy=True)
    except (TypeError, ValueError) as error:
        raise DataError(f"graph is not a matrix of numbers: {error}") from None
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise DataError(
            f"graph has shape {A.shape}; an adjacency matrix is square. From a list of edges, make it with "
            "kernreg.graphs.graph_from_edges"
        )
    return A


def graph_samples(graph: Any, *, self_loops: bool = False) -> tuple[sp.csr_array, sp.csr_array]:
    """Return the nodes as sources and as targets: rows of A, and rows of Aᵀ.

    Two sample sets for the kernels and solvers that take two (`ksvd`, `nystrom`, `ask-ls`): k(x_i, z_j) then compares
    where node i points to with what points to node j.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n, n)
    self_loops : bool
        Whether to add an edge from every node to itself (an existing one is kept as it is).

    Returns
    -------
    sources, targets : csr_array of shape (n, n)

    Examples
    --------
    >>> from kernreg.graphs import graph_samples
    >>> sources, targets = graph_samples([[0, 1], [0, 0]])
    >>> sources.toarray().tolist(), targets.toarray().tolist()
    ([[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]])
    """
    A = check_graph(graph)
    if self_loops:
        A = sp.csr_array(A + sp.diags_array((A.diagonal() == 0).astype(np.float64)))
    A.eliminate_zeros()
    return A, sp.csr_array(A.T)


def out_degrees(graph: Any) -> np.ndarray:
    """Return the number of edges that leave each node, whatever their weights.

    >>> out_degrees([[0, 1, 1], [0, 0, 0], [1, 0, 0]]).tolist()
    [2, 0, 1]
    """
    A = check_graph(graph)
    A.eliminate_zeros()
    return np.diff(A.indptr)


def reconstruct_graph(
    sources: Any, targets: Any, degrees: Any, *, measure: str = "euclidean", self_loops: bool = False
) -> sp.csr_array:
    """Return the graph in which node i points to the ``degrees[i]`` targets nearest to its source embedding.

    Parameters
    ----------
    sources, targets : array-like of shape (n, r)
        Embeddings of the nodes in their two roles; the same array for a method with one embedding.
    degrees : array-like of int, shape (n,), or a graph
        Out-degrees, or the graph to take them from.
    measure : {"euclidean", "inner"}
        Nearest by Euclidean distance, or by the largest inner product.
    self_loops : bool
        Whether a node may be its own target.

    Returns
    -------
    csr_array of shape (n, n), entries 1

    Notes
    -----
    Distances are computed for as many nodes at once as the memory budget allows. Of targets that are equally near
    those with lower numbers are taken.

    References
    ----------
    Tao, Tonin, Lambert, Chen, Patrinos & Suykens, Learning in feature spaces via coupled covariances, ICML 2024,
    appendix C.1.

    Examples
    --------
    >>> reconstruct_graph([[0.0], [1.0]], [[1.0], [0.1]], [1, 1]).toarray().astype(int).tolist()
    [[0, 1], [1, 0]]
    """
    check_choice("measure", measure, MEASURES)
    S, T = check_embedding(sources, "sources"), check_embedding(targets, "targets")
    if S.shape != T.shape:
        raise DataError(f"sources has shape {S.shape} and targets {T.shape}; they embed the same nodes in one space")
    n = len(S)
    wanted = _degrees(degrees, n, self_loops)
    squares = np.einsum("ij,ij->i", T, T)
    rows_at_once = max(1, min(n, int(get_config().memory_budget() // (8 * 32 * max(1, n)))))
    columns: list[np.ndarray] = []
    for start in range(0, n, rows_at_once):
        rows = slice(start, start + rows_at_once)
        inner = S[rows] @ T.T
        # ‖s‖² is the same for every target of s: leaving it out keeps the order.
        distance = -inner if measure == "inner" else squares - 2.0 * inner
        if not self_loops:
            inside = np.arange(len(distance))
            distance[inside, start + inside] = np.inf
        columns.extend(_nearest(distance[i], k) for i, k in enumerate(wanted[rows]))
    indices = np.concatenate(columns) if columns else np.empty(0, dtype=np.intp)
    indptr = np.concatenate([[0], np.cumsum(wanted)])
    return sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n))


def _nearest(distance: np.ndarray, k: int) -> np.ndarray:
    """Return the k smallest, in order of their numbers; of equal ones the first."""
    if k == 0:
        return np.empty(0, dtype=np.intp)
    bound = np.partition(distance, k - 1)[k - 1]
    below = np.flatnonzero(distance < bound)
    equal = np.flatnonzero(distance == bound)[: k - len(below)]
    return np.sort(np.concatenate([below, equal]))


def check_embedding(array: Any, name: str) -> np.ndarray:
    """Return an embedding as a finite array of one row for each node."""
    E = np.asarray(array, dtype=np.float64)
    if E.ndim != 2:
        raise DataError(f"{name} has shape {E.shape}; an embedding is (n_nodes, n_components)")
    if not np.isfinite(E).all():
        raise DataError(f"{name} has NaN or infinite entries; an embedding is finite")
    return E


def _degrees(degrees: Any, n: int, self_loops: bool) -> np.ndarray:
    counted = out_degrees(degrees) if is_sparse(degrees) or np.ndim(degrees) == 2 else np.asarray(degrees)
    if counted.shape != (n,) or counted.dtype.kind not in "iu":
        raise DataError(
            f"degrees has shape {counted.shape} and type {counted.dtype}; give an integer for each of the {n} "
            "nodes, or their graph"
        )
    most = n if self_loops else n - 1
    if counted.min(initial=0) < 0 or counted.max(initial=0) > most:
        raise DataError(
            f"degrees has values from {counted.min()} to {counted.max()}; a node has 0 … {most} targets"
            + ("" if self_loops else " (self_loops=True allows a node to be its own)")
        )
    return counted.astype(np.intp)


def classify_nodes(
    X: Any,
    y: Any,
    solver: Any = "ls-svm(kernel='linear', gamma=1.0)",
    *,
    train_size: float = 0.6,
    n_trials: int = 10,
    random_state: Any = None,
) -> dict[str, np.ndarray]:
    """Return how well a solver classifies nodes it has not seen, over random splits.

    Parameters
    ----------
    X : array-like or CSR of shape (n, r)
        Embeddings of the nodes, or node numbers 0 … n-1 for a kernel that takes them (``adjacency``, ``precomputed``).
    y : array-like of shape (n,)
        Classes.
    solver : str or estimator
        A classifier, or the spec of one. The default is the one of Tao et al. (ICML 2024): LS-SVM, γ = 1, one-vs-rest.
        For ``ask-ls`` on a graph whose nodes link to other classes than their own, give it ``ensembler="stack"``: the
        average of its two views may cancel.
    train_size : float
        Fraction of the nodes whose classes are known.
    n_trials : int
        Number of random splits.
    random_state : int, Generator or None
        Of the splits.

    Returns
    -------
    dict
        ``micro_f1`` and ``macro_f1``, each of shape (n_trials,).

    Examples
    --------
    >>> from kernreg.datasets import make_directed_communities
    >>> from kernreg.kernels.indexed import adjacency
    >>> from kernreg.solvers import AsKLSClassifier
    >>> graph, y = make_directed_communities(200, 2, random_state=0)
    >>> solver = AsKLSClassifier(kernel=adjacency(graph=graph), gamma=0.5)
    >>> scores = classify_nodes(np.arange(200), y, solver, n_trials=2, random_state=0)
    >>> bool(scores["micro_f1"].min() > 0.8)
    True
    """
    from sklearn.base import clone

    from kernreg.factory import make_solver
    from kernreg.metrics import f1_scores

    if not 0.0 < train_size < 1.0:
        raise ParameterError(f"train_size={shown(train_size)} is not accepted; give a fraction between 0 and 1")
    rng = generator(random_state)
    X, y = X if is_sparse(X) else np.asarray(X), np.asarray(y)
    if X.shape[0] != len(y):
        raise DataError(f"X has {X.shape[0]} nodes and y {len(y)} classes; give one class for each node")
    scores = np.empty((n_trials, 2))
    for trial in range(n_trials):
        train, test = np.split(rng.permutation(len(y)), [int(train_size * len(y))])
        predicted = clone(make_solver(solver)).fit(X[train], y[train]).predict(X[test])
        scores[trial] = f1_scores(y[test], predicted)
    return {"micro_f1": scores[:, 0], "macro_f1": scores[:, 1]}
