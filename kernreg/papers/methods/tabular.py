"""LS-SVM and AsK-LS on tables: kernel parameters and γ by exact leave-one-out on the training samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kernreg import make_kernel
from kernreg.papers.description import Outcome
from kernreg.papers.splitting import Split
from kernreg.solvers import LSSVC, AsKLSClassifier, TuneResult, tune

#: Training samples up to which all of them choose the kernel's parameters; of more, this many do.
CHOOSING = 1000

NOTE = (
    "Parameters are chosen by exact leave-one-out instead of 10-fold cross-validation: it needs no refits and no "
    f"random folds. Of more than {CHOOSING} training samples, {CHOOSING} choose the kernel's parameters, all of them γ."
)


def classify(
    split: Split,
    *,
    kernel: str,
    gamma: Sequence[float] | str,
    grid: Mapping[str, Sequence[Any]] | None = None,
    per_feature: Sequence[str] = (),
    solver: str = "ls-svm",
    ensembler: str = "average",
) -> Outcome:
    """Fit LS-SVM (symmetric kernels) or AsK-LS (any), tuned, and predict.

    Parameters
    ----------
    split : Split
    kernel : str
        Name of a kernel.
    gamma : sequence of float or "loo"
    grid : mapping
        Values of kernel parameters to choose from.
    per_feature : sequence of str
        Parameters whose values are multiples of the number of features (ρ = 0.7 n).
    solver : {"ls-svm", "ask-ls"}
    ensembler : str
        How AsK-LS merges its views.
    """
    found = fit_tuned(split, kernel, gamma, grid or {}, per_feature, solver, ensembler)
    return Outcome(
        found.best_estimator.predict(split.X_test), {**found.best_params, "loo_score": float(found.best_score)}
    )


def fit_tuned(
    split: Split,
    kernel: str,
    gamma: Sequence[float] | str,
    grid: Mapping[str, Sequence[Any]],
    per_feature: Sequence[str] = (),
    solver: str = "ls-svm",
    ensembler: str = "average",
) -> TuneResult:
    """Return the tuned model; see `classify`."""
    X, y = split.X_train, split.y_train
    made = LSSVC() if solver == "ls-svm" else AsKLSClassifier(ensembler=ensembler)
    made.set_params(kernel=make_kernel(kernel))
    d = X.shape[1]
    values = {
        f"kernel__{name}": [value * d if name in per_feature else value for value in given]
        for name, given in grid.items()
    }
    gammas = gamma if isinstance(gamma, str) else list(gamma)
    if len(y) > CHOOSING and any(len(given) > 1 for given in values.values()):
        some = np.random.default_rng(split.seed).permutation(len(y))[:CHOOSING]
        chosen = tune(made, {**values, "gamma": gammas}, X[some], y[some]).best_params
        values = {name: [chosen[name]] for name in values}
    return tune(made, {**values, "gamma": gammas}, X, y)
