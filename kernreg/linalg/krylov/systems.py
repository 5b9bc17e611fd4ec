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

from kernreg.errors import ParameterError
from kernreg.kernels.base import Kernel
from kernreg.linalg.exact.report import SolveReport, unit_if_zero
from kernreg.linalg.krylov.centred_operator import CentredOperator, check_system
from kernreg.linalg.krylov.iterations import CheckedResult, Watch, rounding, solve_checked
from kernreg.linalg.krylov.preconditioners import block_preconditioner, symmetric_preconditioner

METHODS = ("auto", "cg", "minres")


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
    """

    iterations: int = 0
    converged: bool = True
    rank: int = 0
    form: str = "blocks"


def solve_symmetric_iterative(
    kernel: Kernel,
    X: Any,
    Y: np.ndarray,
    gamma: float,
    *,
    weights: np.ndarray | None = None,
    definite: bool | None = None,
    method: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 500,
    rank: int | None = None,
    landmarks: Any = "uniform",
    random_state: Any = 0,
    callback: Watch | None = None,
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
    method : {"auto", "cg", "minres"}
    tol : float
        Relative residual ‖r‖/‖JY‖ to reach in every column.
    max_iter : int
        Bound on the iterations; reaching it gives a ConvergenceWarning.
    rank : int, optional
        Landmarks of the preconditioner; 0 for none.
    landmarks, random_state
        As in `choose_landmarks`.
    callback : callable, optional
        Called as ``callback(iteration, worst residual / tolerance)``.

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
    >>> A, b, report = solve_symmetric_iterative(k, X, np.sin(X), 100.0, rank=10)
    >>> report.method, report.converged, bool(np.abs(k(X) @ A + b - np.sin(X)).max() < 0.01)
    ('cg', True, True)
    """
    if method not in METHODS:
        raise ParameterError(f"method={method!r}; accepted are {', '.join(map(repr, METHODS))}")
    operator = kernel.operator(X)
    Y, weights = check_system(operator.shape[0], Y, gamma, weights)
    centred = CentredOperator(operator, weights)
    definite, kappa = bool(kernel.definite if definite is None else definite), 1.0 / gamma
    preconditioner = symmetric_preconditioner(
        kernel,
        X,
        centred,
        kappa,
        definite=definite,
        rank=rank,
        landmarks=landmarks,
        random_state=random_state,
    )

    def multiply(V: np.ndarray) -> np.ndarray:
        return kappa * V + centred.product(V)

    def remainder(V: np.ndarray) -> np.ndarray:
        return centred.scale(Y - centred.raw(centred.scale(V))) - kappa * V

    T = centred.targets(Y)
    found = solve_checked(
        "cg" if method == "cg" or (method == "auto" and definite) else "minres",
        multiply,
        T,
        preconditioner,
        tol * np.linalg.norm(T, axis=0),
        max_iter,
        callback,
        remainder,
        centred.project,
        kappa,
    )
    report = _report(
        found, _worst(found.rest, found.solution, kappa, T), preconditioner, centred, gamma, tol, -preconditioner.values
    )
    return centred.scale(found.solution), (centred.border @ found.full) / centred.norm, report


def solve_block_iterative(
    kernel: Kernel,
    X: Any,
    Y: np.ndarray,
    gamma: float,
    *,
    Z: Any = None,
    weights: np.ndarray | None = None,
    tol: float = 1e-6,
    max_iter: int = 500,
    rank: int | None = None,
    landmarks: Any = "uniform",
    random_state: Any = 0,
    callback: Watch | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, IterativeReport]:
    """Solve AsK-LS for any kernel: f_s(x) = Σ_i c_i k(x, z_i) + b₁ and f_t(z) = Σ_i a_i k(x_i, z) + b₂.

    Parameters
    ----------
    kernel, X, Y, gamma, weights, tol, max_iter, rank, landmarks, random_state, callback
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
    operator = kernel.operator(X, Z)
    Y, weights = check_system(operator.shape[0], Y, gamma, weights)
    centred = CentredOperator(operator, weights)
    m, kappa = centred.size, 1.0 / gamma
    preconditioner = block_preconditioner(
        kernel, X, Z, centred, kappa, rank=rank, landmarks=landmarks, random_state=random_state
    )

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
    bounds = tol * np.linalg.norm(T, axis=0)
    found = solve_checked(
        "minres", multiply, np.vstack([T, T]), preconditioner, bounds, max_iter, callback, remainder, project, kappa
    )
    halves = slice(0, m), slice(m, None)
    residual = max(_worst(found.rest[half], found.solution[half], kappa, T) for half in halves)
    report = _report(found, residual, preconditioner, centred, gamma, tol, preconditioner.values)
    A, C = centred.scale(found.solution[:m]), centred.scale(found.solution[m:])
    b = np.stack([centred.border @ found.full[:m], centred.border @ found.full[m:]]) / centred.norm
    return A, C, b, report


def _worst(rest: np.ndarray, solution: np.ndarray, kappa: float, T: np.ndarray) -> float:
    """Return the largest relative residual, of which rounding errors are a part."""
    norms = np.maximum(np.linalg.norm(rest, axis=0), rounding(kappa, solution))
    return float((norms / unit_if_zero(np.linalg.norm(T, axis=0))).max(initial=0.0))


def _report(
    found: CheckedResult,
    residual: float,
    preconditioner: Any,
    centred: CentredOperator,
    gamma: float,
    tol: float,
    poles: np.ndarray,
) -> IterativeReport:
    """Return the report; warn where the tolerance was not reached."""
    converged, note = residual <= tol, found.note
    if not converged:
        note = (
            f"{found.method} stopped after {found.iterations} iterations at relative residual {residual:.1e}, "
            f"tol={tol:.1e}; raise max_iter, tol or the preconditioner's rank ({preconditioner.rank}), or lower gamma"
        )
        near = poles[np.abs(poles * gamma - 1.0) < 1e-3]
        if len(near):
            note += f". 1/gamma = {1 / gamma:g} is close to a pole of the system, about {near[0]:.6g}: change gamma"
        warnings.warn(note, ConvergenceWarning, stacklevel=3)
    return IterativeReport(
        "iterative",
        found.method,
        centred.size,
        gamma,
        residual,
        float("nan"),
        note=note,
        iterations=found.iterations,
        converged=converged,
        rank=preconditioner.rank,
        form=centred.form,
    )
