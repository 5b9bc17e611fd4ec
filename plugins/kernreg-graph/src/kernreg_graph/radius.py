"""Does the sum over walks converge, and up to which factor: the spectral radius ρ of a matrix A >= 0."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from kernreg_graph.graphs import as_graph

TOLERANCE = 1e-6
POWER_STEPS = 1000


def katz_limit(graph: Any) -> float:
    """Return the number that beta must stay below in ``katz``: 1/ρ(A), ρ the largest modulus of an eigenvalue.

    Infinite for a graph without cycles. Rounded down: below the true limit, by about one part in a million.

    Examples
    --------
    >>> round(katz_limit([[0, 4], [1, 0]]), 5)
    0.5
    >>> katz_limit([[0, 1], [0, 0]])
    inf
    """
    A = as_graph(graph, "katz_limit")
    count, labels = connected_components(A, connection="strong")
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(count + 1))
    # A walk that leaves a strongly connected component never comes back, so ρ(A) is the largest ρ of a component.
    radius = float(A.diagonal().max())
    for start, stop in pairwise(bounds):
        if stop - start > 1:
            nodes = order[start:stop]
            radius = max(radius, _radius_of_component(A[nodes][:, nodes]))
    return 1.0 / radius if radius > 0.0 else np.inf


def factors_of_walks(B: sp.csr_array) -> Any:
    """Return the LU factors of I - B, B >= 0, or None where Σ Bᵏ diverges, which is where ρ(B) >= 1.

    I - B has a non-negative inverse exactly when ρ(B) < 1. Then x = Σ Bᵏ 1 >= 1; otherwise no x > 0 has x - Bx > 0.
    """
    try:
        factors = splu(sp.csc_array(sp.eye_array(B.shape[0]) - B))
    except RuntimeError:  # exactly singular: ρ(B) = 1
        return None
    x = factors.solve(np.ones(B.shape[0]))
    return factors if np.isfinite(x).all() and x.min() > 0.5 else None


def _radius_of_component(A: sp.csr_array) -> float:
    """Return an upper bound of ρ(A), tight to `TOLERANCE`, for a strongly connected A >= 0.

    For every x > 0, ρ(A) lies between the least and the largest (Ax)_i / x_i (Collatz and Wielandt). Power steps bring
    the two together: with A + sI, because A alone may be periodic. Where that is slow, bisection does it.
    """
    x, low, high = np.ones(A.shape[0]), 0.0, np.inf
    shift = float(A.sum(axis=1).mean()) / 2.0
    for _ in range(POWER_STEPS):
        y = A @ x
        ratios = y / x
        low, high = max(low, float(ratios.min())), min(high, float(ratios.max()))
        if high - low <= TOLERANCE * high:
            return high
        x = y + shift * x
        x = np.maximum(x / x.max(), 1e-280)
    while high - low > TOLERANCE * high:
        middle = (low + high) / 2.0
        if factors_of_walks(sp.csr_array(A / middle)) is None:
            low = middle
        else:
            high = middle
    return high
