"""The p×p systems of p landmarks, through their eigenvalues."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from kernreg.errors import ParameterError
from kernreg.linalg.exact.report import SolveReport, relative

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
    trace_error : float or None
        The share of the trace of K that they leave, where they are pivots of Cholesky; of kernels not known to be
        positive semi-definite that of squared norms of rows, in some columns.
    """

    landmarks: int = 0
    rank: int = 0
    trace_error: float | None = None


def eigenpairs(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues and eigenvectors of a symmetric matrix, also of one without rows."""
    return linalg.eigh(M) if len(M) else (np.zeros(0), M)


class SmallSystem:
    """A symmetric p×p matrix M + diag(shift) through its eigenvalues: solutions, condition.

    The spectrum, values and vectors, is given where the matrix is known to be positive definite. Where it is not, a
    vanishing eigenvalue is a pole.
    """

    def __init__(
        self, M: np.ndarray, gamma: float, shift: np.ndarray, spectrum: tuple[np.ndarray, np.ndarray] | None = None
    ):
        self._M, self._shift, self.gamma = M, shift[:, None], gamma
        definite = spectrum is not None
        self.values, self.vectors = spectrum or eigenpairs(M + np.diag(shift))
        largest = float(np.abs(self.values).max(initial=0.0))
        smallest = float(np.abs(self.values).min(initial=np.inf))
        if smallest <= 4.0 * np.sqrt(max(1, len(M))) * _EPS * largest and not definite:
            raise ParameterError(
                f"gamma={gamma:g} is at a pole: 1/gamma = {1 / gamma:g} cannot be told from a singular value (or minus "
                "an eigenvalue) of the low-rank kernel matrix, and the system has no unique solution there. Change "
                "gamma by some percent, or the number of landmarks"
            )
        self.condition = largest / smallest if smallest > 0.0 else float("inf")

    def solve(self, B: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the solutions, refined once, and the largest relative residual."""
        x = self._inverse(B)
        x = x + self._inverse(B - self._product(x))
        return x, relative(B - self._product(x), B)

    def _product(self, x: np.ndarray) -> np.ndarray:
        return self._M @ x + self._shift * x

    def _inverse(self, B: np.ndarray) -> np.ndarray:
        return self.vectors @ ((self.vectors.T @ B) / self.values[:, None])

    def report(self, method: str, size: int, residual: float, landmarks: int, rank: int) -> LowRankReport:
        """Return the report of a solve."""
        return LowRankReport(
            "lowrank", method, size, self.gamma, residual, self.condition, landmarks=landmarks, rank=rank
        )
