"""Link prediction: held-out edges of a graph, embeddings of its nodes, and how well these find the edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from kernreg.errors import DataError, ParameterError, shown
from kernreg.graphs.matrices import check_embedding, check_graph, graph_samples
from kernreg.linalg.randomness import generator


class EdgeSplit(NamedTuple):
    """A graph without some of its edges, and pairs of nodes of which half are these edges (label 1), half none (0).

    Examples
    --------
    >>> from kernreg.datasets import make_directed_communities
    >>> from kernreg.graphs import split_edges
    >>> graph, _ = make_directed_communities(60, 2, random_state=0)
    >>> split = split_edges(graph, test_size=0.1, random_state=0)
    >>> split.graph.nnz < graph.nnz, split.pairs.shape[1], float(split.labels.mean())
    (True, 2, 0.5)
    """

    graph: sp.csr_array
    pairs: np.ndarray
    labels: np.ndarray


def split_edges(graph: Any, test_size: float = 0.1, random_state: Any = 0) -> EdgeSplit:
    """Hold out edges of a graph, and draw as many pairs of nodes without an edge, for the test of link prediction.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n, n)
        Self loops are left out.
    test_size : float
        Fraction of the edges that is held out.
    random_state : int, Generator or None
        The same one gives the same split.

    Examples
    --------
    >>> split = split_edges(np.triu(np.ones((6, 6))), test_size=0.2)
    >>> split.graph.nnz, split.labels.tolist()
    (12, [1, 1, 1, 0, 0, 0])
    """
    if not 0.0 < test_size < 1.0:
        raise ParameterError(f"test_size={shown(test_size)} is not accepted; give a fraction between 0 and 1")
    rng = generator(random_state)
    A = check_graph(graph)
    A = sp.csr_array(A - sp.diags_array(A.diagonal()))
    A.eliminate_zeros()
    n, (rows, columns) = A.shape[0], A.nonzero()
    taken = rows * n + columns.astype(np.int64)
    wanted = max(1, round(test_size * len(taken)))
    if wanted >= len(taken) or wanted > n * (n - 1) - len(taken):
        raise DataError(
            f"the graph has {len(taken)} edges between {n} nodes; to hold out {wanted} of them there must be more, "
            "and as many pairs without an edge"
        )
    out = rng.permutation(len(taken))[:wanted]
    free = np.empty(0, dtype=np.int64)
    while len(free) < wanted:
        drawn = rng.integers(n * n, size=2 * wanted)
        drawn = drawn[(drawn // n != drawn % n) & ~np.isin(drawn, taken)]
        free = np.concatenate([free, drawn])
        free = free[np.sort(np.unique(free, return_index=True)[1])]
    codes = np.concatenate([taken[out], free[:wanted]])
    A.data[out] = 0.0
    A.eliminate_zeros()
    return EdgeSplit(A, np.column_stack([codes // n, codes % n]), np.repeat([1, 0], wanted))


def embed_nodes(graph: Any, n_components: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """Return embeddings of the nodes as sources and as targets, by kernel SVD of A + I.

    With I a node is near to itself, so that nodes which share neighbours are near to each other's. The inner product of
    a source and a target is the entry of the approximation of rank ``n_components``.

    Examples
    --------
    >>> from kernreg.datasets import make_directed_communities
    >>> graph, _ = make_directed_communities(60, 2, random_state=0)
    >>> sources, targets = embed_nodes(graph, 2)
    >>> sources.shape, targets.shape
    ((60, 2), (60, 2))
    """
    from kernreg.kernels.indexed import precomputed
    from kernreg.solvers import KernelSVD

    A = graph_samples(graph, self_loops=True)[0]
    n = A.shape[0]
    model = KernelSVD(precomputed(K=A), min(n_components, n), center=False, scale=False).fit(np.arange(n))
    return model.left_scores_, model.right_vectors_


def link_prediction(
    graph: Any,
    embed: Callable[[Any], tuple[Any, Any]] = embed_nodes,
    *,
    test_size: float = 0.1,
    n_trials: int = 1,
    random_state: Any = 0,
) -> dict[str, np.ndarray]:
    """Return how well inner products of embeddings find edges that were held out.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n, n)
    embed : callable
        From a graph to the embeddings of its nodes as sources and as targets: the scores of a fitted ``ksvd``, the two
        decision functions of ``ask-ls`` (`AsKLSClassifier.decision_views`), or any others.
    test_size, random_state
        As in `split_edges`.
    n_trials : int
        Number of random splits.

    Returns
    -------
    dict
        ``auc`` (area under the ROC curve) and ``ap`` (average precision), each of shape (n_trials,).

    Examples
    --------
    >>> from kernreg.datasets import make_directed_communities
    >>> graph, _ = make_directed_communities(200, 2, random_state=0)
    >>> bool(link_prediction(graph, lambda train: embed_nodes(train, 2))["auc"][0] > 0.6)
    True
    """
    from sklearn.metrics import average_precision_score, roc_auc_score

    rng = generator(random_state)
    scores = np.empty((n_trials, 2))
    for trial in range(n_trials):
        train, pairs, labels = split_edges(graph, test_size, rng)
        S, T = (check_embedding(side, "an embedding") for side in embed(train))
        found = np.einsum("ij,ij->i", S[pairs[:, 0]], T[pairs[:, 1]])
        scores[trial] = roc_auc_score(labels, found), average_precision_score(labels, found)
    return {"auc": scores[:, 0], "ap": scores[:, 1]}
