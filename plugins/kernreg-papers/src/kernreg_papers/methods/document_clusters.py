"""Clusters of documents and of terms: embeddings of rows and columns of a document-term matrix, then k-means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from kernreg.metrics import coherence
from kernreg.solvers import KernelBiclustering, KernelPCA
from kernreg_papers.data.splits import Split
from kernreg_papers.description import Outcome


def bicluster(split: Split, *, candidates: Sequence[Mapping[str, Any]], n_init: int) -> Outcome:
    """Cluster by `KernelBiclustering`, of several settings with the one whose clusters of terms cohere most.

    Parameters
    ----------
    split : Split
        All documents are test samples: there is nothing to learn from. ``options["clusters"]`` are the numbers of
        clusters of documents and of terms.
    candidates : sequence of mapping
        Parameters of `KernelBiclustering`. Coherence needs no labels.
    n_init : int
        Starts of k-means.
    """
    A = _counts(split)
    best: Any = None
    for candidate in candidates:
        model = KernelBiclustering(
            tuple(split.options["clusters"]), n_init=n_init, random_state=split.seed % 2**32, **candidate
        ).fit(A)
        score = _coherence(A, model.column_labels_)
        if best is None or score > best[0]:
            best = score, model.row_labels_, dict(candidate)
    return Outcome(best[1], best[2], {"coherence": best[0]})


def two_kpca_clusters(split: Split, *, sigma: float, n_init: int) -> Outcome:
    """Cluster rows, then columns, each by k-means on kernel principal components with the RBF kernel.

    Rows and columns are divided by their lengths, so that one bandwidth suits every matrix, and there are as many
    components as clusters.
    """
    A = _counts(split)
    labels = []
    for X, clusters in zip((A, sp.csr_array(A.T)), split.options["clusters"], strict=True):
        unit = normalize(X)
        r = max(split.options["clusters"])
        model = KernelPCA(f"rbf(sigma={sigma})", r).fit(unit if X.shape[0] > 5000 else unit.toarray())
        vectors = model.transform(unit if X.shape[0] > 5000 else unit.toarray())
        vectors = vectors / np.linalg.norm(vectors, axis=0)
        labels.append(KMeans(clusters, n_init=n_init, random_state=split.seed % 2**32).fit_predict(vectors))
    return Outcome(labels[0], {}, {"coherence": _coherence(A, labels[1])})


def _counts(split: Split) -> sp.csr_array:
    """Return the matrix without terms that no document has: a subset of documents leaves some of them."""
    A = sp.csr_array(split.X_test)
    return sp.csr_array(A[:, np.flatnonzero(A.sum(axis=0) > 0)])


def _coherence(A: sp.csr_array, labels: np.ndarray) -> float:
    return coherence(A, labels) if len(np.unique(labels)) > 1 else 0.0
