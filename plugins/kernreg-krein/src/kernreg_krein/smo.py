"""C-SVM on a positive semi-definite matrix, by sequential minimal optimisation in double precision.

The dual in β = y ∘ a, one sign condition for each sample::

    min_β  ½ βᵀHβ - yᵀβ      subject to   Σ β = 0,   0 ≤ y_i β_i ≤ c_i

With the gradient g = Hβ - y the optimum is where no β_i that may grow has a smaller g_i than any β_j that may shrink:
max g_j - min g_i ≤ 0 is the condition of Karush, Kuhn and Tucker, and b = -g_i of every β_i inside its bounds. A step
moves the pair that promises most by the second-order rule of Fan, Chen & Lin, JMLR 6 (2005). In the end the β inside
their bounds are solved for at once, which makes the solution exact where the right ones were found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernreg.engine import compiled_loop

_STEPS = 20_000  # between two looks at whether somebody interrupts
_SMALLEST_CURVATURE = 1e-12
_ROUNDS = 3  # of exact solves
_LARGEST = 4000  # β inside their bounds that are solved for at once


class BoxSolution(NamedTuple):
    """Coefficients β, the bias, how far the conditions of optimality are from holding, and the steps taken."""

    beta: np.ndarray
    intercept: float
    violation: float
    steps: int


def solve_box(H: np.ndarray, y: np.ndarray, c: np.ndarray, tol: float, max_iter: int) -> BoxSolution:
    """Return the solution of one C-SVM.

    Parameters
    ----------
    H : ndarray of shape (m, m)
        Positive semi-definite, C-ordered.
    y : ndarray of shape (m,)
        ±1.
    c : ndarray of shape (m,)
        Bounds.
    tol : float
        Violation at which to stop.
    max_iter : int
        Steps after which to stop in any case.

    Examples
    --------
    >>> solution = solve_box(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([1.0, -1.0]), np.ones(2), 1e-8, 1000)
    >>> solution.beta.tolist(), abs(solution.intercept)
    ([0.5, -0.5], 0.0)
    """
    low, high = np.minimum(0.0, y * c), np.maximum(0.0, y * c)
    beta, g, steps = np.zeros(len(y)), -y.astype(np.float64), 0
    while steps < max_iter:
        taken = _steps(H, low, high, beta, g, tol, min(_STEPS, max_iter - steps))
        steps += taken
        if taken < _STEPS:
            break
    g = H @ beta - y  # what the steps have added up, without their rounding errors
    beta, g = _exact(H, y, low, high, beta, g)
    free = _inside(beta, low, high)
    up, down = _ends(g, beta, low, high)
    b = -float(g[free].mean()) if free.any() else -0.5 * (up + down)
    return BoxSolution(beta, b, max(0.0, down - up), steps)


@compiled_loop(fastmath=(), error_model="python")
def _steps(
    H: np.ndarray, low: np.ndarray, high: np.ndarray, beta: np.ndarray, g: np.ndarray, tol: float, steps: int
) -> int:  # pragma: no cover  compiled
    """Take steps in place; return how many, fewer than asked for where the tolerance is reached."""
    m = len(beta)
    for step in range(steps):
        i, least = -1, np.inf
        for k in range(m):
            if beta[k] < high[k] and g[k] < least:
                i, least = k, g[k]
        if i < 0:
            return step
        j, gain, largest = -1, 0.0, -np.inf
        for k in range(m):
            if beta[k] > low[k]:
                largest = max(largest, g[k])
                rise = g[k] - least
                if rise > 0.0:
                    curvature = max(H[i, i] + H[k, k] - 2.0 * H[i, k], _SMALLEST_CURVATURE)
                    if rise * rise / curvature > gain:
                        j, gain = k, rise * rise / curvature
        if j < 0 or largest - least <= tol:
            return step
        curvature = max(H[i, i] + H[j, j] - 2.0 * H[i, j], _SMALLEST_CURVATURE)
        room_i, room_j = high[i] - beta[i], beta[j] - low[j]
        t = min((g[j] - g[i]) / curvature, room_i, room_j)
        beta[i] = high[i] if t == room_i else beta[i] + t
        beta[j] = low[j] if t == room_j else beta[j] - t
        for k in range(m):
            g[k] += t * (H[i, k] - H[j, k])
    return steps


def _inside(beta: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return (beta > low) & (beta < high)


def _ends(g: np.ndarray, beta: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Return the smallest g of what may grow and the largest of what may shrink."""
    return float(g[beta < high].min(initial=np.inf)), float(g[beta > low].max(initial=-np.inf))


def _exact(
    H: np.ndarray, y: np.ndarray, low: np.ndarray, high: np.ndarray, beta: np.ndarray, g: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return β and g with the β inside their bounds solved for, where that lessens the violation."""
    for _ in range(_ROUNDS):
        free = np.flatnonzero(_inside(beta, low, high))
        if not 0 < len(free) <= _LARGEST:
            break
        n = len(free)
        bordered = np.ones((n + 1, n + 1))
        bordered[:n, :n], bordered[n, n] = H[np.ix_(free, free)], 0.0
        up, down = _ends(g, beta, low, high)
        try:
            step = np.linalg.solve(bordered, np.append(-g[free], -beta.sum()))[:n]
        except np.linalg.LinAlgError:
            break
        moved = beta.copy()
        moved[free] += step
        if not np.isfinite(moved).all() or (moved < low).any() or (moved > high).any():
            break
        gradient = H @ moved - y
        new_up, new_down = _ends(gradient, moved, low, high)
        if new_down - new_up >= down - up:
            break
        beta, g = moved, gradient
    return beta, g
