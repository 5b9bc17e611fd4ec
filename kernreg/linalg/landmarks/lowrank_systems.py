"""LS-SVM and AsK-LS with Nyström features: p landmarks, p unknowns, memory that does not grow with m × m or m × p.

LS-SVM with K ≈ Φ diag(s) Φᵀ. With w = diag(s) Φᵀ a the dual system is, centred by J,

    (ΦᵀJΦ + diag(s)/γ) w = ΦᵀJY,      f(x) = φ(x)ᵀ w + b,      b = mean(Y - Φ w)

For a positive semi-definite kernel s = 1, and this is the primal problem min ½|w|² + (γ/2) Σ e², e = y - f(x), of
fixed-size LS-SVM. For an indefinite one it is the stationary point of ½ wᵀ diag(s) w + (γ/2) Σ e²: a saddle, as in the
dual of the full kernel, not a minimum.

AsK-LS with K ≈ Φ_s Φ_tᵀ. With p = Φ_tᵀ J c and q = Φ_sᵀ J a,

    [[Φ_sᵀJΦ_s, I/γ], [I/γ, Φ_tᵀJΦ_t]] (p, q) = (Φ_sᵀJY, Φ_tᵀJY),      f_s(x) = φ_s(x)ᵀ p + b₁,  f_t(z) = φ_t(z)ᵀ q + b₂

Leave-one-out residuals (the landmarks, and the normalisers of kernels such as `sne`, held fixed) are exact and need a
second pass: e_i / (1 - h_i) with the leverage h_i = 1/m + φ̃_iᵀ M⁻¹ φ̃_i, M the matrix above; for AsK-LS likewise with
2×2 systems. Where s = 1 the eigenvectors of M are those of ΦᵀJΦ, and the one pass serves every γ.

References
----------
Williams & Seeger, Using the Nyström method to speed up kernel machines, NeurIPS 2000. Suykens et al., Least squares
support vector machines, 2002, chapter 6. Tao, Tonin, Patrinos & Suykens, Nonlinear SVD with asymmetric kernels, 2023.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kernreg.common.lazy import computed_once
from kernreg.common.progress import row_progress
from kernreg.config import memory_budget
from kernreg.engine import ByRow, RowKernel
from kernreg.engine.threads import configured_blas
from kernreg.errors import ParameterError
from kernreg.kernels.base import Kernel
from kernreg.linalg.landmarks.features import (
    Features,
    Moments,
    asymmetric_features,
    features_of,
    symmetric_features,
)
from kernreg.linalg.landmarks.selection import default_landmarks, select_landmarks
from kernreg.linalg.landmarks.small_systems import LowRankReport, SmallSystem, eigenpairs
from kernreg.linalg.system_inputs import require_positive, targets_and_weights


@dataclass(frozen=True)
class LowRankView:
    """One decision function: f(x) = k(x, landmarks) coefficients + intercept (k(landmarks, x) for the target view).

    Attributes
    ----------
    coefficients : ndarray of shape (p, C)
    intercept : ndarray of shape (C,)
    loo_residuals : ndarray of shape (m, C) or None
        y_i - f⁽⁻ⁱ⁾(x_i), where asked for.
    """

    coefficients: np.ndarray
    intercept: np.ndarray
    loo_residuals: np.ndarray | None = None


#: The views of a solution, and its report.
Solved = tuple[tuple[LowRankView, ...], LowRankReport]


class LowRankProblem:
    """Features and their moments, made once and good for every γ.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR of m samples
    Y : ndarray of shape (m,) or (m, C)
    Z : array or CSR, optional
        The samples as targets, where the kernel compares two spaces; X by default.
    weights : ndarray of shape (m,), optional
        Positive sample weights.
    n_landmarks, landmarks, random_state
        As in `choose_landmarks`; as many as `default_landmarks` says by default.

    Attributes
    ----------
    indices : ndarray of shape (p,)
        The landmarks among the samples.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        Y: np.ndarray,
        *,
        Z: Any = None,
        weights: np.ndarray | None = None,
        n_landmarks: int | None = None,
        landmarks: Any = "uniform",
        random_state: Any = 0,
    ):
        self._X = X
        self._Y, self._weights = targets_and_weights(X.shape[0], Y, weights)
        self._offset = np.average(self._Y, axis=0, weights=self._weights)
        if n_landmarks is None and isinstance(landmarks, str):
            n_landmarks = default_landmarks(X.shape[0])
        self.indices, self._trace_error = select_landmarks(
            kernel, X, n_landmarks, landmarks, Z=Z, random_state=random_state
        )

    def _moments(self, features: Features) -> Moments:
        return features.moments(self._Y - self._offset, self._weights)

    def _report(self, system: SmallSystem, method: str, residual: float, rank: int) -> LowRankReport:
        report = system.report(method, len(self._Y), residual, len(self.indices), rank)
        return replace(report, trace_error=self._trace_error)

    @property
    def scale(self) -> float:
        """The root mean square of the singular values of the centred low-rank matrix."""
        raise NotImplementedError

    def at(self, gamma: float, *, loo: bool = False, some: np.ndarray | None = None) -> Solved:
        """Solve for one γ; with ``loo`` leave-one-out residuals, too, for a pass over the samples, or some of them."""
        raise NotImplementedError

    def path(self, gammas: Sequence[float]) -> Iterator[Solved | None]:
        """Yield solutions with leave-one-out residuals for each γ, None at a pole."""
        for gamma in gammas:
            try:
                yield self.at(gamma, loo=True)
            except ParameterError:  # a pole
                yield None


