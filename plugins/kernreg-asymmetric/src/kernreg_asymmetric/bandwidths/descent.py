"""Steps of descent in bandwidths and ridge, where bandwidths stay near each other unless samples say otherwise.

What is made small is the leave-one-out error L of n samples, and what bandwidths η = log θ² deviate from each other:

    n/2 log L + Σ_j (η̄_j - η̄)²/2σ² + Σ_ij (η_ij - η̄_j)²/2τ²,      η̄_j = mean_i η_ij,  η̄ = mean_j η̄_j

as if deviations were normal, σ among features and τ among centres. A target that needs them pays for them many times;
the few errors by which noise would choose among them do not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg, optimize

from kernreg_asymmetric.bandwidths.adaptation import LeaveOneOutError, Sample, Solve, kernel_values
from kernreg_asymmetric.bandwidths.overlap import overlaps

AMONG_FEATURES, AMONG_CENTRES = 0.5, 0.25  # σ and τ
WIDTHS = np.geomspace(0.125, 8.0, 7)  # of the common width that descent starts at, in units of √d
RIDGES = np.geomspace(1e-10, 1e4, 43)  # relative to the mean diagonal of K̃ᵀVK̃
_LEAST = -18.0  # of log λ: below it large coefficients cancel on the samples, and not between them
_FAR = 30.0  # of |η| and log λ: beyond it nothing changes any more
_TOLERANCE = 1e-5  # of the objective, relative: the size of the objective is that of n


@dataclass(frozen=True)
class State:
    """Samples that are centres, their η, one row for each, and log λ; steps of descent until here."""

    supports: np.ndarray
    log_squares: np.ndarray
    log_ridge: float
    steps: int = 0

    def solve(self, data: Sample) -> Solve:
        """Return the exact solve with these centres and bandwidths, on these samples."""
        return LeaveOneOutError(data, self.supports).solve(self.log_squares, self.log_ridge)


def common_width(data: Sample, supports: np.ndarray) -> State:
    """Return the common width and the ridge of the least leave-one-out error."""
    d = data.X.shape[1]
    found = [(*best_ridge(data, supports, np.full(d, -np.log(d * w * w))), -np.log(d * w * w)) for w in WIDTHS]
    _, log_ridge, log_square = min(found)
    return State(supports, np.full((len(supports), d), log_square), log_ridge)


def best_ridge(data: Sample, supports: np.ndarray, by_feature: np.ndarray) -> tuple[float, float]:
    """Return the least leave-one-out error of some ridges and its log λ, all centres having the η of these features."""
    centres, v = data.X[supports], data.share
    log_squares = np.broadcast_to(by_feature, centres.shape)
    target = data.Y - v @ data.Y
    K = kernel_values(data.X, centres, log_squares)
    K -= v @ K
    S = overlaps(centres, log_squares)
    S[np.diag_indices_from(S)] += 1e-9
    values, vectors = linalg.eigh((K * v[:, None]).T @ K, S, check_finite=False)  # every ridge at once
    on_vectors = K @ vectors
    products, squares = on_vectors.T @ (v[:, None] * target), np.square(on_vectors)
    best = np.inf, 0.0
    for relative in RIDGES:
        ridge = max(relative * float(values.mean()), np.finfo(float).tiny)
        inverse = 1.0 / (np.maximum(values, 0.0) + ridge)
        residuals = target - on_vectors @ (inverse[:, None] * products)
        keep = np.maximum(1.0 - v * (1.0 + squares @ inverse), 1e-6)
        error = float((v / keep**2) @ np.square(residuals).sum(axis=1))
        best = min(best, (error, float(np.log(ridge))))
    return best


class Objective:
    """What descent makes small, and its gradient; parameters are η of features or of centres, and then log λ."""

    def __init__(self, data: Sample, supports: np.ndarray, *, shared: bool):
        self._loss, self._n, self._shared = LeaveOneOutError(data, supports), len(data.Y), shared
        self._shape = len(supports), data.X.shape[1]

    def rows(self, parameters: np.ndarray) -> np.ndarray:
        """Return η, a row for each centre."""
        return np.broadcast_to(parameters[:-1].reshape(1 if self._shared else self._shape[0], -1), self._shape)

    def __call__(self, parameters: np.ndarray) -> tuple[float, np.ndarray]:
        """Return value and gradient."""
        eta = self.rows(parameters)
        error, by_width, by_ridge, _ = self._loss(eta, float(parameters[-1]))
        error = max(error, np.finfo(float).eps ** 4)  # of targets that are constant: its inverse is still a number
        factor, means = 0.5 * self._n / error, eta.mean(axis=0)
        among_features, among_centres = means - means.mean(), eta - means
        value = 0.5 * self._n * np.log(error)
        value += 0.5 * float(among_features @ among_features) / AMONG_FEATURES**2
        value += 0.5 * float(np.square(among_centres).sum()) / AMONG_CENTRES**2
        slopes = factor * by_width + among_features / (AMONG_FEATURES**2 * self._shape[0])
        slopes += among_centres / AMONG_CENTRES**2
        return float(value), np.append(slopes.sum(axis=0) if self._shared else slopes.ravel(), factor * by_ridge)


def descend(data: Sample, state: State, max_iter: int, *, shared: bool) -> State:
    """Return the state after steps of L-BFGS; ``shared``: one bandwidth for each feature, that of the first centre."""
    objective = Objective(data, state.supports, shared=shared)
    start = np.append(state.log_squares[0] if shared else state.log_squares.ravel(), max(state.log_ridge, _LEAST))
    bounds = [(-_FAR, _FAR)] * (len(start) - 1) + [(_LEAST, _FAR)]
    options = {"maxiter": max_iter, "maxcor": 20, "ftol": _TOLERANCE}
    minimize: Any = optimize.minimize  # its stubs know no function that is an object
    end = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    rows = np.array(objective.rows(end.x))
    return replace(state, log_squares=rows, log_ridge=float(end.x[-1]), steps=state.steps + int(end.nit))
