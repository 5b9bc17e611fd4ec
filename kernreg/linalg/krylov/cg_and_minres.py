"""Krylov methods for many right-hand sides: one product with the matrix serves all columns of an iteration.

Each column has its own coefficients and stops when it has converged; those left go on. The residuals that decide are
the 2-norms of the residual vectors, not the norms that the preconditioner induces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Map: TypeAlias = Callable[[np.ndarray], np.ndarray]
Watch: TypeAlias = Callable[[int, float], bool | None]


@dataclass(frozen=True)
class IterationSettings:
    """How a system is solved by iterations.

    Attributes
    ----------
    tol : float
        Relative residual ‖r‖/‖JY‖ to reach in every column.
    max_iter : int
        Bound on the iterations; reaching it gives a ConvergenceWarning.
    rank : int, optional
        Landmarks of the preconditioner; 0 for none.
    landmarks, random_state
        As in `choose_landmarks`; ``"auto"`` are pivots of Cholesky where K is positive semi-definite.
    watch : callable, optional
        Called as ``watch(iteration, worst residual / tolerance)``; an iteration after which it returns True is the
        last.
    max_seconds : float, optional
        Bound on the time; reaching it gives a ConvergenceWarning, too.
    """

    tol: float = 1e-6
    max_iter: int = 500
    rank: int | None = None
    landmarks: Any = "auto"
    random_state: Any = 0
    watch: Watch | None = None
    max_seconds: float | None = None


@dataclass(frozen=True)
class KrylovResult:
    """Solutions in columns, iterations taken, and whether the matrix showed itself as not positive definite."""

    solution: np.ndarray
    iterations: int
    indefinite: bool = False


def _dots(U: np.ndarray, V: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", U, V)


def _norms(V: np.ndarray) -> np.ndarray:
    return np.sqrt(_dots(V, V))


def conjugate_gradients(
    product: Map, B: np.ndarray, precondition: Map, bounds: np.ndarray, max_iter: int, watch: Watch | None = None
) -> KrylovResult:
    """Solve A X = B for a positive definite A until every column's residual is within its bound.

    A direction of curvature zero or less ends the iteration with ``indefinite=True``.

    Examples
    --------
    >>> import numpy as np
    >>> A, B = np.diag([1.0, 2.0, 4.0]), np.ones((3, 1))
    >>> conjugate_gradients(lambda V: A @ V, B, lambda V: V, np.array([1e-9]), 10).solution.ravel()
    array([1.  , 0.5 , 0.25])
    """
    X = np.zeros_like(B)
    active = np.flatnonzero(_norms(B) > bounds)
    R = B[:, active]
    D = Q = precondition(R)
    rho = _dots(R, Q)
    x = np.zeros_like(R)
    iteration, stop = 0, False
    while len(active) and iteration < max_iter and not stop:
        iteration += 1
        AD = product(D)
        curvature = _dots(D, AD)
        if not (curvature > 0.0).all():
            X[:, active] = x
            return KrylovResult(X, iteration, indefinite=True)
        step = rho / curvature
        x = x + step * D
        R = R - step * AD
        norms = _norms(R)
        if watch is not None:
            stop = bool(watch(iteration, float((norms / bounds[active]).max())))
        left = norms > bounds[active]
        if not left.all():
            X[:, active] = x
            active, x, R, D, rho = active[left], x[:, left], R[:, left], D[:, left], rho[left]
        Q = precondition(R)
        previous, rho = rho, _dots(R, Q)
        D = Q + (rho / previous) * D
    X[:, active] = x
    return KrylovResult(X, iteration)


def minimal_residuals(
    product: Map, B: np.ndarray, precondition: Map, bounds: np.ndarray, max_iter: int, watch: Watch | None = None
) -> KrylovResult:
    """Solve A X = B for a symmetric A, definite or not, with a positive definite preconditioner.

    MINRES of Paige & Saunders (1975), with the recurrence r_k = s² r_{k-1} - φ c v_{k+1} for the residual itself.

    Examples
    --------
    >>> import numpy as np
    >>> A, B = np.diag([1.0, -2.0, 4.0]), np.ones((3, 1))
    >>> minimal_residuals(lambda V: A @ V, B, lambda V: V, np.array([1e-9]), 10).solution.ravel()
    array([ 1.  , -0.5 ,  0.25])
    """
    X = np.zeros_like(B)
    active = np.flatnonzero(_norms(B) > bounds)
    lanczos = R = B[:, active]
    Q = precondition(lanczos)
    beta = np.sqrt(np.maximum(_dots(lanczos, Q), 0.0))
    older = np.zeros_like(R)
    x, w, w_old = np.zeros_like(R), np.zeros_like(R), np.zeros_like(R)
    beta_old = np.ones_like(beta)
    dbar, epsilon, phibar = np.zeros_like(beta), np.zeros_like(beta), beta
    cs, sn = -np.ones_like(beta), np.zeros_like(beta)
    tiny = np.finfo(np.float64).tiny
    iteration, stop = 0, False
    while len(active) and iteration < max_iter and not stop:
        iteration += 1
        # One step of the Lanczos process in the inner product of the preconditioner.
        V = Q / beta
        new = product(V)
        if iteration > 1:
            new -= (beta / beta_old) * older
        alpha = _dots(V, new)
        new -= (alpha / beta) * lanczos
        older, lanczos = lanczos, new
        Q = precondition(lanczos)
        beta_old, beta = beta, np.sqrt(np.maximum(_dots(lanczos, Q), 0.0))
        # The rotation that takes the new column of the tridiagonal matrix to triangular form.
        epsilon_old = epsilon
        delta, gbar = cs * dbar + sn * alpha, sn * dbar - cs * alpha
        epsilon, dbar = sn * beta, -cs * beta
        length = np.maximum(np.hypot(gbar, beta), tiny)
        cs, sn = gbar / length, beta / length
        phi, phibar = cs * phibar, sn * phibar
        w_old, w = w, (V - epsilon_old * w_old - delta * w) / length
        x = x + phi * w
        ended = beta <= tiny  # the Krylov space is exhausted: the residual is as small as it gets
        safe = np.where(ended, 1.0, beta)
        R = sn * sn * R - np.where(ended, 0.0, phibar * cs / safe) * lanczos
        norms = _norms(R)
        if watch is not None:
            stop = bool(watch(iteration, float((norms / bounds[active]).max())))
        left = (norms > bounds[active]) & ~ended
        if not left.all():
            X[:, active] = x
            active = active[left]
            x, w, w_old, R, Q, lanczos, older = (a[:, left] for a in (x, w, w_old, R, Q, lanczos, older))
            beta, beta_old, dbar, epsilon, phibar, cs, sn = (
                a[left] for a in (beta, beta_old, dbar, epsilon, phibar, cs, sn)
            )
    X[:, active] = x
    return KrylovResult(X, iteration)


@dataclass(frozen=True)
class CentredSystem:
    """A centred system of equations, as an iteration with checks takes it.

    Attributes
    ----------
    multiply : callable
        Products with its symmetric matrix.
    targets : ndarray of shape (n, C)
        Right-hand sides.
    remainder : callable
        The equations before centring: right-hand side minus left-hand side of a solution.
    project : callable
        Takes the border out.
    kappa : float
        1/γ, the multiple of the solution in the equations: rounding errors of that size are in every residual.
    """

    multiply: Map
    targets: np.ndarray
    remainder: Map
    project: Map
    kappa: float


@dataclass(frozen=True)
class CheckedResult:
    """What an iteration ended with.

    ``full`` is the remainder of the equations before centring, ``rest`` is it without the border: the residual. The
    border's share of ``full`` is the intercept, so the last check of the residual has found it already.
    """

    method: str
    solution: np.ndarray
    full: np.ndarray
    rest: np.ndarray
    iterations: int
    note: str
    timed_out: bool = False


@np.errstate(over="ignore", divide="ignore", invalid="ignore")  # with a γ of 1e300, say: the residual tells
def solve_checked(
    method: str, system: CentredSystem, precondition: Map, bounds: np.ndarray, max_iter: int, watch: Watch | None
) -> CheckedResult:
    """Iterate until the true residuals are within bounds, max_iter is reached, or a new start brings nothing.

    Parameters
    ----------
    method : {"cg", "minres"}
        Conjugate gradients give way to MINRES where the matrix shows itself as indefinite.
    system : CentredSystem
    precondition, bounds, max_iter, watch
        As the methods themselves take them.
    """
    B, project = system.targets, system.project
    solution, full, rest = np.zeros_like(B), None, B
    iterations, note, stopped = 0, "", False
    floor = np.where(bounds > 0.0, bounds, 1.0)
    worst = float((_norms(B) / floor).max(initial=0.0))
    while True:
        offset = iterations

        def shifted(iteration: int, ratio: float, offset: int = offset) -> bool:
            nonlocal stopped
            stopped = watch is not None and bool(watch(offset + iteration, ratio))
            return stopped

        solve = conjugate_gradients if method == "cg" else minimal_residuals
        # Aim a little lower than asked: the true residual is the one that counts.
        step = solve(system.multiply, rest, precondition, 0.9 * bounds, max_iter - iterations, shifted)
        before = solution, full, rest
        solution = project(solution + step.solution)
        iterations += step.iterations
        full = system.remainder(solution)
        rest = project(full)
        ratio = float((np.maximum(_norms(rest), rounding(system.kappa, solution)) / floor).max(initial=0.0))
        # Conjugate gradients come nearer to the solution with every step, whatever the residual does on the way.
        nearer = method == "cg" and offset == 0 and not step.indefinite and np.isfinite(ratio)
        if not ratio <= worst and not nearer:  # a diverging step, near a pole: the solution before is the better one
            solution, full, rest = before
            full = system.remainder(solution) if full is None else full
        if step.indefinite:
            method, note = "minres", "K turned out to be indefinite; MINRES took over from conjugate gradients"
        stalled = not ratio <= 0.5 * worst and not step.indefinite
        if ratio <= 1.0 or stalled or stopped or iterations >= max_iter:
            return CheckedResult(method, solution, full, rest, iterations, note, stopped)
        worst = min(worst, ratio)


def rounding(kappa: float, V: np.ndarray) -> np.ndarray:
    """Return what rounding errors leave at least of each column's residual: κV is one of the terms it is made of.

    Near a pole a solution may be so large that the right-hand side drowns in it, and the computed residual is zero.
    """
    return np.finfo(np.float64).eps * kappa * _norms(V)
