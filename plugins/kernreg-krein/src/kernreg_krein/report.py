"""What a fit says about itself."""

from __future__ import annotations

from dataclasses import dataclass

from kernreg.solvers import Display


@dataclass(frozen=True)
class KreinReport(Display):
    """How a machine was fitted, and how well.

    Attributes
    ----------
    strategy : str
        ``"exact"``, ``"iterative"`` or ``"lowrank"``.
    method : str
        The algorithm that ran.
    size : int
        Number of samples.
    positive, negative : int
        Eigenvalues of either sign of the kernel matrix, or of its low-rank approximation; of ``iksvm-dc`` by products
        only whether there are any.
    residual : float
        How far from optimal, as the docstring of the solver measures it; the worst of all columns.
    iterations : int
        The most that any column took.
    converged : bool
        Whether the residual reached the tolerance in every column.
    landmarks : int
        How many samples stand for all, where the strategy is lowrank.
    note : str
        What else deserves attention.

    Examples
    --------
    >>> import kernreg as kr
    >>> model = kr.make_solver("krein-ridge", kernel="tl1(rho=1.0)", gamma=1.0).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    >>> model.solver_report_.strategy, model.solver_report_.size
    ('exact', 3)
    """

    strategy: str
    method: str
    size: int
    positive: int
    negative: int
    residual: float
    iterations: int = 1
    converged: bool = True
    landmarks: int = 0
    note: str = ""
