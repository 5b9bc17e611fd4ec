"""'kernreg tuned': many kernels, each tuned by exact leave-one-out, and a logistic regression on what they say.

Everything is chosen on training samples. A kernel's parameters and γ have the least squared error of leave-one-out
decisions; these decisions are then the features of the regression, whose penalty is chosen by cross-validation. It
costs no fit beyond one decomposition for each kernel matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterGrid, cross_val_score

from kernreg import make_kernel
from kernreg.errors import KernregError, ParameterError
from kernreg.linalg import BlockSpectrum, SymmetricSpectrum, centre
from kernreg.solvers import LSSVC, AsKLSClassifier
from kernreg_papers.data.splits import Split
from kernreg_papers.description import Outcome, own_column
from kernreg_papers.methods.candidates import choosing_samples
from kernreg_papers.methods.fold_validation import make_folds, targets
from kernreg_papers.methods.samples.least_squares import CHOOSING, grid_values


def merged(
    rbf: Sequence[float], laplacian: Sequence[float], tl1: Sequence[float], sne: Sequence[float]
) -> list[dict[str, Any]]:
    """Return what is merged, with widths that suit the scale of the features.

    Each has a kernel, a grid, parameters that are multiples of the number of features, and a solver; ``coded`` where
    features of few values are coded as categories.
    """
    gaussian = {"kernel": "rbf", "grid": {"sigma": list(rbf)}}
    exponential = {"kernel": "laplacian", "grid": {"sigma": list(laplacian)}, "per_feature": ["sigma"]}
    polynomial = {"kernel": "poly", "grid": {"degree": [1, 2, 3], "c": [1.0]}}
    return [
        gaussian,
        exponential,
        {"kernel": "tl1", "grid": {"rho": list(tl1)}, "per_feature": ["rho"]},
        polynomial,
        {"kernel": "sne", "grid": {"sigma": list(sne)}, "solver": "ask-ls"},
        {"kernel": "t", "grid": {"sigma": [1.0]}, "solver": "ask-ls"},
        *({**each, "coded": True} for each in (gaussian, polynomial, exponential)),
    ]


#: For features between 0 and 1.
CANDIDATES = merged(
    rbf=[0.25, 0.5, 1.0, 2.0, 4.0, 8.0],
    laplacian=[0.03, 0.1, 0.3, 1.0],
    tl1=[0.1, 0.2, 0.4, 0.7],
    sne=[0.5, 1.0, 2.0, 4.0],
)

_PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0)
#: A feature of at most so many values among the training samples (and more than two) is also read as a category.
MOST_VALUES = 10


@dataclass(frozen=True)
class Found:
    """The best of a candidate: kernel, γ, leave-one-out decisions (m, C), and their squared error."""

    error: float
    kernel: Any
    gamma: float
    decisions: np.ndarray
    symmetric: bool


def best_of(split: Split, *, candidates: Sequence[Mapping[str, Any]], folds: int) -> Outcome:
    """Tune every candidate, and predict by a logistic regression on their decisions.

    Parameters
    ----------
    split : Split
    candidates : sequence of mapping
        As in `CANDIDATES`.
    folds : int
        Of the cross-validation that chooses the penalty of the regression.
    """
    y = split.y_train
    some = choosing_samples(len(y), CHOOSING, split.seed)
    Y = targets(y[some])
    coded = code(split.X_train, split.X_test)
    views, inside, chosen, skipped = [], [], [], []
    for candidate in candidates:
        if candidate.get("coded") and coded is None:
            continue
        train, test = coded if candidate.get("coded") and coded is not None else (split.X_train, split.X_test)
        try:
            found = tune_one(train[some], Y, candidate)
            views.append(_decide(found, len(some) / len(y), train, y, test))
        except KernregError as error:  # every γ at a pole: this kernel is none for these data
            skipped.append(f"{candidate['kernel']}: {error}")
            continue
        inside.append(found.decisions)
        chosen.append({"kernel": str(found.kernel), "gamma": found.gamma, "loo_squared_error": found.error})
    if not views:
        raise ParameterError(f"none of the candidates could be fitted: {'; '.join(skipped)}")
    features, cut = np.hstack(inside), make_folds(y[some], folds, split.seed)
    every = np.arange(len(some))
    pairs = [(np.setdiff1d(every, fold), fold) for fold in cut]
    scores = [
        cross_val_score(_regression(C), features, y[some], cv=pairs, scoring="neg_log_loss").mean() for C in _PENALTIES
    ]
    C = _PENALTIES[int(np.argmax(scores))]
    predicted = _regression(C).fit(features, y[some]).predict(np.hstack(views))
    accuracy = float(cross_val_score(_regression(C), features, y[some], cv=pairs).mean())
    return Outcome(predicted, {"C": C, "cv_accuracy": accuracy, "kernels": chosen, "skipped": skipped})


def tune_one(X: np.ndarray, Y: np.ndarray, candidate: Mapping[str, Any]) -> Found:
    """Return the kernel parameters and γ with the least squared error of leave-one-out decisions."""
    symmetric = candidate.get("solver", "ls-svm") == "ls-svm"
    best: Found | None = None
    for params in ParameterGrid(grid_values(candidate["grid"], candidate.get("per_feature", ()), X.shape[1])):
        kernel = make_kernel(candidate["kernel"], **params)
        gammas, residuals, left_out = leave_one_out(kernel(X), Y, symmetric)
        decisions = Y - residuals
        errors = ((Y - decisions) ** 2).mean(axis=(1, 2))
        errors[left_out | ~np.isfinite(errors)] = np.inf
        place = int(errors.argmin())
        if np.isfinite(errors[place]) and (best is None or errors[place] < best.error):
            best = Found(float(errors[place]), kernel, float(gammas[place]), decisions[place], symmetric)
    if best is None:
        raise ParameterError(f"every gamma is at or beyond a pole for {candidate['kernel']}")
    return best


def leave_one_out(K: np.ndarray, Y: np.ndarray, symmetric: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a grid of γ, exact leave-one-out residuals (G, m, C) for each, and which γ are of no use.

    The grid is that of ``gamma="loo"``: 1/γ from 10³ down to 10⁻⁴ times the root mean square of the singular values of
    the centred matrix K̃. The residuals of AsK-LS are the mean of its two views. K is overwritten.
    """
    centred = centre(K, overwrite=True)
    scale = float(np.linalg.norm(centred.matrix) / np.sqrt(centred.size))
    gammas = np.logspace(-3.0, 4.0, 36) / (scale if scale > 0.0 else 1.0)
    T = centred.targets(Y)
    if symmetric:
        spectrum = SymmetricSpectrum(centred)
        residuals = spectrum.leave_one_out(spectrum.solve(T, gammas), gammas)
        # Beyond the first pole of an indefinite kernel nothing can be relied on.
        beyond = 1.0 / gammas + spectrum.values.min(initial=0.0) <= 0.0
        return gammas, residuals, spectrum.poles(gammas) | beyond
    block = BlockSpectrum(centred)
    views = block.leave_one_out(T, *block.solve(T, gammas), gammas)
    return gammas, np.mean(views, axis=0), block.poles(gammas)


