"""What a solve did, for people and for tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from kernreg.common.display import Display


@dataclass(frozen=True)
class SolveReport(Display):
    """How a system was solved and how well.

    Attributes
    ----------
    strategy : str
        ``"exact"``: the kernel matrix was held in memory.
    method : str
        ``"cholesky"``, ``"lu"``, ``"eigh"`` or ``"svd"``.
    size : int
        Number of samples.
    gamma : float
        The regularisation constant used.
    residual : float
        Largest relative residual ‖r‖/‖rhs‖ over the right-hand sides, in the equations of the method itself (not in
        an eliminated form of them).
    condition : float
        Estimated condition number of the matrix that was factorised or decomposed.
    refinements : int
        Steps of iterative refinement taken.
    damped : bool
        Whether γ is at a pole and the Tikhonov solution was taken instead.
    note : str
        Anything else worth saying.

    Examples
    --------
    >>> import kernreg as kr
    >>> report = kr.make_solver("ls-svm", gamma=1.0).fit([[0.0], [1.0], [2.0]], [0, 1, 1]).solver_report_
    >>> report.strategy, report.size, report.residual < 1e-12
    ('exact', 3, True)
    """

    strategy: str
    method: str
    size: int
    gamma: float
    residual: float
    condition: float
    refinements: int = 0
    damped: bool = False
    note: str = ""

    def noted(self, note: str) -> Self:
        """Return the report with something more worth saying."""
        return replace(self, note="; ".join(part for part in (self.note, note) if part))


def relative(r: np.ndarray, T: np.ndarray) -> float:
    """Return the largest ‖r‖/‖T‖ over columns (a zero column of T counts as one of norm 1)."""
    return float((np.linalg.norm(r, axis=0) / unit_if_zero(np.linalg.norm(T, axis=0))).max(initial=0.0))


def unit_if_zero(norms: np.ndarray) -> np.ndarray:
    """Return norms to divide by, 1 in place of 0."""
    return np.where(norms > 0.0, norms, 1.0)
