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
2×2 systems.

References
----------
Williams & Seeger, Using the Nyström method to speed up kernel machines, NeurIPS 2000. Suykens et al., Least squares
support vector machines, 2002, chapter 6. Tao, Tonin, Patrinos & Suykens, Nonlinear SVD with asymmetric kernels, 2023.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from kernreg.config import memory_budget
from kernreg.errors import ParameterError
from kernreg.kernels.base import Kernel
from kernreg.linalg.exact.report import SolveReport, relative
from kernreg.linalg.landmarks.features import Features, Moments, asymmetric_features, symmetric_features
from kernreg.linalg.landmarks.selection import choose_landmarks
from kernreg.linalg.system_inputs import require_positive, targets_and_weights

_DEFAULT_LANDMARKS = 500
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class LowRankReport(SolveReport):
    """A `SolveReport`; residual and condition are those of the small system.

    Attributes
    ----------
    landmarks : int
        How many samples stand for all.
    rank : int
        How many features they gave.
    """

    landmarks: int = 0
    rank: int = 0


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
    n_landmarks : int, optional
        500 by default, or all samples where there are fewer, and no more than the memory budget has room for.
    landmarks, random_state
        As in `choose_landmarks`.

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
        self.indices = _choose(kernel, X, Z, n_landmarks, landmarks, random_state)

    def _moments(self, features: Features) -> Moments:
        return features.moments(self._Y - self._offset, self._weights)

    def _weight(self, rows: slice, count: int) -> np.ndarray:
        return np.ones(count) if self._weights is None else self._weights[rows]

    @property
    def scale(self) -> float:
        """The root mean square of the singular values of the centred low-rank matrix."""
        raise NotImplementedError

    def at(self, gamma: float, *, loo: bool = False) -> tuple[tuple[LowRankView, ...], LowRankReport]:
        """Solve for one γ; with ``loo`` leave-one-out residuals, too, for a pass over the samples."""
        raise NotImplementedError


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

    def at(self, gamma: float, *, loo: bool = False) -> tuple[tuple[LowRankView, ...], LowRankReport]:
        """Solve for one γ; with ``loo`` leave-one-out residuals, too, for a pass over the samples."""
        require_positive(gamma)
        features, sums, floor = self._features, self._sums, 1 / gamma if self._definite else None
        system = _SmallSystem(sums.gram + np.diag(features.signs / gamma), gamma, floor=floor)
        w, residual = system.solve(sums.targets)
        rest = None
        if loo:

            def left_out(rows: slice, block: np.ndarray) -> np.ndarray:
                F = features.of_block(block) - sums.mean
                h = self._weight(rows, len(F)) * (1.0 / sums.mass + system.bilinear(F, F))
                return (self._Y[rows] - self._offset - F @ w) / (1.0 - h)[:, None]

            rest = features.kernel.map_rows(self._X, features.landmarks, left_out)
        view = _view(features, sums, w, self._offset, rest)
        return (view,), system.report("primal", len(self._Y), residual, len(self.indices), features.rank)


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

    def __init__(self, kernel: Kernel, X: Any, Y: np.ndarray, *, Z: Any = None, **settings: Any):
        super().__init__(kernel, X, Y, Z=Z, **settings)
        self._source, self._target = asymmetric_features(kernel.anchored(X, Z), X, X if Z is None else Z, self.indices)
        self._sums = self._moments(self._source), self._moments(self._target)

    @property
    def scale(self) -> float:
        """The root mean square of the singular values of K̃ ≈ Φ_s Φ_tᵀ: ‖K̃‖² = tr(Φ_sᵀJΦ_s Φ_tᵀJΦ_t)."""
        s, t = self._sums
        return float(np.sqrt(max(0.0, (s.gram * t.gram).sum()) / len(self._Y)))

    def at(self, gamma: float, *, loo: bool = False) -> tuple[tuple[LowRankView, ...], LowRankReport]:
        """Solve for one γ; with ``loo`` leave-one-out residuals, too, for a pass over the samples."""
        require_positive(gamma)
        (s, t), source, target, Y, offset = self._sums, self._source, self._target, self._Y, self._offset
        q, columns = source.rank, self._Y.shape[1]
        coupling = np.eye(q) / gamma
        system = _SmallSystem(np.block([[s.gram, coupling], [coupling, t.gram]]), gamma)
        solution, residual = system.solve(np.vstack([s.targets, t.targets]))
        w_s, w_t = solution[:q], solution[q:]
        rest_s = rest_t = None
        if loo:

            def left_out(rows: slice, block: np.ndarray) -> np.ndarray:
                F, G = source.of_block(block) - s.mean, target.of_rows(rows) - t.mean
                weight = self._weight(rows, len(F))
                first, second = np.hstack([F, np.zeros_like(G)]), np.hstack([np.zeros_like(F), G])
                keep_s = 1.0 - weight * (1.0 / s.mass + system.bilinear(first, first))
                keep_t = 1.0 - weight * (1.0 / t.mass + system.bilinear(second, second))
                cross = weight * system.bilinear(first, second)
                e_s, e_t = Y[rows] - offset - F @ w_s, Y[rows] - offset - G @ w_t
                scale = (keep_s * keep_t - cross * cross)[:, None]
                both = [keep_t[:, None] * e_s + cross[:, None] * e_t, keep_s[:, None] * e_t + cross[:, None] * e_s]
                return np.hstack(both) / scale

            rest = source.kernel.map_rows(self._X, source.landmarks, left_out)
            rest_s, rest_t = rest[:, :columns], rest[:, columns:]
        views = _view(source, s, w_s, offset, rest_s), _view(target, t, w_t, offset, rest_t)
        return views, system.report("block", len(Y), residual, len(self.indices), q)


