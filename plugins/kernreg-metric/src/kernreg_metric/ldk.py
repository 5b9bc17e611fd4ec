"""LDK: the kernel nearest to a given one, in LogDet divergence, in which similar samples are close and others not."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from kernreg import make_kernel
from kernreg.errors import DataError, KernregWarning, ParameterError, shown
from kernreg.linalg import generator
from kernreg.solvers import SideInformation, check_count, check_number
from kernreg_metric.base import FromKernel, warn_not_converged
from kernreg_metric.pairs import BYTES_PER_PAIR, labelled_pairs
from kernreg_metric.projections import PairBounds, project
from kernreg_metric.report import LearningReport

_PERCENTILES = (5.0, 95.0)
_COINCIDENT = 1e-12  # squared distance below this fraction of the largest: one and the same point


class LDK(FromKernel):
    """LogDet kernel learning: bounds on the distances of similar and dissimilar pairs, by cyclic Bregman projections.

    With the matrix K_0 of a given kernel k_0, distances d_K(i, j) = K_ii + K_jj - 2 K_ij and bounds u < l::

        min_K  tr(K K_0⁻¹) - log det(K K_0⁻¹) - n       d_K(i, j) ≤ u for similar, d_K(i, j) ≥ l for dissimilar pairs

    Each projection takes the current K (not K_0) to the nearest matrix that keeps one bound, with the correction that
    makes the sequence converge to the optimum. It costs O(n²), and a bound that holds costs next to nothing. The bounds
    themselves may give way, for ``gamma`` times their own LogDet divergence from u and l.

    The optimum is K = (K_0⁻¹ + B)⁻¹, B = Σ δ_c λ_c z_c z_cᵀ the Laplacian of the multipliers λ, and for new samples::

        k(x, z) = k_0(x, z) + k_0(x, X) Q k_0(X, z),       Q = B K B - B

    Neither needs K_0⁻¹, and K_0 may be singular. Only samples in some pair with λ > 0 are kept in the kernel.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel, optional
        The symmetric, positive semi-definite kernel k_0 to start from.
        By default that of the chain around it, else ``rbf``.
    upper, lower : float, optional
        The bounds u on similar and l on dissimilar pairs, as squared distances in the feature space of k_0. By default
        the 5th and the 95th percentile of the distances between the samples that are in pairs.
    gamma : float, optional
        Weight of the divergence of the bounds from u and l; None keeps them as they are, which takes many more sweeps
        where classes overlap: then distances near zero have to grow, and every other one with them.
    n_constraints : int, optional
        How many pairs to take, at random; by default all of them, a number quadratic in the number of labels.
    unlabelled : object
        The entry of y that marks samples without a label; None stands for missing values.
    tol : float
        Stop when no distance in a sweep was off its bound by more than this fraction, where it has to keep it.
    max_iter : int
        Most sweeps over the constraints; a ConvergenceWarning says if ``tol`` was not reached.
    random_state : int, Generator or None
        Of the order of projections, and of which pairs are taken.

    Attributes
    ----------
    kernel_ : Kernel
        The learned kernel, for training samples and new ones: ``corrected(…)``.
    upper_, lower_ : float
        The bounds used.
    constraints_ : PairBounds
        The pairs, as positions in X, their signs (1 similar, -1 dissimilar) and bounds.
    multipliers_ : ndarray of shape (c,)
        λ, one for each of them.
    bounds_ : ndarray of shape (c,)
        The bounds as kept: relaxed where ``gamma`` is given.
    classes_ : ndarray
        Where labels were given.
    X_fit_ : array or CSR
        The training samples.
    n_iter_ : int
        Sweeps.
    solver_report_ : LearningReport
        The objective is the divergence of K from K_0, the residual what ``tol`` is compared with; where that was not
        reached the note says how many bounds are missed, and by how much. K is then still the optimum for the
        multipliers found, positive semi-definite and usable.

    References
    ----------
    Davis, Kulis, Jain, Sra & Dhillon, Information-theoretic metric learning, ICML 2007; Jain, Kulis, Davis & Dhillon,
    Metric and kernel learning using a linear transformation, JMLR 13 (2012); Kulis, Sustik & Dhillon, Low-rank kernel
    learning with Bregman matrix divergences, JMLR 10 (2009).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from kernreg.solvers import LSSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> known = np.where(np.arange(150) % 3 == 0, y, -1)  # a third of the labels
    >>> learner = LDK(kernel="rbf(sigma=2.0)").fit(X, known)
    >>> labelled = known >= 0
    >>> model = LSSVC(kernel=learner.kernel_).fit(X[labelled], y[labelled])
    >>> bool(model.score(X[~labelled], y[~labelled]) > 0.9)
    True
    """

    _matrices = 8.0

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        kernel: Any = None,
        *,
        upper: float | None = None,
        lower: float | None = None,
        gamma: float | None = 1.0,
        n_constraints: int | None = None,
        unlabelled: Any = -1,
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.upper = upper
        self.lower = lower
        self.gamma = gamma
        self.n_constraints = n_constraints
        self.unlabelled = unlabelled
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, side_information: SideInformation | None = None) -> LDK:
        """Learn the kernel from samples and labels, or from samples and what is known about pairs of them.

        Parameters
        ----------
        X : array-like or CSR of shape (n, d), or sample indices for a kernel that holds its matrix
            Labelled and unlabelled samples.
        y : array-like of shape (n,), optional
            Labels, ``unlabelled`` where there is none.
        side_information : SideInformation, optional
            Instead of y: ``SideInformation.from_pairs(similar, dissimilar, n)`` or ``from_matrix(T)``.
        """
        gamma = np.inf if self.gamma is None else check_number("gamma", self.gamma, 0.0)
        tol, max_iter = check_number("tol", self.tol, 0.0, 1.0), check_count("max_iter", self.max_iter)
        count = None if self.n_constraints is None else check_count("n_constraints", self.n_constraints)
        kernel, X = self._start(X)
        side = self._check_side(X, y, side_information)
        rng = generator(self.random_state)
        rows, columns, signs = labelled_pairs(side, count, rng)
        paired, inside = np.unique(np.concatenate([rows, columns]), return_inverse=True)
        rows, columns = inside[: len(rows)], inside[len(rows) :]
        start = self._matrix(kernel, X[paired], beside=BYTES_PER_PAIR * len(rows))
        pairs, note = self._constraints(start, rows, columns, signs, paired)
        projected = start.copy()
        found = project(projected, pairs, gamma=gamma, tol=tol, max_iter=max_iter, random_state=rng)
        self.constraints_ = PairBounds(paired[pairs.rows], paired[pairs.columns], pairs.signs, pairs.bounds)
        self.multipliers_, self.bounds_, self.n_iter_ = found.multipliers, found.bounds, found.sweeps
        K, Q, kept, divergence = _corrected_matrix(start, pairs, found.multipliers)
        self.kernel_ = make_kernel(
            "corrected", kernel=kernel, samples=X[paired[kept]], correction=Q, training=K, positive=True
        )
        advice = "raise max_iter or tol, or take fewer pairs (n_constraints)"
        if not found.converged:
            missed, worst = _missed(pairs.distances(projected), pairs.signs, found.bounds, tol)
            note = "; ".join(filter(None, (note, f"{missed} of {len(pairs)} bounds are missed, by up to {worst:.0%}")))
            if self.gamma is None:
                advice += "; the bounds are hard: gamma=1.0 lets them give way"
            advice += f" ({missed} of {len(pairs)} bounds are missed, by up to {worst:.0%})"
        self.solver_report_ = LearningReport(
            "bregman", X.shape[0], divergence, found.sweeps, found.change, found.converged, note
        )
        warn_not_converged(self.solver_report_, tol, advice)
        return self

    def _constraints(
        self, K: np.ndarray, rows: np.ndarray, columns: np.ndarray, signs: np.ndarray, names: np.ndarray
    ) -> tuple[PairBounds, str]:
        """Return the pairs with their bounds; dissimilar pairs that are one point are left out, and that is said."""
        between = _distances(K)
        apart = between[between > _COINCIDENT * between.max(initial=0.0)]
        if not len(apart):
            raise DataError(
                f"all {len(K)} samples that are in pairs are one point to the kernel, and no distance can be changed; "
                "check the kernel's parameters and the features"
            )
        low, high = np.percentile(apart, _PERCENTILES)
        self.upper_ = float(low) if self.upper is None else check_number("upper", self.upper, 0.0)
        self.lower_ = float(high) if self.lower is None else check_number("lower", self.lower, 0.0)
        if self.upper is not None and self.lower is not None and self.upper_ >= self.lower_:
            raise ParameterError(
                f"upper={shown(self.upper)} and lower={shown(self.lower)}; similar pairs are to be closer than "
                "dissimilar ones, give upper < lower"
            )
        pairs = PairBounds(rows, columns, signs, np.where(signs > 0, self.upper_, self.lower_))
        hopeless = (pairs.distances(K) <= _COINCIDENT * between.max()) & (signs < 0)
        if not hopeless.any():
            return pairs, ""
        first = int(np.flatnonzero(hopeless)[0])
        note = (
            f"{int(hopeless.sum())} dissimilar pair(s) left out, for example samples {int(names[rows[first]])} and "
            f"{int(names[columns[first]])}: they are one point to the kernel, and no kernel learned from it tells them "
            "apart"
        )
        warnings.warn(note, KernregWarning, stacklevel=4)
        kept = ~hopeless
        if not kept.any():
            raise DataError(f"no pair is left to learn from: {note}")
        return PairBounds(*(field[kept] for field in (pairs.rows, pairs.columns, pairs.signs, pairs.bounds))), note


def _distances(K: np.ndarray) -> np.ndarray:
    """Return the squared distances of all pairs i < j, row by row: no other matrix is made for them.

    >>> _distances(np.diag([1.0, 2.0, 4.0])).tolist()
    [3.0, 5.0, 6.0]
    """
    n, diagonal = len(K), K.diagonal()
    between = np.empty(n * (n - 1) // 2)
    stop = 0
    for i in range(n - 1):
        start, stop = stop, stop + n - 1 - i
        np.maximum(diagonal[i] + diagonal[i + 1 :] - 2.0 * K[i, i + 1 :], 0.0, out=between[start:stop])
    return between


def _missed(distances: np.ndarray, signs: np.ndarray, bounds: np.ndarray, tol: float) -> tuple[int, float]:
    """Return how many distances miss their bounds by more than a fraction tol, and the largest such fraction."""
    off = signs * (distances - bounds) / bounds
    return int(np.count_nonzero(off > tol)), float(max(0.0, off.max()))


def _corrected_matrix(
    start: np.ndarray, pairs: PairBounds, multipliers: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return K and Q between the samples that matter, these samples, and the divergence of K from K_0.

    From the multipliers rather than from the thousands of rank-one updates: without their rounding.
    """
    B = pairs.laplacian(multipliers, len(start))
    kept = np.flatnonzero(np.abs(B).max(axis=1) > 0.0)
    if not len(kept):  # every bound held from the beginning
        kept = np.arange(1)
    B, K0 = B[np.ix_(kept, kept)], start[np.ix_(kept, kept)]
    M = np.eye(len(kept)) + K0 @ B
    K = np.linalg.solve(M, K0)
    K = 0.5 * (K + K.T)  # symmetric but for the rounding of the solve
    Q = B @ K @ B - B
    # K K_0⁻¹ = (I + K_0 B)⁻¹: the divergence without an inverse of K_0, the same on all samples as on those kept.
    divergence = float(np.trace(np.linalg.inv(M))) + float(np.linalg.slogdet(M)[1]) - len(kept)
    return K, 0.5 * (Q + Q.T), kept, divergence
