"""Which way a dual system is solved, and with which settings.

exact       K in memory, factorised or decomposed; leave-one-out for every γ from one decomposition
iterative   K never in memory: preconditioned Krylov methods on streamed products; no leave-one-out
blocks      K never in memory: accelerated coordinate descent on blocks of samples, for positive definite kernels; no
            leave-one-out
lowrank     K approximated by p landmarks: p unknowns, leave-one-out at one more pass for each γ
sketched    the same approximation, by iterations with a sketched preconditioner: for many landmarks; no leave-one-out
auto        exact while it fits the memory budget, then iterative, lowrank where that would take too long or
            leave-one-out is needed, sketched in its place where that costs less
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernreg.common.checks import as_number, check_choice, check_count
from kernreg.common.sizes import readable
from kernreg.config import memory_budget
from kernreg.engine.dispatch import current_engine
from kernreg.errors import MemoryBudgetWarning, ParameterError, shown
from kernreg.solvers.advice import advise
from kernreg.solvers.dual.gamma import check_gamma

STRATEGIES = ("auto", "exact", "iterative", "blocks", "lowrank", "sketched")

#: Square float64 matrices held at once: K̃ and a factor, or K̃, singular vectors and LAPACK's workspace.
_MATRICES_TO_SOLVE, _MATRICES_TO_DECOMPOSE = 2, 7
_LARGEST_ITERATIVE = 100_000  # one product with K takes m² kernel evaluations


@dataclass(frozen=True)
class Settings:
    """The parameters of a dual machine beside its kernel, checked."""

    gamma: float | np.ndarray | None
    given_gamma: Any
    strategy: str
    tol: float
    max_iter: int
    n_landmarks: int | None
    landmarks: Any
    random_state: Any
    max_seconds: float | None = None

    @classmethod
    def of(cls, machine: Any) -> Settings:
        """Return the settings of a machine; raise ParameterError for what is not accepted."""
        gamma = check_gamma(machine.gamma)
        strategy = check_choice("strategy", machine.strategy, STRATEGIES)
        tol, max_iter, n_landmarks = machine.tol, machine.max_iter, machine.n_landmarks
        if not 0.0 < as_number(tol) < 1.0:
            raise ParameterError(f"tol={shown(tol)} is not accepted; give a number between 0 and 1")
        number = None if n_landmarks is None else check_count("n_landmarks", n_landmarks)
        seconds = machine.max_seconds
        if seconds is not None and not 0.0 < as_number(seconds) < np.inf:
            raise ParameterError(f"max_seconds={shown(seconds)} is not accepted; give a positive number or None")
        return cls(
            gamma,
            machine.gamma,
            strategy,
            float(tol),
            check_count("max_iter", max_iter),
            number,
            machine.landmarks,
            machine.random_state,
            None if seconds is None else float(seconds),
        )

    def measured(self, size: Callable[[], float]) -> Settings:
        """Return the settings with γ as a number where it was given relative to the size of kernel values."""
        return replace(self, gamma=check_gamma(self.given_gamma, size))

    @property
    def chooses(self) -> bool:
        """Whether γ is to be chosen by leave-one-out."""
        return not isinstance(self.gamma, float)

    @property
    def gammas(self) -> np.ndarray | None:
        """The values of γ to choose from; None for a grid fitted to the kernel matrix."""
        return np.array([self.gamma]) if isinstance(self.gamma, float) else self.gamma


def pick(strategy: str, m: int, *, leave_one_out: bool, exact_only: str = "") -> str:
    """Return the strategy to take.

    Parameters
    ----------
    strategy : str
        One of `STRATEGIES`.
    m : int
        Number of samples.
    leave_one_out : bool
        Whether the fit needs leave-one-out values.
    exact_only : str
        The setting that only ``exact`` can serve, if there is one.

    Examples
    --------
    >>> pick("auto", 100, leave_one_out=True)
    'exact'
    """
    if strategy not in ("auto", "exact") and exact_only:
        raise ParameterError(
            f"{exact_only} needs strategy='exact', and strategy={strategy!r} was given; use that one, or leave "
            f"{exact_only} out"
        )
    if strategy in ("iterative", "blocks", "sketched") and leave_one_out:
        raise ParameterError(
            f"strategy={strategy!r} gives no leave-one-out values: give gamma as a number, and an ensembler that does "
            "not learn such as 'average', or use strategy='lowrank' or 'exact'"
        )
    if strategy not in ("auto", "exact"):
        return strategy
    needed = 8 * m * m * (_MATRICES_TO_DECOMPOSE if leave_one_out else _MATRICES_TO_SOLVE)
    fits = current_engine().fits(needed)
    if not fits and (strategy == "exact" or exact_only):
        advise(
            f"{exact_only or 'strategy=' + repr(strategy)} with {m} samples needs about {readable(needed)}, more than "
            f"the memory budget of {readable(memory_budget())}; it is done anyway, as asked. "
            "strategy='lowrank' needs less; kernreg.set_config(memory=…) raises the budget",
            MemoryBudgetWarning,
            stacklevel=5,
        )
    if fits or strategy == "exact" or exact_only:
        return "exact"
    return "lowrank" if leave_one_out or m > _LARGEST_ITERATIVE else "iterative"


def streamed_strategy(strategy: str) -> str:
    """Return the strategy for samples that are read from a source: on landmarks, as asked for or as usual."""
    return strategy if strategy == "sketched" else "lowrank"


def why(strategy: str, asked: str, m: int) -> str:
    """Return what to say about a strategy that was taken without being asked for."""
    if asked != "auto" or strategy == "exact":
        return ""
    return f"strategy {strategy!r}: {m} samples do not fit the memory budget of {readable(memory_budget())} exactly"
