"""Compatibility a3: the map C learned on a downstream loss, with exact gradients.

Objective. Let Ĝ = k(X C, Z) (or k(X, Z C), where the right side is longer) be the kernel matrix, centred as the
estimator asks, and V its r leading right singular vectors. The left scores Ĝ V are the features of a linear head::

    L(C) = min over θ, b of  (1/n) Σ_i ℓ(y_i, (Ĝ V θ)_i + b) + (α/2) s ‖θ‖²,      plus (β/2k) ‖B - I‖²

ℓ is half the squared error over the variance of the targets (``least-squares``), or the logistic loss, one column for
each class of more than two (``logistic``). s = σ₁²/n at the starting point, so that α is relative to the size of the
features.

Parametrisation. C = C₁ B with C₁ the k principal directions of ``a1`` and B a k × k matrix that starts at the identity.
That loses nothing: gradients with respect to C lie in the span of the samples, as C₁ does. The second penalty holds C
near ``a1``; without it the features may grow without bound to make that on θ cheap, and mean nothing on new samples.

Gradient. The head is solved exactly, so its derivative vanishes (envelope theorem). L does not change when V is rotated
within its span, so only the span moves, against the other singular vectors V⊥. With R = ∂ℓ/∂(predictions), w = V θ and
Ĝ = U Σ Vᵀ,::

    ∂L/∂Ĝ = R wᵀ + Ĝ (T + Tᵀ),   T = V⊥ E Vᵀ,   E_jk = σ_j (u_jᵀ R) θ_kᵀ / (σ_k² - σ_j²)

for j > r ≥ k. Repeated values within the first r are harmless; where σ_r = σ_{r+1} the loss is not differentiable, and
the pairs concerned are left out. From Ĝ on it is centring, which is its own adjoint, and `kernel_gradients`. L-BFGS
then runs for a bounded number of iterations; each one decomposes Ĝ, O(n m min(n, m)).

Tao et al. (2024), appendix C.3, alternate instead: V is held fixed while stochastic gradients move C and the head.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from scipy.optimize import minimize

from kernreg.common.display import Display
from kernreg.common.progress import progress
from kernreg.engine.arrays import is_sparse
from kernreg.engine.threads import configured_blas
from kernreg.kernels import Kernel
from kernreg.linalg.spectra.centred_pairs import centre_both_sides
from kernreg.solvers.decompositions.compatibility.fixed_maps import Compatibility
from kernreg.solvers.decompositions.compatibility.heads import HEADS
from kernreg.solvers.kernel_gradients import check_differentiable, sample_gradients

_GAP = 1e-12  # differences of σ² below this share of the largest count as none


@dataclass(frozen=True)
class LearningReport(Display):
    """What learning the compatibility did.

    Attributes
    ----------
    head : str
    objective, start : float
        L at the end, and at the beginning, which is ``a1``.
    iterations, evaluations : int
        Steps of L-BFGS, and decompositions of the kernel matrix.
    gradient : float
        Largest entry of the gradient at the end.
    converged : bool
        False where the bound on the iterations ended it.
    message : str
        What L-BFGS says.
    """

    head: str
    objective: float
    start: float
    iterations: int
    evaluations: int
    gradient: float
    converged: bool
    message: str


@dataclass(frozen=True)
class DownstreamLoss:
    """What L is made of.

    Attributes
    ----------
    head : {"least-squares", "logistic"}
    n_components : int
        r, how many singular vectors are features.
    center : bool
    alpha, penalty : float
        α and β.
    """

    head: str
    n_components: int
    center: bool
    alpha: float
    penalty: float


class LearningProblem:
    """L and its gradient as functions of B, flattened.

    Parameters
    ----------
    kernel : Kernel
    X, Z : ndarray
        The samples of both sides; those of the mapped side as ``a1`` maps them.
    mapped : {"left", "right"}
    Y : ndarray of shape (n, columns)
        Targets as the head takes them.
    loss : DownstreamLoss
    """

    def __init__(self, kernel: Kernel, X: np.ndarray, Z: np.ndarray, mapped: str, Y: np.ndarray, loss: DownstreamLoss):
        self.kernel, self.X, self.Z, self.mapped, self.Y = kernel, X, Z, mapped, Y
        self.head, self.n_components, self.center = HEADS[loss.head], loss.n_components, loss.center
        self.size = (X if mapped == "left" else Z).shape[1]
        self.penalty = loss.penalty / self.size
        self.ridge = 1.0
        _, _, values, _ = self._decompose(np.eye(self.size))
        self.ridge = loss.alpha * max(float(values.max(initial=0.0)) ** 2 / len(X), np.finfo(float).tiny)

    def __call__(self, flat: np.ndarray) -> tuple[float, np.ndarray]:
        """Return L(B) and ∂L/∂B."""
        B = flat.reshape(self.size, self.size)
        (A, C, K), U, values, V = self._decompose(B)
        r = self.n_components
        scores = U[:, :r] * values[:r]
        loss, R, theta = self.head(scores, self.Y, self.ridge)
        squares = values * values
        gaps = squares[:r] - squares[r:, None]
        H = values[r:, None] * ((U[:, r:].T @ R) @ theta.T)
        E = np.divide(H, gaps, out=np.zeros_like(H), where=gaps > _GAP * squares.max(initial=0.0))
        # Ĝ V = U Σ, so both terms of Ĝ (T + Tᵀ) are products of thin factors.
        W = R @ (V[:, :r] @ theta).T
        W += (U[:, r:] * values[r:]) @ (E @ V[:, :r].T)
        W += scores @ (V[:, r:] @ E).T
        if self.center:
            centre_both_sides(W)
        left, right = sample_gradients(self.kernel, A, C, K, W)
        gradient = self.X.T @ left if self.mapped == "left" else self.Z.T @ right
        away = B - np.eye(self.size)
        return loss + 0.5 * self.penalty * float((away * away).sum()), (gradient + self.penalty * away).ravel()

    def _decompose(self, B: np.ndarray) -> tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray, np.ndarray]:
        A, C = (self.X @ B, self.Z) if self.mapped == "left" else (self.X, self.Z @ B)
        K = self.kernel(A, C)
        G = K.copy()
        if self.center:
            centre_both_sides(G)
        U, values, Vt = scipy.linalg.svd(G, full_matrices=False, overwrite_a=True, check_finite=False)
        return (A, C, K), U, values, Vt.T


@configured_blas()
def learn_compatibility(
    kernel: Kernel, X: Any, Z: Any, start: Compatibility, Y: np.ndarray, loss: DownstreamLoss, *, max_iter: int
) -> tuple[Compatibility, LearningReport]:
    """Return the learned map and the report.

    Parameters
    ----------
    kernel : Kernel
        Unbound.
    X, Z : ndarray or CSR
        Samples of both sides.
    start : Compatibility
        That of ``a1``.
    Y : ndarray of shape (n, columns)
        For ``least-squares`` centred targets of variance one, for ``logistic`` zeros and ones.
    loss : DownstreamLoss
    max_iter : int
        Bound on the iterations of L-BFGS.
    """
    check_differentiable(kernel)
    mapped = "left" if start.left is not None else "right"
    left, right = (_dense(side) for side in (start.left_samples(X), start.right_samples(Z)))
    problem = LearningProblem(kernel, left, right, mapped, Y, loss)
    first = np.eye(problem.size).ravel()
    before, _ = problem(first)
    with progress("learning the compatibility", max_iter) as show:
        done = 0

        def count(_: np.ndarray) -> None:
            nonlocal done
            done += 1
            show(done)

        options: dict[str, Any] = {"maxiter": max_iter, "ftol": 1e-8, "gtol": 1e-7}
        # The stubs know functions, not objects that are called.
        optimum = minimize(problem, first, (), "L-BFGS-B", True, callback=count, options=options)  # type: ignore[call-overload]
    base = start.left if mapped == "left" else start.right
    assert base is not None
    C = (base.astype(np.float64) @ optimum.x.reshape(problem.size, problem.size)).astype(base.dtype, copy=False)
    report = LearningReport(
        loss.head,
        float(optimum.fun),
        before,
        int(optimum.nit),
        int(optimum.nfev) + 1,
        float(np.abs(optimum.jac).max(initial=0.0)),
        bool(optimum.success),
        str(optimum.message),
    )
    return Compatibility("a3", **{mapped: C}), report


def _dense(samples: Any) -> np.ndarray:
    table = samples.toarray() if is_sparse(samples) else samples
    return np.ascontiguousarray(table, dtype=np.float64)
