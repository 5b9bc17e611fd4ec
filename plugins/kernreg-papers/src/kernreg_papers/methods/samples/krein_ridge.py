"""Least squares in the Kreĭn space of an indefinite kernel, beside the LS-SVM of the IND tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from kernreg_krein import KreinRidgeClassifier
from sklearn.model_selection import ParameterGrid

from kernreg import make_kernel
from kernreg_papers.data.splits import Split
from kernreg_papers.description import Outcome
from kernreg_papers.methods.candidates import choosing_samples
from kernreg_papers.methods.samples.least_squares import CHOOSING, Grid, grid_values


def krein_ridge(split: Split, *, kernel: str, grid: Grid, per_feature: Sequence[str] = (), folds: int) -> Outcome:
    """Fit `krein-ridge` of kernreg-krein: kernel parameters and γ by the squared error of folds, no poles.

    Parameters
    ----------
    split : Split
    kernel : str
        Name of a kernel.
    grid : mapping
        Values of kernel parameters to choose from.
    per_feature : sequence of str
        Parameters whose values are multiples of the number of features (ρ = 0.7 n).
    folds : int
    """
    X, y = split.X_train, split.y_train
    some = choosing_samples(len(y), CHOOSING, split.seed)
    tried: list[tuple[float, dict[str, Any], float]] = []
    for params in ParameterGrid(grid_values(grid, per_feature, X.shape[1])):
        model = KreinRidgeClassifier(make_kernel(kernel, **params), "auto", n_folds=folds).fit(X[some], y[some])
        tried.append((float(model.gamma_path_["squared_error"].min()), params, model.gamma_))
    error, params, gamma = tried[int(np.argmin([found[0] for found in tried]))]
    model = KreinRidgeClassifier(make_kernel(kernel, **params), gamma).fit(X, y)
    return Outcome(model.predict(split.X_test), {**params, "gamma": gamma, "cv_squared_error": error})
