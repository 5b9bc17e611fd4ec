"""The KL kernel exp(-a KL(P_i ‖ P_j)) in AsK-LS, against its symmetrised form in LS-SVM and C-SVM."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from kernreg import make_kernel
from kernreg.errors import ParameterError
from kernreg.solvers import LSSVC, AsKLSClassifier
from kernreg_papers.data.mixtures import histogram_divergences, mixture_divergences
from kernreg_papers.data.splits import Split
from kernreg_papers.description import Outcome
from kernreg_papers.methods.fold_validation import make_folds, out_of_fold, quality, targets

#: Training samples that are used, where there are more; and test samples.
MOST = 600


class Divergences:
    """Divergences between all samples of a split: training samples first, then test samples.

    Attributes
    ----------
    one_way, both_ways : ndarray
        KL(P_i ‖ P_j), and KL(P_i ‖ P_j) + KL(P_j ‖ P_i).
    train, test : ndarray
        Places of training and test samples.
    """

    def __init__(self, split: Split, draws: int):
        X_train, X_test = split.X_train[:MOST], split.X_test
        self.y = split.y_train[:MOST]
        self.train = np.arange(len(self.y))
        self.test = len(self.y) + np.arange(X_test.shape[0])
        stack = sp.vstack if sp.issparse(X_train) else np.vstack
        X = stack([X_train, X_test])
        self.one_way = _divergences(X, draws, split)
        self.both_ways = self.one_way + self.one_way.T


_latest: dict[Any, np.ndarray] = {}


def _divergences(X: Any, draws: int, split: Split) -> np.ndarray:
    """Return KL(P_i ‖ P_j) for all samples; those of the latest trial are kept for the next column."""
    if split.options["samples"] != "mixtures":
        return histogram_divergences(X, split.options["smoothing"])
    key = hashlib.sha256(X.tobytes()).hexdigest(), draws, split.seed
    if key not in _latest:
        _latest.clear()
        _latest[key] = mixture_divergences(X, draws, split.seed)
    return _latest[key]


def c_svm(split: Split, *, a: Sequence[float], C: Sequence[float], folds: int, draws: int) -> Outcome:
    """C-SVM, one class against the rest, with exp(-a (KL(P_i ‖ P_j) + KL(P_j ‖ P_i)))."""
    d = Divergences(split, draws)
    best: Any = None
    for value in a:
        K = np.exp(-value * d.both_ways)
        svm = OneVsRestClassifier(SVC(kernel="precomputed"))
        search = GridSearchCV(svm, {"estimator__C": list(C)}, cv=_pairs(d.y, folds, split.seed))
        search.fit(K[np.ix_(d.train, d.train)], d.y)
        if best is None or search.best_score_ > best[0]:
            best = search.best_score_, value, search, K
    score, value, search, K = best
    chosen = {"a": value, "C": search.best_params_["estimator__C"], "cv_score": float(score)}
    return Outcome(search.predict(K[np.ix_(d.test, d.train)]), chosen)


def least_squares(
    split: Split, *, a: Sequence[float], gamma: Sequence[float], folds: int, draws: int, symmetric: bool, ensembler: str
) -> Outcome:
    """LS-SVM with the symmetrised kernel, or AsK-LS with the kernel as it is; a and γ by cross-validation."""
    d = Divergences(split, draws)
    found = _choose(d, a, gamma, folds, split.seed, symmetric)
    model = _model(d, found, symmetric, ensembler).fit(d.train, d.y)
    return Outcome(model.predict(d.test), {"a": found[1], "gamma": found[2], "cv_score": found[0][0]})


def both(split: Split, *, a: Sequence[float], gamma: Sequence[float], folds: int, draws: int) -> Outcome:
    """LS-SVM and AsK-LS together: a logistic regression on their out-of-fold decisions."""
    d = Divergences(split, draws)
    inside, outside, chosen = [], [], []
    for symmetric in (True, False):
        found = _choose(d, a, gamma, folds, split.seed, symmetric)
        model = _model(d, found, symmetric, "average").fit(d.train, d.y)
        inside.append(found[3])
        outside.append(np.asarray(model.decision_function(d.test)).reshape(len(d.test), -1))
        chosen.append({"symmetric": symmetric, "a": found[1], "gamma": found[2]})
    search = GridSearchCV(
        LogisticRegression(max_iter=2000), {"C": [0.1, 1.0, 10.0, 100.0]}, cv=_pairs(d.y, folds, split.seed)
    )
    search.fit(np.hstack(inside), d.y)
    return Outcome(search.predict(np.hstack(outside)), {"of": chosen, **search.best_params_})


def _choose(d: Divergences, a: Any, gamma: Any, folds: int, seed: int, symmetric: bool) -> tuple[Any, ...]:
    """Return quality, a, γ and out-of-fold decisions of the best."""
    Y, cut, gammas = targets(d.y), make_folds(d.y, folds, seed), np.asarray(gamma, dtype=np.float64)
    best: Any = None
    for value in a:
        K = np.exp(-value * (d.both_ways if symmetric else d.one_way)[np.ix_(d.train, d.train)])
        decisions, excluded = out_of_fold(K, Y, gammas, cut, symmetric=symmetric)
        for decision, g, pole in zip(decisions, gammas, excluded, strict=True):
            reached = quality(decision, Y)
            if not pole and np.isfinite(reached[0]) and (best is None or reached > best[0]):
                best = reached, float(value), float(g), decision
    if best is None:
        raise ParameterError(f"every gamma of {list(gamma)} is at a pole; try others")
    return tuple(best)


def _model(d: Divergences, found: tuple[Any, ...], symmetric: bool, ensembler: str) -> Any:
    kernel = make_kernel("precomputed", K=np.exp(-found[1] * (d.both_ways if symmetric else d.one_way)))
    if symmetric:
        return LSSVC(kernel=kernel, gamma=found[2])
    return AsKLSClassifier(kernel=kernel, gamma=found[2], ensembler=ensembler, on_pole="damp")


def _pairs(y: np.ndarray, folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    every = np.arange(len(y))
    return [(np.setdiff1d(every, fold), fold) for fold in make_folds(y, folds, seed)]
