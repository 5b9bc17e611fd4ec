"""Support vector machines on symmetric kernels that are not positive semi-definite: the rivals of AsK-LS on graphs.

c_svm      C-SVM on the kernel as it is, or with its spectrum flipped, clipped or shifted
krein_svm  KSVM: the stationary point of the C-SVM in a Kreĭn space, by the plugin kernreg-krein
dc_svm     IKSVM-DC: the primal as a difference of convex functions, by the same
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from kernreg_krein import IndefiniteDCSVC, KreinSVC
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

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


def krein_svm(split: Split, *, C: float) -> Outcome:
    """KSVM of Loosli, Canu & Ong (TPAMI 2016), `krein-svm` of kernreg-krein, on (G + Gᵀ)/2.

    The decision uses the kernel as it is. Where c_svm flips the spectrum and takes the rows of test nodes along, it is
    the same function.
    """
    model = KreinSVC(symmetrize(graph_kernel(split)), C=C, strategy="exact").fit(split.X_train, split.y_train)
    return Outcome(model.predict(split.X_test), {"residual": model.solver_report_.residual})


def dc_svm(split: Split, *, C: float, max_iter: int, rho: float | str = "norm") -> Outcome:
    """IKSVM-DC of Xu, Xue, Chen & Wang (AAAI 2017), `iksvm-dc` of kernreg-krein, by products with (G + Gᵀ)/2.

    The objective is not bounded below. What keeps β small is that it starts from zero and takes few steps; ρ = ‖K‖
    makes them short.
    """
    kernel = symmetrize(graph_kernel(split))
    options: dict[str, Any] = {"strategy": "iterative", "on_unbounded": "ignore"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # few steps are what is asked for
        model = IndefiniteDCSVC(kernel, C, rho=rho, max_iter=max_iter, **options).fit(split.X_train, split.y_train)
    chosen = {"rho": model.rho_, "steps": model.n_iter_, "unbounded": model.unbounded_.tolist()}
    return Outcome(model.predict(split.X_test), chosen)


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
