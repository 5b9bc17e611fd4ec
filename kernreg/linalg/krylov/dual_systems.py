"""LS-SVM and AsK-LS without the kernel matrix in memory: preconditioned Krylov methods on kernel products.

LS-SVM  (K̃ + I/γ) A = JY: conjugate gradients where K is positive semi-definite, MINRES where it is not known to be.
AsK-LS  [[I/γ, K̃], [K̃ᵀ, I/γ]] (A, C) = (JY, JY): symmetric and indefinite, so MINRES.

All right-hand sides share each product with K. The residual reported is that of these equations, computed from the
solution itself; where it is worse than the recurrence claimed, the iteration is taken up again from there.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernreg.engine.threads import configured_blas
from kernreg.kernels.base import Kernel
from kernreg.linalg.exact.report import SolveReport, unit_if_zero
from kernreg.linalg.krylov.centred_operator import CentredOperator
from kernreg.linalg.krylov.cg_and_minres import (
    CentredSystem,
    CheckedResult,
    IterationSettings,
    Watch,
    rounding,
    solve_checked,
)
from kernreg.linalg.krylov.clock import Clock
from kernreg.linalg.krylov.preconditioners import block_preconditioner, symmetric_preconditioner
from kernreg.linalg.system_inputs import require_positive, targets_and_weights

_DEFAULTS = IterationSettings()


def _timed(watch: Watch | None, clock: Clock) -> Watch:
    """Return what stops an iteration when there is no time for another one and for the check after it."""
    clock.lap()

    def watching(iteration: int, ratio: float) -> bool:
        if watch is not None:
            watch(iteration, ratio)
        return clock.over(2.0 * clock.lap())

    return watching


@dataclass(frozen=True)
class IterativeReport(SolveReport):
    """A `SolveReport` of a Krylov method; its ``condition`` is not estimated (NaN).

    Attributes
    ----------
    iterations : int
        Products with the system matrix, all right-hand sides together.
    converged : bool
        Whether the residual is within the tolerance.
    rank : int
        Rank of the preconditioner.
    form : str
        How K is multiplied: ``"blocks"`` evaluated anew for every product, or ``"separable"`` for sparse data.
    trace_error : float or None
        The share of the trace of K that the preconditioner leaves, where its landmarks are pivots of Cholesky; of
        kernels not known to be positive semi-definite that of squared norms of rows, in some columns.
    """

    iterations: int = 0
    converged: bool = True
    rank: int = 0
    form: str = "blocks"
    trace_error: float | None = None


@configured_blas()
def solve_symmetric_iterative(
    kernel: Kernel,
    X: Any,
    Y: np.ndarray,
    gamma: float,
    *,
    weights: np.ndarray | None = None,
    definite: bool | None = None,
    settings: IterationSettings = _DEFAULTS,
) -> tuple[np.ndarray, np.ndarray, IterativeReport]:
    """Solve LS-SVM for a symmetric kernel: coefficients of f(x) = Σ_i a_i k(x, x_i) + b.

    Parameters
    ----------
    kernel : Kernel
        Symmetric; that is the caller's word (a held matrix may be symmetric without the kernel knowing).
    X : array or CSR of m samples
    Y : ndarray of shape (m,) or (m, C)
        One column for each class or output.
    gamma : float
        Regularisation constant γ.
    weights : ndarray of shape (m,), optional
        Positive sample weights.
    definite : bool, optional
        Whether K is positive semi-definite; the kernel's own word by default. A wrong yes is noticed.
    settings : IterationSettings

    Returns
    -------
    A : ndarray of shape (m, C)
    b : ndarray of shape (C,)
    report : IterativeReport

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.kernels.builtin import rbf
    >>> X = np.linspace(-2.0, 2.0, 60)[:, None]
    >>> k = rbf(sigma=1.0)
    >>> A, b, report = solve_symmetric_iterative(k, X, np.sin(X), 100.0, settings=IterationSettings(rank=10))
    >>> report.method, report.converged, bool(np.abs(k(X) @ A + b - np.sin(X)).max() < 0.01)
    ('cg', True, True)
    """
    require_positive(gamma)
    clock, operator = Clock(settings.max_seconds), kernel.operator(X)
    Y, weights = targets_and_weights(operator.shape[0], Y, weights)
    centred = CentredOperator(operator, weights)
    definite, kappa = bool(kernel.definite if definite is None else definite), 1.0 / gamma
    preconditioner = symmetric_preconditioner(kernel, X, centred, kappa, settings, definite=definite)

    def multiply(V: np.ndarray) -> np.ndarray:
        return kappa * V + centred.product(V)

    def remainder(V: np.ndarray) -> np.ndarray:
        return centred.scale(Y - centred.raw(centred.scale(V))) - kappa * V

    T = centred.targets(Y)
    system = CentredSystem(multiply, T, remainder, centred.project, kappa)
    bounds, method = settings.tol * np.linalg.norm(T, axis=0), "cg" if definite else "minres"
    result = solve_checked(method, system, preconditioner, bounds, settings.max_iter, _timed(settings.watch, clock))
    residual = worst_residual(result.rest, result.solution, kappa, T)
    report = _report(result, residual, preconditioner, centred, gamma, settings.tol, -preconditioner.values)
    return centred.scale(result.solution), (centred.border @ result.full) / centred.norm, report


@configured_blas()
def solve_block_iterative(
    kernel: Kernel,
    X: Any,
    Y: np.ndarray,
    gamma: float,
    *,
    Z: Any = None,
    weights: np.ndarray | None = None,
    settings: IterationSettings = _DEFAULTS,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, IterativeReport]:
    """Solve AsK-LS for any kernel: f_s(x) = Σ_i c_i k(x, z_i) + b₁ and f_t(z) = Σ_i a_i k(x_i, z) + b₂.

    Parameters
    ----------
    kernel, X, Y, gamma, weights, settings
        As in `solve_symmetric_iterative`.
    Z : array or CSR, optional
        The samples as targets, where the kernel compares two spaces; X by default.

    Returns
    -------
    A, C : ndarray of shape (m, C)
    b : ndarray of shape (2, C)
        b₁ of the source function and b₂ of the target function.
    report : IterativeReport

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.kernels.builtin import sne
    >>> X = np.linspace(-2.0, 2.0, 60)[:, None]
    >>> A, C, b, report = solve_block_iterative(sne(sigma=1.0), X, np.sin(X), 0.5)
    >>> A.shape, C.shape, b.shape, report.converged
    ((60, 1), (60, 1), (2, 1), True)
    """
    require_positive(gamma)
    clock, operator = Clock(settings.max_seconds), kernel.operator(X, Z)
    Y, weights = targets_and_weights(operator.shape[0], Y, weights)
    centred = CentredOperator(operator, weights)
    m, kappa = centred.size, 1.0 / gamma
    preconditioner = block_preconditioner(kernel, X, Z, centred, kappa, settings)

    def multiply(V: np.ndarray) -> np.ndarray:
        return kappa * V + np.vstack([centred.product(V[m:]), centred.adjoint(V[:m])])

    def remainder(V: np.ndarray) -> np.ndarray:
        a, c = centred.scale(V[:m]), centred.scale(V[m:])
        full = [centred.scale(Y - centred.raw(c)), centred.scale(Y - centred.raw(a, adjoint=True))]
        return np.vstack(full) - kappa * V

    def project(V: np.ndarray) -> np.ndarray:
        return np.vstack([centred.project(V[:m]), centred.project(V[m:])])

    T = centred.targets(Y)
    # The bounds are those of half the equations, so that each half is within the tolerance by itself.
    bounds = settings.tol * np.linalg.norm(T, axis=0)
    system = CentredSystem(multiply, np.vstack([T, T]), remainder, project, kappa)
    result = solve_checked("minres", system, preconditioner, bounds, settings.max_iter, _timed(settings.watch, clock))
    halves = slice(0, m), slice(m, None)
    residual = max(worst_residual(result.rest[half], result.solution[half], kappa, T) for half in halves)
    report = _report(result, residual, preconditioner, centred, gamma, settings.tol, preconditioner.values)
    A, C = centred.scale(result.solution[:m]), centred.scale(result.solution[m:])
    b = np.stack([centred.border @ result.full[:m], centred.border @ result.full[m:]]) / centred.norm
    return A, C, b, report


def worst_residual(rest: np.ndarray, solution: np.ndarray, kappa: float, T: np.ndarray) -> float:
    """Return the largest relative residual, of which rounding errors are a part."""
    norms = np.maximum(np.linalg.norm(rest, axis=0), rounding(kappa, solution))
    return float((norms / unit_if_zero(np.linalg.norm(T, axis=0))).max(initial=0.0))


def _report(
    result: CheckedResult,
    residual: float,
    preconditioner: Any,
    centred: CentredOperator,
    gamma: float,
    tol: float,
    poles: np.ndarray,
) -> IterativeReport:
    """Return the report; warn where the tolerance was not reached."""
    converged, note = residual <= tol, result.note
    if not converged:
        bound = "max_seconds" if result.timed_out else "max_iter"
        note = (
            f"{result.method} stopped after {result.iterations} iterations at relative residual {residual:.1e}, "
            f"tol={tol:.1e}; raise {bound}, tol or the preconditioner's rank ({preconditioner.rank}), or lower gamma"
        )
        with np.errstate(over="ignore"):  # infinite is not near
            near = poles[np.abs(poles * gamma - 1.0) < 1e-3]
        if len(near):
            note += f". 1/gamma = {1 / gamma:g} is close to a pole of the system, about {near[0]:.6g}: change gamma"
        warnings.warn(note, ConvergenceWarning, stacklevel=4)  # past the gate of BLAS
    return IterativeReport(
        "iterative",
        result.method,
        centred.size,
        gamma,
        residual,
        float("nan"),
        note=note,
        iterations=result.iterations,
        converged=converged,
        rank=preconditioner.rank,
        form=centred.form,
        trace_error=preconditioner.trace_error,
    )
