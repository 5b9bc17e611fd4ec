"""LS-SVM and AsK-LS on tables: kernel parameters and γ by cross-validation on the training samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from kernreg import make_kernel
from kernreg.errors import KernregError, ParameterError
from kernreg.solvers import LSSVC, AsKLSClassifier
from kernreg_papers.data.splits import Split
from kernreg_papers.description import Method, Outcome
from kernreg_papers.methods.candidates import choosing_samples
from kernreg_papers.methods.fold_validation import make_folds, out_of_fold, quality, targets

Grid = Mapping[str, Sequence[Any]]

#: Settings of the truncated ℓ1 kernel, which is indefinite: ρ is a multiple of the number of features.
TL1: dict[str, Any] = {"kernel": "tl1", "definite": True, "per_feature": ["rho"]}

#: Training samples up to which all of them choose parameters; of more, this many do.
CHOOSING = 1000

NOTE = (
    f"Of more than {CHOOSING} training samples, {CHOOSING} choose the parameters. Of equal accuracies the smaller "
    "squared error decides. An official split is run as often as a random one: its folds differ."
)


def classify(
    split: Split,
    *,
    kernel: str,
    gamma: Sequence[float],
    grid: Grid | None = None,
    per_feature: Sequence[str] = (),
    solver: str = "ls-svm",
    folds: int = 10,
    definite: bool = False,
) -> Outcome:
    """Fit LS-SVM (symmetric kernels) or AsK-LS (any, its two views averaged), tuned in folds, and predict.

    Parameters
    ----------
    split : Split
    kernel : str
        Name of a kernel.
    gamma : sequence of float
        Values of γ to choose from; those at a pole are left out.
    grid : mapping
        Values of kernel parameters to choose from.
    per_feature : sequence of str
        Parameters whose values are multiples of the number of features (ρ = 0.7 n).
    solver : {"ls-svm", "ask-ls"}
    folds : int
    definite : bool
        Whether γ beyond the first pole of an indefinite kernel is left out. It always is where a part of the samples
        chooses: poles move with the number of samples, and γ is then divided by how many times more there are.
    """
    X, y = split.X_train, split.y_train
    some = choosing_samples(len(y), CHOOSING, split.seed)
    Y, cut = targets(y[some]), make_folds(y[some], folds, split.seed)
    gammas, symmetric = np.asarray(gamma, dtype=np.float64), solver == "ls-svm"
    parted = len(some) < len(y)
    tried = []
    for params in ParameterGrid(grid_values(grid or {}, per_feature, X.shape[1])):
        K = make_kernel(kernel, **params)(X[some])
        decisions, excluded = out_of_fold(K, Y, gammas, cut, symmetric=symmetric, definite=definite or parted)
        tried += [
            (*quality(decision, Y), params, float(g))
            for decision, g, pole in zip(decisions, gammas, excluded, strict=True)
            if not pole
        ]
    tried.sort(key=lambda found: found[:2], reverse=True)
    poles = 0
    for score, _, params, g in tried:
        if not np.isfinite(score):
            break
        chosen = make_kernel(kernel, **params)
        g = g * len(some) / len(y) if parted and symmetric and not chosen.definite else g
        model = LSSVC(kernel=chosen, gamma=g) if symmetric else AsKLSClassifier(kernel=chosen, gamma=g)
        try:
            model.fit(X, y)
        except KernregError:  # no pole in the folds, but one for all samples together: the next best
            poles += 1
            continue
        return Outcome(model.predict(split.X_test), {**params, "gamma": g, "cv_score": score, "poles": poles})
    raise ParameterError(f"every gamma of {list(gamma)} is at a pole for {kernel}; try smaller ones")


def column(
    name: str, label: str, gamma: Sequence[float], grid: Grid, quick: Grid | None = None, *, note: str = "", **more: Any
) -> Method:
    """Return a column of `classify`, named after its kernel if `more` has no other, with a grid for either profile."""
    settings = {"kernel": name, "folds": 10, "gamma": gamma, "grid": grid, **more}
    return Method(name, label, classify, settings, {} if quick is None else {"grid": quick}, note=note)


def grid_values(grid: Grid, per_feature: Sequence[str], d: int) -> dict[str, list[Any]]:
    """Return the values of a grid, those that are given per feature multiplied by the number of features."""
    return {name: [value * d if name in per_feature else value for value in given] for name, given in grid.items()}
