"""The column "kernreg tuned" of the SCG tables: several kernels and machines, and a vote of the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.svm import SVC

from kernreg.errors import ParameterError
from kernreg.factory import make_kernel
from kernreg.papers.description import Outcome
from kernreg.papers.methods.learned import MEDIAN_OF, all_samples
from kernreg.papers.splitting import Split


def vote(
    split: Split,
    *,
    kernels: Sequence[str],
    widths: Sequence[float],
    C: Sequence[float],
    folds: int,
    repeats: int,
    voters: int,
) -> Outcome:
    """Classify by the vote of the C-SVMs that are best in cross-validation on labelled samples.

    Parameters
    ----------
    split : Split
    kernels : sequence of str
        Of ``"rbf"``, ``"laplacian"`` (each with every width, a multiple of the median distance) and ``"poly"`` (degrees
        1 to 3).
    widths, C : sequence of float
    folds, repeats : int
        Of the cross-validation.
    voters : int
        How many vote, each with the same weight; of equal numbers of votes the class that the best one says.
    """
    X, n = all_samples(split), len(split.y_train)
    classes, codes = np.unique(split.y_train, return_inverse=True)
    cut = list(
        RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=split.seed % 2**32).split(
            codes[:, None], codes
        )
    )
    tried: list[tuple[float, int, float, str]] = []
    matrices = []
    for number, spec in enumerate(_specs(X[:MEDIAN_OF], kernels, widths)):
        K = np.asarray(make_kernel(spec)(X, X[:n]))
        K = K / (np.trace(K[:n]) / n)
        matrices.append(K)
        for c in C:
            hits = [
                SVC(kernel="precomputed", C=c)
                .fit(K[np.ix_(rest, rest)], codes[rest])
                .score(K[np.ix_(fold, rest)], codes[fold])
                for rest, fold in cut
            ]
            tried.append((float(np.mean(hits)), number, float(c), spec))
    tried.sort(key=lambda each: -each[0])  # a stable order: of equals the first, which is the simpler one
    votes = np.zeros((len(X) - n, len(classes)))
    for place, (_, number, c, _) in enumerate(tried[:voters]):
        K = matrices[number]
        said = SVC(kernel="precomputed", C=c).fit(K[:n], codes).predict(K[n:])
        votes[np.arange(len(said)), said] += 1.0 + (0.5 if place == 0 else 0.0)
    chosen = [{"kernel": spec, "C": c, "cv_score": score} for score, _, c, spec in tried[:voters]]
    return Outcome(classes[votes.argmax(axis=1)], {"voters": chosen})


def _specs(X: np.ndarray, kernels: Sequence[str], widths: Sequence[float]) -> list[str]:
    made: list[str] = []
    metrics: dict[str, Any] = {"rbf": "euclidean", "laplacian": "cityblock"}
    for kernel in kernels:
        if kernel == "poly":
            made += ["linear", "poly(degree=2)", "poly(degree=3)"]
        elif kernel in metrics:
            median = float(np.median(pdist(X, metrics[kernel])))
            made += [f"{kernel}(sigma={width * median})" for width in sorted(widths, reverse=True)]
        else:
            raise ParameterError(f"kernel {kernel!r} is not accepted here; give 'rbf', 'laplacian' or 'poly'")
    return made
