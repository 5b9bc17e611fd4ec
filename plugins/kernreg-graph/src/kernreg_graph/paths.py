"""shortest-path: near along the edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from kernreg import kernel
from kernreg.kernels import graph, positive
from kernreg_graph.graphs import as_graph, check_nodes, random_graph
from kernreg_graph.lines import Lines


@dataclass(frozen=True)
class _Distances:
    lines: Lines
    sigma: float


def _searched(graph: Any, sigma: float = 1.0, weighted: bool = False) -> _Distances:
    A = as_graph(graph, "shortest-path")
    reverse = sp.csr_array(A.T)
    lines = Lines(
        A.shape[0],
        rows=lambda nodes: dijkstra(A, indices=nodes, unweighted=not weighted),
        columns=lambda nodes: dijkstra(reverse, indices=nodes, unweighted=not weighted),
    )
    return _Distances(lines, sigma)


@kernel(
    of="blocks",
    inputs="index",
    definite=None,
    prepare=_searched,
    parameters={"graph": graph, "sigma": positive},
    example=lambda rng, n: (shortest_path(graph=random_graph(rng, n)), np.arange(n)),
)
def shortest_path(rows, columns, distances):
    """exp(-d(i, j) / sigma), d the length of the shortest path from i to j along the edges of a directed graph.

    Asymmetric; 1 for i = j, and 0 where no path leads. The length of a path is its number of edges, or with
    ``weighted=True`` the sum of their weights, which then are lengths: large means far. Distances are found by a
    search from each row, or backwards from each column, that is asked for. Borgwardt & Kriegel, Shortest-path kernels
    on graphs, ICDM 2005, compare whole graphs by the same distances; here they compare nodes.

    >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> (-np.log(shortest_path(graph=chain)([0], [0, 1, 2]))).tolist()[0]
    [-0.0, 1.0, 2.0]
    """
    check_nodes(rows, columns, distances.lines.size, "shortest-path")
    return np.exp(-distances.lines.block(rows, columns) / distances.sigma)
