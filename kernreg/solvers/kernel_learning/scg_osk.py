"""SCG-OSK: weights of a graph's smoothest eigenvectors, decreasing, that make a kernel smooth over labels or pairs.

With the eigenvectors v_1, …, v_r of the normalised Laplacian of a neighbourhood graph, smoothest first and without the
constant direction D^(1/2) 1 (with it the optimum is a kernel that is nearly constant), and the normalised Laplacian S
of the supervised complete graph (`side_information`)::

    K = Σ_i μ_i v_i v_iᵀ        min_μ  ⟨K, S⟩ = Σ_i c_i μ_i,  c_i = v_i'S v_i        μ_1 ≥ … ≥ μ_r ≥ 0,  Σ_i μ_i = 1

a linear program. Without further constraints its vertices are (1/k, …, 1/k, 0, …, 0), and the best k minimises the mean
of c_1, …, c_k. Where the graph has several components, their differences have the eigenvalue 0 and come first: they may
be the classes. Vectors of equal eigenvalues are arbitrary within their space, so they get equal weights.

New samples get the Nyström extension of the eigenvectors (`kernels.extended`).

Pan, Chen, Chen & Xu, Efficient learning of supervised kernels with a graph-based loss function, Information Sciences
370-371 (2016), section 5.1. Zhu, Kandola, Ghahramani & Lafferty, Nonparametric transforms of graph kernels for
semi-supervised learning, NIPS 2004.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernreg.common.display import Display
from kernreg.errors import KernregWarning, ParameterError, shown
from kernreg.linalg.spectra.report import PartialReport
from kernreg.solvers.kernel_learning.kernel_learner import KernelLearner
from kernreg.solvers.kernel_learning.neighbourhoods import (
    EIGEN_SOLVERS,
    NeighbourGraph,
    given_graph,
    neighbour_graph,
    smoothest,
)
from kernreg.solvers.kernel_learning.ordered_weights import OrderedWeights, best_vertex, ordered_program
from kernreg.solvers.kernel_learning.side_information import LabelInformation, SideInformation
from kernreg.solvers.parameters import as_number, check_choice
from kernreg.solvers.tables import check_table

TRIVIAL = ("contrasts", "free", "ordered", "drop")

_EQUAL = 1e-8  # eigenvalues of L, from 0 to 2, that differ by no more are equal


@dataclass(frozen=True)
class GraphReport(Display):
    """How a kernel was learned on a graph.

    Attributes
    ----------
    method : {"lp", "vertex"}
    status : str
        ``"optimal"``, or ``"stopped"`` where the linear program ended short of its tolerance.
    objective : float
        The scg-loss ⟨K, S⟩ reached.
    components : int
        Eigenvectors the weights were chosen for.
    positive : int
        Those with a positive weight.
    n_connected : int
        Connected components of the graph.
    program : OrderedWeights
        Weights, duals, gap.
    eigen : PartialReport
        How the eigenvectors were found.
    note : str
    """

    method: str
    status: str
    objective: float
    components: int
    positive: int
    n_connected: int
    program: OrderedWeights
    eigen: PartialReport
    note: str = ""


class SCGOSK(KernelLearner):
    """Learn a kernel on a neighbourhood graph from labels or pairs.

    Parameters
    ----------
    n_neighbors : int
        Each sample is joined with this many nearest ones (and with those it is a nearest one of), weights 0 and 1.
    n_components : int, optional
        How many eigenvectors, smoothest first, beside the trivial ones, those of the eigenvalue 0; 200 by default, or
        all there are. Where the last ones share their eigenvalue with the next, they are left out.
    graph : array or sparse matrix of shape (n, n), optional
        The graph, symmetric weights, instead of neighbours. The kernel then has values for the samples of the graph
        only: mark new ones as unlabelled and learn with them.
    trivial : {"contrasts", "free", "ordered", "drop"}
        What becomes of the eigenvalue 0, which every connected component has once, with the vector D^(1/2) times its
        indicator: ``contrasts``, they come first in the order without the constant direction D^(1/2) 1, so that
        differences of components are kept; the others are those of `osk`: ``free``, one weight for each component, only
        not negative; ``ordered``, all of them come first, the constant direction included; ``drop``, none.
    method : {"lp", "vertex"}
        The linear program, or its best vertex in closed form; the latter takes no constraints.
    constraints : mapping, optional
        Further constraints on the weights: ``"G"`` and ``"h"`` for G μ ≤ h, ``"A"`` and ``"b"`` for A μ = b.
    unlabelled : object
        The entry of y that marks samples without a label; None stands for missing values.
    eigen_solver : {"auto", "dense", "krylov", "arpack", "lobpcg", "shift-invert"}
        How eigenvectors are found; ``auto`` is dense for small graphs, else block Lanczos (``krylov``).
    tol, max_iter : float, int
        Relative residual of the eigenvectors to reach, and bound on the iterations.
    random_state : int, Generator or None
        Of starting vectors.

    Attributes
    ----------
    kernel_ : Kernel
        The learned kernel, ``neighbour-spectrum(…)``: trace one on the training samples, any other sample by Nyström
        extension of the eigenvectors.
    weights_, costs_, eigenvalues_ : ndarray of shape (r,)
        μ, c (its mean over vectors of equal eigenvalues), and the eigenvalues of the graph's normalised Laplacian,
        ascending.
    eigenvectors_ : ndarray of shape (n, r)
    graph_ : csr_array of shape (n, n)
    classes_ : ndarray
        Where labels were given.
    X_fit_ : array or CSR
        The training samples.
    solver_report_ : GraphReport
        Status, objective, duals.
    n_iter_ : int
        Iterations for the eigenvectors; 1 for a direct decomposition.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from kernreg.solvers import LSSVC, SCGOSK
    >>> X, y = load_wine(return_X_y=True)
    >>> X, known = scale(X), np.where(np.arange(178) % 2 == 0, y, -1)
    >>> learner = SCGOSK(method="vertex").fit(X, known)
    >>> labelled = known >= 0
    >>> model = LSSVC(kernel=learner.kernel_, gamma="loo").fit(X[labelled], y[labelled])
    >>> bool(model.score(X[~labelled], y[~labelled]) > 0.9)
    True
    """

    n_components: Any
    tol: Any

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        n_neighbors: int = 5,
        n_components: int | None = None,
        *,
        graph: Any = None,
        trivial: str = "contrasts",
        method: str = "lp",
        constraints: Mapping[str, Any] | None = None,
        unlabelled: Any = -1,
        eigen_solver: str = "auto",
        tol: float = 1e-9,
        max_iter: int | None = None,
        random_state: Any = 0,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.graph = graph
        self.trivial = trivial
        self.method = method
        self.constraints = constraints
        self.unlabelled = unlabelled
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, side_information: SideInformation | None = None) -> SCGOSK:
        """Learn the kernel from samples and labels, or from samples and what is known about pairs of them.

        Parameters
        ----------
        X : array-like or CSR of shape (n, d)
            Labelled and unlabelled samples.
        y : array-like of shape (n,), optional
            Labels, ``unlabelled`` where there is none.
        side_information : SideInformation, optional
            Instead of y: ``SideInformation.from_pairs(similar, dissimilar, n)`` or ``from_matrix(T)``.
        """
        check_choice("trivial", self.trivial, TRIVIAL)
        check_choice("method", self.method, ("lp", "vertex"))
        check_choice("eigen_solver", self.eigen_solver, EIGEN_SOLVERS)
        if self.method == "vertex" and self.constraints is not None:
            raise ParameterError("method='vertex' takes no constraints, and some were given; use method='lp'")
        if not 0.0 < as_number(self.tol) < 1.0:
            raise ParameterError(f"tol={shown(self.tol)} is not accepted; give a number between 0 and 1")
        X = check_table(self, X, ensure_min_samples=2)
        side = self._check_side(X, y, side_information)
        graph = neighbour_graph(X, self.n_neighbors) if self.graph is None else given_graph(self.graph, X.shape[0])
        values, vectors, sizes, eigen = self._spectrum(graph)
        n_free = graph.n_connected if self.trivial == "free" else 0
        costs = side.quadratic_forms(vectors)
        # Vectors of equal eigenvalues cost their mean: that does not depend on the basis of their space.
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(int) + n_free
        costs[n_free:] = np.repeat(np.add.reduceat(costs, starts) / sizes, sizes)
        if self.method == "vertex":
            program = best_vertex(costs, sizes, n_free)
        else:
            program = ordered_program(costs, self.constraints, sizes, n_free)
        self.X_fit_, self.graph_ = X, graph.weights
        self.eigenvalues_, self.eigenvectors_, self.costs_, self.weights_ = values, vectors, costs, program.weights
        self.n_iter_ = max(1, eigen.iterations)
        self.kernel_ = graph.kernel(X, vectors, program.weights, 1.0 - values)
        self.solver_report_ = GraphReport(
            program.method,
            program.status,
            program.objective,
            len(values),
            int(np.count_nonzero(program.weights)),
            graph.n_connected,
            program,
            eigen,
            graph.note,
        )
        if self.solver_report_.positive == 1 and isinstance(side, LabelInformation) and len(side.classes) > 2:
            warnings.warn(
                f"the best kernel has one vector, which cannot tell {len(side.classes)} classes apart. Bound the first "
                "weight, constraints={'G': [[1, 0, …, 0]], 'h': [0.2]}, or change n_neighbors",
                KernregWarning,
                stacklevel=3,
            )
        return self

    def _spectrum(self, graph: NeighbourGraph) -> tuple[np.ndarray, np.ndarray, np.ndarray, PartialReport]:
        """Return eigenvalues and vectors, trivial ones first, and the sizes of groups of equal ones in the order."""
        count = graph.count(self.n_components)
        values, vectors, eigen = smoothest(
            graph,
            min(count + 1, len(graph.degrees) - graph.n_connected),  # one more: the last may be one of equals
            eigen_solver=self.eigen_solver,
            tol=float(self.tol),
            max_iter=self.max_iter,
            random_state=self.random_state,
        )
        first = np.flatnonzero(np.diff(values, prepend=-np.inf) > _EQUAL)  # of each group
        whole = int(first[first <= count][-1]) if len(values) > count else count
        count = whole or count  # a group larger than asked for is cut
        trivial: Any = np.zeros((len(graph.degrees), 0))
        if self.trivial != "drop":
            trivial = graph.contrasts() if self.trivial == "contrasts" else graph.trivial().toarray()
        sizes = np.diff(np.append(first[first < count], count))
        if self.trivial in ("contrasts", "ordered") and trivial.shape[1]:
            sizes = np.append(trivial.shape[1], sizes)
        values = np.concatenate([np.zeros(trivial.shape[1]), values[:count]])
        return values, np.hstack([trivial, vectors[:, :count]]), sizes, eigen

    def _checked(self, X: Any) -> Any:
        return check_table(self, X, reset=False)