def _decide(found: Found, share: float, train: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Fit to all training samples, and return decisions with as many columns as the leave-one-out ones."""
    if found.symmetric:
        gamma = found.gamma if found.kernel.definite else found.gamma * share  # poles move with the number of samples
        model = LSSVC(kernel=found.kernel, gamma=gamma).fit(train, y)
    else:
        model = AsKLSClassifier(kernel=found.kernel, gamma=found.gamma).fit(train, y)
    return np.asarray(model.decision_function(test)).reshape(len(test), -1)


def code(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return features of a few values as one column for each value, the others as they are; None if all have many.

    >>> code(np.array([[0.0], [0.5], [1.0]]), np.array([[0.5], [0.7]]))[1]
    array([[0., 1., 0.],
           [0., 0., 0.]])
    """
    known = [np.unique(column) for column in train.T]
    few = [2 < len(values) <= MOST_VALUES for values in known]
    if not any(few):
        return None

    def expand(X: np.ndarray) -> np.ndarray:
        parts = [X[:, [j]] == known[j] if few[j] else X[:, [j]] for j in range(X.shape[1])]
        return np.hstack([part.astype(np.float64) for part in parts])

    return expand(train), expand(test)


def _regression(C: float) -> LogisticRegression:
    return LogisticRegression(C=C, max_iter=2000)


TUNED = own_column(
    best_of,
    {"candidates": CANDIDATES, "folds": 10},
    quick={"candidates": CANDIDATES[:1] + CANDIDATES[2:4], "folds": 5},
    note="six kernels, three of them also on coded categories, each tuned by exact leave-one-out; a logistic "
    "regression on their leave-one-out decisions.",
)
