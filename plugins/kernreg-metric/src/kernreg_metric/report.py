"""What a learner says about how its kernel was learned."""

from __future__ import annotations

from dataclasses import dataclass

from kernreg.solvers import Display


@dataclass(frozen=True)
class LearningReport(Display):
    """How a kernel was learned.

    Attributes
    ----------
    method : str
        The algorithm that ran.
    size : int
        Number of samples the kernel was learned on.
    objective : float
        Value of the objective that the method's docstring states, at the kernel learned.
    iterations : int
        1 for a closed form.
    residual : float
        How far from optimal, as the method's docstring measures it; 0 for a closed form.
    converged : bool
        Whether the residual reached the tolerance.
    note : str
        What else deserves attention.
    """

    method: str
    size: int
    objective: float
    iterations: int = 1
    residual: float = 0.0
    converged: bool = True
    note: str = ""
