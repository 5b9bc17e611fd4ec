"""Classification of nodes by the graph alone: C-SVM, LS-SVM, corrected spectra, and AsK-LS merged in several ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from kernreg.errors import KernregError, ParameterError
from kernreg.kernels import Kernel, spectrum, symmetrize
from kernreg.kernels.indexed import adjacency, precomputed
from kernreg.papers.description import Outcome
from kernreg.papers.splitting import Split
from kernreg.solvers import LSSVC, AsKLSClassifier


def graph_kernel(split: Split) -> Kernel:
    """Return the authors' matrix where it is stored, else D⁻¹(Aᵀ + I) of the graph."""
    if split.kernel_matrix is not None:
        return precomputed(K=split.kernel_matrix)
    return adjacency(graph=split.graph)


def c_svm(split: Split, *, C: float, correction: str | None = None) -> Outcome:
    """C-SVM, one class against the rest, on (G + Gᵀ)/2, its spectrum clipped, flipped or shifted where asked for."""
    kernel = symmetrize(graph_kernel(split))
    if correction is not None:
        kernel = spectrum(kernel, method=correction).bind(split.X_train)
    model = OneVsRestClassifier(SVC(kernel="precomputed", C=C)).fit(kernel(split.X_train), split.y_train)
    return Outcome(model.predict(kernel(split.X_test, split.X_train)))


def ls_svm(split: Split, *, gamma: Sequence[float]) -> Outcome:
    """LS-SVM on (G + Gᵀ)/2; of several γ the best by leave-one-out."""
    model = LSSVC(kernel=symmetrize(graph_kernel(split)), gamma=list(gamma)).fit(split.X_train, split.y_train)
    return Outcome(model.predict(split.X_test), {"gamma": model.gamma_, "loo_score": model.loo_score_})


def ask_ls(split: Split, *, gamma: float, ensembler: str) -> Outcome:
    """AsK-LS, damped where γ is at a pole, its views merged by an ensembler of kernreg."""
    model = AsKLSClassifier(kernel=graph_kernel(split), gamma=gamma, on_pole="damp", ensembler=ensembler)
    model.fit(split.X_train, split.y_train)
    return Outcome(model.predict(split.X_test), {"damped": bool(model.solver_report_.damped)})


def stacked(split: Split, *, gamma: float, folds: int, symmetric: bool) -> Outcome:
    """The stacking of the authors' code, on the two views of AsK-LS or on the one of LS-SVM with (G + Gᵀ)/2.

    Views of training nodes come from models that were fitted without their fold; for each class a logistic regression
    learns from them. Views of test nodes are means over the models of all folds, and the most probable class wins.
    """
    kernel = symmetrize(graph_kernel(split)) if symmetric else graph_kernel(split)
    train, y = split.X_train, split.y_train
    classes = np.unique(y)
    n_views = 1 if symmetric else 2
    features, test = np.zeros((len(y), n_views, len(classes))), np.zeros((len(split.X_test), n_views, len(classes)))
    for rest, fold in KFold(folds, shuffle=True, random_state=split.seed).split(train):
        # AsK-LS is the LS-SVM where the kernel is symmetric, with twice the same view, and it can damp a pole.
        model = AsKLSClassifier(kernel=kernel, gamma=gamma, on_pole="damp").fit(train[rest], y[rest])
        if not np.array_equal(model.classes_, classes):
            raise ParameterError(f"a class has too few nodes for {folds} folds; take fewer folds or more nodes")
        features[fold] = _views(model, train[fold], n_views)
        test += _views(model, split.X_test, n_views) / folds
    probability = np.column_stack(
        [
            LogisticRegression(max_iter=1000).fit(features[:, :, c], y == classes[c]).predict_proba(test[:, :, c])[:, 1]
            for c in range(len(classes))
        ]
    )
    return Outcome(classes[probability.argmax(axis=1)])


def _views(model: Any, nodes: np.ndarray, count: int) -> np.ndarray:
    views = model.decision_views(nodes)
    table = np.stack([views["source"], views["target"]][:count], axis=1)
    return np.stack([-table, table], axis=2) if table.ndim == 2 else table


def walks(split: Split, *, lengths: Sequence[int], ensemblers: Sequence[str]) -> Outcome:
    """AsK-LS and LS-SVM on mean walks of several lengths over the graph; the best by leave-one-out accuracy.

    With P the row-normalised graph, directed as in the paper or with edges both ways, the kernel is the mean of
    P, …, P^l. Walks pass through test nodes, as the paper's own kernel does; labels of test nodes are not used.
    """
    one_way = sp.csr_array(graph_kernel(split)(np.arange(split.graph.shape[0])))
    two_ways = adjacency(graph=sp.csr_array(split.graph + split.graph.T))(np.arange(split.graph.shape[0]))
    best: Any = None
    skipped = []
    for name, P in (("one way", one_way), ("both ways", sp.csr_array(two_ways))):
        power, total = P, P
        for length in range(1, max(lengths) + 1):
            if length > 1:
                power = sp.csr_array(power @ P)
                total = total + power
            if length not in lengths:
                continue
            kernel = precomputed(K=(total / length).toarray())
            for ensembler in ensemblers:
                solver = AsKLSClassifier(kernel=kernel, gamma="loo", ensembler=ensembler)
                if ensembler == "symmetrized":
                    solver = LSSVC(kernel=symmetrize(kernel), gamma="loo")
                what = {"edges": name, "length": length, "ensembler": ensembler}
                try:
                    score = solver.fit(split.X_train, split.y_train).loo_score_
                except KernregError as error:
                    skipped.append(f"{what}: {error}")
                    continue
                if best is None or score > best[0]:
                    best = score, solver, what
    if best is None:
        raise ParameterError(f"no candidate could be fitted: {'; '.join(skipped)}")
    score, solver, what = best
    return Outcome(
        solver.predict(split.X_test), {**what, "gamma": solver.gamma_, "loo_score": score, "skipped": skipped}
    )
