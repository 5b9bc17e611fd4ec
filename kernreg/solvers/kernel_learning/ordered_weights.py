"""Decreasing weights of sum one that minimise a linear cost: a linear program, or its best vertex.

    min_μ  Σ_i c_i μ_i        μ_1 ≥ … ≥ μ_r ≥ 0,  Σ_i μ_i = 1

Without further constraints the feasible set is a simplex with the vertices (1/k, …, 1/k, 0, …, 0). The program is
solved for the coordinates ν of μ in these, whose constraints are ν ≥ 0 and Σ_k ν_k = 1. Weights may also be held equal
in groups, whose inner k are no vertices then, and the first ones may be free: only not negative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag

from kernreg.engine.arrays import is_sparse
from kernreg.errors import ParameterError, shown
from kernreg.solvers.kernel_learning.linear_program import solve_linear_program

_VANISHING = 1e-7  # relative to the largest coordinate


@dataclass(frozen=True)
class OrderedWeights:
    """Weights μ of eigenvectors, and how they were found.

    Attributes
    ----------
    weights : ndarray of shape (r,)
        Decreasing but for the free ones, not negative, of sum one.
    objective : float
        Σ c_i μ_i.
    method : {"lp", "vertex"}
    status : str
        ``"optimal"``, or ``"stopped"`` where the linear program ended short of its tolerance.
    order_duals : ndarray of shape (r,)
        Of μ_i ≥ μ_{i+1}, the last one of μ_r ≥ 0; of μ_i = μ_{i+1} within a group, where the sign is any; of μ_i ≥ 0
        for free weights.
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


def best_vertex(costs: np.ndarray, sizes: Sequence[int] | np.ndarray | None = None, n_free: int = 0) -> OrderedWeights:
    """Return the vertex of the smallest cost, the first of equals: (1/k, …, 1/k, 0, …, 0) with the best k.

    Parameters
    ----------
    costs : ndarray of shape (r,)
    sizes : sequence of int, optional
        Of the groups of equal weights, those after the free ones; by default every weight is its own.
    n_free : int
        The first so many weights are only not negative.

    Examples
    --------
    >>> import numpy as np
    >>> best_vertex(np.array([0.5, 0.1, 0.9])).weights.tolist()
    [0.5, 0.5, 0.0]
    >>> best_vertex(np.array([0.1, 0.3, 0.9]), sizes=[2, 1]).weights.tolist()
    [0.5, 0.5, 0.0]
    """
    V, at_vertices = _vertices(len(costs), sizes, n_free)
    means = at_vertices(costs[None])[0]
    chosen = int(np.argmin(means))
    lowest = float(means[chosen])
    none = np.zeros(0)
    duals = _order_duals(costs - lowest, n_free)
    return OrderedWeights(V[:, chosen].copy(), lowest, "vertex", "optimal", duals, -lowest, none, none)


def ordered_program(
    costs: np.ndarray,
    constraints: Mapping[str, Any] | None = None,
    sizes: Sequence[int] | np.ndarray | None = None,
    n_free: int = 0,
) -> OrderedWeights:
    """Solve the linear program, with further constraints G μ ≤ h and A μ = b where given; else as `best_vertex`.

    >>> import numpy as np
    >>> found = ordered_program(np.array([0.5, 0.1, 0.9]), {"G": [[1.0, 0.0, 0.0]], "h": [0.4]})
    >>> found.weights.round(6).tolist()  # the first weight is bounded
    [0.4, 0.4, 0.2]
    """
    V, at_vertices = _vertices(len(costs), sizes, n_free)
    q = V.shape[1]
    more_G, more_h, more_A, more_b = _constraints(constraints, len(costs))
    found = solve_linear_program(
        at_vertices(costs[None])[0],
        sp.vstack([-sp.eye_array(q), sp.csr_array(at_vertices(more_G))]),
        np.concatenate([np.zeros(q), more_h]),
        np.vstack([np.ones((1, q)), at_vertices(more_A)]),
        np.concatenate([[1.0], more_b]),
        what="the constraints on the weights (decreasing, not negative, of sum one, and those given)",
    )
    # An interior point is nowhere zero: coordinates that vanish but for the tolerance are.
    coordinates = np.where(found.x > _VANISHING * found.x.max(), found.x, 0.0)
    inequality, equality = found.inequality[q:], found.equality[1:]
    return OrderedWeights(
        np.cumsum((V * coordinates)[:, ::-1], axis=1)[:, -1],  # from the last vertex on: in order to the last bit
        found.objective,
        "lp",
        found.status,
        _order_duals(costs + found.equality[0] + inequality @ more_G + equality @ more_A, n_free),
        float(found.equality[0]),
        inequality,
        equality,
        found.gap,
        found.iterations,
    )


def _vertices(
    r: int, sizes: Sequence[int] | np.ndarray | None, n_free: int
) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Return the vertices in columns, unit vectors for free weights, and what gives the products of rows with them."""
    ends = np.cumsum([1] * (r - n_free) if sizes is None else sizes, dtype=int)
    ordered = np.where(np.arange(r - n_free)[:, None] < ends, 1.0 / ends, 0.0)

    def at_vertices(rows: np.ndarray) -> np.ndarray:
        return np.hstack([rows[:, :n_free], np.cumsum(rows[:, n_free:], axis=1)[:, ends - 1] / ends])

    return block_diag(np.eye(n_free), ordered) if n_free else ordered, at_vertices


def _order_duals(gradient: np.ndarray, n_free: int) -> np.ndarray:
    """Return z with gradient_i = z_i - z_{i-1} for ordered weights, and z_i = gradient_i for free ones."""
    return np.concatenate([gradient[:n_free], np.cumsum(gradient[n_free:])])


def _constraints(given: Mapping[str, Any] | None, r: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    if given is None:
        given = {}
    accepted = ("G", "h", "A", "b")
    if not isinstance(given, Mapping) or any(name not in accepted for name in given):
        raise ParameterError(
            f"constraints={shown(given)} is not accepted; give a mapping with 'G' and 'h' (G μ ≤ h), 'A' and 'b' (A μ "
            "= b), or both"
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
