"""LS-SVM for one γ, any number of right-hand sides: factorise once, refine, report.

(K̃ + I/γ) A = T by Cholesky, or by LU where the matrix is not positive definite. Cholesky works in the upper triangle of
K̃ itself and leaves the lower one for the residuals, so no second matrix is needed.

The direction u that centring took out is given an eigenvalue of ordinary size before factorising: the right-hand sides
have nothing along it, and without that it would be the worst conditioned direction for a large γ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.linalg import blas, lapack

from kernreg.engine.threads import configured_blas
from kernreg.linalg.exact.centring import CentredKernel, induced_norms, mirror
from kernreg.linalg.exact.large_matrices import cholesky
from kernreg.linalg.exact.leave_one_out import SymmetricSpectrum
from kernreg.linalg.exact.report import SolveReport, relative
from kernreg.linalg.exact.triangles import invert_upper

Map: TypeAlias = Callable[[np.ndarray], np.ndarray]

# LU is preferred to LDLᵀ for indefinite matrices: LAPACK's sytrf does half the work at a fifth of the speed.

#: Nearer than this to a singular matrix (relative to 1/γ), the spectrum is computed to find out.
SUSPICIOUS_GAP = 1e-6
SUSPICIOUS_RESIDUAL = 1e-9
MAX_REFINEMENTS = 3
EPS = float(np.finfo(np.float64).eps)
#: What an explicit inverse is trusted with: a reciprocal condition number, and the share of one weight in all.
_INVERTIBLE = 1e-7
_COLUMNS = 256
_LARGEST_SHARE = 0.5


@configured_blas()
def solve_symmetric(kernel: CentredKernel, T: np.ndarray, gamma: float) -> tuple[np.ndarray, SolveReport]:
    """Solve (K̃ + I/γ) A = T for a symmetric K̃, which is overwritten.

    Parameters
    ----------
    kernel : CentredKernel
        Its matrix is used as working memory.
    T : ndarray of shape (m, C)
        Right-hand sides, as `CentredKernel.targets` returns them.
    gamma : float

    Returns
    -------
    A : ndarray of shape (m, C)
    report : SolveReport

    Raises
    ------
    ParameterError
        If γ is at a pole.

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.linalg import centre
    >>> K, T = np.diag([1.0, 3.0]), np.array([[1.0], [-1.0]])
    >>> A, report = solve_symmetric(centre(K), T, 2.0)
    >>> bool(np.allclose((centre(K).matrix + np.eye(2) / 2.0) @ A, T))
    True
    """
    W, kappa = kernel.matrix.T, 1.0 / gamma  # Fortran-ordered view; K̃ is symmetric
    diagonal = W.diagonal().copy()
    norm = _one_norm(kernel, kappa)
    _shift(W, kernel, kappa, _level(diagonal))
    factor, failed = cholesky(W, lower=False)
    rcond = 0.0 if failed else lapack.dpocon(factor, norm, uplo="U")[0]
    if rcond * norm > SUSPICIOUS_GAP * kappa:  # else rounding may have let it pass at a pole

        def multiply(x: np.ndarray) -> np.ndarray:  # K̃ lives in the lower triangle and in `diagonal`
            return blas.dsymm(1.0, W, x, lower=1) + (diagonal - W.diagonal())[:, None] * x

        def inverse(r: np.ndarray) -> np.ndarray:
            return lapack.dpotrs(factor, r, lower=0)[0]

        A, residual, steps = _refined(kernel, T, inverse, lambda x: T - kappa * x - multiply(x))
        return A, SolveReport("exact", "cholesky", kernel.size, gamma, residual, inverse_or_inf(rcond), steps)
    mirror(W, from_lower=True)
    W[np.diag_indices(kernel.size)] = diagonal
    return _solve_indefinite(kernel, T, gamma)


@configured_blas()
def left_out_by_inverse(kernel: CentredKernel, T: np.ndarray, gamma: float) -> np.ndarray | None:
    """Return y_i - f⁽⁻ⁱ⁾(x_i) for every sample and class, by the inverse of K̃ + I/γ, without an eigendecomposition.

    With K̃ + I/γ = UᵀU the inverse diagonal is that of U⁻¹U⁻ᵀ, the squared norms of the rows of U⁻¹: half the work of
    the inverse. The direction u is given an eigenvalue above all others, as in `leave_one_out`, so that what it adds
    is a small part of the diagonal, and subtracting it cancels nothing.

    Parameters
    ----------
    kernel : CentredKernel
        Its matrix is used as working memory, and left as it is where the answer is None.
    T : ndarray of shape (m, C)
    gamma : float

    Returns
    -------
    ndarray of shape (m, C), or None where the matrix is indefinite or too ill-conditioned for it
    """
    W, u, kappa = kernel.matrix.T, kernel.border, 1.0 / gamma
    diagonal = W.diagonal().copy()
    norm = induced_norms(kernel.matrix)[0]
    level = 2.0 * min(norm, float(np.linalg.norm(W))) + kappa
    if float((u * u).max()) <= _LARGEST_SHARE:
        _shift(W, kernel, kappa, level)
        factor, failed = cholesky(W, lower=False)
        if not failed and lapack.dpocon(factor, norm + kappa + level, uplo="U")[0] > _INVERTIBLE:
            A = kernel.project(lapack.dpotrs(factor, T, lower=0)[0])
            R = _row_squares(invert_upper(factor)) - u * u / (kappa + level)
            residuals = A / R[:, None]
            return residuals if kernel.root is None else residuals / kernel.root[:, None]
        mirror(W, from_lower=True)
        W[np.diag_indices(kernel.size)] = diagonal
    return None


def _row_squares(U: np.ndarray) -> np.ndarray:
    """Return the squared norms of the rows of an upper triangular, Fortran-ordered matrix, a few columns at a time."""
    sums = np.zeros(len(U))
    for start in range(0, len(U), _COLUMNS):
        block = np.triu(U[: start + _COLUMNS, start : start + _COLUMNS], -start)
        sums[: len(block)] += np.einsum("ij,ij->i", block, block)
    return sums


def _solve_indefinite(kernel: CentredKernel, T: np.ndarray, gamma: float) -> tuple[np.ndarray, SolveReport]:
    K, kappa = kernel.matrix, 1.0 / gamma
    shifted = K.copy(order="C").T
    level = _level(K.diagonal())
    _shift(shifted, kernel, kappa, level, triangle_only=False)
    norm = induced_norms(shifted.T)[1]
    lu, pivots, failed = lapack.dgetrf(shifted, overwrite_a=1)
    rcond = 0.0 if failed else lapack.dgecon(lu, norm)[0]
    if rcond * norm > SUSPICIOUS_GAP * kappa and rcond > EPS:

        def inverse(r: np.ndarray) -> np.ndarray:
            return lapack.dgetrs(lu, pivots, r)[0]

        A, residual, steps = _refined(kernel, T, inverse, lambda x: T - kappa * x - kernel.product(x))
        if residual <= SUSPICIOUS_RESIDUAL:
            return A, SolveReport("exact", "lu", kernel.size, gamma, residual, inverse_or_inf(rcond), steps)
    spectrum = SymmetricSpectrum(kernel)  # K̃ is not needed after this: it is working memory
    return spectrum.solution(T, gamma)


def _refined(kernel: CentredKernel, T: np.ndarray, inverse: Map, residual_of: Map) -> tuple[np.ndarray, float, int]:
    """Return the solution, its relative residual and the refinement steps, as many as help."""
    A = kernel.project(inverse(T))
    best, steps, smallest = A, 0, np.inf
    while True:
        r = residual_of(A)
        now = relative(r, T)
        if now >= 0.5 * smallest:
            break
        smallest, best = now, A
        if smallest <= 4.0 * EPS or steps == MAX_REFINEMENTS:
            break
        A = A + kernel.project(inverse(kernel.project(r)))
        steps += 1
    return best, smallest, steps


def _level(diagonal: np.ndarray) -> float:
    """Return an eigenvalue of ordinary size for the border direction."""
    return float(max(np.abs(diagonal).mean(), np.finfo(np.float64).tiny))


def _shift(W: np.ndarray, kernel: CentredKernel, kappa: float, level: float, *, triangle_only: bool = True) -> None:
    """Add κ I + level u uᵀ in place to a Fortran-ordered matrix, or to its upper triangle only."""
    if triangle_only:
        blas.dsyr(level, kernel.border, a=W, lower=0, overwrite_a=1)
    else:
        blas.dger(level, kernel.border, kernel.border, a=W, overwrite_a=1)
    W[np.diag_indices(kernel.size)] += kappa


def _one_norm(kernel: CentredKernel, kappa: float) -> float:
    # ‖K̃‖₁ + κ + the border's level bounds the norm closely enough for a condition estimate.
    return induced_norms(kernel.matrix)[0] + kappa + _level(kernel.matrix.diagonal())


def inverse_or_inf(rcond: float) -> float:
    """Return the condition number of a reciprocal one."""
    return 1.0 / rcond if rcond > 0.0 else float("inf")
