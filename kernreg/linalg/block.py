"""AsK-LS for one γ, any number of right-hand sides: eliminate, factorise once, refine, report.

a/γ + K̃ c = T, c/γ + K̃ᵀ a = T. Eliminating a = γ (T - K̃ c) leaves M c = T - γ K̃ᵀ T, M = I/γ - γ K̃ᵀK̃, symmetric and in
general indefinite. M squares the condition number, hence the refinement against the block equations. M is the only
matrix beside K̃.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from scipy.linalg import blas, lapack

from kernreg.engine import memory
from kernreg.linalg.centring import CentredKernel, induced_norms, mirror
from kernreg.linalg.direct import EPS, MAX_REFINEMENTS, SUSPICIOUS_GAP, SUSPICIOUS_RESIDUAL, inverse_or_inf, relative
from kernreg.linalg.poles import is_pole, pole_error
from kernreg.linalg.report import SolveReport
from kernreg.linalg.spectrum import DAMP_INSTEAD, BlockSpectrum

BlockSolution: TypeAlias = tuple[np.ndarray, np.ndarray, SolveReport]


class BlockFactor:
    """M = I/γ - γ K̃ᵀK̃, factorised.

    Attributes
    ----------
    method : str
        ``"cholesky"`` where no singular value can reach 1/γ, else ``"lu"``.
    rcond : float
        Estimated reciprocal condition number of M; 0 where the factorisation failed.
    gap : float
        Estimated distance of 1/γ from the nearest singular value, relative to 1/γ (up to a factor of √m).
    """

    def __init__(self, kernel: CentredKernel, gamma: float, frobenius: float):
        K, kappa = kernel.matrix, 1.0 / gamma
        definite = kappa > frobenius * (1.0 + 1e-6)
        M = blas.dsyrk(-gamma, K.T, lower=0, c=memory.empty(K.shape, K.dtype).T, overwrite_c=1)
        if not definite:
            # The border has the singular value 0; τ in its place is of ordinary size, and never near 1/γ.
            tau = np.sqrt(frobenius**2 / max(1, kernel.size) + 2.0 * kappa * kappa)
            M = blas.dsyr(-gamma * tau * tau, kernel.border, a=M, lower=0, overwrite_a=1)
        M[np.diag_indices(kernel.size)] += kappa
        mirror(M, from_lower=False)
        norm = induced_norms(M.T)[1]
        self.method = "cholesky" if definite else "lu"
        self._pivots = None
        if definite:
            self._factor, failed = lapack.dpotrf(M, lower=0, clean=0, overwrite_a=1)
            self.rcond = 0.0 if failed else float(lapack.dpocon(self._factor, norm, uplo="U")[0])
        else:
            self._factor, self._pivots, failed = lapack.dgetrf(M, overwrite_a=1)
            self.rcond = 0.0 if failed else float(lapack.dgecon(self._factor, norm)[0])
        self.gap = self.rcond * norm / kappa

    def solve(self, r: np.ndarray) -> np.ndarray:
        """Return M⁻¹ r."""
        if self._pivots is None:
            return lapack.dpotrs(self._factor, r, lower=0)[0]
        return lapack.dgetrs(self._factor, self._pivots, r)[0]


def solve_block(kernel: CentredKernel, T: np.ndarray, gamma: float) -> BlockSolution | None:
    """Solve a/γ + K̃ c = T, c/γ + K̃ᵀ a = T; None where γ is too near a pole for a factorisation.

    K̃ is left as it is; one matrix of its size is allocated.

    Returns
    -------
    A, C : ndarray of shape (m, C)
        The coefficients â (of the target function) and ĉ (of the source function).
    report : SolveReport
    """
    K, kappa = kernel.matrix, 1.0 / gamma
    frobenius = float(np.linalg.norm(K))
    factor = BlockFactor(kernel, gamma, frobenius)
    if not (factor.gap > SUSPICIOUS_GAP and factor.rcond > EPS):
        return None
    c = kernel.project(factor.solve(T - gamma * (K.T @ T)))
    a = gamma * (T - K @ c)
    steps, residual = 0, np.inf
    while True:
        # The first equation holds by construction of a, so corrections come from the second: M δc = r₂, δa = -γ K̃ δc.
        r2 = T - kappa * c - K.T @ a
        now = relative(r2, T)
        if now >= 0.5 * residual:  # no longer improving
            break
        residual, best = now, (a, c)
        rounding = EPS * (kappa + frobenius) * (np.linalg.norm(a) + np.linalg.norm(c))
        if np.linalg.norm(r2) <= rounding or steps == MAX_REFINEMENTS:
            break
        dc = kernel.project(factor.solve(r2))
        a, c, steps = a - gamma * (K @ dc), c + dc, steps + 1
    a, c = kernel.project(best[0]), best[1]
    residual = max(residual, relative(T - kappa * a - K @ c, T))
    if not residual <= SUSPICIOUS_RESIDUAL:
        return None
    return a, c, SolveReport("exact", factor.method, kernel.size, gamma, residual, inverse_or_inf(factor.rcond), steps)


def solve_block_or_spectrum(
    kernel: CentredKernel, T: np.ndarray, gamma: float, on_pole: str = "raise"
) -> BlockSolution:
    """Solve the AsK-LS block as `solve_block` does, by singular value decomposition (in K̃'s memory) near a pole.

    At a pole, raise ParameterError or (``on_pole="damp"``) return the Tikhonov solution.
    """
    direct = solve_block(kernel, T, gamma)
    if direct is not None:
        return direct
    if on_pole != "damp":
        refuse_pole(kernel, gamma)
    return BlockSpectrum(kernel).solution(T, gamma, on_pole)


def refuse_pole(kernel: CentredKernel, gamma: float) -> None:
    """Raise ParameterError if γ is at a pole, without the decomposition, which takes ten times as long as a solve.

    The nearest singular value comes from inverse iteration with a factor at a slightly different γ, a safe γ from
    trying a few.
    """
    K, kappa = kernel.matrix, 1.0 / gamma
    frobenius = float(np.linalg.norm(K))
    factor = BlockFactor(kernel, gamma * (1.0 - 1e-7), frobenius)
    if factor.rcond == 0.0:
        return
    v = kernel.project(np.random.default_rng(0).standard_normal((kernel.size, 1)))
    for _ in range(6):
        v = kernel.project(factor.solve(v))
        v /= np.linalg.norm(v)
    nearest = np.array([float(np.linalg.norm(K @ v))])
    if not is_pole(kappa, nearest, float(np.linalg.norm(K.T @ (K @ v)))).any():
        return
    for change in (0.99, 1.01, 0.95, 1.05, 0.9, 1.1, 0.8, 1.25, 0.5):
        safe = float(f"{gamma * change:.3g}")
        if BlockFactor(kernel, safe, frobenius).gap * np.sqrt(kernel.size) > 1e-3:
            break
    raise pole_error(gamma, nearest, "singular", DAMP_INSTEAD, safe=safe)
