"""Kernels of walks along the edges: katz counts all of them, pagerank follows one that keeps coming back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from kernreg import kernel
from kernreg.errors import ParameterError
from kernreg.kernels import choice, graph, interval, positive
from kernreg_graph.graphs import as_graph, check_nodes, inverse_or_zero, random_graph
from kernreg_graph.lines import Lines, fixed_width, unit_columns
from kernreg_graph.radius import factors_of_walks, katz_limit


def _katz_lines(graph: Any, beta: float) -> Lines:
    A = as_graph(graph, "katz")
    by_row = sp.csr_array(beta * A)
    by_column = sp.csc_array(by_row)
    factors = factors_of_walks(by_row)
    if factors is None:
        raise ParameterError(
            f"katz: beta={beta:g} is too large for this graph, on which the sum over walks diverges; accepted is "
            f"0 < beta < {katz_limit(A):.6g}, which is one over the spectral radius of the graph, and what "
            "kernreg_graph.katz_limit(graph) returns"
        )
    # (I - βA)⁻¹ βA rather than (I - βA)⁻¹ - I: nothing cancels, and small entries are accurate.
    return Lines(
        A.shape[0],
        rows=fixed_width(lambda nodes: factors.solve(by_row[nodes].toarray().T, "T").T),
        columns=fixed_width(lambda nodes: factors.solve(by_column[:, nodes].toarray()).T),
    )


def _katz_example(rng: np.random.Generator, n: int) -> Any:
    graph = random_graph(rng, n)
    return katz(graph=graph, beta=0.5 * min(1.0, katz_limit(graph))), np.arange(n)


@kernel(
    of="blocks",
    inputs="index",
    definite=None,
    prepare=_katz_lines,
    parameters={"graph": graph, "beta": positive},
    example=_katz_example,
)
def katz(rows, columns, lines):
    """Σ_{k≥1} beta^k A^k = (I - beta A)⁻¹ - I of a directed graph with edges A: walks from i to j, long ones less.

    Asymmetric. The sum exists for beta < 1/ρ(A), ρ the spectral radius; `kernreg_graph.katz_limit` computes that
    number. A sparse LU factorisation of I - beta A is kept, and only rows or columns that are asked for are solved.
    Katz, A new status index derived from sociometric analysis, Psychometrika 18 (1953).

    >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> katz(graph=chain, beta=0.5)([0, 1, 2]).tolist()
    [[0.0, 0.5, 0.25], [0.0, 0.0, 0.5], [0.0, 0.0, 0.0]]
    """
    check_nodes(rows, columns, lines.size, "katz")
    return np.maximum(lines.block(rows, columns), 0.0)  # rounding may leave -1e-17 where no walk leads


@dataclass(frozen=True)
class _Walk:
    """K[i, j] = scale[i] B⁻¹[i, j] + left[i] right[j], B = I - (1 - alpha) P without the dangling nodes' jumps."""

    lines: Lines
    scale: np.ndarray
    left: np.ndarray
    right: np.ndarray


def _transitions(A: sp.csr_array) -> sp.csr_array:
    """Return each row divided by its sum, of weights of any size: the largest of a row is brought to 1 first."""
    P = A.copy()
    lengths = np.diff(P.indptr)
    largest = np.zeros(P.shape[0])
    largest[lengths > 0] = np.maximum.reduceat(P.data, P.indptr[:-1][lengths > 0]) if P.nnz else 0.0
    P.data /= np.repeat(largest, lengths)
    return sp.csr_array(sp.diags_array(inverse_or_zero(np.asarray(P.sum(axis=1)).ravel())) @ P)


def _pagerank_walk(graph: Any, alpha: float = 0.15, dangling: str = "restart") -> _Walk:
    A = as_graph(graph, "pagerank")
    size, follow = A.shape[0], 1.0 - alpha
    P = _transitions(A)
    stuck = (np.diff(A.indptr) == 0).astype(np.float64)
    if dangling == "stay":
        P = sp.csr_array(P + sp.diags_array(stuck))
    factors: Any = splu(sp.csc_array(sp.eye_array(size) - follow * P))
    lines = Lines(
        size,
        rows=fixed_width(lambda nodes: factors.solve(unit_columns(size, nodes), "T").T),
        columns=fixed_width(lambda nodes: factors.solve(unit_columns(size, nodes)).T),
    )
    none = np.zeros(size)
    if dangling == "restart":
        # Jumps back to the start change a row of B⁻¹ by a factor only, the one that makes it sum to 1.
        return _Walk(lines, 1.0 / factors.solve(np.ones(size)), none, none)
    scale = np.full(size, alpha)
    if dangling == "stay" or not stuck.any():
        return _Walk(lines, scale, none, none)
    # Jumps to all nodes alike change P by stuck · 1ᵀ/n, of rank one: the formula of Sherman and Morrison.
    right = factors.solve(np.full(size, 1.0 / size), "T")
    left = alpha * follow * factors.solve(stuck) / (1.0 - follow * float(right @ stuck))
    return _Walk(lines, scale, left, right)


@kernel(
    of="blocks",
    inputs="index",
    definite=None,
    prepare=_pagerank_walk,
    parameters={
        "graph": graph,
        "alpha": interval(1e-6, 1.0),  # for less, the factorised matrix is singular to working precision
        "dangling": choice("restart", "stay", "uniform"),
    },
    example=lambda rng, n: (pagerank(graph=random_graph(rng, n)), np.arange(n)),
)
def pagerank(rows, columns, walk):
    """alpha (I - (1 - alpha) P)⁻¹ of a directed graph, P = D⁻¹A: row i is the PageRank personalised to node i.

    Asymmetric; the rows sum to 1 over all nodes. A walker starts at i, at each step jumps back to i with probability
    alpha, and otherwise follows an edge, in proportion to its weight. From a node without outgoing edges (dangling) it
    goes back to i (``"restart"``), does not move (``"stay"``), or goes to any node alike (``"uniform"``).

    A sparse LU factorisation is kept, and only rows or columns that are asked for are solved. Page, Brin, Motwani &
    Winograd, The PageRank citation ranking, Stanford InfoLab 1999; Jeh & Widom, Scaling personalized web search,
    WWW 2003.

    >>> pair = [[0, 1], [0, 0]]  # the second node is dangling
    >>> [pagerank(graph=pair, alpha=0.5, dangling=d)([0], [0, 1]).round(3).tolist()[0] for d in ("restart", "stay")]
    [[0.667, 0.333], [0.5, 0.5]]
    """
    check_nodes(rows, columns, walk.lines.size, "pagerank")
    K = walk.scale[rows, None] * walk.lines.block(rows, columns)
    K += walk.left[rows, None] * walk.right[columns]
    return np.maximum(K, 0.0)  # rounding may leave -1e-17 where no path leads
