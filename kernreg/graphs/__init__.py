"""Directed graphs: matrices, samples, embeddings and edges.

matrices.py  from edges to a matrix, from there to samples, and back from embeddings to edges; classes of nodes
links.py     link prediction: held-out edges, embeddings of nodes, and how well these find the edges
"""

from kernreg.graphs.links import EdgeSplit, embed_nodes, link_prediction, split_edges
from kernreg.graphs.matrices import (
    MEASURES,
    check_graph,
    classify_nodes,
    graph_from_edges,
    graph_samples,
    out_degrees,
    reconstruct_graph,
)

__all__ = [
    "MEASURES",
    "EdgeSplit",
    "check_graph",
    "classify_nodes",
    "embed_nodes",
    "graph_from_edges",
    "graph_samples",
    "link_prediction",
    "out_degrees",
    "reconstruct_graph",
    "split_edges",
]
