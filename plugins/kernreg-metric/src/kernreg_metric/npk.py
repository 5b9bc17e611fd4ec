"""SimpleNPK: a kernel matrix of no given form, smooth over a graph and in agreement with pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh

from kernreg import get_config
from kernreg.errors import ParameterError
from kernreg.solvers import (
    LabelInformation,
    NeighbourGraph,
    SideInformation,
    check_choice,
    check_count,
    check_number,
    warn_beyond_budget,
)
from kernreg_metric.base import warn_not_converged
from kernreg_metric.from_graph import FromGraph
from kernreg_metric.programs.hinge import SquaredHinge
from kernreg_metric.programs.schatten import Spectrum, best_kernel, positive_part
from kernreg_metric.report import LearningReport

LOSSES = ("linear", "squared-hinge")

_LARGEST = 1e9  # beyond this the graph counts for nothing
_DENSE = 1500  # below this LAPACK finds all eigenvectors quicker than ARPACK a few
_TO_DECOMPOSE, _TO_ITERATE = 7, 14  # matrices held at once by the closed form with LAPACK, and by projected gradients


class SimpleNPK(FromGraph):
    """Simple non-parametric kernel learning: smooth over the neighbourhood graph, and in line with the known pairs.

    L is the normalised Laplacian of a graph that joins every sample with its nearest neighbours, T_ij is 1 for similar,
    -1 for dissimilar pairs and 0 elsewhere (the diagonal included), and m is the number of samples in some pair::

        min_K  tr(LK) + C/m Σ_ij loss(T_ij K_ij)       K ⪰ 0,  tr(Kᵖ) ≤ B

    With ``loss="linear"``, loss(f) = -f, the optimum is in closed form: with the positive part A₊ of A = (C/m) T - L::

        K = (B / tr A₊^(p/(p-1)))^(1/p) A₊^(1/(p-1))

    of a rank at most the number of classes. With ``"squared-hinge"``, loss(f) = ½ max(0, 1 - f)² where T_ij ≠ 0, it is
    found by accelerated projected gradients, one eigendecomposition each, and the duality gap says when to stop.

    The method is transductive: new samples are not in the problem. They are given the features φ(x) that minimise the
    term tr(LK), all others held fixed, φ(x) = Σ_j w(x, x_j) φ(x_j) / sqrt(d(x) d_j) with w the graph's rule for
    neighbours.

    Parameters
    ----------
    n_neighbors : int
        Nearest neighbours of a sample in the graph; fewer than there are samples.
    C : float, optional
        Weight of the losses. By default 1, doubled until the best kernel is not zero, as it is where the graph
        outweighs what is known. (The mean over samples rather than a sum: the balance with tr(LK) then does not change
        with the number of labels.)
    graph : array-like or sparse matrix of shape (n, n), optional
        A symmetric graph of the samples instead of the one of nearest neighbours; new samples are refused then.
    p : float
        Exponent of the bound on K, greater than 1; near 1 favours low rank.
    budget : float, optional
        B, which scales K and, with the squared hinge, says how large its entries can be; nᵖ by default: for p = 2 the
        root mean square of the entries is then 1.
    loss : {"linear", "squared-hinge"}
    unlabelled : object
        The entry of y that marks samples without a label; None stands for missing values.
    tol : float
        Relative duality gap at which the squared hinge stops.
    max_iter : int
        Most iterations of it; a ConvergenceWarning says if ``tol`` was not reached.

    Attributes
    ----------
    kernel_ : Kernel
        The learned kernel, for training samples and new ones: ``neighbour-spectrum(…)``.
    eigenvalues_ : ndarray of shape (r,)
        Those of K that are not zero, largest first.
    eigenvectors_ : ndarray of shape (n, r)
    C_ : float
        C as it was given or found.
    classes_ : ndarray
        Where labels were given.
    X_fit_, graph_ : array or CSR
        The training samples, and the weights of their graph.
    n_iter_ : int
    solver_report_ : LearningReport
        The residual is the relative duality gap.

    References
    ----------
    Zhuang, Tsang & Hoi, A family of simple non-parametric kernel learning algorithms, JMLR 12 (2011); Hoi, Jin & Lyu,
    Learning nonparametric kernel matrices from pairwise constraints, ICML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from kernreg.solvers import LSSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> known = np.where(np.arange(150) % 3 == 0, y, -1)  # a third of the labels
    >>> learner = SimpleNPK().fit(X, known)
    >>> labelled = known >= 0
    >>> model = LSSVC(kernel=learner.kernel_).fit(X[labelled], y[labelled])
    >>> bool(model.score(X[~labelled], y[~labelled]) > 0.9)
    True
    """

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        n_neighbors: int = 5,
        C: float | None = None,
        *,
        graph: Any = None,
        p: float = 2.0,
        budget: float | None = None,
        loss: str = "linear",
        unlabelled: Any = -1,
        tol: float = 1e-3,
        max_iter: int = 500,
    ):
        self.n_neighbors = n_neighbors
        self.C = C
        self.graph = graph
        self.p = p
        self.budget = budget
        self.loss = loss
        self.unlabelled = unlabelled
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any = None, *, side_information: SideInformation | None = None) -> SimpleNPK:
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
        check_choice("loss", self.loss, LOSSES)
        C, p = 1.0 if self.C is None else check_number("C", self.C, 0.0), check_number("p", self.p, 1.0)
        tol, max_iter = check_number("tol", self.tol, 0.0, 1.0), check_count("max_iter", self.max_iter)
        X, graph = self._start(X)
        side = self._check_side(X, y, side_information)
        self._warn(X.shape[0], side)
        budget = float(X.shape[0]) ** p if self.budget is None else check_number("budget", self.budget, 0.0)
        # Without a positive part K = 0 is the best, with either loss: their slopes at 0 are the same.
        part = self._positive_part(graph, side, C)
        while self.C is None and not len(part.values) and C < _LARGEST:
            C *= 2.0
            part = self._positive_part(graph, side, C)
        if self.loss == "linear":
            found = best_kernel(part, p, budget)
            objective, iterations, gap = -found.bound, 1, 0.0
        else:
            T, paired = off_diagonal(side)
            hinge = SquaredHinge(laplacian(graph).toarray(), T, C / paired, p, budget)
            hinge.solve(tol, max_iter)
            found, objective, iterations, gap = hinge.kernel, hinge.primal, hinge.iterations, hinge.gap
        if not len(found.values):
            raise ParameterError(
                f"C={C!r} is too small: the best kernel is zero, smooth and of no use; give a larger one"
            )
        self.C_, self.eigenvalues_, self.eigenvectors_, self.n_iter_ = C, found.values, found.vectors, iterations
        # The neighbours' features as they are: 1 stands for the eigenvalue a Nyström extension divides by.
        self.kernel_ = graph.kernel(X, found.vectors, found.values, np.ones(len(found.values)))
        self.solver_report_ = LearningReport(
            "closed form" if self.loss == "linear" else "projected gradients",
            X.shape[0],
            objective,
            iterations,
            gap,
            gap <= tol,
            graph.note,
        )
        warn_not_converged(self.solver_report_, tol, "raise max_iter or tol")
        return self

    def _warn(self, n: int, side: SideInformation) -> None:
        """Warn before matrices are made that do not fit the memory budget; labels alone need none of them."""
        instead = "take labels instead of pairs"
        if self.loss == "squared-hinge":
            instead = "take loss='linear'"
        elif isinstance(side, LabelInformation):
            return
        matrices = _TO_ITERATE if self.loss == "squared-hinge" else _TO_DECOMPOSE
        warn_beyond_budget(8 * matrices * n * n, f"SimpleNPK of {n} samples", instead, stacklevel=4)

    def _positive_part(self, graph: NeighbourGraph, side: SideInformation, C: float) -> Spectrum:
        """Return the positive eigenvalues of (C/m) T - L and their vectors."""
        n = len(graph.degrees)
        fits = 8 * _TO_DECOMPOSE * n * n <= get_config().memory_budget()
        if not isinstance(side, LabelInformation) or (n <= _DENSE and fits):
            T, paired = off_diagonal(side)
            return positive_part((C / paired) * T - laplacian(graph).toarray())
        # -L has no positive eigenvalue, and T = 2ZZᵀ - uuᵀ - diag(u) not more than there are classes.
        codes, n_classes, L = side.codes, len(side.classes), laplacian(graph)
        u = (codes >= 0).astype(np.float64)
        Z = np.zeros((n, n_classes))
        Z[codes >= 0, codes[codes >= 0]] = 1.0

        def product(v: np.ndarray) -> np.ndarray:
            v = v.ravel()
            return (C / u.sum()) * (2.0 * (Z @ (Z.T @ v)) - u * (u @ v) - u * v) - L @ v

        start = np.random.default_rng(0).standard_normal(n)  # fixed, so that the result is reproducible
        operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
        values, vectors = eigsh(operator, k=n_classes, which="LA", v0=start)
        return Spectrum.positive(values, vectors)


def off_diagonal(side: SideInformation) -> tuple[np.ndarray, int]:
    """Return T with zeros on the diagonal, and the number of samples in some pair."""
    T = side.target()
    np.fill_diagonal(T, 0.0)
    return T, int(np.count_nonzero(T.any(axis=1)))


def laplacian(graph: NeighbourGraph) -> sp.csr_array:
    """Return I - D^(-1/2) w D^(-1/2), sparse."""
    return sp.csr_array(sp.eye_array(len(graph.degrees), format="csr") - graph.normalised())
