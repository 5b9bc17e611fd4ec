"""The column "kernreg tuned" of the SCG tables: machines in an order of preference.

LS-SVM with several kernels, merged, come first; then LS-SVM with one, one class against one; then C-SVM. A later
machine is taken only if it is better by more than a standard error, √(p (1 - p)/n): smaller differences say nothing on
so few samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from kernreg import make_kernel
from kernreg.errors import ParameterError
from kernreg.solvers import LSSVC, tune
from kernreg_papers.data.splits import Split
from kernreg_papers.description import Outcome
from kernreg_papers.methods.samples.kernel_ensemble import best_of
from kernreg_papers.methods.samples.kernel_learning import MEDIAN_OF, all_samples


def preferred_machine(
    split: Split,
    *,
    candidates: Sequence[Mapping[str, Any]],
    kernels: Sequence[str],
    widths: Sequence[float],
    C: Sequence[float],
    folds: int,
) -> Outcome:
    """Classify by several LS-SVM, merged, unless one of them, or a C-SVM, one class against one, is clearly better.

    Parameters
    ----------
    split : Split
        Widths are multiples of a distance between labelled and unlabelled samples; unseen ones take no part.
    candidates : sequence of mapping
        Of the LS-SVM that are merged, as `best_of` takes them.
    kernels : sequence of str
        Of ``"rbf"``, ``"laplacian"`` (each with every width, a multiple of the median distance) and ``"poly"`` (degrees
        1 to 3), in the order of preference.
    widths, C : sequence of float
    folds : int
        Of the cross-validation of C-SVMs, and of what is merged.
    """
    X, n = all_samples(split), len(split.y_train)
    grids = {kernel: specs(X[: len(X) - split.n_unseen], kernel, widths) for kernel in kernels}
    merged = best_of(replace(split, X_train=X[:n], X_test=X[n:]), candidates=candidates, folds=folds)
    assert merged.predicted is not None
    best = merged.chosen["cv_accuracy"], {"machine": "merged", **merged.chosen}, merged.predicted
    for made in grids.values():
        grid: dict[str, Any] = {"kernel": made, "gamma": "loo"}
        found = tune(LSSVC(multi_class="one-vs-one"), grid, X[:n], split.y_train)
        if found.best_score > best[0] + standard_error(best[0], n):
            chosen = {"machine": "LS-SVM", **found.best_params, "score": found.best_score}
            best = found.best_score, chosen, found.best_estimator.predict(X[n:])
    score, spec, c = _best_svm([spec for made in grids.values() for spec in made], X[:n], split, C, folds)
    if score > best[0] + standard_error(best[0], n):
        K = np.asarray(make_kernel(spec)(X, X[:n]))
        machine = SVC(kernel="precomputed", C=c / _size(K[:n])).fit(K[:n], split.y_train)
        best = score, {"machine": "C-SVM", "kernel": spec, "C": c, "score": score}, machine.predict(K[n:])
    return Outcome(best[2], best[1])


def _best_svm(
    candidates: Sequence[str], X: np.ndarray, split: Split, C: Sequence[float], folds: int
) -> tuple[float, str, float]:
    """Return accuracy, kernel and C that are best in cross-validation; of equals the first."""
    y = split.y_train
    cut = list(StratifiedKFold(folds, shuffle=True, random_state=split.seed % 2**32).split(X, y))
    tried = []
    for spec in candidates:
        K = np.asarray(make_kernel(spec)(X))
        K = K / _size(K)
        for c in C:
            hits = [
                SVC(kernel="precomputed", C=c).fit(K[np.ix_(rest, rest)], y[rest]).score(K[np.ix_(fold, rest)], y[fold])
                for rest, fold in cut
            ]
            tried.append((float(np.mean(hits)), spec, float(c)))
    return max(tried, key=lambda each: each[0])


def _size(K: np.ndarray) -> float:
    """Return the mean of the diagonal: divided by it, the same C means the same for every kernel."""
    return float(np.trace(K)) / len(K)


def standard_error(p: float, n: int) -> float:
    """Return that of a share p of n samples."""
    return float(np.sqrt(max(p * (1.0 - p), 0.0) / n))


def specs(X: np.ndarray, kernel: str, widths: Sequence[float]) -> list[str]:
    """Return a kernel with every width, or degree, the widest first."""
    if kernel == "poly":
        return ["linear", "poly(degree=2)", "poly(degree=3)"]
    metrics: dict[str, Any] = {"rbf": "euclidean", "laplacian": "cityblock"}
    if kernel not in metrics:
        raise ParameterError(f"kernel {kernel!r} is not accepted here; give 'rbf', 'laplacian' or 'poly'")
    median = float(np.median(pdist(X[:MEDIAN_OF], metrics[kernel])))
    return [f"{kernel}(sigma={width * median})" for width in sorted(widths, reverse=True)]