def _choose(kernel: Kernel, X: Any, Z: Any, count: int | None, landmarks: Any, random_state: Any) -> np.ndarray:
    if count is None and isinstance(landmarks, str):
        count = min(X.shape[0], _DEFAULT_LANDMARKS, max(1, int(np.sqrt(memory_budget() / 64))))  # p × p must fit, too
    return choose_landmarks(kernel, X, count, landmarks, Z=Z, random_state=random_state)


def _view(
    features: Features, moments: Moments, w: np.ndarray, offset: np.ndarray, rest: np.ndarray | None
) -> LowRankView:
    # φ(x) = k(x, landmarks) T - origin, and f(x) = (φ(x) - mean)ᵀ w + offset.
    return LowRankView(features.transform @ w, offset - (features.origin + moments.mean) @ w, rest)


class _SmallSystem:
    """A symmetric p×p matrix through its eigenvalues: solutions, quadratic forms of its inverse, condition.

    Where the matrix is known to be at least ``floor`` times the identity, eigenvalues below are rounding errors. Where
    it is not, a vanishing eigenvalue is a pole.
    """

    def __init__(self, M: np.ndarray, gamma: float, floor: float | None = None):
        self.M, self.gamma = M, gamma
        self.values, self.vectors = linalg.eigh(M) if len(M) else (np.zeros(0), M)
        largest = float(np.abs(self.values).max(initial=0.0))
        if floor is not None:
            self.values = np.maximum(self.values, floor)
        smallest = float(np.abs(self.values).min(initial=np.inf))
        if smallest <= 4.0 * np.sqrt(max(1, len(M))) * _EPS * largest and floor is None:
            raise ParameterError(
                f"gamma={gamma:g} is at a pole: 1/gamma = {1 / gamma:g} cannot be told from a singular value (or minus "
                "an eigenvalue) of the low-rank kernel matrix, and the system has no unique solution there. Change "
                "gamma by some percent, or the number of landmarks"
            )
        self.condition = largest / smallest if smallest > 0.0 else float("inf")

    def solve(self, B: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the solutions, refined once, and the largest relative residual."""
        x = self._inverse(B)
        x = x + self._inverse(B - self.M @ x)
        return x, relative(B - self.M @ x, B)

    def _inverse(self, B: np.ndarray) -> np.ndarray:
        return self.vectors @ ((self.vectors.T @ B) / self.values[:, None])

    def bilinear(self, F: np.ndarray, G: np.ndarray) -> np.ndarray:
        """Return fᵢᵀ M⁻¹ gᵢ for all rows."""
        left = F @ self.vectors
        right = left if G is F else G @ self.vectors
        return (left * right) @ (1.0 / self.values)

    def report(self, method: str, size: int, residual: float, landmarks: int, rank: int) -> LowRankReport:
        """Return the report of a solve."""
        return LowRankReport(
            "lowrank", method, size, self.gamma, residual, self.condition, landmarks=landmarks, rank=rank
        )
