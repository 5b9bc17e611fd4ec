"""Kernel PCA to a few components, then a linear C-SVM, or an LS-SVM with a kernel of its own.

Everything is chosen on training samples, by cross-validation or by leave-one-out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid, StratifiedKFold
from sklearn.svm import LinearSVC

from kernreg import make_kernel
from kernreg.errors import KernregError, ParameterError
from kernreg.solvers import KernelPCA
from kernreg_papers.data.splits import Split
from kernreg_papers.description import Outcome
from kernreg_papers.methods.candidates import best_candidate
from kernreg_papers.methods.fold_validation import targets
from kernreg_papers.methods.samples.kernel_ensemble import best_of, tune_one
from kernreg_papers.methods.samples.kernel_learning import learn_kernel, learners, name_of
from kernreg_papers.methods.samples.machine_preference import standard_error

#: Training samples that choose parameters, where there are more.
CHOOSING = 400


def reduce_and_classify(
    split: Split,
    *,
    candidates: Sequence[Mapping[str, Any]],
    C: Sequence[float],
    folds: int,
    orders: Sequence[str] = ("magnitude",),
) -> Outcome:
    """Kernel PCA to a share of the features (the row's option ``ratio``), then a linear C-SVM.

    Parameters
    ----------
    split : Split
    candidates : sequence of mapping
        Each a kernel, the grid of its parameters, and those of them that are multiples of the number of features.
    C : sequence of float
    folds : int
        Of the cross-validation that chooses kernel, order and C.
    orders : sequence of str
        Which components come first: see `KernelPCA`.
    """
    d = split.X_train.shape[1]
    r = max(1, round(split.options["ratio"] * d))
    rng = np.random.default_rng(split.seed)
    some = rng.permutation(len(split.y_train))[:CHOOSING]
    X, y = split.X_train[some], split.y_train[some]
    cut = list(StratifiedKFold(folds, shuffle=True, random_state=split.seed).split(X, y))
    score, (kernel, order), c, skipped = best_candidate(
        product(_kernels(candidates, d), orders),
        C,
        lambda each: [_hits(*each, r, C, X, y, *part) for part in cut],
        label=lambda each: str(each[0]),
        what="no kernel could be fitted",
    )
    pca = KernelPCA(kernel, r, order=order).fit(split.X_train)
    train, test = _scaled(pca.transform(split.X_train), pca.transform(split.X_test))
    predicted = _svm(c).fit(train, split.y_train).predict(test)
    chosen = {"kernel": str(kernel), "order": order, "C": c, "components": r, "cv_score": score, "skipped": skipped}
    return Outcome(predicted, chosen)


def reduce_and_chain(
    split: Split,
    *,
    candidates: Sequence[Mapping[str, Any]],
    first: Mapping[str, Any],
    after: Sequence[Mapping[str, Any]],
    learned: Sequence[Mapping[str, Any]],
    shares: Sequence[float],
    C: Sequence[float],
    folds: int,
) -> Outcome:
    """Kernel PCA to as many components, of a kernel that is given or of one that is learned from the labels.

    Of a given kernel: several LS-SVM on the components, merged as `best_of` does. The kernel is the one whose
    components give one LS-SVM the least squared error of leave-one-out decisions; components are those of all samples
    that choose, the one left out included: they do not know its label. Of a learned kernel, which does know it: a
    linear C-SVM, and all by cross-validation. It is taken where its accuracy on samples left out is larger by more than
    a standard error, because the largest of many is larger than it should be.

    Parameters
    ----------
    split : Split
    candidates : sequence of mapping
        Kernels of the kernel PCA, as for `reduce_and_classify`.
    first : mapping
        Kernel of the LS-SVM that chooses among them, in the same form.
    after : sequence of mapping
        Kernels of the LS-SVM that are merged, in the same form. Components are divided by their root mean square norm.
    learned : sequence of mapping
        Each a ``learner`` of kernels and a ``grid`` of its parameters, as `learn_kernel` takes them.
    shares : sequence of float
        Of the components of a learned kernel: what labels say fits into a few, and the others may only disturb.
    C : sequence of float
    folds : int
        Of the cross-validation of learned kernels.
    """
    d = split.X_train.shape[1]
    r = max(1, round(split.options["ratio"] * d))
    order = np.random.default_rng(split.seed).permutation(len(split.y_train))
    X, y = split.X_train[order[: 2 * CHOOSING]], split.y_train[order[: 2 * CHOOSING]]
    best: tuple[float, Any] | None = None
    skipped = []
    for kernel in _kernels(candidates, d):
        try:
            components = KernelPCA(kernel, min(r, len(X))).fit_transform(X)
            error = tune_one(_scaled(components, components)[0], targets(y), first).error
        except KernregError as problem:
            skipped.append(f"{kernel}: {problem}")
            continue
        if best is None or error < best[0]:
            best = error, kernel
    if best is None:
        raise ParameterError(f"no kernel could be fitted: {'; '.join(skipped)}")
    error, kernel = best
    pca = KernelPCA(kernel, r).fit(split.X_train)
    train, test = _scaled(pca.transform(split.X_train), pca.transform(split.X_test))
    found = best_of(replace(split, X_train=train, X_test=test), candidates=after, folds=10)
    given = {"kernel": str(kernel), "components": r, "loo_squared_error": error, "then": dict(found.chosen)}
    chosen = {**given, "skipped": skipped}
    if learned:
        other = _learned(split, order[:CHOOSING], [math.ceil(share * r) for share in shares], learned, C, folds)
        known = found.chosen["cv_accuracy"]
        if other.chosen["cv_score"] > known + standard_error(known, min(CHOOSING, len(X))):
            return replace(other, chosen={**other.chosen, "instead_of": chosen})
    return Outcome(found.predicted, chosen)


def _learned(
    split: Split,
    some: np.ndarray,
    sizes: Sequence[int],
    candidates: Sequence[Mapping[str, Any]],
    C: Sequence[float],
    folds: int,
) -> Outcome:
    """Kernel PCA of a learned kernel to one of these numbers of components, then a linear C-SVM; `some` choose."""
    classes, codes = np.unique(split.y_train, return_inverse=True)
    X, y = split.X_train[some], codes[some]

    def reduced(learner: str, values: Any, X: Any, y: Any, further: Any) -> tuple[np.ndarray, np.ndarray]:
        pca = KernelPCA(learn_kernel(learner, X, y, **values), min(max(sizes), len(X) - 1)).fit(X)
        return _scaled(pca.transform(X), pca.transform(further))

    def hits(each: tuple[str, Any]) -> list[list[float]]:
        found = []
        for rest, fold in cut:
            train, test = reduced(*each, X[rest], y[rest], X[fold])
            machines = ((size, _svm(c).fit(train[:, :size], y[rest])) for size, c in settings)
            found.append([float(machine.score(test[:, :size], y[fold])) for size, machine in machines])
        return found

    cut = list(StratifiedKFold(folds, shuffle=True, random_state=split.seed).split(X, y))
    settings = list(product(sorted(set(sizes)), C))
    score, (learner, values), (size, c), skipped = best_candidate(
        learners(candidates), settings, hits, label=name_of, what="no kernel could be learned"
    )
    train, test = reduced(learner, values, split.X_train, codes, split.X_test)
    predicted = classes[_svm(c).fit(train[:, :size], codes).predict(test[:, :size])]
    chosen = {"learner": learner, **values, "components": size, "C": c, "cv_score": score, "skipped": skipped}
    return Outcome(predicted, chosen)


def _kernels(candidates: Sequence[Mapping[str, Any]], d: int) -> list[Any]:
    made = []
    for candidate in candidates:
        scaled = candidate.get("per_feature", ())
        for values in ParameterGrid(dict(candidate["grid"])):
            made.append(make_kernel(candidate["kernel"], **{k: v * d if k in scaled else v for k, v in values.items()}))
    return made


def _hits(kernel: Any, order: str, r: int, C: Any, X: Any, y: Any, rest: Any, fold: Any) -> list[float]:
    """Return the accuracy on a fold for each C."""
    pca = KernelPCA(kernel, min(r, len(rest)), order=order).fit(X[rest])
    train, test = _scaled(pca.transform(X[rest]), pca.transform(X[fold]))
    return [float(_svm(c).fit(train, y[rest]).score(test, y[fold])) for c in C]


def _scaled(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Divide by one number, so that the same C means the same for every kernel."""
    size = float(np.sqrt((train**2).sum(axis=1).mean()))
    return (train / size, test / size) if size > 0.0 else (train, test)


def _svm(c: float) -> LinearSVC:
    return LinearSVC(C=c, dual=False)  # squared hinge loss: quick and deterministic
