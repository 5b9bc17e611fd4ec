"""Directed graphs for kernreg: kernels of node numbers, and clusters; ``graph[i, j] != 0`` is an edge from i to j.

    graphs.py      the checks of a graph and of node numbers
    lines.py       blocks of a matrix known only by whole rows or columns, with a memory of recent ones
    adjacency.py   graph-adjacency: D⁻¹(A + I) and its variants
    walks.py       katz: weighted numbers of walks; pagerank: personalised PageRank
    radius.py      katz_limit: how large the beta of katz may be
    paths.py       shortest-path: exp(-d/sigma)
    clustering.py  ksvd-cluster: nodes clustered as sources and as targets, by weighted kernel SVD

No kernel here ever holds the n × n matrix: it keeps the sparse graph, or a sparse factorisation of it, and
computes the rows or columns that are asked for.
"""

from kernreg.graphs import graph_from_edges
from kernreg_graph.adjacency import graph_adjacency
from kernreg_graph.clustering import KSVDCluster
from kernreg_graph.paths import shortest_path
from kernreg_graph.radius import katz_limit
from kernreg_graph.walks import katz, pagerank

__version__ = "0.1.0"

# The version of kernreg's plugin interface this was written for.
__kernreg_api__ = "1.0"

__all__ = ["KSVDCluster", "graph_adjacency", "graph_from_edges", "katz", "katz_limit", "pagerank", "shortest_path"]
