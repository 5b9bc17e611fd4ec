"""Embeddings of the nodes of a directed graph, made without labels: LS-SVM classifies them, and edges come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from kernreg import make_kernel
from kernreg.errors import ParameterError
from kernreg.graphs import graph_samples, reconstruct_graph
from kernreg.metrics import induced_norms
from kernreg.solvers import LSSVC, KernelPCA, KernelSVD, linear_svd, tune
from kernreg_papers.data.splits import Split
from kernreg_papers.description import Outcome
from kernreg_papers.methods.candidates import choosing_samples
from kernreg_papers.methods.graphs.accuracy_times import bandwidth
from kernreg_papers.methods.graphs.node_classification import walks

#: Up to so many nodes matrices are dense.
DENSE = 5000

#: Of more training nodes so many choose kernel and γ: leave-one-out needs all eigenvalues.
CHOOSING = 3000

#: The last embeddings that were made in this process: trials of a row differ in their splits only. As many as the
#: columns of a table need, and no more: processes that grow much are ended by joblib, and begin again without any.
_MADE: dict[Any, dict[str, Any]] = {}
_KEPT = 5


def embed_and_classify(
    split: Split,
    *,
    embedding: str | Sequence[str],
    components: int,
    width: float | Sequence[float],
    kernels: Sequence[str],
    gamma: str | Sequence[float],
    measure: str,
) -> Outcome:
    """Embed all nodes; classify by LS-SVM, one class against the rest, and reconstruct the graph.

    Parameters
    ----------
    split : Split
        ``options["components"]`` where a graph is too large for the number asked for.
    embedding : {"pca", "kpca", "svd", "ksvd", "symmetric"} or sequence of them
        Of several embeddings, widths and kernels the best by leave-one-out is taken for classification, and the one
        with the smallest ℓ1 for reconstruction.
    components : int
        Of each side; fewer where there are fewer nodes.
    width : float or sequence of float
        σ of RBF and SNE as a multiple of √(n v), v the variance of the entries of the adjacency matrix.
    kernels : sequence of str
        Of the LS-SVM: ``"linear"``, ``"rbf"``.
    gamma : "loo" or sequence of float
    measure : {"near", "inner"}
        An edge leads to the nearest nodes by the distance of what is classified (singular vectors of both sides, each
        column of length one), or to those with the largest inner products of source and target scores.
    """
    kinds = [embedding] if isinstance(embedding, str) else list(embedding)
    widths = list(width) if isinstance(width, Sequence) else [width]
    r = int(split.options.get("components", components))
    train, y = np.asarray(split.X_train), split.y_train
    some = choosing_samples(len(train), CHOOSING, split.seed)
    best: Any = None
    norms: list[tuple[float, float]] = []
    for kind in kinds:
        for factor in widths if kind in ("kpca", "ksvd") else widths[:1]:
            made = embed(split.graph, kind, r, factor, measure)
            E = made["features"]
            norms.append(made["norms"])
            gammas = gamma if isinstance(gamma, str) else list(gamma)
            # After division by the mean length, widths of about one suit the RBF kernel.
            grid: dict[str, Any] = {"kernel": [*_classifiers(kernels)], "gamma": gammas}
            found = tune(LSSVC(), grid, E[train[some]], y[some])
            if best is None or found.best_score > best[0]:
                chosen = {"embedding": kind, "width": factor, **found.best_params, "loo_score": found.best_score}
                best = found.best_score, found.best_estimator, E, chosen
    _, model, E, chosen = best
    if len(some) < len(train):
        model = clone(model).set_params(gamma=model.gamma_).fit(E[train], y)
    l1, l2 = min(norms)
    return Outcome(model.predict(E[split.X_test]), chosen, {"l1": l1, "l2": l2})


def embed_or_walk(split: Split, *, walking: Mapping[str, Any], **embedding: Any) -> Outcome:
    """Classify as `embed_and_classify` does, or by AsK-LS on walks where cross-validation of training nodes says so.

    Parameters
    ----------
    split : Split
    walking : mapping
        Arguments of `walks`.
    **embedding
        Arguments of `embed_and_classify`, which also reconstructs the graph.
    """
    embedded, walked = embed_and_classify(split, **embedding), walks(split, **walking)
    if walked.chosen["cv_score"] <= embedded.chosen["loo_score"]:
        return embedded
    return Outcome(walked.predicted, {**walked.chosen, "instead_of": embedded.chosen}, embedded.scores)


def _classifiers(kernels: Sequence[str]) -> list[str]:
    made = []
    for kernel in kernels:
        if kernel not in ("linear", "rbf"):
            raise ParameterError(f"kernel {kernel!r} is not accepted here; give 'linear' or 'rbf'")
        made += ["linear"] if kernel == "linear" else [f"rbf(sigma={sigma})" for sigma in (0.5, 1.0, 2.0)]
    return made


def embed(graph: Any, kind: str, components: int, width: float, measure: str) -> dict[str, Any]:
    """Return the features of all nodes, of mean length (root of the mean square) one, and the error of the graph."""
    # Rows are cited nodes, and each node has an edge to itself, as in the authors' matrices. Without these edges a node
    # that is never cited has nothing that tells it from others, and one side alone cannot do what the paper prints.
    A, B = graph_samples(graph.T, self_loops=True)
    key = (kind, components, width, A.shape, A.indices.tobytes(), A.indptr.tobytes())
    if key not in _MADE:
        while len(_MADE) >= _KEPT:
            _MADE.pop(next(iter(_MADE)))
        _MADE[key] = {"vectors": decompose(A, B, kind, components, width), "norms": {}}
    left, right, values = _MADE[key]["vectors"]
    norms = _MADE[key]["norms"]
    if measure not in norms:
        norms[measure] = _reconstruction(A, left, right, values, measure)
    E = np.hstack([left * values] if right is None else [left * values, right * values])
    E /= np.sqrt((E**2).sum(axis=1).mean())
    return {"features": E, "norms": norms[measure]}


def _reconstruction(A: sp.csr_array, left: Any, right: Any, values: Any, measure: str) -> tuple[float, float]:
    """Return ℓ1 and ℓ2 of the difference between a graph, edges from a node to itself left out, and what its embedding
    says of it.
    """
    A = sp.csr_array(A - sp.diags_array(A.diagonal()))
    A.eliminate_zeros()
    if measure == "inner":
        sources, targets = left * values, left * values if right is None else right * values
        rebuilt = reconstruct_graph(sources, targets, A, measure="inner")
    elif measure == "near":
        both = left if right is None else np.hstack([left, right])
        rebuilt = reconstruct_graph(both, both, A)
    else:
        raise ParameterError(f"measure={measure!r} is not accepted; give 'near' or 'inner'")
    return induced_norms(A - rebuilt)


def decompose(
    A: sp.csr_array, B: sp.csr_array, kind: str, components: int, width: float
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """Return left vectors, right vectors (None where there is one side only) and singular values of an embedding."""
    n = A.shape[0]
    r = min(components, n - 1)
    sigma = bandwidth(A, width)
    small = n <= DENSE
    X: Any = A.toarray() if small else A
    Z: Any = B.toarray() if small else B
    if kind in ("pca", "kpca"):
        scores = KernelPCA("linear" if kind == "pca" else make_kernel("rbf", sigma=sigma), r).fit_transform(X)
        lengths = np.linalg.norm(scores, axis=0)
        return scores / np.where(lengths > 0.0, lengths, 1.0), None, lengths
    if kind in ("svd", "symmetric"):
        found: Any = linear_svd(X if kind == "svd" else X + Z, r)
        return found.left, found.right if kind == "svd" else None, found.values
    if kind == "ksvd":
        kernel = make_kernel("sne", sigma=sigma)
        model = KernelSVD(kernel, r, scale=False, svd_solver="dense" if small else "auto").fit((X, Z))
        return model.left_vectors_, model.right_vectors_, model.singular_values_
    raise ParameterError(f"embedding={kind!r} is not accepted; give 'pca', 'kpca', 'svd', 'ksvd' or 'symmetric'")
