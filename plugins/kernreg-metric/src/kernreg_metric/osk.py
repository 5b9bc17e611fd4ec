"""OSK: a kernel of the smoothest vectors over a neighbourhood graph, weighted to align best with the labels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernreg.solvers import check_choice, smoothest
from kernreg_metric.from_graph import FromGraph
from kernreg_metric.programs.ordered import METHODS, Aligned, best_ordered
from kernreg_metric.report import LearningReport

TRIVIAL = ("free", "ordered", "drop")


class OSK(FromGraph):
    """Order-constrained spectral kernel: the best alignment with the labels, by a quadratically constrained program.

    The v_i are the r smoothest eigenvectors of the normalised Laplacian of a graph that joins every sample with its
    nearest neighbours, with 0/1 weights. Smoother vectors get no smaller weights::

        max_μ  ⟨K_tr, Y⟩ / (‖K_tr‖ ‖Y‖)       K = Σ_i μ_i v_i v_iᵀ,  μ_1 ≥ … ≥ μ_r ≥ 0,  tr K = 1

    K_tr is K on the labelled samples, and Y_ij is 1 for two of the same class, -1 otherwise. The program is solved with
    r unknowns: ⟨v_i v_iᵀ, v_j v_jᵀ⟩ = (v_iᵀv_j)² on the labelled samples, so neither K nor Y is formed.

    For new samples the vectors are extended in Nyström's way, v_i(x) = 1/(1 - λ_i) Σ_j w(x, x_j) v_i(x_j) /
    sqrt(d(x) d_j), with λ_i the eigenvalue of the Laplacian and w the graph's rule for neighbours.

    Parameters
    ----------
    n_neighbors : int
        Nearest neighbours of a sample in the graph; fewer than there are samples.
    n_components : int, optional
        r, the number of eigenvectors beside the trivial one of each connected component; 200 by default, or as many as
        there are.
    graph : array-like or sparse matrix of shape (n, n), optional
        A symmetric graph of the samples instead of the one of nearest neighbours; new samples are refused then.
    trivial : {"free", "ordered", "drop"}
        What becomes of the trivial eigenvectors D^(1/2) 1, on which samples of one component do not differ: ``free``,
        their weights are only non-negative (Zhu's improved order); ``ordered``, they come first in the order; ``drop``,
        they are left out. (`scg-osk` leaves out the constant direction only.)
    method : {"qcqp", "nnls"}
        The interior point method of cvxopt; or an active set for the same problem, written as non-negative least
        squares over the extreme rays of the order cone.
    unlabelled : object
        The entry of y that marks samples without a label; None stands for missing values.

    Attributes
    ----------
    kernel_ : Kernel
        The learned kernel, for training samples and new ones: ``neighbour-spectrum(…)``.
    weights_ : ndarray of shape (q,)
        μ, trivial vectors first, then the others from smooth to rough. They sum to one.
    eigenvalues_ : ndarray of shape (q,)
        λ, of the normalised Laplacian.
    eigenvectors_ : ndarray of shape (n, q)
    alignment_ : float
        The alignment reached on the labelled samples.
    classes_ : ndarray
    X_fit_, graph_ : array or CSR
        The training samples, and the weights of their graph.
    n_iter_ : int
    solver_report_ : LearningReport
        The objective is the alignment; the residual a bound on how much better, relatively, it could be.

    References
    ----------
    Zhu, Kandola, Ghahramani & Lafferty, Nonparametric transforms of graph kernels for semi-supervised learning, NIPS 17
    (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from kernreg.solvers import LSSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> known = np.where(np.arange(150) % 3 == 0, y, -1)  # a third of the labels
    >>> learner = OSK(n_components=20).fit(X, known)
    >>> labelled = known >= 0
    >>> model = LSSVC(kernel=learner.kernel_, gamma="loo").fit(X[labelled], y[labelled])
    >>> bool(model.score(X[~labelled], y[~labelled]) > 0.9)
    True
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        n_components: int | None = None,
        *,
        graph: Any = None,
        trivial: str = "free",
        method: str = "qcqp",
        unlabelled: Any = -1,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.graph = graph
        self.trivial = trivial
        self.method = method
        self.unlabelled = unlabelled

    def fit(self, X: Any, y: Any = None) -> OSK:
        """Learn the kernel from samples and the labels of some of them.

        Parameters
        ----------
        X : array-like or CSR of shape (n, d)
            Labelled and unlabelled samples.
        y : array-like of shape (n,)
            Labels, ``unlabelled`` where there is none.
        """
        check_choice("trivial", self.trivial, TRIVIAL)
        check_choice("method", self.method, METHODS)
        X, graph = self._start(X)
        codes = self._check_labels(X, y).codes
        values, vectors, _ = smoothest(graph, graph.count(self.n_components))
        n_trivial = 0
        if self.trivial != "drop":
            n_trivial = graph.n_connected
            values = np.concatenate([np.zeros(n_trivial), values])
            vectors = np.hstack([graph.trivial().toarray(), vectors])
        G, b = alignment_terms(vectors[codes >= 0], codes[codes >= 0], len(self.classes_))
        found = best_ordered(G, b, n_trivial if self.trivial == "free" else 0, self.method)
        self.weights_, self.eigenvalues_, self.eigenvectors_ = found.weights, values, vectors
        # The norm of Y, whose entries are 1 and -1, is the number of labels.
        self.alignment_, self.n_iter_ = found.value / np.count_nonzero(codes >= 0), found.iterations
        self.kernel_ = graph.kernel(X, vectors, found.weights, 1.0 - values)
        self.solver_report_ = self._report(found, X.shape[0], graph.note)
        return self

    def _report(self, found: Aligned, size: int, note: str) -> LearningReport:
        optimal = found.status == "optimal"
        if not optimal:
            note = "; ".join(filter(None, (note, f"cvxopt says {found.status!r}")))
            warnings.warn(
                f"cvxopt stopped with status {found.status!r}; the alignment could be {found.gap:.2g} of its value "
                "better. method='nnls' solves the same problem",
                ConvergenceWarning,
                stacklevel=4,
            )
        return LearningReport(self.method, size, self.alignment_, found.iterations, found.gap, optimal, note)


def alignment_terms(V: np.ndarray, codes: np.ndarray, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ⟨v_i v_iᵀ, v_j v_jᵀ⟩ and ⟨v_i v_iᵀ, Y⟩ of vectors in columns and class codes.

    Y = 2 Z Zᵀ - 1 1ᵀ with the class indicators Z, so it is never formed.
    """
    sums = np.zeros((n_classes, V.shape[1]))
    np.add.at(sums, codes, V)
    return (V.T @ V) ** 2, 2.0 * (sums**2).sum(axis=0) - sums.sum(axis=0) ** 2
