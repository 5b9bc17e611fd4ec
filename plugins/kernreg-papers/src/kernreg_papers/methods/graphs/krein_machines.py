"""Support vector machines on symmetric kernels that are not positive semi-definite: the rivals of AsK-LS on graphs.

c_svm      C-SVM on the kernel as it is, or with its spectrum flipped, clipped or shifted
krein_svm  KSVM: the stationary point of the C-SVM in a Kreĭn space, by the plugin kernreg-krein
dc_svm     IKSVM-DC: the primal as a difference of convex functions, by the same
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from kernreg_krein import IndefiniteDCSVC, KreinSVC
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.svm import SVC

from kernreg import make_kernel
from kernreg.errors import ParameterError
from kernreg.kernels import symmetrize
from kernreg_papers.data.splits import Split
from kernreg_papers.description import Outcome
from kernreg_papers.methods.graphs.node_classification import graph_kernel

_latest: dict[str, Any] = {}


def c_svm(split: Split, *, C: float, correction: str | None = None) -> Outcome:
    """C-SVM, one class against the rest, on (G + Gᵀ)/2, its spectrum flipped, clipped or shifted where asked for.

    With K = U Λ Uᵀ of the training nodes, rows of test nodes are multiplied by the matrix that turned K into the
    corrected one, U f(Λ) Λ⁻¹ Uᵀ; a shift moves the diagonal only, and leaves them as they are.
    """
    kernel = symmetrize(graph_kernel(split))
    K, rows = kernel(split.X_train), kernel(split.X_test, split.X_train)
    if correction is not None:
        values, U = eigenpairs(K)
        if correction == "shift":
            K = K + max(0.0, -float(values[0])) * np.eye(len(K))
        else:
            factor = {"flip": np.sign(values), "clip": (values > 0.0).astype(float)}[correction]
            K, rows = (U * (factor * values)) @ U.T, ((rows @ U) * factor) @ U.T
    return _one_against_the_rest(split, lambda y: _libsvm(K, rows, y, C))


def krein_svm(split: Split, *, C: Sequence[float], folds: int, all_nodes: bool = False) -> Outcome:
    """KSVM of Loosli, Canu & Ong (TPAMI 2016), `krein-svm` of kernreg-krein, on (G + Gᵀ)/2; C by cross-validation.

    The decision uses the kernel as it is. Where c_svm flips the spectrum and takes the rows of test nodes along, it is
    the same function. With ``all_nodes`` the associated Hilbert space is that of the whole graph, test nodes included,
    and training nodes are a part of it.
    """
    kernel = symmetrize(graph_kernel(split))
    if all_nodes:
        nodes = np.sort(np.concatenate([split.X_train, split.X_test]).ravel())
        values, U = eigenpairs(kernel(nodes))
        whole = np.zeros((nodes[-1] + 1,) * 2)
        whole[np.ix_(nodes, nodes)] = (U * np.abs(values)) @ U.T
        kernel = make_kernel("precomputed", K=whole)
    found, chosen = _cross_validated(split, [KreinSVC(kernel, C=value, strategy="exact") for value in C], folds)
    return Outcome(found.predict(split.X_test), {**chosen, "residual": found.solver_report_.residual})


def dc_svm(split: Split, *, C: Sequence[float], folds: int, max_iter: int, rho: float | str = "norm") -> Outcome:
    """IKSVM-DC of Xu, Xue, Chen & Wang (AAAI 2017), `iksvm-dc` of kernreg-krein, by products with (G + Gᵀ)/2.

    The objective is not bounded below. What keeps β small is that it starts from zero and takes few steps; ρ = ‖K‖
    makes them short. C by cross-validation.
    """
    kernel = symmetrize(graph_kernel(split))
    options: dict[str, Any] = {"rho": rho, "max_iter": max_iter, "strategy": "iterative", "on_unbounded": "ignore"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # few steps are what is asked for
        found, chosen = _cross_validated(split, [IndefiniteDCSVC(kernel, value, **options) for value in C], folds)
    chosen |= {"rho": found.rho_, "steps": found.n_iter_, "unbounded": found.unbounded_.tolist()}
    return Outcome(found.predict(split.X_test), chosen)


def _cross_validated(split: Split, models: list[Any], folds: int) -> tuple[Any, dict[str, Any]]:
    """Return the model of the best accuracy in folds of the training nodes, fitted to all of them, and its C."""
    train, y = split.X_train, split.y_train
    if len(models) == 1:
        return models[0].fit(train, y), {"C": models[0].C}
    cut = list(KFold(folds, shuffle=True, random_state=split.seed).split(train))
    scores = [
        float(np.mean([model.fit(train[rest], y[rest]).score(train[fold], y[fold]) for rest, fold in cut]))
        for model in models
    ]
    best = int(np.argmax(scores))
    return models[best].fit(train, y), {"C": models[best].C, "cv_score": scores[best]}


def eigenpairs(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues, ascending, and eigenvectors; those of the latest matrix are kept for the next column."""
    key = hashlib.sha256(K.tobytes()).hexdigest()
    if key not in _latest:
        _latest.clear()
        _latest[key] = np.linalg.eigh(K)
    found: tuple[np.ndarray, np.ndarray] = _latest[key]
    return found


def _libsvm(K: np.ndarray, rows: np.ndarray, y: np.ndarray, C: float) -> np.ndarray:
    return np.asarray(SVC(kernel="precomputed", C=C).fit(K, y).decision_function(rows))


def _one_against_the_rest(split: Split, decide: Callable[[np.ndarray], np.ndarray]) -> Outcome:
    classes = np.unique(split.y_train)
    if len(classes) < 2:
        raise ParameterError(f"all training nodes are of class {classes[0]}; there is nothing to tell apart")
    return Outcome(classes[np.column_stack([decide(split.y_train == c) for c in classes]).argmax(axis=1)])
