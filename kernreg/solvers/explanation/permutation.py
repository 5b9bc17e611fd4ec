"""Permutation importance on exact leave-one-out predictions: for any kernel, without a test set and without refits.

The values of a feature are dealt anew among the samples, and every sample is predicted by the model without it::

    f⁽⁻ⁱ⁾(x̃_i) = f(x̃_i) - H_i(x̃_i) e_i

where x̃_i is x_i with the feature of another sample. What the leave-one-out score loses is the importance. Breiman,
Random forests, Machine Learning 45 (2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernreg.common.checks import is_whole
from kernreg.common.display import Display
from kernreg.common.progress import progress
from kernreg.errors import ParameterError, shown
from kernreg.linalg.randomness import generator
from kernreg.solvers.inference.left_out import LeftOutModels, merged_training
from kernreg.solvers.samples import check_fitted, has_features


@dataclass(frozen=True)
class PermutationImportance(Display):
    """How much the leave-one-out score drops when a feature is shuffled.

    Attributes
    ----------
    importances : ndarray of shape (d, repeats)
    mean, std : ndarray of shape (d,)
        Of them.
    score : float
        The leave-one-out score (accuracy or R²) with all features.
    feature_names : list of str
    """

    importances: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    score: float
    feature_names: list[str]


def permutation_importance(machine: Any, n_repeats: Any = 5, random_state: Any = 0) -> PermutationImportance:
    """Return the importance of each feature of a fitted dual machine; see `DualMachine.permutation_importance`."""
    check_fitted(machine)
    if not is_whole(n_repeats) or n_repeats < 1:
        raise ParameterError(f"n_repeats={shown(n_repeats)} is not accepted; give a positive integer")
    repeats = int(n_repeats)
    if not has_features(machine.kernel_, machine.X_fit_):
        raise ParameterError(f"importance is about features, and {machine.kernel_.name!r} sees samples without any")
    if machine._targets.pairwise:
        raise ParameterError("multi_class='one-vs-one' is not accepted here; use 'one-vs-rest'")
    models, rng = LeftOutModels(machine), generator(random_state)
    score = _score(machine, merged_training(machine, models))
    X = machine.X_fit_.toarray() if hasattr(machine.X_fit_, "toarray") else machine.X_fit_
    d = X.shape[1]
    found = np.empty((d, repeats))
    with progress("permutations", d * repeats, worthwhile=len(X) > 1000) as show:
        for j in range(d):
            for repeat in range(repeats):
                changed = X.copy()
                changed[:, j] = X[rng.permutation(len(X)), j]
                found[j, repeat] = score - _score(machine, left_out_at(machine, models, changed))
                show(j * repeats + repeat + 1)
    names = getattr(machine, "feature_names_in_", None)
    names = [f"feature {j}" for j in range(d)] if names is None or len(names) != d else [str(name) for name in names]
    return PermutationImportance(found, found.mean(axis=1), found.std(axis=1), score, names)


def left_out_at(machine: Any, models: LeftOutModels, X: np.ndarray) -> np.ndarray:
    """Return the merged decision of the model without sample i at row i of X, for each of m rows."""
    views = {}
    ((system, _),) = models.parts()
    for number, name in enumerate(machine.views):
        if name == "target":
            K = machine.kernel_(machine.X_fit_, X).T
        else:
            K = machine.kernel_(X, machine.X_fit_)
        K = np.asarray(K, dtype=np.float64)
        f = K @ machine._coefficients[number].astype(np.float64) + machine._intercepts[number]
        smoother = system.smoothers[name]
        for other, C in smoother.coefficients.items():
            own = np.einsum("ij,ji->i", K, C) + smoother.intercepts[other]
            f -= own[:, None] * models.residuals[other]
        views[name] = machine._targets.shaped(f)
    return machine._merged_left_out(views)


def _score(machine: Any, decision: np.ndarray) -> float:
    return float(machine._targets.score(decision, machine._y, machine._weights))
