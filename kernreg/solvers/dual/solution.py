"""What a dual system answers: coefficients and intercepts of each view, and leave-one-out values for a choice of γ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from kernreg.linalg import SolveReport
from kernreg.solvers.views import Views


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

    def noted(self, note: str) -> DualSolution:
        """Return the solution with something more said in its report."""
        return replace(self, report=self.report.noted(note))


@dataclass(frozen=True)
class Candidate:
    """One γ: leave-one-out values f⁽⁻ⁱ⁾(x_i), (m, C) of each view, None at a pole; the solution where it is at hand.

    ``error`` is what rounding may have done to these values, relative to the largest.
    """

    views: Views | None
    solution: DualSolution | None = None
    error: float = 0.0


class DualSystem(Protocol):
    """The system of a training set, in whatever form: with the matrix in memory, as products, or on landmarks."""

    @property
    def scale(self) -> float:
        """The root mean square of the singular values of K̃, which a grid of γ is fitted to."""
        ...

    def solve(self, gamma: float) -> DualSolution:
        """Solve for one γ; raise ParameterError at a pole."""
        ...

    def at(self, gamma: float) -> DualSolution:
        """Solve for one γ after `candidates`, from what was computed for them."""
        ...

    def candidates(self, gammas: np.ndarray) -> Iterator[Candidate]:
        """Yield leave-one-out values for each γ."""
        ...
