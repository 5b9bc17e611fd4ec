"""Preconditioners: low-rank pictures of K̃ that make the systems of LS-SVM and AsK-LS easy for Krylov methods.

Positive semi-definite K
    Nyström from p landmarks, K̃ ≈ C̃ W⁺ C̃ᵀ = U diag(λ) Uᵀ, with C̃ the centred columns and W = K[landmarks, landmarks].
    Costs O(m p²) and no product with K. Where the landmarks are pivots of Cholesky, K ≈ G Gᵀ is there already, and
    U diag(√λ) Vᵀ is the thin SVD of the centred factor G̃: no W⁺, and no column is evaluated again.
Any other K
    W may be nearly singular without K being so, and W⁺ would spoil the picture. So the landmark columns (and rows) only
    span the space, and K̃ is projected on it: K̃ ≈ Q_l (Q_lᵀ K̃ Q_r) Q_rᵀ. Costs one product of K with p columns.

The preconditioner is the inverse of the absolute value of the system with K̃ replaced by its picture, which is positive
definite as MINRES demands. On the rest of the space it is a multiple of the identity: 1/κ = γ, or 1/(κ + ρ) where K is
positive semi-definite, with ρ the size of the eigenvalues that the picture leaves out. The condition is the same, but
what the picture has seen is then solved in the first step, and the rest is added to it: with a large γ, 1/κ would turn
to the small eigenvalues first, and an iteration that is ended early would have learned nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from kernreg.engine.budget import rows_within
from kernreg.kernels.base import Kernel
from kernreg.linalg.krylov.centred_operator import CentredOperator
from kernreg.linalg.krylov.cg_and_minres import IterationSettings
from kernreg.linalg.landmarks.pivot_choice import Selection
from kernreg.linalg.landmarks.pivoted_cholesky import KernelMatrix, pivoted_cholesky
from kernreg.linalg.landmarks.selection import select_landmarks

_ROWS = 2048
#: Estimates of eigenvalues are not exact: nearer to singular than this, relative to 1/γ, is not believed.
_FLOOR = 1e-2


@dataclass(frozen=True)
class SymmetricPreconditioner:
    """v ↦ |U diag(λ) Uᵀ + κI + ρ (I - U Uᵀ)|⁻¹ v, κ = 1/γ."""

    vectors: np.ndarray
    values: np.ndarray
    kappa: float
    trace_error: float | None = None
    rest: float = 0.0  # ρ

    @property
    def rank(self) -> int:
        """Number of directions that are treated apart."""
        return len(self.values)

    def __call__(self, V: np.ndarray) -> np.ndarray:
        """Apply to columns."""
        shifted = np.maximum(np.abs(self.values + self.kappa), _FLOOR * self.kappa)
        outside = self.kappa + self.rest
        inside = self.vectors.T @ V
        return V / outside + self.vectors @ ((1.0 / shifted - 1.0 / outside)[:, None] * inside)


@dataclass(frozen=True)
class BlockPreconditioner:
    """(a, c) ↦ |[[κI, UΣVᵀ], [VΣUᵀ, κI]]|⁻¹ (a, c), κ = 1/γ.

    On each triplet the block has the eigenvectors (u, ±v)/√2 and the eigenvalues κ ± σ.
    """

    left: np.ndarray
    values: np.ndarray
    right: np.ndarray
    kappa: float
    trace_error: float | None = None

    @property
    def rank(self) -> int:
        """Number of triplets that are treated apart."""
        return len(self.values)

    def __call__(self, V: np.ndarray) -> np.ndarray:
        """Apply to columns, a above c."""
        m = len(self.left)
        p, q = self.left.T @ V[:m], self.right.T @ V[m:]
        minus = np.maximum(np.abs(self.kappa - self.values), _FLOOR * self.kappa)
        even = (0.5 * (p + q)) / (self.kappa + self.values)[:, None]
        odd = (0.5 * (p - q)) / minus[:, None]
        return V / self.kappa + np.vstack(
            [self.left @ (even + odd - p / self.kappa), self.right @ (even - odd - q / self.kappa)]
        )


def default_rank(centred: CentredOperator, definite: bool) -> int:
    """Return how many landmarks pay off, never more than memory allows.

    Many where they cost no product with K; few where products are so cheap that iterations cost less than landmarks.
    """
    m = centred.size
    wanted = 50 if centred.form == "separable" else max(50, int((4.0 if definite else 1.0) * np.sqrt(m)))
    return max(1, min(m, wanted, rows_within(m, 8)))


def symmetric_preconditioner(
    kernel: Kernel, X: Any, centred: CentredOperator, kappa: float, settings: IterationSettings, *, definite: bool
) -> SymmetricPreconditioner:
    """Return the preconditioner of K̃ + κI for a symmetric kernel; ``rank=0`` is none at all."""
    if definite and settings.rank != 0 and _by_pivots(settings):
        return _of_pivots(kernel, X, centred, kappa, settings)
    chosen, error = _landmarks(kernel, X, None, centred, settings, definite)
    if not len(chosen):
        return SymmetricPreconditioner(np.zeros((centred.size, 0)), np.zeros(0), kappa)
    columns = _columns(kernel, X, None, chosen, centred)
    if definite:
        W = columns[chosen].copy()
        vectors, values = _nystrom(_centred(columns, centred), W)
        return _of_picture(vectors, values, kappa)
    Q = _orthonormal(_centred(columns, centred))
    core = Q.T @ centred.product(Q)
    values, vectors = linalg.eigh(0.5 * (core + core.T))
    return SymmetricPreconditioner(_transform(Q, vectors), values, kappa, error)


def block_preconditioner(
    kernel: Kernel, X: Any, Z: Any, centred: CentredOperator, kappa: float, settings: IterationSettings
) -> BlockPreconditioner:
    """Return the preconditioner of the AsK-LS block of K(X, Z); ``rank=0`` is none at all."""
    chosen, error = _landmarks(kernel, X, Z, centred, settings, False)
    if not len(chosen):
        empty = np.zeros((centred.size, 0))
        return BlockPreconditioner(empty, np.zeros(0), empty, kappa)
    left = _orthonormal(_centred(_columns(kernel, X, Z, chosen, centred), centred))
    right = _orthonormal(_centred(_columns(kernel, X, Z, chosen, centred, transposed=True), centred))
    U, values, V = linalg.svd(left.T @ centred.product(right))
    return BlockPreconditioner(_transform(left, U), values, _transform(right, V.T), kappa, error)


def _by_pivots(settings: IterationSettings) -> bool:
    return isinstance(settings.landmarks, str) and settings.landmarks in ("auto", "rpcholesky")


def _rank(centred: CentredOperator, settings: IterationSettings, definite: bool) -> int:
    return default_rank(centred, definite) if settings.rank is None else min(settings.rank, centred.size)


def _of_pivots(
    kernel: Kernel, X: Any, centred: CentredOperator, kappa: float, settings: IterationSettings
) -> SymmetricPreconditioner:
    """Return the preconditioner whose picture of K̃ is the centred factor of pivoted Cholesky, times its transpose."""
    matrix, weights = KernelMatrix(kernel.anchored(X), X), None if centred.root is None else centred.root**2
    rank = _rank(centred, settings, True)
    found = pivoted_cholesky(matrix, rank, weights=weights, random_state=settings.random_state)
    if not len(found.pivots):
        return SymmetricPreconditioner(found.factor, np.zeros(0), kappa, found.trace_error)
    Q, R = linalg.qr(_centred(found.factor, centred), mode="economic", overwrite_a=True, check_finite=False)
    U, singular, _ = linalg.svd(R, check_finite=False)
    return _of_picture(_transform(np.ascontiguousarray(Q), U), singular**2, kappa, found.trace_error)


def _of_picture(
    vectors: np.ndarray, values: np.ndarray, kappa: float, trace_error: float | None = None
) -> SymmetricPreconditioner:
    """Return the preconditioner of a positive semi-definite picture U diag(λ) Uᵀ, without what is κI to the system."""
    useful = values > 1e-3 * kappa
    dropped = len(values) - np.count_nonzero(useful)
    if dropped:
        vectors, values = vectors[:, useful], values[useful]
    # What the picture leaves out is no larger than its smallest value: nothing, if small ones (but for the one that
    # centring may take) are dropped already.
    rest = float(values.min(initial=np.inf)) if dropped <= 1 and len(values) else 0.0
    return SymmetricPreconditioner(vectors, values, kappa, trace_error, rest)


def _landmarks(
    kernel: Kernel, X: Any, Z: Any, centred: CentredOperator, settings: IterationSettings, definite: bool
) -> Selection:
    if settings.rank == 0:
        return Selection(np.zeros(0, dtype=np.intp))
    rank = _rank(centred, settings, definite) if isinstance(settings.landmarks, str) else settings.rank
    return select_landmarks(kernel, X, rank, settings.landmarks, Z=Z, random_state=settings.random_state)


def _columns(
    kernel: Kernel, X: Any, Z: Any, chosen: np.ndarray, centred: CentredOperator, transposed: bool = False
) -> np.ndarray:
    """Return K[:, chosen], or K[chosen, :]ᵀ."""
    if centred.form == "separable":  # products are cheap, row normalisation included
        picks = np.zeros((centred.size, len(chosen)))
        picks[chosen, np.arange(len(chosen))] = 1.0
        return centred.raw(picks, adjoint=transposed)
    bound, other = kernel.anchored(X, Z), X if Z is None else Z
    return bound(X[chosen], other).T if transposed else bound(X, other[chosen])


def _centred(columns: np.ndarray, centred: CentredOperator) -> np.ndarray:
    """Return P S columns, in their own memory where they are float64."""
    columns = np.ascontiguousarray(columns, dtype=np.float64)
    if centred.root is not None:
        columns *= centred.root[:, None]
    means = centred.border @ columns
    for start in range(0, len(columns), _ROWS):
        rows = slice(start, start + _ROWS)
        columns[rows] -= np.outer(centred.border[rows], means)
    return columns


def _nystrom(columns: np.ndarray, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return U and λ of C̃ W⁺ C̃ᵀ, working in C̃'s memory."""
    values, vectors = linalg.eigh(np.asarray(W, dtype=np.float64))
    kept = values > 1e-12 * values.max(initial=0.0)
    if not kept.any():
        return columns[:, :0], np.zeros(0)
    # Through features F = C̃ W^(-1/2) rather than C̃ᵀC̃, whose rounding errors W⁻¹ would blow up.
    F = _transform(columns, vectors[:, kept] / np.sqrt(values[kept]))
    gram, rotation = linalg.eigh(F.T @ F)
    useful = gram > 1e-12 * gram.max(initial=0.0)
    return _transform(F, rotation[:, useful] / np.sqrt(gram[useful])), gram[useful]


def _transform(A: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Return A T, T no wider than A, in the memory of A."""
    for start in range(0, len(A), _ROWS):
        rows = slice(start, start + _ROWS)
        A[rows, : T.shape[1]] = A[rows] @ T
    return A[:, : T.shape[1]]


def _orthonormal(A: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the span of the columns (and of some more, where they are dependent)."""
    return np.ascontiguousarray(linalg.qr(A, mode="economic", overwrite_a=True, check_finite=False)[0])
