"""Decreasing weights of sum one that minimise a linear cost: a linear program, or its best vertex.

    min_μ  Σ_i c_i μ_i        μ_1 ≥ … ≥ μ_r ≥ 0,  Σ_i μ_i = 1

Without further constraints the feasible set is a simplex with the vertices (1/k, …, 1/k, 0, …, 0). The program is
solved for the coordinates ν of μ in these, ν_k = k (μ_k - μ_{k+1}), whose constraints are ν ≥ 0 and Σ_k ν_k = 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg.engine.arrays import is_sparse
from kernreg.errors import ParameterError
from kernreg.solvers.kernel_learning.linear_program import solve_linear_program

_VANISHING = 1e-7  # relative to the largest coordinate


@dataclass(frozen=True)
class OrderedWeights:
    """Weights μ of eigenvectors, and how they were found.

    Attributes
    ----------
    weights : ndarray of shape (r,)
        Decreasing, not negative, of sum one.
    objective : float
        Σ c_i μ_i.
    method : {"lp", "vertex"}
    status : str
        ``"optimal"``, or ``"stopped"`` where the linear program ended short of its tolerance.
    order_duals : ndarray of shape (r,)
        Of μ_i ≥ μ_{i+1}, the last one of μ_r ≥ 0.
    sum_dual : float
        Of Σ μ_i = 1.
    inequality_duals, equality_duals : ndarray
        Of the constraints given.
    gap : float
        Duality gap, 0 for a vertex.
    iterations : int
    """

    weights: np.ndarray
    objective: float
    method: str
    status: str
    order_duals: np.ndarray
    sum_dual: float
    inequality_duals: np.ndarray
    equality_duals: np.ndarray
    gap: float = 0.0
    iterations: int = 0


def best_vertex(costs: np.ndarray) -> OrderedWeights:
    """Return (1/k, …, 1/k, 0, …, 0) with the k that minimises the mean of the first k costs, the smallest of equals.

    >>> import numpy as np
    >>> best_vertex(np.array([0.5, 0.1, 0.9])).weights.tolist()
    [0.5, 0.5, 0.0]
    """
    counts = np.arange(1, len(costs) + 1)
    sums = np.cumsum(costs)
    k = int(np.argmin(sums / counts)) + 1
    weights = np.where(counts <= k, 1.0 / k, 0.0)
    lowest = float(sums[k - 1] / k)
    none = np.zeros(0)
    return OrderedWeights(weights, lowest, "vertex", "optimal", sums - counts * lowest, -lowest, none, none)


def ordered_program(costs: np.ndarray, constraints: Mapping[str, Any] | None = None) -> OrderedWeights:
    """Solve the linear program, with further constraints G μ ≤ h and A μ = b where given.

    >>> import numpy as np
    >>> found = ordered_program(np.array([0.5, 0.1, 0.9]), {"G": [[1.0, 0.0, 0.0]], "h": [0.4]})
    >>> found.weights.round(6).tolist()  # the first weight is bounded
    [0.4, 0.4, 0.2]
    """
    r, counts = len(costs), np.arange(1, len(costs) + 1)
    more_G, more_h, more_A, more_b = _constraints(constraints, r)

    def at_vertices(rows: np.ndarray) -> np.ndarray:
        return np.cumsum(rows, axis=1) / counts

    found = solve_linear_program(
        np.cumsum(costs) / counts,
        sp.vstack([-sp.eye_array(r), sp.csr_array(at_vertices(more_G))]),
        np.concatenate([np.zeros(r), more_h]),
        np.vstack([np.ones((1, r)), at_vertices(more_A)]),
        np.concatenate([[1.0], more_b]),
        what="the constraints on the weights (decreasing, not negative, of sum one, and those given)",
    )
    # An interior point is nowhere zero: coordinates that vanish but for the tolerance are.
    coordinates = np.where(found.x > _VANISHING * found.x.max(), found.x, 0.0)
    return OrderedWeights(
        np.cumsum((coordinates / counts)[::-1])[::-1].copy(),
        found.objective,
        "lp",
        found.status,
        counts * found.inequality[:r],
        float(found.equality[0]),
        found.inequality[r:],
        found.equality[1:],
        found.gap,
        found.iterations,
    )


def _constraints(given: Mapping[str, Any] | None, r: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    if given is None:
        given = {}
    accepted = ("G", "h", "A", "b")
    if not isinstance(given, Mapping) or any(name not in accepted for name in given):
        raise ParameterError(
            f"constraints={given!r} is not accepted; give a mapping with 'G' and 'h' (G μ ≤ h), 'A' and 'b' (A μ = b), "
            "or both"
        )
    found: list[Any] = []
    for left, right in (("G", "h"), ("A", "b")):
        if (left in given) != (right in given):
            raise ParameterError(
                f"constraints has one of {left!r} and {right!r}; they go together, {left} μ and {right}"
            )
        table: Any = given.get(left, np.zeros((0, r)))
        try:
            table = sp.csr_array(table) if is_sparse(table) else np.atleast_2d(np.asarray(table, dtype=np.float64))
            bound = np.atleast_1d(np.asarray(given.get(right, np.zeros(0)), dtype=np.float64))
        except (ValueError, TypeError) as error:
            raise ParameterError(f"constraints: {left} or {right} does not hold numbers: {error}") from error
        if table.shape != (len(bound), r) or bound.ndim != 1:
            raise ParameterError(
                f"constraints: {left} has shape {table.shape} and {right} {bound.shape}; with {r} components "
                f"{left} has {r} columns, and a row for each entry of {right}"
            )
        values: Any = table.data if is_sparse(table) else table
        if not np.isfinite(values).all() or not np.isfinite(bound).all():
            raise ParameterError(f"constraints: {left} or {right} has infinite entries or NaN; leave such rows out")
        found += [table.toarray() if is_sparse(table) else table, bound]
    return found[0], found[1], found[2], found[3]
