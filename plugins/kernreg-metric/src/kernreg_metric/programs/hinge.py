"""SimpleNPK with the squared hinge loss, by accelerated projected gradients, with a duality gap to know when to stop.

    primal    min_K  tr(LK) + c Σ_ij ½ max(0, 1 - T_ij K_ij)²                 K ⪰ 0,  tr(Kᵖ) ≤ B
    dual      max_α  Σ_ij (α_ij - α_ij²/(2c)) - max_K ⟨α ∘ T - L, K⟩,  α ≥ 0

and α = c max(0, 1 - T ∘ K) at the optimum. The sums run over the ordered pairs with T_ij ≠ 0. The projection on the
feasible matrices is one of eigenvalues.
"""

from __future__ import annotations

import numpy as np

from kernreg_metric.programs.schatten import Spectrum, best_kernel, positive_part, projected_on_ball

_BETWEEN_GAPS = 5  # iterations between two computations of the gap, which cost as much as an iteration


class SquaredHinge:
    """The problem, and the best kernel found.

    Attributes
    ----------
    kernel : Spectrum
    primal, dual : float
        Its objective, and the highest lower bound on any.
    iterations : int
    """

    def __init__(self, L: np.ndarray, T: np.ndarray, c: float, p: float, budget: float):
        self._L, self._T, self._c, self._p, self._budget = L, T, c, p, budget
        self._known = T != 0.0
        self.kernel = Spectrum(np.empty(0), np.empty((len(L), 0)))
        self.primal, self.dual, self.iterations = np.inf, -np.inf, 0

    @property
    def gap(self) -> float:
        """How far apart objective and bound are, relatively: no kernel is better by more."""
        size = max(abs(self.primal), abs(self.dual), np.finfo(np.float64).tiny)
        return max(0.0, self.primal - self.dual) / size

    def _short(self, K: np.ndarray) -> np.ndarray:
        """Return by how much pairs are short of their margin, 0 where nothing is known."""
        return np.where(self._known, np.maximum(0.0, 1.0 - self._T * K), 0.0)

    def _weigh(self, K: np.ndarray, spectrum: Spectrum) -> None:
        """Compute objective and bound of a feasible matrix, and keep it."""
        short = self._short(K)
        self.primal = float(np.sum(self._L * K)) + 0.5 * self._c * float(np.sum(short**2))
        alpha = self._c * short
        A = alpha * self._T - self._L
        most = best_kernel(positive_part(A), self._p, self._budget).bound
        self.dual = max(self.dual, float(np.sum(alpha - alpha**2 / (2.0 * self._c))) - most)
        self.kernel = spectrum

    def solve(self, tol: float, max_iter: int) -> None:
        """Improve the kernel until the gap is small enough."""
        step = 1.0 / (self._c * float(np.max(self._T**2)))  # one over the curvature of the losses
        K = np.zeros_like(self._L)
        ahead, momentum = K, 1.0
        while self.iterations < max_iter:
            self.iterations += 1
            gradient = self._L - self._c * self._T * self._short(ahead)
            values, vectors = np.linalg.eigh(ahead - step * gradient)
            spectrum = Spectrum.positive(projected_on_ball(values, self._p, self._budget), vectors)
            new = spectrum.matrix()
            if np.sum((ahead - new) * (new - K)) > 0.0:
                momentum = 1.0  # it has overshot: start again from here
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            ahead = new + ((momentum - 1.0) / following) * (new - K)
            K, momentum = new, following
            if self.iterations % _BETWEEN_GAPS == 0 or self.iterations == max_iter:
                self._weigh(K, spectrum)
                if self.gap <= tol:
                    return
