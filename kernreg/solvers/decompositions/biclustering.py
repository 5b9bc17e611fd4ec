"""Biclustering by kernel SVD: rows and columns of a data matrix clustered together.

Tao, Tonin, Lambert, Chen, Patrinos & Suykens, Learning in feature spaces via coupled covariances: asymmetric kernel SVD
and Nyström method, ICML 2024, section 4.2. Dhillon, Co-clustering documents and words using bipartite spectral graph
partitioning, KDD 2001 (the scaling).

The rows x_i and the columns z_j of a matrix A (documents and terms) are two sample sets. A kernel compares each row
with each column, kernel SVD embeds both, and k-means clusters each embedding. The steps before and after it:

scaling
    A is replaced by D₁^(-1/2) A D₂^(-1/2), D₁ and D₂ the sums of its rows and columns: frequent terms and long
    documents no longer dominate.
compatibility
    Rows have M features and columns N. ``a1`` projects the longer ones on their principal directions; see below.
lengths
    The side that was projected is longer by about √(N/M), and the more so the more frequent a term is. Samples of both
    sides are divided by their lengths, so that one bandwidth suits every matrix: ‖x - z‖² = 2 - 2 cos(x, z).
embedding
    k-means sees the singular vectors, the scores, or the scores divided by their lengths.

Principal directions C minimise ‖Z - Z C Cᵀ‖, and so does C R for every rotation R. A kernel of x and Cᵀz does see R. It
is taken such that the coordinates of projected columns mean what those of rows do: with A = U S Vᵀ and N ≥ M, C = U Vᵀ,
which makes the columns the rows of (AᵀA)^(1/2). No other C with orthonormal columns is nearer to A.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import linalg
from scipy.optimize import linear_sum_assignment
from sklearn.base import BiclusterMixin
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize as unit_rows
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted

from kernreg.common.checks import check_choice, is_whole, is_word
from kernreg.common.sizes import readable
from kernreg.config import memory_budget
from kernreg.engine.arrays import is_sparse
from kernreg.errors import DataError, MemoryBudgetError, ParameterError, shown
from kernreg.linalg.randomness import legacy_seed
from kernreg.solvers.decompositions.compatibility.fixed_maps import make_compatibility
from kernreg.solvers.decompositions.ksvd import KernelSVD
from kernreg.solvers.parameters import KernelParameters
from kernreg.solvers.tables import check_table

SCALINGS = ("auto", "bipartite", "none")
LENGTHS = ("both", "projected", "none")
COMPATIBILITIES = ("a0", "a1", "a2")
EMBEDDINGS = ("vectors", "scores", "directions")

_MOST_STARTS = 10_000  # of k-means
_CLUSTERS = 3  # by default


class KernelBiclustering(BiclusterMixin, KernelParameters):
    """Cluster rows and columns at once, by k-means on both embeddings of kernel SVD.

    Parameters
    ----------
    n_clusters : int or tuple of int, optional
        Clusters of rows and of columns; one number for both. By default 3, or as many as there are rows or columns.
    kernel : str, KernelFamily or Kernel, optional
        Compares rows with columns. Its bandwidth is relative to samples of length one, unless ``lengths="none"``.
        By default that of the chain around it, else ``sne(sigma=1.5)``.
    n_components : int or None
        Components of the embeddings; None for as many as there are clusters on the side that has more.
    scaling : {"auto", "bipartite", "none"}
        ``bipartite`` divides by square roots of the sums of rows and columns, and needs a matrix without negative
        entries. ``auto`` does so for counts, a matrix of non-negative whole numbers, and leaves anything else (TF-IDF
        weights, measurements) as it is. `scaling_` says what was done.
    compatibility : {"a1", "a0", "a2"}
        How rows and columns become comparable: principal directions (oriented as above), the pseudo-inverse (columns
        become unit vectors, and the matrix may stay sparse), random directions.
    lengths : {"both", "projected", "none"}
        Which samples are divided by their lengths: those of both sides; those of the projected side (the others by
        their root mean square, so that long documents keep more weight than short ones); none.
    embedding : {"vectors", "scores", "directions"}
        What k-means sees: singular vectors, scores (singular vectors times singular values), or the scores of each
        sample divided by their length.
    n_init : int
        Starts of k-means, of which the best is taken.
    random_state : int, RandomState or None
        Of k-means and of ``a2``.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of shape (N,) and (M,)
        Clusters of columns are numbered to match: number c is the one that weighs most in row cluster c, as far as
        pairs can be made.
    rows_, columns_ : ndarray of bool
        Of each bicluster, one for every pair of a row cluster and a column cluster, as in scikit-learn's
        SpectralBiclustering; together `biclusters_`.
    svd_ : KernelSVD
        Fitted to the two sample sets.
    row_embedding_, column_embedding_ : ndarray of shape (N, r) and (M, r)
        What k-means saw.
    row_kmeans_ : KMeans
        What `predict` asks.
    scaling_ : {"bipartite", "none"}
    solver_report_ : PartialReport
        Of the decomposition.

    See Also
    --------
    kernreg.metrics.coherence : how well clusters of terms hold together, without labels.

    Examples
    --------
    >>> from kernreg.datasets import make_documents
    >>> from kernreg.metrics import nmi
    >>> A, documents, terms = make_documents(within=0.3, random_state=0)
    >>> model = KernelBiclustering(3).fit(A)
    >>> round(nmi(documents, model.row_labels_), 2), round(nmi(terms, model.column_labels_), 2)
    (1.0, 1.0)
    >>> model.get_shape(0)
    (100, 40)
    """

    default_kernel = "sne(sigma=1.5)"

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        n_clusters: Any = None,
        *,
        kernel: Any = None,
        n_components: int | None = None,
        scaling: str = "auto",
        compatibility: str = "a1",
        lengths: str = "both",
        embedding: str = "vectors",
        n_init: int = 10,
        random_state: Any = 0,
    ):
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.n_components = n_components
        self.scaling = scaling
        self.compatibility = compatibility
        self.lengths = lengths
        self.embedding = embedding
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> KernelBiclustering:
        """Cluster the rows and the columns of a matrix.

        Parameters
        ----------
        X : array-like or CSR of shape (N, M)
        y : array-like of shape (N,), optional
            Not used.
        """
        check_choice("scaling", self.scaling, SCALINGS)
        check_choice("compatibility", self.compatibility, COMPATIBILITIES)
        check_choice("lengths", self.lengths, LENGTHS)
        check_choice("embedding", self.embedding, EMBEDDINGS)
        if not _is_count(self.n_init) or self.n_init > _MOST_STARTS:
            raise ParameterError(f"n_init is not accepted; give how often k-means starts, from 1 to {_MOST_STARTS}")
        A = check_table(self, X, ensure_min_samples=2, ensure_min_features=2)
        if y is not None:
            check_consistent_length(A, y)
        clusters = self._cluster_counts(A.shape)
        self._lengths, self._embedding = self.lengths, self.embedding
        A = self._fit_scaling(A)
        random = check_random_state(legacy_seed(self.random_state))
        rows, columns = self._two_sample_sets(A, random)
        components = self.n_components
        if components is None:
            components = min(max(clusters), *A.shape)
        self.svd_ = KernelSVD(self.resolve_kernel(), components).fit((rows, columns))
        self.solver_report_ = self.svd_.solver_report_
        self.row_embedding_ = self._embedded(self.svd_.left_scores_, self.svd_.left_scores_)
        self.column_embedding_ = self._embedded(self.svd_.right_scores_, self.svd_.right_scores_)
        self.row_kmeans_, column_kmeans = (
            KMeans(k, n_init=self.n_init, random_state=random).fit(points)
            for k, points in zip(clusters, (self.row_embedding_, self.column_embedding_), strict=True)
        )
        self.row_labels_ = self.row_kmeans_.labels_
        self.column_labels_ = _matched(A, self.row_labels_, column_kmeans.labels_, clusters)
        pairs = [(row, column) for row in range(clusters[0]) for column in range(clusters[1])]
        self.rows_ = np.stack([self.row_labels_ == row for row, _ in pairs])
        self.columns_ = np.stack([self.column_labels_ == column for _, column in pairs])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the cluster of each row of a matrix with the columns of the training matrix."""
        check_is_fitted(self)
        A = check_table(self, X, reset=False)
        rows = self._row_samples(self._scaled(A))
        points = self._embedded(self.svd_.transform(rows), self.svd_.left_scores_)
        return self.row_kmeans_.predict(points.astype(self.row_embedding_.dtype, copy=False))

    # Steps --------------------------------------------------------------------------------------------------

    def _cluster_counts(self, shape: tuple[int, int]) -> tuple[int, int]:
        given = tuple(min(_CLUSTERS, size) for size in shape) if self.n_clusters is None else self.n_clusters
        counts = tuple(given) if isinstance(given, tuple | list) else (given, given)
        if len(counts) != 2 or not all(map(_is_count, counts)):
            raise ParameterError(
                f"n_clusters={shown(given)} is not accepted; give a positive integer, or two: clusters of rows, of "
                "columns"
            )
        for k, size, what in zip(counts, shape, ("sample(s) (rows)", "feature(s) (columns)"), strict=True):
            if k > size:
                raise DataError(
                    f"X has {size} {what}, which cannot make {shown(k)} clusters; n_clusters={shown(given)} is too "
                    "large"
                )
        return int(counts[0]), int(counts[1])

    def _fit_scaling(self, A: Any) -> Any:
        entries = A.data if is_sparse(A) else A
        negative = bool(entries.min(initial=0.0) < 0.0)
        if negative and self.scaling == "bipartite":
            raise DataError(
                "Negative values in data passed to KernelBiclustering; scaling='bipartite' takes square roots of sums "
                "of rows and columns. Use scaling='none'"
            )
        counts = not negative and bool(np.all(entries == np.floor(entries)))
        self.scaling_ = "bipartite" if self.scaling == "bipartite" or (self.scaling == "auto" and counts) else "none"
        if self.scaling_ == "bipartite":
            self._column_weights = _inverse_roots(A, axis=0)
        self._unit = 1.0 if self._lengths == "none" else _unit(entries)
        return self._scaled(A)

    def _scaled(self, A: Any) -> Any:
        if self.scaling_ == "none":
            return A if self._unit == 1.0 else _divided(A, self._unit)
        if (A.data if is_sparse(A) else A).min(initial=0.0) < 0.0:
            raise DataError("X has negative entries, and the training matrix had none (scaling='bipartite')")
        rows, columns = _inverse_roots(A, axis=1), self._column_weights.astype(A.dtype)
        if is_sparse(A):
            return sp.csr_array(sp.diags_array(rows) @ A @ sp.diags_array(columns))
        return rows[:, None] * A * columns

    def _two_sample_sets(self, A: Any, random: np.random.RandomState) -> tuple[Any, Any]:
        """Return rows and columns as samples with the same number of features; keeps what maps new rows."""
        N, M = A.shape
        self._row_map, self._row_length = None, None
        if self.compatibility == "a2":
            seed = int(random.randint(np.iinfo(np.int32).max))
            found = make_compatibility("a2", A, A.T, rows_and_columns=True, random_state=seed)
            self._row_map = found.left
            columns = found.right_samples(A.T.tocsr() if is_sparse(A) else A.T)
        elif N >= M:
            columns = _unit_vectors(M, A) if self.compatibility == "a0" else _root(A.T @ A).astype(A.dtype)
        elif self.compatibility == "a0":
            self._row_map, columns = _pseudo_inverse(A), A.T
        else:  # rows are longer: they become those of (AAᵀ)^(1/2), by the map V Uᵀ = Aᵀ (AAᵀ)^(-1/2)
            self._row_map = (A.T @ _root(A @ A.T, inverse=True)).astype(A.dtype)
            columns = A.T
        columns = columns.tocsr() if is_sparse(columns) else np.ascontiguousarray(columns)
        if self.lengths == "projected" and self._row_map is None:
            self._row_length = _mean_length(A)
        if self.lengths == "both" or (self.lengths == "projected" and self._row_map is None):
            columns = unit_rows(columns)
        elif self.lengths == "projected":
            columns = _divided(columns, _mean_length(columns))
        return self._row_samples(A), columns

    def _row_samples(self, A: Any) -> Any:
        rows = A if self._row_map is None else A @ self._row_map
        if self._lengths == "none":
            return rows
        return unit_rows(rows) if self._row_length is None else _divided(rows, self._row_length)

    def _embedded(self, scores: np.ndarray, training_scores: np.ndarray) -> np.ndarray:
        if self._embedding == "directions":
            return unit_rows(scores)
        if self._embedding == "scores":
            return scores
        lengths = np.linalg.norm(training_scores, axis=0)  # the singular values
        return scores / np.where(lengths > 0.0, lengths, 1.0)

    def __kernreg_restored__(self) -> None:
        """Take from the parameters what model files of the first form do not say otherwise."""
        self.__dict__.setdefault("_lengths", self.lengths)
        self.__dict__.setdefault("_embedding", self.embedding)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = is_word(self.scaling, "bipartite")
        return tags


