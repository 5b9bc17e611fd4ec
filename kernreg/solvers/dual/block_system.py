"""The dual of AsK-LS, its borders eliminated, solved for one γ or many: by factorisation or singular triplets."""

from __future__ import annotations

import numpy as np

from kernreg.common.lazy import computed_once
from kernreg.linalg import BlockSpectrum, SolveReport, solve_block_or_spectrum
from kernreg.solvers.dual.exact import CentredSystem, Path
from kernreg.solvers.dual.solution import DualSolution


class BlockSystem(CentredSystem):
    """The dual with both borders eliminated, â/γ + K̃ ĉ = T, ĉ/γ + K̃ᵀ â = T, T = P S Y.

    ``on_pole`` is what to do where 1/γ is a singular value of K̃: ``"raise"`` or ``"damp"``.
    """

    def __init__(
        self,
        K: np.ndarray,
        Y: np.ndarray,
        weights: np.ndarray | None,
        *,
        overwrite: bool = False,
        on_pole: str = "raise",
    ):
        super().__init__(K, Y, weights, overwrite=overwrite)
        self.on_pole = on_pole

    @computed_once
    def spectrum(self) -> BlockSpectrum:
        """The singular triplets of K̃, in its memory."""
        return BlockSpectrum(self.centred)

    def direct(self, gamma: float) -> DualSolution:
        """Solve for one γ by factorisation."""
        return self._solution(*solve_block_or_spectrum(self.centred, self.T, gamma, self.on_pole))

    def at(self, gamma: float) -> DualSolution:
        """Solve for one γ from the triplets."""
        return self._solution(*self.spectrum.solution(self.T, gamma, self.on_pole))

    def path(self, gammas: np.ndarray) -> Path:
        """Return leave-one-out residuals for every γ."""
        poles = self.spectrum.poles(gammas)
        damped = poles if self.on_pole == "damp" else np.zeros(len(gammas), dtype=bool)
        A, C = self.spectrum.solve(self.T, gammas, damped)
        source, target = self.spectrum.leave_one_out(self.T, A, C, gammas, damped)
        errors = self.spectrum.rounding_errors(A, C, source, target, gammas)
        errors[damped] = 0.0
        return Path({"source": source, "target": target}, poles & ~damped, errors)

    def _solution(self, a_hat: np.ndarray, c_hat: np.ndarray, report: SolveReport) -> DualSolution:
        a, c = self.centred.coefficients(a_hat), self.centred.coefficients(c_hat)  # Σ a = Σ c = 0
        b1 = self.centred.source_intercept(self.Y, c_hat)  # the weighted mean of y - K c
        b2 = self.centred.target_intercept(self.Y, a_hat)  # the weighted mean of y - Kᵀ a
        cancelled = max(self._cancelled(c_hat, self.centred.left), self._cancelled(a_hat, self.centred.right))
        return DualSolution({"source": c, "target": a}, {"source": b1, "target": b2}, report, cancelled)
