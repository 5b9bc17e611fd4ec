"""Kernels learned from the labels of some samples, evaluated on all, then a C-SVM, one class against one.

As in the paper the test samples are there, without labels, when the kernel is learned, unless they are unseen ones. In
the cross-validation that chooses parameters the labels of a fold are hidden in the same way, and the kernel is learned
again without them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.model_selection import ParameterGrid, StratifiedKFold
from sklearn.svm import SVC

from kernreg import make_kernel, make_solver
from kernreg.errors import KernregError
from kernreg.kernels import Kernel
from kernreg_papers.data.splits import Split, dense
from kernreg_papers.description import Outcome
from kernreg_papers.methods.candidates import best_candidate

HIDDEN = -1

#: Steps of libsvm; an unscaled kernel with a large C would take minutes for a cell that is not chosen in the end.
MOST_STEPS = 200_000

#: Beyond so many samples the median distance is that of some of them.
MEDIAN_OF = 2000


def learn_kernel(learner: str, X: np.ndarray, y: np.ndarray, *, width: float | None = None, **values: Any) -> Kernel:
    """Return the kernel that a learner makes of samples and labels, HIDDEN where there is none.

    Parameters
    ----------
    learner : str
        A solver that learns kernels, of kernreg or of a plugin; or ``"gaussian"``, which learns nothing.
    X, y : ndarray
    width : float, optional
        σ of the Gaussian kernel to start from, as a multiple of the median distance. Learners that start from none
        (those of graphs) are not given one.
    **values
        Parameters of the learner.
    """
    if width is not None:
        values["kernel"] = make_kernel("rbf", sigma=width * median_distance(X))
    if learner == "gaussian":
        return values["kernel"]
    if values.get("n_components") is not None:
        values["n_components"] = min(values["n_components"], len(X) - 2)
    if values.get("n_landmarks") is not None and values["n_landmarks"] >= len(X):
        values = {name: value for name, value in values.items() if name not in ("n_landmarks", "strategy")}
    learned: Kernel = make_solver(learner, unlabelled=HIDDEN, **values).fit(X, y).kernel_
    return learned


def learn_and_classify(
    split: Split,
    *,
    candidates: Sequence[Mapping[str, Any]],
    C: Sequence[float],
    folds: int,
    normalise: bool,
    tuning_samples: int,
) -> Outcome:
    """Learn a kernel with the best parameters of the candidates' grids, and classify by C-SVM.

    Parameters
    ----------
    split : Split
    candidates : sequence of mapping
        Each a ``learner`` and a ``grid`` of its parameters, as `learn_kernel` takes them.
    C : sequence of float
    folds : int
        Of the cross-validation on labelled samples.
    normalise : bool
        Whether kernels are divided by the mean of their diagonal, so that the same C means the same for every one.
    tuning_samples : int
        Cross-validation sees all labelled samples, and unlabelled ones up to this number of both.
    """
    X, n = all_samples(split), len(split.y_train)
    n_seen = len(X) - split.n_unseen
    seen = X[:n_seen]
    classes, codes = np.unique(split.y_train, return_inverse=True)
    y = np.concatenate([codes, np.full(n_seen - n, HIDDEN)])
    score, learner, values, c, skipped = _chosen(
        candidates, seen[: max(n, tuning_samples)], y[: max(n, tuning_samples)], C, folds, normalise, split.seed
    )
    started = time.perf_counter()
    kernel = learn_kernel(learner, seen, y, **values)
    # All of the samples a kernel was learned with are asked for at once: some learners know them as a whole only.
    K = np.asarray(kernel(seen))[:, :n]
    seconds = time.perf_counter() - started
    unit = _unit(K[:n], normalise)
    machine = _svm(c).fit(K[:n] / unit, codes)
    predicted = machine.predict(K[n:] / unit)
    if split.n_unseen:
        across = np.asarray(kernel(X[n_seen:], seen))[:, :n]
        predicted = np.concatenate([predicted, machine.predict(across / unit)])
    chosen = {"learner": learner, **values, "C": c, "cv_score": score, "skipped": skipped}
    return Outcome(classes[predicted], chosen, {"learning_seconds": seconds})


def _chosen(
    candidates: Any, X: np.ndarray, y: np.ndarray, C: Sequence[float], folds: int, normalise: bool, seed: int
) -> tuple[float, str, dict[str, Any], float, list[str]]:
    """Return accuracy, learner, parameters and C that are best in cross-validation, and what could not be learned."""
    labelled = np.flatnonzero(y != HIDDEN)
    cut = list(StratifiedKFold(folds, shuffle=True, random_state=seed % 2**32).split(labelled[:, None], y[labelled]))
    score, (learner, values), c, skipped = best_candidate(
        learners(candidates),
        C,
        lambda each: [_hits(*each, X, y, C, normalise, *part) for part in cut],
        label=name_of,
        what="no kernel could be learned",
        refusals=(KernregError, ValueError),  # the latter from libsvm, of kernels beyond double precision
    )
    return score, learner, values, c, skipped


def learners(candidates: Sequence[Mapping[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return every learner of the candidates with every combination of its parameters."""
    return [(each["learner"], values) for each in candidates for values in ParameterGrid(dict(each["grid"]))]


def name_of(learner: tuple[str, dict[str, Any]]) -> str:
    """Return what a learner with its parameters is called."""
    return f"{learner[0]} {learner[1]}"


def _hits(learner: str, values: Any, X: Any, y: Any, C: Any, normalise: bool, rest: Any, fold: Any) -> list[float]:
    """Return the accuracy on a fold, whose labels the kernel has not seen, for each C."""
    shown = np.full(len(y), HIDDEN)
    shown[rest] = y[rest]
    K = np.asarray(learn_kernel(learner, X, shown, **values)(X))
    inner, outer = K[np.ix_(rest, rest)], K[np.ix_(fold, rest)]
    unit = _unit(inner, normalise)
    machines = (_svm(c).fit(inner / unit, y[rest]) for c in C)
    return [float(machine.score(outer / unit, y[fold])) for machine in machines]


def _svm(c: float) -> SVC:
    return SVC(kernel="precomputed", C=c, cache_size=500, max_iter=MOST_STEPS)


def _unit(K: np.ndarray, normalise: bool) -> float:
    return float(np.trace(K)) / len(K) if normalise else 1.0


def all_samples(split: Split) -> np.ndarray:
    """Return training and test samples, one after the other, as a dense array."""
    return np.concatenate([dense(split.X_train), dense(split.X_test)])


def median_distance(X: np.ndarray) -> float:
    """Return the median distance of samples, of the first ones where there are many."""
    return float(np.median(pdist(X[:MEDIAN_OF])))
