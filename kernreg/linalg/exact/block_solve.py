"""AsK-LS for one γ, any number of right-hand sides: eliminate, factorise once, refine, report.

a/γ + K̃ c = T, c/γ + K̃ᵀ a = T. Eliminating a = γ (T - K̃ c) leaves M c = T - γ K̃ᵀ T, M = I/γ - γ K̃ᵀK̃, symmetric and in
general indefinite. M squares the condition number, hence the refinement against the block equations.

M is made and factorised in single precision first, which takes half the time; refinement with products in double
precision then reaches the same residual. Where M is too ill-conditioned for that, or refinement does not contract, it
is done again in double. Memory beside K̃: one matrix of its size.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from scipy.linalg import blas, lapack

from kernreg.engine import memory
from kernreg.engine.threads import configured_blas, single_threaded_blas
from kernreg.linalg.exact.centring import CentredKernel, induced_norms, mirror
from kernreg.linalg.exact.large_matrices import cholesky, symmetric_product
from kernreg.linalg.exact.leave_one_out import DAMP_INSTEAD, BlockSpectrum
from kernreg.linalg.exact.poles import is_pole, pole_error
from kernreg.linalg.exact.report import SolveReport, relative
from kernreg.linalg.exact.symmetric_solve import (
    EPS,
    MAX_REFINEMENTS,
    SUSPICIOUS_GAP,
    SUSPICIOUS_RESIDUAL,
    inverse_or_inf,
)

BlockSolution: TypeAlias = tuple[np.ndarray, np.ndarray, SolveReport]


# Single precision pays from this size on, for condition numbers it can tell from infinity with room to contract, and
# for matrices whose squares are far from its limits.
_SINGLE_FROM = 400
_SINGLE_RCOND = 2e-5
_SINGLE_RANGE = (1e-12, 1e12)
_SINGLE_STEPS = 12
# Squares beyond this are left to the singular values, which need none.
_DOUBLE_RANGE = 1e100


class BlockFactor:
    """M = I/γ - γ K̃ᵀK̃, factorised.

    Parameters
    ----------
    kernel : CentredKernel
    gamma : float
    frobenius : float
        The Frobenius norm of K̃.
    dtype : dtype
        The precision to work in.

    Attributes
    ----------
    method : str
        ``"cholesky"`` where no singular value can reach 1/γ, else ``"lu"``.
    rcond : float
        Estimated reciprocal condition number of M; 0 where the factorisation failed.
    gap : float
        Estimated distance of 1/γ from the nearest singular value, relative to 1/γ (up to a factor of √m).
    """

    def __init__(self, kernel: CentredKernel, gamma: float, frobenius: float, dtype: type = np.float64):
        kappa = 1.0 / gamma
        single = dtype is np.float32
        prefix, self._dtype = ("s" if single else "d"), dtype
        K = _rounded(kernel.matrix) if single else kernel.matrix
        definite = kappa > frobenius * (1.0 + 1e-6)
        M = symmetric_product(K.T, memory.empty(K.shape, K.dtype).T, alpha=-gamma)
        del K  # in single precision a copy: the factorisation does not need it
        if not definite:
            # The border has the singular value 0; τ in its place is of ordinary size, and never near 1/γ.
            tau = np.sqrt(frobenius**2 / max(1, kernel.size) + 2.0 * kappa * kappa)
            M = (blas.ssyr if single else blas.dsyr)(-gamma * tau * tau, kernel.border, a=M, lower=0, overwrite_a=1)
        M[np.diag_indices(kernel.size)] += kappa
        mirror(M, from_lower=False)
        norm = induced_norms(M.T)[1]
        self.method = "cholesky" if definite else "lu"
        self._pivots = None
        self._solve = getattr(lapack, prefix + ("potrs" if definite else "getrs"))
        self._swap, self._trsm = getattr(lapack, prefix + "laswp"), getattr(blas, prefix + "trsm")
        if definite:
            self._factor, failed = cholesky(M, lower=False)
            self.rcond = 0.0 if failed else float(getattr(lapack, prefix + "pocon")(self._factor, norm, uplo="U")[0])
        else:
            self._factor, self._pivots, failed = getattr(lapack, prefix + "getrf")(M, overwrite_a=1)
            self.rcond = 0.0 if failed else float(getattr(lapack, prefix + "gecon")(self._factor, norm)[0])
        self.gap = self.rcond * norm / kappa

    def solve(self, r: np.ndarray) -> np.ndarray:
        """Return M⁻¹ r, in double precision whatever the factor's."""
        if self._dtype is np.float32:  # columns of any size are brought into range first
            size = np.abs(r).max(axis=0, initial=0.0)
            size[size == 0.0] = 1.0
            return self._apply((r / size).astype(np.float32)) * size
        return self._apply(r)

    def _apply(self, r: np.ndarray) -> np.ndarray:
        if self._pivots is None:
            return self._solve(self._factor, r, lower=0)[0]
        if r.shape[1] < 2:
            return self._solve(self._factor, self._pivots, r)[0]
        # For a few columns the two triangles one by one take two thirds of the time of getrs.
        x = self._swap(np.asfortranarray(r), self._pivots)
        x = self._trsm(1.0, self._factor, x, lower=1, diag=1, overwrite_b=1)
        return self._trsm(1.0, self._factor, x, overwrite_b=1)