class SymmetricLowRank(LowRankProblem):
    """LS-SVM with Nyström features, for every γ.

    The kernel is symmetric by the caller's word, and positive semi-definite by its own unless ``definite`` says so.

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.kernels.builtin import rbf
    >>> X = np.linspace(-3.0, 3.0, 2000)[:, None]
    >>> k = rbf(sigma=1.0)
    >>> problem = SymmetricLowRank(k, X, np.sin(X), n_landmarks=30)
    >>> (view,), report = problem.at(100.0)
    >>> error = k(X, X[problem.indices]) @ view.coefficients + view.intercept - np.sin(X)
    >>> report.landmarks, bool(np.abs(error).max() < 0.01)
    (30, True)
    """

    @configured_blas()
    def __init__(self, kernel: Kernel, X: Any, Y: np.ndarray, *, definite: bool | None = None, **settings: Any):
        super().__init__(kernel, X, Y, **settings)
        self._definite = bool(kernel.definite if definite is None else definite)
        self._features = symmetric_features(kernel.anchored(X), X, self.indices, self._definite)
        self._sums = self._moments(self._features)

    @property
    def scale(self) -> float:
        """The root mean square of the eigenvalues of K̃ ≈ Φ diag(s) Φᵀ: ‖K̃‖² = tr(diag(s) G diag(s) G), G = ΦᵀJΦ."""
        signs, gram = self._features.signs, self._sums.gram
        return float(np.sqrt(max(0.0, signs @ (gram * gram) @ signs) / len(self._Y)))

    @computed_once
    def _eigenpairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Those of ΦᵀJΦ, negative ones being rounding errors."""
        gram = self._sums.gram
        values, vectors = eigenpairs(gram)
        return np.maximum(values, 0.0), vectors

    def _system(self, gamma: float) -> SmallSystem:
        require_positive(gamma)
        gram, shift = self._sums.gram, self._features.signs / gamma
        if not self._definite:
            return SmallSystem(gram, gamma, shift)
        values, vectors = self._eigenpairs
        return SmallSystem(gram, gamma, shift, (values + 1.0 / gamma, vectors))

    def at(self, gamma: float, *, loo: bool = False, some: np.ndarray | None = None) -> Solved:
        """Solve for one γ; with ``loo`` leave-one-out residuals, too, for a pass over the samples, or some of them."""
        return self._at([gamma], loo=loo, some=some)[0]

    def path(self, gammas: Sequence[float]) -> Iterator[Solved | None]:
        """Yield solutions with leave-one-out residuals for each γ, None at a pole."""
        if not self._definite:
            yield from super().path(gammas)
            return
        at_once = max(1, int(memory_budget() // (64 * self._Y.size)))  # γ whose residuals are held together
        for start in range(0, len(gammas), at_once):
            yield from self._at(gammas[start : start + at_once], loo=True)

    @configured_blas()
    def _at(self, gammas: Sequence[float], *, loo: bool, some: np.ndarray | None = None) -> list[Solved]:
        """Return the solutions for several γ whose systems share their eigenvectors, or for one."""
        features, sums = self._features, self._sums
        systems = [self._system(gamma) for gamma in gammas]
        solutions = [system.solve(sums.targets) for system in systems]
        rest = self._left_out(systems, [w for w, _ in solutions], some) if loo else [None] * len(systems)
        return [
            (
                (_view(features, sums, w, self._offset, left_out),),
                self._report(system, "primal", residual, features.rank),
            )
            for system, (w, residual), left_out in zip(systems, solutions, rest, strict=True)
        ]

    def _left_out(
        self, systems: list[SmallSystem], solutions: list[np.ndarray], some: np.ndarray | None = None
    ) -> list[Any]:
        """Return leave-one-out residuals (m, C) of each system in one pass, in the coordinates of the eigenvectors."""
        features, sums, vectors = self._features, self._sums, systems[0].vectors
        T, origin = features.transform @ vectors, (features.origin + sums.mean) @ vectors
        inverses = np.column_stack([1.0 / system.values for system in systems])
        W = vectors.T @ np.hstack(solutions)
        shape = len(systems), self._Y.shape[1]
        system = _SymmetricLeftOut(T, origin, 1.0 / sums.mass, inverses, W)
        X, Y, weights = _some_of(some, self._X, self._Y - self._offset, self._weights)
        args = system, ByRow(Y), _by_row(weights)
        with row_progress(f"leave-one-out, {len(systems)} gamma", len(Y)):
            residuals = features.kernel.map_rows(X, features.landmarks, _left_out_symmetric, args=args)
        return list(residuals.reshape(len(Y), *shape).transpose(1, 0, 2))


class BlockLowRank(LowRankProblem):
    """AsK-LS with asymmetric Nyström features, for every γ; the source view, then the target view.

    f_s(x) = k(x, Z[indices]) c + b₁ and f_t(z) = k(X[indices], z)ᵀ a + b₂, with a kernel bound to its training set
    where rows are normalised.

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.kernels.builtin import sne
    >>> X = np.linspace(-3.0, 3.0, 400)[:, None]
    >>> k = sne(sigma=1.0)
    >>> problem = BlockLowRank(k, X, np.sin(X), n_landmarks=40)
    >>> (source, target), report = problem.at(10.0)
    >>> f = k.bind(X)(X, X[problem.indices]) @ source.coefficients + source.intercept
    >>> bool(np.corrcoef(f.ravel(), np.sin(X).ravel())[0, 1] > 0.99)
    True
    """

    @configured_blas()
    def __init__(self, kernel: Kernel, X: Any, Y: np.ndarray, *, Z: Any = None, **settings: Any):
        super().__init__(kernel, X, Y, Z=Z, **settings)
        self._source, self._target = asymmetric_features(kernel.anchored(X, Z), X, X if Z is None else Z, self.indices)
        self._sums = self._moments(self._source), self._moments(self._target)

    @property
    def scale(self) -> float:
        """The root mean square of the singular values of K̃ ≈ Φ_s Φ_tᵀ: ‖K̃‖² = tr(Φ_sᵀJΦ_s Φ_tᵀJΦ_t)."""
        s, t = self._sums
        return float(np.sqrt(max(0.0, (s.gram * t.gram).sum()) / len(self._Y)))

    @configured_blas()
    def at(self, gamma: float, *, loo: bool = False, some: np.ndarray | None = None) -> Solved:
        """Solve for one γ; with ``loo`` leave-one-out residuals, too, for a pass over the samples, or some of them."""
        require_positive(gamma)
        (s, t), source, target, Y, offset = self._sums, self._source, self._target, self._Y, self._offset
        q, columns = source.rank, self._Y.shape[1]
        coupling = np.eye(q) / gamma
        system = SmallSystem(np.block([[s.gram, coupling], [coupling, t.gram]]), gamma, np.zeros(2 * q))
        solution, residual = system.solve(np.vstack([s.targets, t.targets]))
        w_s, w_t = solution[:q], solution[q:]
        rest_s = rest_t = None
        if loo:
            sides = (
                _Side(source.transform, source.origin + s.mean, system.vectors[:q], w_s),
                _Side(target.transform, target.origin + t.mean, system.vectors[q:], w_t),
            )
            # An engine checks the samples of its own side; those of the other go to compiled code as they are here.
            samples, landmarks = map(target.kernel.check_samples, (target.samples, target.landmarks))
            target_kernel = target.kernel.for_engine(samples, landmarks)
            both = _BlockLeftOut(*sides, target_kernel, landmarks, 1.0 / s.mass, 1.0 / system.values)
            X, Z, E, weights = _some_of(some, source.samples, samples, Y - offset, self._weights)
            args = both, ByRow(Z), ByRow(E), _by_row(weights)
            with row_progress("leave-one-out", len(E)):
                rest = source.kernel.map_rows(X, source.landmarks, _left_out_of_both, args=args)
            rest_s, rest_t = rest[:, :columns], rest[:, columns:]
        views = _view(source, s, w_s, offset, rest_s), _view(target, t, w_t, offset, rest_t)
        return views, self._report(system, "block", residual, q)


def _some_of(some: np.ndarray | None, *values: Any) -> tuple[Any, ...]:
    """Return some rows of each array, or all."""
    return values if some is None else tuple(None if each is None else each[some] for each in values)


def _by_row(values: np.ndarray | None) -> ByRow | None:
    return None if values is None else ByRow(values)


class _SymmetricLeftOut(NamedTuple):
    """What leave-one-out residuals of LS-SVM take, in the coordinates of eigenvectors; a column for each γ."""

    transform: np.ndarray
    origin: np.ndarray
    share: float
    inverses: np.ndarray
    solutions: np.ndarray


def _left_out_symmetric(
    rows: slice, block: np.ndarray, system: _SymmetricLeftOut, Y: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """Return leave-one-out residuals of some samples, for every γ: e / (1 - h)."""
    F = features_of(block, system.transform, system.origin)
    h = system.share + (F * F) @ system.inverses
    if weights is not None:
        h *= weights[:, None]
    rest = Y[:, None, :] - (F @ system.solutions).reshape(len(F), -1, Y.shape[1])
    return (rest / (1.0 - h)[:, :, None]).reshape(len(F), -1)


class _Side(NamedTuple):
    """One side of AsK-LS: how its centred features are made, its part of the eigenvectors, and its solution."""

    transform: np.ndarray
    origin: np.ndarray
    vectors: np.ndarray
    solution: np.ndarray


class _BlockLeftOut(NamedTuple):
    """What leave-one-out residuals of AsK-LS take; the kernel and the landmarks are those of the target side."""

    source: _Side
    target: _Side
    kernel: RowKernel
    landmarks: Any
    share: float
    inverse: np.ndarray


def _left_out_of_both(
    rows: slice,
    block: np.ndarray,
    system: _BlockLeftOut,
    samples: Any,
    Y: np.ndarray,
    weights: np.ndarray | None,
) -> np.ndarray:
    """Return leave-one-out residuals of some samples in both views, by systems of two unknowns."""
    source, target, kernel, landmarks, share, inverse = system
    F = features_of(block, source.transform, source.origin)
    weight = np.ones(len(F)) if weights is None else weights
    first, e_s = F @ source.vectors, Y - F @ source.solution
    del F  # twice as wide as the features are their coordinates: what is done with is not held
    G = features_of(kernel.row_block(samples, landmarks, rows, False), target.transform, target.origin)
    second, e_t = G @ target.vectors, Y - G @ target.solution
    del G
    cross = weight * ((first * second) @ inverse)
    first *= first
    second *= second
    keep_s = 1.0 - weight * (share + first @ inverse)
    keep_t = 1.0 - weight * (share + second @ inverse)
    scale = (keep_s * keep_t - cross * cross)[:, None]
    both = [keep_t[:, None] * e_s + cross[:, None] * e_t, keep_s[:, None] * e_t + cross[:, None] * e_s]
    return np.hstack(both) / scale


_left_out_of_both.holds = 7  # type: ignore[attr-defined]  # a block, both coordinates and their product


def _view(
    features: Features, moments: Moments, w: np.ndarray, offset: np.ndarray, rest: np.ndarray | None
) -> LowRankView:
    # φ(x) = k(x, landmarks) T - origin, and f(x) = (φ(x) - mean)ᵀ w + offset.
    return LowRankView(features.transform @ w, offset - (features.origin + moments.mean) @ w, rest)
