"""Measures the papers report and scikit-learn does not have, and scorers for biclusterings."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds
from sklearn.metrics import f1_score, normalized_mutual_info_score

from kernreg.engine.arrays import is_sparse
from kernreg.errors import DataError

__all__ = [
    "coherence",
    "coherence_scorer",
    "f1_scores",
    "induced_norms",
    "nmi",
    "nmi_scorer",
    "pmi",
    "singular_vector_error",
]

_DENSE = 500  # below this a full decomposition is quicker than a Krylov method, and has no starting vector


def pmi(X: Any) -> np.ndarray:
    """Return the pointwise mutual information of the columns of X that occur together.

    With C = XᵀX, the co-occurrences of terms, PMI[s, t] = log(C[s, t] ΣC / (Σ_t C[s, t] · Σ_s C[s, t])), and 0 for
    terms that never meet.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_documents, n_terms)
        Counts or weights, none negative.

    Returns
    -------
    ndarray of shape (n_terms, n_terms)

    Examples
    --------
    >>> pmi([[1, 1, 0], [0, 0, 1]]).round(3).tolist()
    [[0.223, 0.223, 0.0], [0.223, 0.223, 0.0], [0.0, 0.0, 1.609]]
    """
    A = sp.csr_array(X, dtype=np.float64)
    if A.data.size and (not np.isfinite(A.data).all() or A.data.min() < 0.0):
        raise DataError("X has negative, infinite or missing entries; a document-term matrix holds counts or weights")
    joint = np.asarray((A.T @ A).toarray())
    totals = joint.sum(axis=0)
    information = np.zeros_like(joint)
    met = joint > 0.0
    rows, columns = np.nonzero(met)
    information[met] = np.log(joint[met]) + np.log(joint.sum()) - np.log(totals[rows]) - np.log(totals[columns])
    return information


def coherence(X: Any, term_labels: Any) -> float:
    """Return the coherence of a clustering of terms: how much more those of a cluster occur together than with others.

    The mean over clusters, weighted by their sizes, of the mean PMI inside the cluster (every ordered pair, a term with
    itself included) minus the mean PMI between the cluster and all other terms.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_documents, n_terms)
    term_labels : array-like of shape (n_terms,)
        At least two clusters.

    References
    ----------
    Fettal, Labiod & Nadif, Efficient and effective optimal transport-based biclustering, NeurIPS 2022; used by Tao et
    al., Learning in feature spaces via coupled covariances, ICML 2024, table 2.

    Examples
    --------
    >>> X = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]]
    >>> round(coherence(X, [0, 0, 1, 1]), 4), round(coherence(X, [0, 1, 0, 1]), 4)
    (0.752, 0.0)
    """
    labels = np.asarray(term_labels)
    information = pmi(X)
    if labels.shape != (len(information),):
        raise DataError(
            f"term_labels has shape {labels.shape}; give one label for each of the {len(information)} columns of X"
        )
    clusters, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if len(clusters) < 2:
        raise DataError("term_labels has one cluster only; coherence compares clusters with each other")
    members = np.zeros((len(labels), len(clusters)))
    members[np.arange(len(labels)), codes] = 1.0
    sums = members.T @ information @ members  # of PMI over every pair of clusters
    inside = np.diag(sums) / sizes**2
    across = (sums.sum(axis=1) - np.diag(sums)) / (sizes * (len(labels) - sizes))
    return float((sizes / len(labels)) @ (inside - across))


def nmi(labels_true: Any, labels_pred: Any) -> float:
    """Return the mutual information of two clusterings over the arithmetic mean of their entropies.

    >>> nmi([0, 0, 1, 1], [5, 5, 3, 3])
    1.0
    """
    return float(normalized_mutual_info_score(labels_true, labels_pred))


def nmi_scorer(estimator: Any, X: Any, y: Any) -> float:
    """Score a fitted biclustering, or any clusterer with ``predict``, by the NMI of its clusters of rows with y.

    Examples
    --------
    >>> import kernreg as kr
    >>> from kernreg.datasets import make_documents
    >>> A, documents, _ = make_documents(60, 30, 2, within=0.4, random_state=0)
    >>> nmi_scorer(kr.make_solver("bicluster", n_clusters=2).fit(A), A, documents) > 0.9
    True
    """
    return nmi(y, estimator.predict(X))


def coherence_scorer(estimator: Any, X: Any, y: Any = None) -> float:
    """Score a fitted biclustering by the coherence of its clusters of columns on X; needs no targets.

    Examples
    --------
    >>> import kernreg as kr
    >>> from kernreg.datasets import make_documents
    >>> A, _, _ = make_documents(60, 30, 2, within=0.4, random_state=0)
    >>> coherence_scorer(kr.make_solver("bicluster", n_clusters=2).fit(A), A) > 0.2
    True
    """
    return coherence(X, estimator.column_labels_)


def f1_scores(y_true: Any, y_pred: Any) -> tuple[float, float]:
    """Return the micro and the macro F1 score, as tables of node classification print them.

    >>> f1_scores([0, 0, 1, 1], [0, 0, 1, 0])
    (0.75, 0.7333333333333334)
    """
    micro, macro = (float(f1_score(y_true, y_pred, average=average, zero_division=0)) for average in ("micro", "macro"))
    return micro, macro


def induced_norms(D: Any) -> tuple[float, float]:
    """Return ‖D‖₁, the largest column sum of |D|, and ‖D‖₂, the largest singular value.

    How far a reconstructed graph is from the true one, with D their difference.

    Parameters
    ----------
    D : array-like or sparse matrix

    Examples
    --------
    >>> induced_norms([[3.0, 0.0], [4.0, 0.0]])
    (7.0, 5.0)
    """
    A: Any = sp.csr_array(D, dtype=np.float64) if is_sparse(D) else np.asarray(D, dtype=np.float64)
    if A.ndim != 2 or 0 in A.shape:
        raise DataError(f"D has shape {A.shape}; induced norms are those of a matrix with rows and columns")
    one = float(np.asarray(abs(A).sum(axis=0)).max())
    if one == 0.0:
        return 0.0, 0.0
    if min(A.shape) <= _DENSE:
        dense = A.toarray() if is_sparse(A) else A
        return one, float(np.linalg.norm(dense, 2))
    start = np.random.default_rng(0).standard_normal(min(A.shape))  # the same result each time
    return one, float(svds(A, k=1, v0=start, return_singular_vectors=False)[0])


def singular_vector_error(left: Any, values: Any, right: Any, approximate_left: Any, approximate_right: Any) -> float:
    """Return η, the error of approximate singular vectors weighted by singular values.

    η = (1/r) Σ_i λ_i (1 - |u_iᵀũ_i| / ‖ũ_i‖) + (1/r) Σ_i λ_i (1 - |v_iᵀṽ_i| / ‖ṽ_i‖)

    Signs and lengths do not matter. Vectors of a repeated singular value are arbitrary within their space, and η counts
    that as an error.

    Parameters
    ----------
    left, right : array-like of shape (n, r) and (m, r)
        The exact singular vectors.
    values : array-like of shape (r,)
        The singular values λ.
    approximate_left, approximate_right : array-like of shape (n, r) and (m, r)

    References
    ----------
    Tao et al., Learning in feature spaces via coupled covariances, ICML 2024, section 4.4.

    Examples
    --------
    >>> U = np.eye(3)[:, :2]
    >>> singular_vector_error(U, [2.0, 1.0], U, -3.0 * U, U)
    0.0
    >>> singular_vector_error(U, [2.0, 1.0], U, U[:, ::-1], U)
    1.5
    """
    weights = np.asarray(values, dtype=np.float64)
    pairs = ((left, approximate_left, "left"), (right, approximate_right, "right"))
    error = 0.0
    for exact, approximate, side in pairs:
        E, A = np.asarray(exact, dtype=np.float64), np.asarray(approximate, dtype=np.float64)
        if E.ndim != 2 or E.shape != A.shape or weights.shape != (E.shape[1],):
            raise DataError(
                f"the {side} vectors have shape {E.shape}, their approximation {A.shape}, and there are "
                f"{weights.size} values; give (n, r) twice and r values"
            )
        lengths = np.linalg.norm(A, axis=0)
        cosine = np.abs(np.einsum("ij,ij->j", E, A)) / np.where(lengths > 0.0, lengths, 1.0)
        error += float(weights @ (1.0 - np.minimum(cosine, 1.0))) / len(weights)
    return error
