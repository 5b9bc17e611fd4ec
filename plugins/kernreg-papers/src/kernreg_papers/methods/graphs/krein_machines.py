"""Support vector machines on symmetric kernels that are not positive semi-definite: the rivals of AsK-LS on graphs.

c_svm      C-SVM on the kernel as it is, or with its spectrum flipped, clipped or shifted
krein_svm  KSVM: the stationary point of the C-SVM in a Krein space
dc_svm     IKSVM-DC: the primal as a difference of convex functions
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, eigsh
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
    """KSVM of Loosli, Canu & Ong (TPAMI 2016): solve the C-SVM on U|Λ|Uᵀ, and take its coefficients back by U S Uᵀ.

    S is the sign of Λ. The decision is f(x) = Σ_i α_i k(x, x_i) + b, with the kernel as it is. Where c_svm flips the
    spectrum and takes the rows of test nodes along, it is the same function.
    """
    kernel = symmetrize(graph_kernel(split))
    K, rows = kernel(split.X_train), kernel(split.X_test, split.X_train)
    values, U = eigenpairs(K)
    associated = (U * np.abs(values)) @ U.T

    def decide(y: np.ndarray) -> np.ndarray:
        model = SVC(kernel="precomputed", C=C).fit(associated, y)
        dual = np.zeros(len(y))
        dual[model.support_] = model.dual_coef_[0]
        return rows @ (U @ (np.sign(values) * (U.T @ dual))) + model.intercept_[0]

    return _one_against_the_rest(split, decide)


def dc_svm(split: Split, *, C: float, max_iter: int, tol: float = 1e-4) -> Outcome:
    """IKSVM-DC of Xu, Xue, Chen & Wang (AAAI 2017): min ½βᵀKβ + C Σ max(0, 1 - y_i f(x_i))², f = Kβ + b.

    With ρ ≥ -λ_min the objective is the convex ½βᵀ(K + ρI)β + C Σ max(0, ·)² minus the convex ½ρ‖β‖². Each step
    replaces the latter by its tangent at the last β and minimises, by products with the kernel only. The objective is
    not bounded below (along eigenvectors of small negative eigenvalues the loss cannot hold it), so what keeps β small
    is that it starts from zero and takes few steps; ρ = ‖K‖ makes them short.
    """
    kernel = symmetrize(graph_kernel(split))
    K, rows = kernel.operator(split.X_train), kernel.operator(split.X_test, split.X_train)
    rho = _norm(K)
    steps: list[int] = []

    def decide(y: np.ndarray) -> np.ndarray:
        sign, at = np.where(y, 1.0, -1.0), np.zeros(len(y) + 1)
        at[-1] = sign.mean()

        def convex(z: np.ndarray, centre: np.ndarray) -> tuple[float, np.ndarray]:
            beta = z[:-1]
            product = K @ beta
            slack = np.maximum(0.0, 1.0 - sign * (product + z[-1]))
            value = 0.5 * beta @ (product + rho * beta) - rho * (centre @ beta) + C * (slack @ slack)
            pull = -2.0 * C * sign * slack
            return value, np.append(product + rho * (beta - centre) + K @ pull, pull.sum())

        steps.append(0)
        while steps[-1] < max_iter:
            steps[-1] += 1
            found = minimize(convex, at, args=(at[:-1].copy(),), jac=True, method="L-BFGS-B", options={"maxiter": 200})
            moved, at = float(np.linalg.norm(found.x - at)), found.x
            if moved <= tol * max(1.0, float(np.linalg.norm(at))):
                break
        return rows @ at[:-1] + at[-1]

    outcome = _one_against_the_rest(split, decide)
    return Outcome(outcome.predicted, {"rho": rho, "steps": steps})


def eigenpairs(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues, ascending, and eigenvectors; those of the latest matrix are kept for the next column."""
    key = hashlib.sha256(K.tobytes()).hexdigest()
    if key not in _latest:
        _latest.clear()
        _latest[key] = np.linalg.eigh(K)
    found: tuple[np.ndarray, np.ndarray] = _latest[key]
    return found


def _norm(K: LinearOperator) -> float:
    if K.shape[0] < 50:
        return float(np.linalg.norm(K @ np.eye(K.shape[0]), 2))
    start = np.random.default_rng(0).standard_normal(K.shape[0])
    return float(np.abs(eigsh(K, 1, which="LM", v0=start, tol=1e-3, return_eigenvectors=False)[0]))


def _libsvm(K: np.ndarray, rows: np.ndarray, y: np.ndarray, C: float) -> np.ndarray:
    return np.asarray(SVC(kernel="precomputed", C=C).fit(K, y).decision_function(rows))


def _one_against_the_rest(split: Split, decide: Callable[[np.ndarray], np.ndarray]) -> Outcome:
    classes = np.unique(split.y_train)
    if len(classes) < 2:
        raise ParameterError(f"all training nodes are of class {classes[0]}; there is nothing to tell apart")
    return Outcome(classes[np.column_stack([decide(split.y_train == c) for c in classes]).argmax(axis=1)])