def _matched(A: Any, rows: np.ndarray, columns: np.ndarray, clusters: tuple[int, int]) -> np.ndarray:
    """Return the clusters of columns, numbered like those of the rows in which the scaled matrix has most weight."""
    members = [
        sp.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(k, len(labels)))
        for labels, k in zip((rows, columns), clusters, strict=True)
    ]
    weights = members[0] @ abs(A) @ members[1].T
    weights = weights.toarray() if is_sparse(weights) else np.asarray(weights)
    sizes = np.outer(members[0].sum(axis=1), members[1].sum(axis=1))
    _, paired = linear_sum_assignment(-weights / np.maximum(sizes, 1.0))  # in the order of the row clusters
    order = np.concatenate([paired, np.setdiff1d(np.arange(clusters[1]), paired)])
    return np.argsort(order)[columns].astype(columns.dtype)


def _is_count(value: Any) -> bool:
    whole = is_whole(value)
    return whole and int(value) >= 1


def _inverse_roots(A: Any, axis: int) -> np.ndarray:
    """Return 1/√ of the sums along an axis, and 0 for 0: what is empty stays empty."""
    sums = np.asarray(A.sum(axis=axis), dtype=np.float64).ravel()
    return np.divide(1.0, np.sqrt(sums), out=np.zeros_like(sums), where=sums > 0.0).astype(A.dtype)


