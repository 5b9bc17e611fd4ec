"""graph-adjacency: who points to whom, normalised or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg import kernel
from kernreg.kernels import choice, graph
from kernreg_graph.graphs import as_graph, check_nodes, inverse_or_zero, random_graph


def _normalised(graph: Any, direction: str = "cited", self_loops: bool = True, normalize: str = "rows") -> sp.csr_array:
    A = as_graph(graph, "graph-adjacency")
    G = sp.csr_array(A.T) if direction == "cited" else A
    if self_loops:
        G = sp.csr_array(G + sp.eye_array(G.shape[0], format="csr"))
    out_degrees, in_degrees = (np.asarray(G.sum(axis=axis)).ravel() for axis in (1, 0))
    if normalize == "rows":
        return sp.csr_array(sp.diags_array(inverse_or_zero(out_degrees)) @ G)
    if normalize == "symmetric":
        left, right = (np.sqrt(inverse_or_zero(degrees)) for degrees in (out_degrees, in_degrees))
        return sp.csr_array(sp.diags_array(left) @ G @ sp.diags_array(right))
    return G


@kernel(
    of="blocks",
    inputs="index",
    definite=None,
    prepare=_normalised,
    parameters={
        "graph": graph,
        "direction": choice("cited", "citing"),
        "normalize": choice("rows", "symmetric", "none"),
    },
    example=lambda rng, n: (graph_adjacency(graph=random_graph(rng, n)), np.arange(n)),
)
def graph_adjacency(rows, columns, G):
    """D⁻¹(Aᵀ + I) of a directed graph with edges A: row i spreads evenly over i and the nodes that point to i.

    Asymmetric. ``direction="citing"`` takes A itself: row i spreads over the nodes that i points to.
    ``self_loops=False`` leaves out I; loops of the graph itself stay. D holds the row sums: ``normalize="none"`` leaves
    it out, ``normalize="symmetric"`` divides by the square roots of the row and of the column sum instead. A row
    without entries stays zero.

    The default is the kernel of He, He, Shi, Huang & Suykens, Learning with asymmetric kernels: least squares and
    feature interpretation, TPAMI 45 (2023), in their experiments on citation graphs (their text leaves out I).

    >>> from kernreg_graph import graph_adjacency
    >>> A = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    >>> graph_adjacency(graph=A)([2, 1], [0, 1, 2]).round(3).tolist()
    [[0.333, 0.333, 0.333], [0.5, 0.5, 0.0]]
    """
    check_nodes(rows, columns, G.shape[0], "graph-adjacency")
    return G[rows][:, columns].toarray()
