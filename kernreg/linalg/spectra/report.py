"""What a partial decomposition did, for people and for tests."""

from __future__ import annotations

from dataclasses import dataclass

from kernreg.common.display import Display


@dataclass(frozen=True)
class PartialReport(Display):
    """How a partial decomposition was found, and how well.

    Attributes
    ----------
    method : str
        What ran: ``"dense"``, ``"krylov"``, ``"arpack"``, ``"lobpcg"`` or ``"randomized"``.
    shape : tuple of int
    components : int
        Pairs or triplets asked for.
    iterations : int
        Steps of the iteration, 0 for a direct one.
    products : int
        Columns multiplied by the matrix or its transpose.
    passes : int
        Products of whole blocks: how often the matrix was gone through.
    residual : float
        Largest ‖A v - λ v‖ (or ‖Aᵀu - σ v‖, ‖A v - σ u‖), relative to the largest |λ| (σ).
    converged : bool
        Whether that is within the tolerance asked for; with no tolerance, True.
    form : str
        How products were made: ``"array"``, ``"sparse"``, ``"products"``, or what an operator says of itself.
    note : str
        Why the method was taken, or was left for another.
    """

    method: str
    shape: tuple[int, int]
    components: int
    iterations: int
    products: int
    passes: int
    residual: float
    converged: bool = True
    form: str = "array"
    note: str = ""
