"""Kernels learned from the labels of some samples, evaluated on all, then a C-SVM, one class against one.

As in the paper the test samples are there, without labels, when the kernel is learned. In the cross-validation that
chooses parameters the labels of a fold are hidden in the same way, and the kernel is learned again without them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.model_selection import ParameterGrid, StratifiedKFold
from sklearn.svm import SVC

from kernreg.errors import KernregError, ParameterError
from kernreg.kernels.builtin import rbf
from kernreg.papers.description import Outcome
from kernreg.papers.splitting import Split
from kernreg.solvers import SCGLDK, SCGOSK

HIDDEN = -1


def gaussian(X: np.ndarray, y: np.ndarray, width: float) -> np.ndarray:
    """Return the matrix of the Gaussian kernel, σ = width times the median distance; labels are not used."""
    return np.asarray(rbf(sigma=width * _median(X))(X))


def scg_ldk(X: np.ndarray, y: np.ndarray, width: float, gamma: float) -> np.ndarray:
    """Return the matrix of the kernel that SCG-LDK learns from a Gaussian one."""
    learner = SCGLDK(kernel=rbf(sigma=width * _median(X)), gamma=gamma, unlabelled=HIDDEN, strategy="exact")
    return np.asarray(learner.fit(X, y).kernel_(X))


def scg_osk(X: np.ndarray, y: np.ndarray, n_neighbors: int, n_components: int) -> np.ndarray:
    """Return the matrix of the kernel that SCG-OSK learns on a graph of neighbours."""
    learner = SCGOSK(n_neighbors=n_neighbors, n_components=min(n_components, len(X) - 2), unlabelled=HIDDEN)
    return np.asarray(learner.fit(X, y).kernel_(X))


LEARNERS: dict[str, Callable[..., np.ndarray]] = {"gaussian": gaussian, "scg-ldk": scg_ldk, "scg-osk": scg_osk}


def learn_and_classify(
    split: Split, *, candidates: Sequence[Mapping[str, Any]], C: Sequence[float], folds: int
) -> Outcome:
    """Learn a kernel with the best parameters of the candidates' grids, and classify by C-SVM.

    Parameters
    ----------
    split : Split
    candidates : sequence of mapping
        Each a ``learner`` (a name in LEARNERS) and a ``grid`` of its parameters.
    C : sequence of float
    folds : int
        Of the cross-validation on labelled samples.
    """
    X = np.concatenate([split.X_train, split.X_test])
    n = len(split.y_train)
    classes, codes = np.unique(split.y_train, return_inverse=True)
    y = np.concatenate([codes, np.full(len(split.X_test), HIDDEN)])
    cut = list(StratifiedKFold(folds, shuffle=True, random_state=split.seed).split(codes[:, None], codes))
    best: tuple[float, str, dict[str, Any], float] | None = None
    skipped = []
    for candidate in candidates:
        for values in ParameterGrid(dict(candidate["grid"])):
            try:
                hits = np.mean([_hits(candidate["learner"], values, X, y, C, *part) for part in cut], axis=0)
            except KernregError as error:
                skipped.append(f"{candidate['learner']} {values}: {error}")
                continue
            place = int(hits.argmax())
            if best is None or hits[place] > best[0]:
                best = float(hits[place]), candidate["learner"], values, float(C[place])
    if best is None:
        raise ParameterError(f"no kernel could be learned: {'; '.join(skipped)}")
    score, learner, values, c = best
    K = _normalised(LEARNERS[learner](X, y, **values))
    predicted = SVC(kernel="precomputed", C=c).fit(K[:n, :n], codes).predict(K[n:, :n])
    chosen = {"learner": learner, **values, "C": c, "cv_score": score, "skipped": skipped}
    return Outcome(classes[predicted], chosen)


def _hits(learner: str, values: Any, X: Any, y: Any, C: Any, rest: Any, fold: Any) -> list[float]:
    """Return the accuracy on a fold, whose labels the kernel has not seen, for each C."""
    shown = np.full(len(y), HIDDEN)
    shown[rest] = y[rest]
    K = _normalised(LEARNERS[learner](X, shown, **values))
    inner, outer = K[np.ix_(rest, rest)], K[np.ix_(fold, rest)]
    return [float(SVC(kernel="precomputed", C=c).fit(inner, y[rest]).score(outer, y[fold])) for c in C]


def _normalised(K: np.ndarray) -> np.ndarray:
    """Divide by the mean of the diagonal, so that the same C means the same for every kernel."""
    return K / np.trace(K) * len(K)


def _median(X: np.ndarray) -> float:
    return float(np.median(pdist(X)))
