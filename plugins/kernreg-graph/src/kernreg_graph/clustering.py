"""ksvd-cluster: nodes of a directed graph clustered by weighted kernel SVD, as sources and as targets.

Suykens, SVD revisited: a new variational principle, compatible feature maps and nonlinear extensions, ACHA 40 (2016).
Achten, Tonin, Cevher, Patrinos & Suykens, HeNCler: node clustering in heterophilous graphs through learned asymmetric
similarity, 2024 (weighted kernel SVD). Dhillon, KDD 2001, for two-sided graphs; Chaudhuri, Chung & Tsiatas, COLT 2012,
and Amini, Chen, Bickel & Levina, Annals of Statistics 41 (2013), for the regularisation.

Let S_ij ≥ 0 say how strongly i points to j: the edges of a graph, or an asymmetric kernel. With the out-degrees
D_s = diag(S1) and the in-degrees D_t = diag(Sᵀ1) as weights, kernel SVD is

    D_s^(-1/2) S D_t^(-1/2) = U Σ Vᵀ

The first pair, σ = 1, is trivial: u = D_s^½ 1, v = D_t^½ 1. Rows of D_s^(-1/2) U Σ embed nodes by where they point to,
rows of D_t^(-1/2) V Σ by what points to them. k-means clusters sources, targets, and both together.

Sparse graphs fall into many small parts, each with a singular value 1 of its own, and no part is a cluster. S is
therefore regularised: every pair gets τ/n of the mean degree, which is a matrix of rank one and never formed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.base import ClusterMixin
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize as unit_rows
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted

from kernreg import get_config
from kernreg.errors import DataError, ParameterError
from kernreg.linalg import legacy_seed
from kernreg.solvers import (
    Display,
    KernelParameters,
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_samples,
    check_table,
    warn_beyond_budget,
)
from kernreg_graph.graphs import inverse_or_zero

AFFINITIES = ("kernel", "graph")
EMBEDDINGS = ("directions", "scores", "vectors")
LABELS = ("both", "source", "target")

_MATRICES = 9  # held at once by LAPACK, the similarities among them
_DENSE = 600  # nodes up to which all singular triplets are computed at once


class KSVDCluster(ClusterMixin, KernelParameters):
    """Cluster samples or nodes by an asymmetric similarity, with k-means on both sides of weighted kernel SVD.

    Parameters
    ----------
    n_clusters : int
    affinity : {"kernel", "graph"}
        What `fit` gets: samples for the kernel, or the graph itself, a square matrix with ``graph[i, j] > 0`` where an
        edge leads from i to j.
    kernel : str, KernelFamily or Kernel, optional
        Any kernel without negative values. By default that of the chain around it, else ``sne``.
    n_components : int, optional
        Singular triplets beside the trivial one; by default as many as clusters.
    regularization : float
        τ: the part of the mean degree that every node gets as edges to all others.
    self_loops : bool
        With a graph: every node has an edge to itself, so that none is without edges.
    embedding : {"directions", "scores", "vectors"}
        What k-means sees: scores divided by their lengths, scores D^(-1/2) U Σ, or singular vectors.
    labels : {"both", "source", "target"}
        Which clusters ``labels_`` and `predict` tell: of the two embeddings side by side, or of one of them.
    n_init : int
        Starts of k-means.
    random_state : int, RandomState or None
        Of k-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
    source_labels_, target_labels_ : ndarray of shape (n,)
        By where nodes point to (rows), and by what points to them (columns).
    source_embedding_, target_embedding_ : ndarray of shape (n, r)
        What k-means saw.
    singular_values_ : ndarray of shape (r + 1,)
        The first is the trivial one, 1.
    solver_report_ : ClusterReport

    Examples
    --------
    >>> from kernreg.datasets import make_directed_communities
    >>> from kernreg.metrics import nmi
    >>> graph, y = make_directed_communities(200, 2, random_state=0)
    >>> model = KSVDCluster(2, affinity="graph").fit(graph)
    >>> bool(nmi(y, model.labels_) > 0.9), model.source_labels_.shape
    (True, (200,))
    """

    default_kernel = "sne"

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        n_clusters: Any = 2,
        *,
        affinity: str = "kernel",
        kernel: Any = None,
        n_components: Any = None,
        regularization: Any = 0.25,
        self_loops: bool = True,
        embedding: str = "directions",
        labels: str = "both",
        n_init: int = 10,
        random_state: Any = 0,
    ):
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.kernel = kernel
        self.n_components = n_components
        self.regularization = regularization
        self.self_loops = self_loops
        self.embedding = embedding
        self.labels = labels
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> KSVDCluster:
        """Cluster samples, or the nodes of a graph.

        Parameters
        ----------
        X : samples of the kernel, or a square array or sparse matrix
        y : not used
        """
        check_choice("affinity", self.affinity, AFFINITIES)
        check_choice("embedding", self.embedding, EMBEDDINGS)
        check_choice("labels", self.labels, LABELS)
        check_flag("self_loops", self.self_loops)
        n_init = check_count("n_init", self.n_init)
        S = self._similarities(X)
        n = S.shape[0]
        if y is not None:
            check_consistent_length(S, y)
        clusters, components = self._counts(n)
        tau = check_number("regularization", self.regularization, open_low=False)
        weighted = WeightedSimilarity.of(S, tau)
        U, values, V = weighted.triplets(min(components + 1, n))
        self.singular_values_ = values
        self._affinity, self._embedding, self._side = self.affinity, self.embedding, self.labels
        self._row_weights, self._column_weights, self._added = weighted.rows, weighted.columns, weighted.added
        self._left, self._right = U, V
        self.source_embedding_ = self._embedded(U * values, weighted.rows)
        self.target_embedding_ = self._embedded(V * values, weighted.columns)
        sides = {"source": self.source_embedding_, "target": self.target_embedding_}
        sides["both"] = np.hstack(list(sides.values()))
        random = check_random_state(legacy_seed(self.random_state))
        found = {
            name: KMeans(clusters, n_init=n_init, random_state=random).fit(points) for name, points in sides.items()
        }
        self.source_labels_, self.target_labels_ = found["source"].labels_, found["target"].labels_
        self.labels_ = found[self.labels].labels_
        self._kmeans = found[self.labels]
        self.solver_report_ = ClusterReport(n, components, tau, float(self._kmeans.inertia_))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the clusters of new samples, by their similarities to the training samples, from and to them.

        Parameters
        ----------
        X : samples of the kernel; of a graph, a matrix with a row of edges to the training nodes for each new node
            New nodes of a graph are told by where they point to: for ``labels="source"`` only.
        """
        check_is_fitted(self)
        if self._affinity == "graph" and self._side != "source":
            raise ParameterError(
                f"new nodes come with the edges that lead from them, which tell clusters of sources; this model was "
                f"fitted with labels={self._side!r}. Use labels='source'"
            )
        if self._affinity == "graph":
            outgoing, incoming = _nonnegative(check_table(self, X, reset=False)), None
        else:
            new = check_samples(self, X, self.kernel_, reset=False)
            outgoing = _nonnegative(self.kernel_(new, self._samples_fit))
            incoming = _nonnegative(self.kernel_(self._samples_fit, new)).T
        sides = {
            "source": lambda: self._new_scores(outgoing, self._column_weights, self._right),
            "target": lambda: self._new_scores(incoming, self._row_weights, self._left),
        }
        names = ("source", "target") if self._side == "both" else (self._side,)
        return self._kmeans.predict(np.hstack([sides[name]() for name in names]))

    # Steps --------------------------------------------------------------------------------------------------

    def _similarities(self, X: Any) -> Any:
        """Return the matrix S, dense or CSR, without negative entries."""
        if self.affinity == "graph":
            A: Any = _nonnegative(check_table(self, X, ensure_min_samples=2))
            if A.shape[0] != A.shape[1]:
                raise DataError(f"X has shape {A.shape}; with affinity='graph' it is square, a row for each node")
            if not self.self_loops:
                return A
            loops = sp.eye_array(A.shape[0], format="csr")
            return sp.csr_array(A + loops) if hasattr(A, "tocsr") else A + np.eye(A.shape[0])
        kernel = self.resolve_kernel()
        samples = check_samples(self, X, kernel, reset=True)
        if np.shape(samples)[0] < 2:
            raise DataError(f"n_samples={np.shape(samples)[0]}; clusters need at least 2 samples")
        self.kernel_, self._samples_fit = kernel.bind(samples), samples
        return _nonnegative(self.kernel_(samples))

    def _counts(self, n: int) -> tuple[int, int]:
        counts: list[int] = []
        for name, given in (("n_clusters", self.n_clusters), ("n_components", self.n_components)):
            value = counts[0] if given is None and counts else given
            counts.append(check_count(name, value))
        if counts[0] > n:
            raise DataError(f"n_samples={n} should be >= n_clusters={counts[0]}")
        return counts[0], min(counts[1], n - 1)

    def _embedded(self, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return what k-means sees of U Σ or V Σ: without the first pair, which is the same for every node."""
        scores = scores[:, 1:]
        if self._embedding == "vectors":
            return scores / np.maximum(self.singular_values_[1:], np.finfo(float).eps)
        scores = scores * weights[:, None]
        return unit_rows(scores) if self._embedding == "directions" else scores

    def _new_scores(self, block: Any, weights: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """Return the embedding of new rows of S: D^(-1/2) S D'^(-1/2) V."""
        degrees = np.asarray(block.sum(axis=1)).ravel() + self._added * len(weights)
        own = inverse_or_zero(np.sqrt(degrees))
        scaled = weights[:, None] * vectors
        scores = own[:, None] * (np.asarray(block @ scaled) + self._added * scaled.sum(axis=0))
        return self._embedded(scores, own)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        of_graph = isinstance(self.affinity, str) and self.affinity == "graph"
        tags.input_tags.pairwise = tags.input_tags.positive_only = of_graph
        return tags


@dataclass(frozen=True)
class ClusterReport(Display):
    """How nodes were clustered.

    Attributes
    ----------
    size, components : int
        Nodes, and singular triplets beside the trivial one.
    regularization : float
    inertia : float
        Of k-means, for `labels_`.
    """

    size: int
    components: int
    regularization: float
    inertia: float


@dataclass(frozen=True)
class WeightedSimilarity:
    """D_s^(-1/2) (S + added) D_t^(-1/2) as products.

    Attributes
    ----------
    S : array or CSR
    rows, columns : ndarray of shape (n,)
        D_s^(-1/2) and D_t^(-1/2), zero for a node without edges.
    added : float
        What regularisation adds to every entry of S.
    """

    S: Any
    rows: np.ndarray
    columns: np.ndarray
    added: float

    @classmethod
    def of(cls, S: Any, tau: float) -> WeightedSimilarity:
        """Return the similarities weighted by degrees, regularised by a part of the mean degree."""
        n = S.shape[0]
        outgoing, incoming = (np.asarray(S.sum(axis=axis), dtype=np.float64).ravel() for axis in (1, 0))
        added = tau * float(outgoing.mean()) / n
        rows, columns = (inverse_or_zero(np.sqrt(degrees + n * added)) for degrees in (outgoing, incoming))
        return cls(S, rows, columns, added)

    def triplets(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the leading singular triplets; the largest entry of each left vector is positive."""
        n = self.S.shape[0]
        fits = 8 * _MATRICES * n * n <= get_config().memory_budget()
        if count >= n - 1 or (n <= _DENSE and fits):
            what = f"all singular triplets of {n} samples"
            warn_beyond_budget(8 * _MATRICES * n * n, what, "take fewer components (n_components)", stacklevel=4)
            dense = self.S.toarray() if hasattr(self.S, "toarray") else self.S
            U, values, Vt = linalg.svd(self.rows[:, None] * (dense + self.added) * self.columns, full_matrices=False)
        else:
            start = np.random.default_rng(0).standard_normal(n)
            U, values, Vt = svds(self._operator(), count, v0=start, solver="arpack")
            order = np.argsort(-values, kind="stable")
            U, values, Vt = U[:, order], values[order], Vt[order]
        U, values, V = U[:, :count], values[:count], Vt[:count].T
        signs = np.sign(U[np.abs(U).argmax(axis=0), np.arange(count)])
        return U * signs, values, V * signs

    def _operator(self) -> LinearOperator:
        def product(x: np.ndarray) -> np.ndarray:
            x = self.columns * np.ravel(x)
            return self.rows * (self.S @ x + self.added * x.sum())

        def adjoint(x: np.ndarray) -> np.ndarray:
            x = self.rows * np.ravel(x)
            return self.columns * (self.S.T @ x + self.added * x.sum())

        return LinearOperator(self.S.shape, matvec=product, rmatvec=adjoint, dtype=np.float64)


def _nonnegative(S: Any) -> Any:
    """Return similarities in double precision; raise DataError where one is negative."""
    smallest = float((S.data if hasattr(S, "tocsr") else S).min(initial=0.0))
    if smallest < 0.0:
        raise DataError(
            f"Negative values in data: a similarity is {smallest:g}, and degrees are sums of similarities. Take a "
            "kernel or a graph without negative values, such as 'sne' or 'rbf'"
        )
    return S.astype(np.float64, copy=False)
