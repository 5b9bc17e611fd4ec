"""The two dual systems as solvers use them: from a kernel matrix and targets to coefficients and leave-one-out.

A system has views, its decision functions by name: LS-SVM has one, AsK-LS has two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernreg.linalg import (
    BlockSpectrum,
    SolveReport,
    SymmetricSpectrum,
    centre,
    solve_block_or_spectrum,
    solve_symmetric,
)

Views = dict[str, np.ndarray]
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class DualSolution:
    """Coefficients (m, C) and intercepts (C,) of each view.

    ``cancelled`` is what rounding errors of Σ_i a_i k(x, x_i) amount to, relative to the targets: a kernel that hardly
    varies needs large coefficients that add up to zero.
    """

    coefficients: Views
    intercepts: Views
    report: SolveReport
    cancelled: float = 0.0


@dataclass(frozen=True)
class Path:
    """Leave-one-out residuals (G, m, C) of each view for G values of γ, and which of these are poles left undamped."""

    residuals: Views
    excluded: np.ndarray


class DualSystem:
    """What the two systems share.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Overwritten where ``overwrite``, and by whatever is asked first: a system answers `direct` once, or any
        number of questions after the decomposition that `path` and `at` make.
    Y : ndarray of shape (m, C)
    weights : ndarray of shape (m,) or None
    """

    views: tuple[str, ...]

    def __init__(self, K: np.ndarray, Y: np.ndarray, weights: np.ndarray | None, *, overwrite: bool = False):
        self.Y = Y
        self.centred = centre(K, weights, overwrite=overwrite)
        self.T = self.centred.targets(Y)
        self._spectrum: SymmetricSpectrum | BlockSpectrum | None = None
        self._scale: float | None = None

    def direct(self, gamma: float, on_pole: str = "raise") -> DualSolution:
        """Solve for one γ by factorisation."""
        raise NotImplementedError

    def at(self, gamma: float, on_pole: str = "raise") -> DualSolution:
        """Solve for one γ from the decomposition."""
        raise NotImplementedError

    def path(self, gammas: np.ndarray, on_pole: str = "raise") -> Path:
        """Return leave-one-out residuals for every γ."""
        raise NotImplementedError

    def _cancelled(self, C: np.ndarray, along: np.ndarray) -> float:
        """Return the share of rounding errors in decision values, from the mean row (or column) of K."""
        size = float(np.abs(self.Y).max(initial=0.0))
        error = EPS * float((np.abs(along) @ np.abs(C)).max(initial=0.0)) / self.centred.norm
        return error / size if size > 0.0 else 0.0

    @property
    def scale(self) -> float:
        """The root mean square of the singular values of K̃."""
        if self._scale is None:
            self._scale = float(np.linalg.norm(self.centred.matrix) / np.sqrt(self.centred.size))
        return self._scale


class SymmetricSystem(DualSystem):
    """(K̃ + I/γ) a = Y, of one view."""

    views = ("decision",)

    def direct(self, gamma: float, on_pole: str = "raise") -> DualSolution:
        """Solve for one γ by factorisation."""
        A, report = solve_symmetric(self.centred, self.T, gamma)
        return self._solution(A, report)

    @property
    def spectrum(self) -> SymmetricSpectrum:
        """The decomposition, made when first asked for."""
        if self._spectrum is None:
            self.scale  # noqa: B018 (remembered before the matrix is overwritten)
            self._spectrum = SymmetricSpectrum(self.centred)
        assert isinstance(self._spectrum, SymmetricSpectrum)
        return self._spectrum

    def at(self, gamma: float, on_pole: str = "raise") -> DualSolution:
        """Solve for one γ from the decomposition."""
        return self._solution(*self.spectrum.solution(self.T, gamma))

    def path(self, gammas: np.ndarray, on_pole: str = "raise") -> Path:
        """Return leave-one-out residuals for every γ."""
        residuals = self.spectrum.leave_one_out(self.spectrum.solve(self.T, gammas), gammas)
        return Path({"decision": residuals}, self.spectrum.poles(gammas))

    def _solution(self, A: np.ndarray, report: SolveReport) -> DualSolution:
        intercept = self.centred.source_intercept(self.Y, A)
        coefficients, cancelled = self.centred.coefficients(A), self._cancelled(A, self.centred.left)
        return DualSolution({"decision": coefficients}, {"decision": intercept}, report, cancelled)


class BlockSystem(DualSystem):
    """a/γ + K̃ c = Y, c/γ + K̃ᵀ a = Y: the source view has the coefficients c, the target view a."""

    views = ("source", "target")

    def direct(self, gamma: float, on_pole: str = "raise") -> DualSolution:
        """Solve for one γ by factorisation."""
        return self._solution(*solve_block_or_spectrum(self.centred, self.T, gamma, on_pole))

    @property
    def spectrum(self) -> BlockSpectrum:
        """The decomposition, made when first asked for."""
        if self._spectrum is None:
            self.scale  # noqa: B018 (remembered before the matrix is overwritten)
            self._spectrum = BlockSpectrum(self.centred)
        assert isinstance(self._spectrum, BlockSpectrum)
        return self._spectrum

    def at(self, gamma: float, on_pole: str = "raise") -> DualSolution:
        """Solve for one γ from the decomposition."""
        return self._solution(*self.spectrum.solution(self.T, gamma, on_pole))

    def path(self, gammas: np.ndarray, on_pole: str = "raise") -> Path:
        """Return leave-one-out residuals for every γ."""
        poles = self.spectrum.poles(gammas)
        damped = poles if on_pole == "damp" else np.zeros(len(gammas), dtype=bool)
        A, C = self.spectrum.solve(self.T, gammas, damped)
        source, target = self.spectrum.leave_one_out(self.T, A, C, gammas, damped)
        return Path({"source": source, "target": target}, poles & ~damped)

    def _solution(self, A: np.ndarray, C: np.ndarray, report: SolveReport) -> DualSolution:
        centred = self.centred
        return DualSolution(
            {"source": centred.coefficients(C), "target": centred.coefficients(A)},
            {"source": centred.source_intercept(self.Y, C), "target": centred.target_intercept(self.Y, A)},
            report,
            max(self._cancelled(C, centred.left), self._cancelled(A, centred.right)),
        )
