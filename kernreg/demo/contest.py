"""Every method on the food web: trained on the labelled species, scored on the others."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import kernreg as kr
from kernreg.demo.food_web import FoodWeb
from kernreg.errors import AsymmetryError

#: Factors on the eigenvalues of a symmetric matrix that make it positive semidefinite, as an SVC needs it.
CORRECTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "clip": lambda values: (values > 0.0).astype(float),
    "flip": np.sign,
    "square": lambda values: values,
}


class Result(NamedTuple):
    """A method and its accuracy on the unlabelled species; None where it refuses, with the reason as `remark`."""

    library: str
    method: str
    accuracy: float | None
    remark: str = ""


def compare(web: FoodWeb) -> list[Result]:
    """Return the results of scikit-learn's SVC, tuned, in three ways and of kernreg's solvers."""
    K = web.kernel(web.labelled)
    K_new, K_to_new = web.kernel(web.unlabelled, web.labelled), web.kernel(web.labelled, web.unlabelled)
    symmetric = (K + K.T) / 2, (K_new + K_to_new.T) / 2
    return [
        Result("scikit-learn", "SVC, kernel function mirrored", tuned_svc(*mirrored(web), web)),
        Result("scikit-learn", "SVC on (K + Kᵀ)/2", tuned_svc(*symmetric, web)),
        Result("scikit-learn", "SVC, rows of K as features", svc_on_rows(K, K_new, web), "no kernel machine any more"),
        refusal(web),
        *(Result("kernreg", f"ask-ls, {view}", ask_ls(web, view)) for view in ("source", "target", "average")),
        Result("kernreg", "ksvd → ls-svm", chain(web), "a chain, on three components"),
    ]


def mirrored(web: FoodWeb) -> tuple[np.ndarray, np.ndarray]:
    """Return what scikit-learn makes of a kernel function at fit, one half copied to the other, and at prediction."""
    from sklearn.metrics import pairwise_kernels

    K = web.kernel(web.species)

    def feeds(x: np.ndarray, y: np.ndarray) -> float:
        return float(K[int(x[0]), int(y[0])])

    return pairwise_kernels(web.labelled, metric=feeds), pairwise_kernels(web.unlabelled, web.labelled, metric=feeds)


def tuned_svc(S: np.ndarray, S_new: np.ndarray, web: FoodWeb) -> float:
    """Return the accuracy of an SVC on a symmetric matrix, C and the correction of the spectrum by cross-validation."""
    from sklearn.svm import SVC

    values, vectors = np.linalg.eigh(S)
    searches = []
    for correction in CORRECTIONS.values():
        correct = (vectors * correction(values)) @ vectors.T
        definite = S @ correct
        scale = len(S) / np.trace(definite)  # so that one grid of C suits all corrections
        svc = SVC(kernel="precomputed", max_iter=20_000)
        searches.append(search(svc, scale * definite, scale * S_new @ correct, web))
    return max(searches)[1]


def svc_on_rows(K: np.ndarray, K_new: np.ndarray, web: FoodWeb) -> float:
    """Return the accuracy of an SVC for which a row of K is a row of a table, C by cross-validation."""
    from sklearn.svm import SVC

    return search(SVC(max_iter=20_000), K, K_new, web)[1]


def search(svc: Any, train: np.ndarray, test: np.ndarray, web: FoodWeb) -> tuple[float, float]:
    """Return the cross-validated accuracy of the best C, and its accuracy on the unlabelled species."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import GridSearchCV

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a C that does not converge does not win
        best = GridSearchCV(svc, {"C": [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]}).fit(train, web.known)
    return float(best.best_score_), float(best.score(test, web.unknown))


def refusal(web: FoodWeb) -> Result:
    """Return what a solver that needs a symmetric kernel says."""
    try:
        solver = kr.make_solver("ls-svm", kernel=web.kernel).fit(web.labelled, web.known)
    except AsymmetryError:
        return Result("kernreg", "ls-svm", None, "refuses: use ask-ls")
    return Result("kernreg", "ls-svm", float(solver.score(web.unlabelled, web.unknown)))


def ask_ls(web: FoodWeb, ensembler: str) -> float:
    """Return the accuracy of AsK-LS, its gamma by exact leave-one-out."""
    solver = kr.make_solver("ask-ls", kernel=web.kernel, gamma="loo", ensembler=ensembler)
    return float(solver.fit(web.labelled, web.known).score(web.unlabelled, web.unknown))


def chain(web: FoodWeb) -> float:
    """Return the accuracy of a linear machine on three components of kernel SVD."""
    steps = kr.make_chain("ksvd(n_components=3)", "ls-svm(kernel='linear')", kernel=web.kernel)
    return float(steps.fit(web.labelled, web.known).score(web.unlabelled, web.unknown))