def _unit(entries: np.ndarray) -> float:
    """Return what brings values whose products leave the range of numbers into it, else 1: lengths undo it."""
    largest = float(np.abs(entries).max(initial=0.0))
    safe = float(np.finfo(entries.dtype).max) ** 0.25
    return 1.0 if largest == 0.0 or 1.0 / safe < largest < safe else float(2.0 ** np.round(np.log2(largest)))


def _mean_length(samples: Any) -> float:
    """Return the root mean square of the lengths of samples, 1 where all are empty."""
    entries = samples.data if is_sparse(samples) else samples
    length = float(np.sqrt(np.square(entries, dtype=np.float64).sum() / samples.shape[0]))
    return length if length > 0.0 else 1.0


def _divided(samples: Any, length: float) -> Any:
    return (samples / length).astype(samples.dtype, copy=False)  # sparse float32 over a number is float64


def _unit_vectors(size: int, like: Any) -> Any:
    return sp.eye_array(size, dtype=like.dtype, format="csr") if is_sparse(like) else np.eye(size, dtype=like.dtype)


def _root(gram: Any, *, inverse: bool = False) -> np.ndarray:
    """Return the square root of a Gram matrix, or the pseudo-inverse of that."""
    size = gram.shape[0]
    needed, budget = 5 * 8 * size * size, memory_budget()
    if needed > budget:
        raise MemoryBudgetError(
            f"compatibility='a1' takes the square root of a {size} × {size} matrix, about {readable(needed)}, and the "
            f"memory budget is {readable(budget)}. Use 'a2', or raise it with kernreg.config_context(memory=…)"
        )
    dense = (gram.toarray() if is_sparse(gram) else gram).astype(np.float64)
    values, vectors = linalg.eigh(dense, check_finite=False)
    roots = np.sqrt(np.maximum(values, 0.0))
    if inverse:
        kept = values > size * np.finfo(gram.dtype).eps * values.max(initial=0.0)
        roots = np.divide(1.0, roots, out=np.zeros_like(roots), where=kept)
    return (vectors * roots) @ vectors.T


def _pseudo_inverse(A: Any) -> np.ndarray:
    return np.linalg.pinv((A.toarray() if is_sparse(A) else A).astype(np.float64)).astype(A.dtype)
