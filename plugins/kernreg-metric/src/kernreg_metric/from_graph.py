"""What learners over a neighbourhood graph share: the graph, and the kernel of vectors over it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from kernreg import make_kernel
from kernreg.kernels import Kernel
from kernreg.solvers.neighbour_graph import NeighbourGraph, given_graph, neighbour_graph
from kernreg_metric.base import Learner


class FromGraph(Learner):
    """A learner of kernels over the neighbourhood graph of the samples."""

    n_neighbors: Any
    graph: Any

    def _start(self, X: Any) -> tuple[Any, NeighbourGraph]:
        """Return the samples, checked, and their graph."""
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2)
        graph = neighbour_graph(X, self.n_neighbors) if self.graph is None else given_graph(self.graph, X.shape[0])
        self.X_fit_, self.graph_ = X, graph.weights
        return X, graph

    def _graph_kernel(
        self, X: Any, graph: NeighbourGraph, vectors: np.ndarray, weights: np.ndarray, eigenvalues: np.ndarray
    ) -> Kernel:
        """Return Σ μ_i v_i(x) v_i(z), extended to new samples through their neighbours."""
        used = weights > 0.0
        return make_kernel(
            "neighbour-spectrum",
            samples=X,
            vectors=vectors[:, used],
            weights=weights[used],
            eigenvalues=eigenvalues[used],
            degrees=np.where(graph.degrees > 0.0, graph.degrees, 1.0),
            radii=graph.radii,
            n_neighbors=graph.n_neighbors,
        )

    def _note(self, graph: NeighbourGraph) -> str:
        return "" if graph.n_connected == 1 else f"the graph has {graph.n_connected} connected components"

    def _checked(self, X: Any) -> Any:
        return validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