def _rounded(K: np.ndarray) -> np.ndarray:
    """Return K in single precision, in recycled memory."""
    rounded = memory.empty(K.shape, np.dtype(np.float32))
    np.copyto(rounded, K, casting="same_kind")
    return rounded


@configured_blas()
def solve_block(kernel: CentredKernel, T: np.ndarray, gamma: float) -> BlockSolution | None:
    """Solve a/γ + K̃ c = T, c/γ + K̃ᵀ a = T; None where γ is too near a pole for a factorisation.

    K̃ is left as it is; memory of one matrix of its size is allocated.

    Returns
    -------
    A, C : ndarray of shape (m, C)
        The coefficients â (of the target function) and ĉ (of the source function).
    report : SolveReport

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.linalg import centre
    >>> K, T = np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[1.0], [-1.0]])
    >>> kernel = centre(K)
    >>> A, C, report = solve_block(kernel, T, 0.5)
    >>> bool(np.allclose(A / 0.5 + kernel.matrix @ C, T))
    True
    """
    frobenius = float(np.linalg.norm(kernel.matrix))
    if not (gamma < _DOUBLE_RANGE and gamma * frobenius < _DOUBLE_RANGE):
        return None
    low, high = _SINGLE_RANGE
    if kernel.size >= _SINGLE_FROM and low < frobenius < high and low < gamma < high and low < gamma * frobenius < high:
        factor = BlockFactor(kernel, gamma, frobenius, np.float32)
        if factor.rcond > _SINGLE_RCOND:
            a, c, residual, steps, done = _refined(kernel, T, gamma, frobenius, factor, _SINGLE_STEPS)
            if done:
                return _reported(kernel, T, gamma, a, c, residual, factor, steps)
        del factor  # its memory, before the next one's
    factor = BlockFactor(kernel, gamma, frobenius)
    if not (factor.gap > SUSPICIOUS_GAP and factor.rcond > EPS):
        return None
    a, c, residual, steps, _ = _refined(kernel, T, gamma, frobenius, factor, MAX_REFINEMENTS)
    return _reported(kernel, T, gamma, a, c, residual, factor, steps)


def _refined(
    kernel: CentredKernel, T: np.ndarray, gamma: float, frobenius: float, factor: BlockFactor, max_steps: int
) -> tuple[np.ndarray, np.ndarray, float, int, bool]:
    """Return a, c, the residual of the second equation, the steps taken, and whether only rounding errors are left."""
    with single_threaded_blas():  # a few columns: threads of BLAS cost more than they bring
        return _refine(kernel, T, gamma, frobenius, factor, max_steps)


def _refine(
    kernel: CentredKernel, T: np.ndarray, gamma: float, frobenius: float, factor: BlockFactor, max_steps: int
) -> tuple[np.ndarray, np.ndarray, float, int, bool]:
    kappa = 1.0 / gamma
    c = kernel.project(factor.solve(T - gamma * kernel.adjoint(T)))
    a = gamma * (T - kernel.product(c))
    best, steps, residual = (a, c), 0, np.inf
    while True:
        # The first equation holds by construction of a, so corrections come from the second: M δc = r₂, δa = -γ K̃ δc.
        r2 = T - kappa * c - kernel.adjoint(a)
        now = relative(r2, T)
        if not now < 0.5 * residual:  # no longer improving
            return *best, residual, steps, False
        residual, best = now, (a, c)
        rounding = EPS * (kappa + frobenius) * (np.linalg.norm(a) + np.linalg.norm(c))
        if np.linalg.norm(r2) <= rounding:
            return *best, residual, steps, True
        if steps == max_steps:
            return *best, residual, steps, False
        dc = kernel.project(factor.solve(r2))
        a, c, steps = a - gamma * kernel.product(dc), c + dc, steps + 1


def _reported(
    kernel: CentredKernel,
    T: np.ndarray,
    gamma: float,
    a: np.ndarray,
    c: np.ndarray,
    residual: float,
    factor: BlockFactor,
    steps: int,
) -> BlockSolution | None:
    """Return the solution with its report; None where the residual gives reason to doubt it."""
    a = kernel.project(a)
    residual = max(relative(T - a / gamma - kernel.product(c), T), residual)  # in this order: NaN stays
    if not residual <= SUSPICIOUS_RESIDUAL:
        return None
    return a, c, SolveReport("exact", factor.method, kernel.size, gamma, residual, inverse_or_inf(factor.rcond), steps)


@configured_blas()
def solve_block_or_spectrum(
    kernel: CentredKernel, T: np.ndarray, gamma: float, on_pole: str = "raise"
) -> BlockSolution:
    """Solve the AsK-LS block as `solve_block` does, by singular value decomposition (in K̃'s memory) near a pole.

    At a pole, raise ParameterError or (``on_pole="damp"``) return the Tikhonov solution.

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.linalg import centre
    >>> cycle, T = np.roll(np.eye(3), 1, axis=1), np.array([[1.0], [0.0], [-1.0]])
    >>> A, C, report = solve_block_or_spectrum(centre(cycle), T, 1.0, on_pole="damp")
    >>> report.damped
    True
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
    if not 1e-7 * frobenius < kappa <= frobenius:  # below, M cannot tell a pole from zero; above, there is none
        return
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
    else:
        safe = float(f"{0.5 / frobenius:.3g}")  # 1/γ above every singular value
    raise pole_error(gamma, nearest, "singular", DAMP_INSTEAD, safe=safe)
