"""Classification of nodes by the graph alone: C-SVM, LS-SVM, and AsK-LS merged in several ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score

from kernreg import make_kernel
from kernreg.kernels import Kernel, symmetrize
from kernreg.solvers import LSSVC, AsKLSClassifier
from kernreg_papers.data.splits import Split
from kernreg_papers.description import Outcome
from kernreg_papers.methods.graphs.pole_damping import Blocks, fold_views, solve_damped, stack_views, views_of

_PENALTIES = (0.01, 0.1, 1.0, 10.0)

#: Arguments of `walks` in every table that has them, and what the quick profile changes.
WALKING: dict[str, Any] = {"lengths": [1, 2, 3], "gamma": 1.0, "folds": 10}
WALKING_QUICK: dict[str, Any] = {"lengths": [1, 2], "folds": 3}


def graph_kernel(split: Split) -> Kernel:
    """Return the authors' matrix where it is stored, else D⁻¹(Aᵀ + I) of the graph."""
    if split.kernel_matrix is not None:
        kernel: Kernel = make_kernel("precomputed", K=split.kernel_matrix)
    else:
        kernel = make_kernel("adjacency", graph=split.graph)
    return kernel


def ls_svm(split: Split, *, gamma: Sequence[float], folds: int) -> Outcome:
    """LS-SVM on (G + Gᵀ)/2, by products with the graph; γ by cross-validation."""
    kernel, train, y = symmetrize(graph_kernel(split)), split.X_train, split.y_train
    models = [LSSVC(kernel=kernel, gamma=value, strategy="iterative") for value in gamma]
    cut = list(KFold(folds, shuffle=True, random_state=split.seed).split(train))
    scores = [
        float(np.mean([model.fit(train[rest], y[rest]).score(train[fold], y[fold]) for rest, fold in cut]))
        for model in models
    ]
    best = int(np.argmax(scores))
    chosen = {"gamma": gamma[best], "cv_score": scores[best]}
    return Outcome(models[best].fit(train, y).predict(split.X_test), chosen)


def ask_ls(split: Split, *, gamma: float, view: str) -> Outcome:
    """AsK-LS on all training nodes, damped as in the authors' code: its source or target view, or their mean."""
    classes, Y = _classes(split)
    blocks = graph_kernel(split).operator
    views = views_of(blocks, split.X_test, split.X_train, solve_damped(blocks(split.X_train), Y, gamma))
    decision = {"source": views[:, 0], "target": views[:, 1], "average": views.mean(axis=1)}[view]
    return Outcome(classes[decision.argmax(axis=1)])


def loo_stacked(split: Split, *, gamma: float) -> Outcome:
    """AsK-LS of kernreg, damped where γ is at a pole, and a logistic regression on its exact leave-one-out views."""
    model = AsKLSClassifier(
        kernel=graph_kernel(split), gamma=gamma, on_pole="damp", ensembler="stack(method='logistic')"
    )
    model.fit(split.X_train, split.y_train)
    return Outcome(model.predict(split.X_test), {"damped": bool(model.solver_report_.damped)})


def stacked(split: Split, *, gamma: float, folds: int, symmetric: bool) -> Outcome:
    """The stacking of the authors' code, on the two views of AsK-LS or on the one of LS-SVM with (G + Gᵀ)/2.

    Views of training nodes come from models that were fitted without their fold; for each class a logistic regression
    learns from them. Views of test nodes are means over the models of all folds, and the most probable class wins.
    """
    classes, Y = _classes(split)
    kernel = symmetrize(graph_kernel(split)) if symmetric else graph_kernel(split)
    inside, outside = fold_views(kernel.operator, split.X_train, Y, split.X_test, gamma, folds, split.seed)
    n_views = 1 if symmetric else 2  # of a symmetric kernel both views are the same
    return Outcome(classes[stack_views(inside[:, :n_views], outside[:, :n_views], Y)])


def _classes(split: Split) -> tuple[np.ndarray, np.ndarray]:
    classes, codes = np.unique(split.y_train, return_inverse=True)
    return classes, np.where(codes[:, None] == np.arange(len(classes)), 1.0, -1.0)


def walk_blocks(P: Any, length: int) -> Blocks:
    """Return products with blocks of the mean of P, …, Pˡ; no power is ever formed.

    >>> P = sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> walk_blocks(P, 2)(np.array([0]), np.array([0, 1])) @ np.eye(2)
    array([[0.5, 0.5]])
    """
    forward, backward = sp.csr_array(P), sp.csr_array(P.T)

    def products(matrix: Any, into: np.ndarray, out_of: np.ndarray, V: np.ndarray) -> np.ndarray:
        whole = np.zeros((matrix.shape[0], V.shape[1]))
        whole[into] = V
        total = np.zeros_like(whole)
        for _ in range(length):
            whole = matrix @ whole
            total += whole
        return total[out_of] / length

    def block(rows: np.ndarray, columns: np.ndarray) -> LinearOperator:
        return _Product(rows, columns, forward, backward, products)

    return block


class _Product(LinearOperator):
    def __init__(self, rows: np.ndarray, columns: np.ndarray, forward: Any, backward: Any, products: Any):
        self._rows, self._columns, self._forward, self._backward = rows, columns, forward, backward
        self._products = products
        # The stubs of scipy do not know the constructor that subclasses call.
        super().__init__(dtype=np.dtype(np.float64), shape=(len(rows), len(columns)))  # type: ignore[call-arg]

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        return self._products(self._forward, self._columns, self._rows, V)

    def _rmatmat(self, V: np.ndarray) -> np.ndarray:
        return self._products(self._backward, self._rows, self._columns, V)

    def _transpose(self) -> LinearOperator:
        return self.adjoint()  # P is real


def walks(split: Split, *, lengths: Sequence[int], gamma: float, folds: int) -> Outcome:
    """AsK-LS on walks of several lengths over the graph, and one logistic regression on all their views.

    With P the row-normalised graph, directed as in the paper or with edges both ways, a kernel is the mean of P, …, Pˡ.
    Walks pass through test nodes, as the paper's own kernel does; labels of test nodes are not used. How many lengths
    are taken together, and the penalty, are chosen by cross-validation on the out-of-fold views of training nodes.
    """
    classes, Y = _classes(split)
    codes = Y.argmax(axis=1)
    n = split.graph.shape[0]
    both = sp.csr_array(split.graph + split.graph.T)
    kernels: list[Blocks] = [graph_kernel(split).operator]
    P = sp.csr_array(sp.diags_array(1.0 / (both.sum(axis=1) + 1.0)) @ (both + sp.eye_array(n)))
    kernels += [walk_blocks(P, length) for length in lengths]
    inside: list[np.ndarray] = []
    outside: list[np.ndarray] = []
    best: Any = None
    for number, blocks in enumerate(kernels):
        found = fold_views(blocks, split.X_train, Y, split.X_test, gamma, folds, split.seed)
        for kept, views in zip((inside, outside), found, strict=True):
            kept.append(views.reshape(len(views), -1))
        if number == 0 and len(kernels) > 1:
            continue
        features = np.hstack(inside)
        for C in _PENALTIES:
            model = LogisticRegression(C=C, max_iter=1000)
            score = cross_val_score(model, features, codes, cv=3).mean()
            if best is None or score > best[0]:
                best = score, number + 1, C
    score, count, C = best
    model = LogisticRegression(C=C, max_iter=1000).fit(np.hstack(inside[:count]), codes)
    chosen = {"kernels": count, "C": C, "cv_score": float(score)}
    return Outcome(classes[model.predict(np.hstack(outside[:count]))], chosen)
