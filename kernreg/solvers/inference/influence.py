"""How much each training sample matters: leverage, and what its absence changes, exact and without refits.

The fitted values are f = H y with the smoother matrix H (see `kernreg.linalg.exact.smoothers`), and without sample i
they change by H_ji e_i at x_j, e_i being the residual left out. So::

    leverage              h_i = H_ii                     effective degrees of freedom    tr H
    influence (Cook)      D_i = Σ_j (H_ji e_i)² / (tr H · s²),   s² = Σ_j (y_j - f_j)² / (m - tr H)

as in linear regression, where this is Cook's distance. With several outputs the squares are summed over them and the
degrees of freedom counted for each. For an indefinite kernel h_i may be negative or above 1.

Cook, Detection of influential observation in linear regression, Technometrics 19 (1977).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernreg.common.display import Display
from kernreg.errors import ParameterError
from kernreg.solvers.inference.left_out import LeftOutModels, check_view, kernel_rows
from kernreg.solvers.samples import check_fitted


@dataclass(frozen=True)
class Influence(Display):
    """How much each training sample influences a machine.

    Attributes
    ----------
    degrees_of_freedom : float
        The effective number of parameters of the fit, tr H: from 1, a mean, to m, an interpolation.
    noise : float
        s, the standard deviation of what the fit leaves.
    leverage : ndarray of shape (m,)
        What a sample's own target adds to its fitted value.
    cook : ndarray of shape (m,)
        The squared change of all fitted values without the sample, relative to the noise.
    fitted : ndarray of shape (m,) or (m, columns)
    residuals, loo_residuals : ndarray of shape (m,) or (m, columns)
        Target minus fitted value, with the sample and without.
    """

    degrees_of_freedom: float
    noise: float
    leverage: np.ndarray
    cook: np.ndarray
    fitted: np.ndarray
    residuals: np.ndarray
    loo_residuals: np.ndarray


def influence(machine: Any, view: str | None = None) -> Influence:
    """Return the influence of each training sample on a fitted dual machine; see `DualMachine.influence`."""
    check_fitted(machine)
    check_view(machine, view)
    if machine._targets.pairwise:
        raise ParameterError("multi_class='one-vs-one' is not accepted here; use 'one-vs-rest'")
    view = machine.views[0] if view is None else view
    models = LeftOutModels(machine)
    X = machine.X_fit_
    train = X if isinstance(X, tuple) else (X, X)
    rows = kernel_rows(machine, train, train)[view]
    number = machine.views.index(view)
    m, columns = models.size, machine._coefficients.shape[2]
    leverage, change = np.zeros(m), np.zeros((m, columns))
    counted = np.zeros(m)
    for system, (samples, part) in models.parts():
        K = rows if isinstance(samples, slice) else rows[:, samples]
        smoother = system.smoothers[view].weights(K)
        own = np.arange(m)[samples]
        for other, H in smoother.items():
            leverage[own] += H[
                own, np.arange(len(own))
            ]  # of the view's own targets and of the other's, which are equal
            counted[own] += other == view
            moved = models.residuals[other][own, part]
            change[own, part] += np.einsum("ji,ji->i", H, H)[:, None] * moved**2
            for second, G in smoother.items():
                if second != other:  # both parts of a change, squared together
                    both = moved * models.residuals[second][own, part]
                    change[own, part] += np.einsum("ji,ji->i", H, G)[:, None] * both
    leverage /= counted
    fitted = machine._targets.shaped(
        rows @ machine._coefficients[number].astype(np.float64) + machine._intercepts[number]
    )
    truth = machine._targets.values(machine._y)
    left_out = machine._targets.shaped(_values(models, view))
    freedom = float(leverage.sum())
    residuals = truth - fitted
    weights = np.ones(m) if machine._weights is None else machine._weights
    squares = float(weights @ (residuals.reshape(m, -1) ** 2).sum(axis=1))
    left = max(m - freedom, np.finfo(np.float64).eps * m) * residuals.reshape(m, -1).shape[1]
    variance = squares / left
    scale = freedom * variance if freedom * variance > 0.0 else 1.0
    return Influence(
        freedom, float(np.sqrt(variance)), leverage, change.sum(axis=1) / scale, fitted, residuals, truth - left_out
    )


def _values(models: LeftOutModels, view: str) -> np.ndarray:
    """Return the predictions left out, (m, columns)."""
    whole = np.empty_like(models.residuals[view])
    for (_, (rows, columns)), problem in zip(models.parts(), models.problems, strict=True):
        whole[rows, columns] = problem.Y - models.residuals[view][rows, columns]
    return whole
