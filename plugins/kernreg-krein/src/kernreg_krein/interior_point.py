"""C-SVM on features, by an interior-point method whose systems have the size of a feature vector.

With ψ̂_i = y_i ψ_i in the rows of Ψ̂ the dual is::

    min_a  ½ ‖Ψ̂ᵀa‖² - Σ a      subject to   yᵀa = 0,   0 ≤ a_i ≤ c_i

A step of Newton's method solves with D + Ψ̂Ψ̂ᵀ, D diagonal, through I + Ψ̂ᵀD⁻¹Ψ̂, of the size of the features: O(m r²)
each, and a few dozen steps whatever the number of samples m (Fine & Scheinberg, Efficient SVM training using low-rank
kernel representations, JMLR 2, 2001; predictor and corrector of Mehrotra).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

_BACK_OFF = 0.995  # of the way to the boundary that a step may take


class LinearSolution(NamedTuple):
    """f(x) = ψ(x)ᵀw + b, the relative duality gap, and the iterations."""

    w: np.ndarray
    intercept: float
    gap: float
    iterations: int


def solve_linear(Psi: np.ndarray, y: np.ndarray, c: np.ndarray, tol: float, max_iter: int) -> LinearSolution:
    """Return the solution of one linear C-SVM with a bias that is not penalised.

    Parameters
    ----------
    Psi : ndarray of shape (m, r)
    y : ndarray of shape (m,)
        ±1.
    c : ndarray of shape (m,)
        Bounds: the price of a unit of slack of each sample.
    tol : float
        Duality gap, relative to the objective, at which to stop.
    max_iter : int

    Examples
    --------
    >>> solution = solve_linear(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), np.ones(2), 1e-9, 100)
    >>> float(solution.w[0].round(6)), bool(solution.gap < 1e-9)
    (1.0, True)
    """
    P, m = y[:, None] * Psi, len(y)
    a, z, t, b = 0.5 * c, np.ones(m), np.ones(m), 0.0
    w = P.T @ a
    best = LinearSolution(w, _bias(Psi @ w, y, c), np.inf, 0)
    for iteration in range(1, max_iter + 1):
        room = c - a
        dual = P @ w - 1.0 + b * y - z + t
        mu = float(a @ z + room @ t) / (2 * m)
        D = z / a + t / room
        try:
            solve = _Systems(P, y, D)
        except linalg.LinAlgError:  # D covers too many powers of ten: no step is known better than the best so far
            break
        # Predictor: as if the centre were the boundary; corrector: with the curvature that it met.
        first = solve(-dual - z + t, -float(y @ a))
        da, _ = first
        dz, dt = -z - z / a * da, -t + t / room * da
        step = min(_reach(a, da), _reach(room, -da), _reach(z, dz), _reach(t, dt))
        ahead = float((a + step * da) @ (z + step * dz) + (room - step * da) @ (t + step * dt)) / (2 * m)
        centre = mu * (ahead / mu) ** 3
        z_aim, t_aim = (centre - da * dz) / a, (centre + da * dt) / room
        da, db = solve(-dual - z + z_aim + t - t_aim, -float(y @ a))
        dz, dt = z_aim - z - z / a * da, t_aim - t + t / room * da
        primal_step = _BACK_OFF * min(_reach(a, da), _reach(room, -da))
        step = min(1.0, primal_step, _BACK_OFF * _reach(z, dz), _BACK_OFF * _reach(t, dt))
        if not np.isfinite(step) or step < 1e-12:
            break
        a, z, t, b = a + step * da, z + step * dz, t + step * dt, b + step * db
        w = P.T @ a
        found = _measured(Psi, w, y, c, a, iteration)
        if found.gap < best.gap:
            best = found
        if best.gap <= tol or iteration - best.iterations > 10:
            break
    return best._replace(iterations=iteration)


class _Systems:
    """(D + P Pᵀ) Δa + y Δb = r,  yᵀΔa = s, for several right-hand sides."""

    def __init__(self, P: np.ndarray, y: np.ndarray, D: np.ndarray):
        self._P, self._y, self._D = P, y, D
        scaled = P / np.sqrt(D)[:, None]
        inner = scaled.T @ scaled
        inner.flat[:: len(inner) + 1] += 1.0
        self._factor = linalg.cho_factor(inner, lower=True, check_finite=False)
        self._along = self._inverse(y)

    def _inverse(self, v: np.ndarray) -> np.ndarray:
        scaled = v / self._D
        return scaled - (self._P @ linalg.cho_solve(self._factor, self._P.T @ scaled, check_finite=False)) / self._D

    def __call__(self, r: np.ndarray, s: float) -> tuple[np.ndarray, float]:
        plain = self._inverse(r)
        db = (float(self._y @ plain) - s) / float(self._y @ self._along)
        return plain - db * self._along, db


def _reach(values: np.ndarray, steps: np.ndarray) -> float:
    """Return the step at which the first of some positive values would be zero, at most 1/0.995."""
    shrinking = steps < 0.0
    return float(np.min(-values[shrinking] / steps[shrinking], initial=1.0 / _BACK_OFF))


def _measured(
    Psi: np.ndarray, w: np.ndarray, y: np.ndarray, c: np.ndarray, a: np.ndarray, iteration: int
) -> LinearSolution:
    """Return the primal solution of a dual point, with the best bias, and the gap between the two."""
    values = Psi @ w
    b = _bias(values, y, c)
    size = 0.5 * float(w @ w)
    primal = size + float(c @ np.maximum(0.0, 1.0 - y * (values + b)))
    dual = float(a.sum()) - size
    return LinearSolution(w, b, abs(primal - dual) / max(1.0, abs(primal)), iteration)


def _bias(values: np.ndarray, y: np.ndarray, c: np.ndarray) -> float:
    """Return the b of least loss Σ c_i max(0, 1 - y_i (f_i + b)), in the middle where there are several.

    The loss is convex and piecewise linear in b, with corners at y_i - f_i: its slope rises by c_i at each of them,
    from -Σ c_i of the positive samples.
    """
    corners = y - values
    order = np.argsort(corners, kind="stable")
    slopes = np.cumsum(c[order]) - c[y > 0.0].sum()
    slack = 1e-12 * float(c.sum())
    first = int(np.searchsorted(slopes, -slack))
    last = int(np.searchsorted(slopes, slack, side="right"))
    ends = corners[order[[min(first, len(order) - 1), min(last, len(order) - 1)]]]
    return float(ends.mean())
