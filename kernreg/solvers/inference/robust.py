"""Reweighted regression: samples that the others contradict count less.

A fit gives leave-one-out residuals e_i, their robust scale s = 1.483 median |e_i - median e|, and from r_i = |e_i| / s
the weights v_i of the next fit, until they no longer change::

    huber      v = min(1, 1.345 / r)
    hampel     v = 1 up to 2.5, then falling in a line to 3, and 10⁻⁴ beyond
    logistic   v = tanh(r) / r
    myriad     v = δ² / (δ² + r²), δ = 1

Leave-one-out residuals see what ordinary ones hide: an outlier that pulls the function to itself. For several outputs r
is the root mean square over them.

Suykens, De Brabanter, Lukas & Vandewalle, Weighted least squares support vector machines: robustness and sparse
approximation, Neurocomputing 48 (2002). De Brabanter et al., Robustness of kernel based regression: a comparison of
iterative weighting schemes, ICANN 2009.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernreg.solvers.advice import collecting
from kernreg.solvers.parameters import check_choice
from kernreg.solvers.samples import check_weights

_ITERATIONS = 30
_CHANGE = 1e-3  # of a weight, that is none


def _huber(r: np.ndarray) -> np.ndarray:
    return 1.345 / np.maximum(r, 1.345)


def _hampel(r: np.ndarray) -> np.ndarray:
    return np.clip((3.0 - r) / 0.5, 1e-4, 1.0)


def _logistic(r: np.ndarray) -> np.ndarray:
    return np.tanh(r) / np.maximum(r, np.finfo(np.float64).tiny)


def _myriad(r: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + r * r)


WEIGHTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "huber": _huber,
    "hampel": _hampel,
    "logistic": _logistic,
    "myriad": _myriad,
}


def fit_reweighted(machine: Any, robust: str, fit: Callable[[Any], None], m: int, sample_weight: Any) -> None:
    """Fit a machine again and again, with the weights that its leave-one-out residuals ask for.

    Parameters
    ----------
    machine : regression machine
        Fitted by ``fit``; keeps the weights as ``robust_weights_``.
    robust : {"huber", "hampel", "logistic", "myriad"}
    fit : callable
        ``fit(weights)`` fits it to all samples.
    m : int
        The number of samples.
    sample_weight
        As given to ``fit``; multiplied with the weights.
    """
    check_choice("robust", robust, tuple(WEIGHTS))
    given = np.ones(m) if sample_weight is None else check_weights(sample_weight, m)
    kept = given > 0.0
    v = np.where(kept, 1.0, 0.0)
    for _ in range(_ITERATIONS):
        with collecting():  # only the last fit is worth a warning
            fit(given * v)
            following = WEIGHTS[robust](scaled_residuals(machine.loo_residuals_))
        change = float(np.abs(following - v[kept]).max())
        v[kept] = following
        if change <= _CHANGE:
            break
    fit(given * v)
    machine._frequencies = None if sample_weight is None else given[kept]
    machine.robust_weights_ = v


def scaled_residuals(residuals: np.ndarray) -> np.ndarray:
    """Return |e_i| / s, for several outputs the root mean square; where s is 0, ∞ for whatever is not zero.

    >>> scaled_residuals(np.array([-1.0, 0.0, 1.0, 14.83])).round(3).tolist()
    [0.674, 0.0, 0.674, 10.0]
    """
    E = residuals.reshape(len(residuals), -1)
    E = np.where(np.isfinite(E), E, np.finfo(np.float64).max)
    scale = 1.483 * np.median(np.abs(E - np.median(E, axis=0)), axis=0)
    tiny = 1e-12 * np.abs(E).max(axis=0, initial=0.0) + np.finfo(np.float64).tiny
    with np.errstate(over="ignore"):
        return np.minimum(np.sqrt(np.mean((E / np.maximum(scale, tiny)) ** 2, axis=1)), 1e12)
