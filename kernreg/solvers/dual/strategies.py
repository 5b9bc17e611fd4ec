"""Which way a dual system is solved when the kernel matrix is large.

exact       K in memory, factorised or decomposed; leave-one-out for every γ from one decomposition
iterative   K never in memory: preconditioned Krylov methods on streamed products; no leave-one-out
lowrank     K approximated by p landmarks: p unknowns, leave-one-out at one more pass for each γ
auto        exact while it fits the memory budget, then iterative, lowrank where that would take too long or
            leave-one-out is needed
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernreg.common.progress import progress
from kernreg.common.sizes import readable
from kernreg.config import memory_budget
from kernreg.errors import ParameterError
from kernreg.kernels import Kernel
from kernreg.linalg.krylov.iterations import IterationSettings
from kernreg.linalg.krylov.systems import solve_block_iterative, solve_symmetric_iterative
from kernreg.linalg.landmarks.systems import BlockLowRank, LowRankProblem, SymmetricLowRank
from kernreg.solvers.dual.systems import BlockSystem, DualSolution, SymmetricSystem, Views

STRATEGIES = ("auto", "exact", "iterative", "lowrank")

#: Square float64 matrices held at once: K̃ and a factor, or K̃, singular vectors and LAPACK's workspace.
_MATRICES_TO_SOLVE, _MATRICES_TO_DECOMPOSE = 2, 6
_LARGEST_ITERATIVE = 100_000  # one product with K takes m² kernel evaluations


@dataclass(frozen=True)
class Options:
    """How the strategies other than ``exact`` are to run."""

    tol: float
    max_iter: int
    n_landmarks: int | None
    landmarks: Any
    random_state: Any


@dataclass(frozen=True)
class LowRank:
    """A solution on landmarks: their indices, and leave-one-out residuals where asked for."""

    indices: np.ndarray
    solution: DualSolution
    residuals: Views | None


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
    if strategy in ("iterative", "lowrank") and exact_only:
        raise ParameterError(
            f"{exact_only} needs strategy='exact', and strategy={strategy!r} was given; use that one, or leave "
            f"{exact_only} out"
        )
    if strategy == "iterative" and leave_one_out:
        raise ParameterError(
            "strategy='iterative' gives no leave-one-out values: give gamma as a number, and an ensembler that does "
            "not learn such as 'average', or use strategy='lowrank' or 'exact'"
        )
    if strategy != "auto":
        return strategy
    needed = 8 * m * m * (_MATRICES_TO_DECOMPOSE if leave_one_out else _MATRICES_TO_SOLVE)
    if exact_only or needed <= memory_budget():
        return "exact"
    return "lowrank" if leave_one_out or m > _LARGEST_ITERATIVE else "iterative"


def why(strategy: str, asked: str, m: int) -> str:
    """Return what to say about a strategy that was taken without being asked for."""
    if asked != "auto" or strategy == "exact":
        return ""
    return f"strategy {strategy!r}: {m} samples do not fit the memory budget of {readable(memory_budget())} exactly"


def iterate(
    symmetric: bool, kernel: Kernel, X: Any, Y: np.ndarray, gamma: float, weights: np.ndarray | None, options: Options
) -> DualSolution:
    """Solve by a Krylov method, with a progress bar on a terminal."""
    with progress("iterations", options.max_iter) as report:
        settings = IterationSettings(
            tol=options.tol,
            max_iter=options.max_iter,
            rank=options.n_landmarks,
            landmarks=options.landmarks,
            random_state=options.random_state,
            watch=lambda iteration, ratio: report(iteration),
        )
        if symmetric:
            A, b, found = solve_symmetric_iterative(kernel, X, Y, gamma, weights=weights, settings=settings)
            return DualSolution({"decision": A}, {"decision": b}, found)
        source, target = X if isinstance(X, tuple) else (X, None)
        A, C, both, found = solve_block_iterative(
            kernel, source, Y, gamma, Z=target, weights=weights, settings=settings
        )
        return DualSolution({"source": C, "target": A}, {"source": both[0], "target": both[1]}, found)


class LowRankSystem:
    """The dual system on landmarks: features are made once, then solved with any γ.

    Parameters
    ----------
    symmetric : bool
        LS-SVM, else AsK-LS.
    kernel, X, Y, weights, options
        As for `iterate`.
    """

    def __init__(
        self, symmetric: bool, kernel: Kernel, X: Any, Y: np.ndarray, weights: np.ndarray | None, options: Options
    ):
        settings: dict[str, Any] = {
            "weights": weights,
            "n_landmarks": options.n_landmarks,
            "landmarks": options.landmarks,
            "random_state": options.random_state,
        }
        self._problem: LowRankProblem
        if symmetric:
            self._names: tuple[str, ...] = SymmetricSystem.views
            self._problem = SymmetricLowRank(kernel, X, Y, **settings)
        else:
            source, target = X if isinstance(X, tuple) else (X, None)
            self._names = BlockSystem.views
            self._problem = BlockLowRank(kernel, source, Y, Z=target, **settings)

    @property
    def scale(self) -> float:
        """The root mean square of the singular values of the centred low-rank matrix."""
        return self._problem.scale

    def at(self, gamma: float, leave_one_out: bool) -> LowRank:
        """Solve for one γ; raise ParameterError at a pole."""
        views, report = self._problem.at(gamma, loo=leave_one_out)
        found = dict(zip(self._names, views, strict=True))
        solution = DualSolution(
            {name: view.coefficients for name, view in found.items()},
            {name: view.intercept for name, view in found.items()},
            report,
        )
        residuals = {name: view.loo_residuals for name, view in found.items() if view.loo_residuals is not None}
        return LowRank(self._problem.indices, solution, residuals or None)
