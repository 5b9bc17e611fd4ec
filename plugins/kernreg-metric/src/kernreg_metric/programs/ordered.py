"""The best alignment of a non-negative combination of rank-one kernels whose weights are ordered.

    max_μ  bᵀμ / sqrt(μᵀGμ)       μ_1 ≥ μ_2 ≥ … ≥ μ_r ≥ 0,       b_i = ⟨K_i, Y⟩, G_ij = ⟨K_i, K_j⟩

The value does not depend on the scale of μ, so the denominator may be held at one: a quadratically constrained program.
The cone of ordered weights is spanned by its extreme rays (1, …, 1, 0, …, 0), so that in their coordinates ν the
constraints are ν ≥ 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from kernreg.errors import DataError

METHODS = ("qcqp", "nnls")

_RANK = 1e-12  # eigenvalues of G below this fraction of the largest are rounding
_ACCURACIES = (1e-9, 1e-7, 1e-5)  # asked of the interior point method, the next where rounding stops it before


@dataclass(frozen=True)
class Aligned:
    """Weights of the best alignment.

    Attributes
    ----------
    weights : ndarray of shape (r,)
        μ, scaled to sum one.
    value : float
        bᵀμ / sqrt(μᵀGμ).
    status : str
        What the solver says: ``"optimal"``, or what kept it from that.
    iterations : int
    gap : float
        Relative duality gap.
    """

    weights: np.ndarray
    value: float
    status: str
    iterations: int
    gap: float


def best_ordered(G: np.ndarray, b: np.ndarray, n_free: int = 0, method: str = "qcqp") -> Aligned:
    """Return the weights of the best alignment under order constraints.

    Parameters
    ----------
    G : ndarray of shape (r, r)
        Inner products of the kernels, positive semi-definite.
    b : ndarray of shape (r,)
        Their inner products with the target.
    n_free : int
        The first so many weights are only non-negative, not ordered.
    method : {"qcqp", "nnls"}
        The interior point method of cvxopt, or the same optimum as a non-negative least squares problem over the
        extreme rays of the cone, by an active set.
    """
    values, vectors = np.linalg.eigh(G)
    kept = values > _RANK * values[-1]
    if values[-1] <= 0.0 or not kept.any():
        raise DataError("the kernels vanish on the labelled samples; label other samples, or take more vectors")
    F = (vectors[:, kept] * np.sqrt(values[kept])).T  # G = FᵀF
    rays = cone_rays(len(b), n_free)
    lengths = np.linalg.norm(F @ rays, axis=0)
    # A ray that the labels do not see neither helps nor costs: it gets no weight, and the rest are comparable.
    seen = lengths > np.sqrt(_RANK) * lengths.max()
    rays = rays[:, seen] / lengths[seen]
    if not np.any(rays.T @ b > 0.0):
        raise DataError(
            "no combination of these vectors has positive alignment with the labels: they do not follow the classes. "
            "Take more vectors, another graph, or label more samples"
        )
    solve = _interior_point if method == "qcqp" else _active_set
    coordinates, status, iterations = solve(F @ rays, rays.T @ b)
    weights = rays @ np.maximum(coordinates, 0.0)
    weights[n_free:] = np.minimum.accumulate(weights[n_free:])  # in order to the last bit
    weights /= np.linalg.norm(F @ weights)
    value = float(b @ weights)
    gap = _gap(rays.T @ b, rays.T @ (F.T @ (F @ weights)), value)
    return Aligned(weights / weights.sum(), value, status, iterations, gap)


def cone_rays(r: int, n_free: int) -> np.ndarray:
    """Return the extreme rays of the cone in columns: unit vectors of the free weights, then growing rows of ones.

    >>> cone_rays(3, 1).astype(int).tolist()
    [[1, 0, 0], [0, 1, 1], [0, 0, 1]]
    """
    rays = np.triu(np.ones((r, r)))
    rays[:n_free] = np.eye(n_free, r)
    return rays


def _interior_point(M: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, str, int]:
    """max aᵀν, ‖Mν‖ ≤ 1, ν ≥ 0: a second-order cone program, by cvxopt."""
    from cvxopt import matrix, solvers, sparse, spmatrix

    r = len(a)
    ball = np.vstack([np.zeros((1, r)), -M])  # (1, Mν) in the second-order cone
    edge = np.zeros(r + len(ball))
    edge[r] = 1.0
    program = (
        matrix(-a / np.linalg.norm(a)),
        sparse([spmatrix(-1.0, range(r), range(r)), matrix(ball)]),
        matrix(edge),
        {"l": r, "q": [len(ball)], "s": []},
    )
    status = ""
    for accuracy in _ACCURACIES:
        options = {"show_progress": False, "abstol": accuracy, "reltol": accuracy, "feastol": accuracy}
        try:
            found = solvers.conelp(*program, options=options)
        except (ValueError, ArithmeticError) as error:  # a root of a number that rounding has made negative
            status = str(error)
            continue
        if found["x"] is not None:
            return np.array(found["x"]).ravel(), found["status"], int(found["iterations"])
        status = found["status"]
    raise DataError(f"cvxopt found no weights: status {status!r}; method='nnls' solves the same problem")


def _active_set(M: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, str, int]:
    """min ½‖Mν‖² - aᵀν, ν ≥ 0, has the same direction, and is a least squares problem."""
    target = np.linalg.lstsq(M.T, a, rcond=None)[0]  # Mᵀ target = a: it is in the range
    return nnls(M, target)[0], "optimal", 1


def _gap(a: np.ndarray, along: np.ndarray, value: float) -> float:
    """Return how much better than weights of this value, with ‖F weights‖ = 1, any could be, as a fraction of it.

    For every y with a ≤ Mᵀy the best value is at most ‖y‖; y = F weights, lengthened until that holds.
    """
    with np.errstate(divide="ignore"):
        needed = np.max(np.where(a > 0.0, a / np.maximum(along, 0.0), 0.0), initial=0.0)
    return max(0.0, float(needed) / value - 1.0)
