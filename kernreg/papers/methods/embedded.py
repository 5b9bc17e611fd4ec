"""Embeddings of the nodes of a directed graph, made without labels, then LS-SVM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg.errors import ParameterError
from kernreg.graphs import graph_samples
from kernreg.kernels.builtin import rbf, sne
from kernreg.papers.description import Outcome
from kernreg.papers.splitting import Split
from kernreg.solvers import LSSVC, KernelPCA, KernelSVD, tune

#: The last embedding that was made in this process: trials of a row differ in their splits only.
_LAST: dict[str, Any] = {}


def embed_and_classify(
    split: Split,
    *,
    embedding: str | Sequence[str],
    components: int,
    width: float | Sequence[float],
    kernels: Sequence[str],
    gamma: str | Sequence[float],
) -> Outcome:
    """Embed all nodes, then classify by LS-SVM, one class against the rest.

    Parameters
    ----------
    split : Split
    embedding : {"pca", "kpca", "svd", "ksvd"} or sequence of them
        Of several embeddings, widths and kernels the best by leave-one-out is taken.
    components : int
        Of each side; fewer where there are fewer nodes.
    width : float or sequence of float
        σ of RBF and SNE as a multiple of √(n v), v the variance of the entries of the adjacency matrix.
    kernels : sequence of str
        Of the LS-SVM: ``"linear"``, ``"rbf"``.
    gamma : "loo" or sequence of float
    """
    kinds = [embedding] if isinstance(embedding, str) else list(embedding)
    widths = list(width) if isinstance(width, Sequence) else [width]
    best: Any = None
    for kind in kinds:
        for factor in widths if kind in ("kpca", "ksvd") else widths[:1]:
            E = embed(split.graph, kind, components, factor)
            gammas = gamma if isinstance(gamma, str) else list(gamma)
            # After division by the mean length, widths of about one suit the RBF kernel.
            grid: dict[str, Any] = {"kernel": [*_classifiers(kernels)], "gamma": gammas}
            found = tune(LSSVC(), grid, E[split.X_train], split.y_train)
            if best is None or found.best_score > best[0]:
                chosen = {"embedding": kind, "width": factor, **found.best_params, "loo_score": found.best_score}
                best = found.best_score, found.best_estimator.predict(E[split.X_test]), chosen
    return Outcome(best[1], best[2])


def _classifiers(kernels: Sequence[str]) -> list[str]:
    made = []
    for kernel in kernels:
        if kernel not in ("linear", "rbf"):
            raise ParameterError(f"kernel {kernel!r} is not accepted here; give 'linear' or 'rbf'")
        made += ["linear"] if kernel == "linear" else [f"rbf(sigma={sigma})" for sigma in (0.5, 1.0, 2.0)]
    return made


def embed(graph: Any, kind: str, components: int, width: float) -> np.ndarray:
    """Return an embedding of all nodes, divided by its mean length (root of the mean square)."""
    A, B = graph_samples(graph)
    key = (kind, components, width, A.shape, A.indices.tobytes(), A.indptr.tobytes())
    if _LAST.get("key") != key:
        E = _embed(A, B, kind, components, width)
        _LAST.update(key=key, value=E / np.sqrt((E**2).sum(axis=1).mean()))
    return np.asarray(_LAST["value"])


def _embed(A: sp.csr_array, B: sp.csr_array, kind: str, components: int, width: float) -> np.ndarray:
    n = A.shape[0]
    r = min(components, n - 1)
    share = A.sum() / n**2
    sigma = width * float(np.sqrt(n * share * (1.0 - share)))
    if kind == "pca":
        return KernelPCA("linear", r).fit_transform(A.toarray())
    if kind == "kpca":
        return KernelPCA(rbf(sigma=sigma), r).fit_transform(A.toarray())
    if kind == "svd":
        # The plain SVD of A: nodes as sources U Λ and as targets V Λ.
        U, s, V = np.linalg.svd(A.toarray())
        return np.hstack([U[:, :r] * s[:r], V[:r].T * s[:r]])
    if kind == "ksvd":
        found = KernelSVD(sne(sigma=sigma), r, svd_solver="dense").fit((A.toarray(), B.toarray()))
        return np.hstack([found.left_scores_, found.right_scores_])
    raise ParameterError(f"embedding={kind!r} is not accepted; give 'pca', 'kpca', 'svd' or 'ksvd'")
