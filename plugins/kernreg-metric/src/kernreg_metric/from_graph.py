"""What learners over a neighbourhood graph share: the graph, checked."""

from __future__ import annotations

from typing import Any

from kernreg.solvers import NeighbourGraph, check_table, given_graph, neighbour_graph
from kernreg_metric.base import Learner


class FromGraph(Learner):
    """A learner of kernels over the neighbourhood graph of the samples."""

    n_neighbors: Any
    graph: Any

    def _start(self, X: Any) -> tuple[Any, NeighbourGraph]:
        """Return the samples, checked, and their graph."""
        X = check_table(self, X, ensure_min_samples=2)
        graph = neighbour_graph(X, self.n_neighbors) if self.graph is None else given_graph(self.graph, X.shape[0])
        self.X_fit_, self.graph_ = X, graph.weights
        return X, graph

    def _checked(self, X: Any) -> Any:
        return check_table(self, X, reset=False)
