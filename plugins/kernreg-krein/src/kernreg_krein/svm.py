"""KSVM: the support vector machine in a Kreĭn space.

Loosli, Canu & Ong, Learning SVM in Kreĭn spaces, TPAMI 38 (2016).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernreg.solvers import ClassTargets, TrainingSet, check_choice, check_count, check_number
from kernreg_krein.interior_point import solve_linear
from kernreg_krein.machine import KreinClassifier, deal
from kernreg_krein.report import KreinReport
from kernreg_krein.settings import pick_landmarks, pick_strategy
from kernreg_krein.smo import solve_box
from kernreg_krein.spaces import KreinSpace, LandmarkSpace

_ITERATIONS = 200  # of the interior-point method, which takes a few dozen


class KreinSVC(KreinClassifier):
    """C-support vector classifier for an indefinite kernel: KSVM.

    In a Kreĭn space the norm ‖f‖² = ⟨f₊, f₊⟩ - ⟨f₋, f₋⟩ has no sign, and the minimum of an SVM becomes a stationary
    point. With K = U Λ Uᵀ it is found in the associated Hilbert space, whose kernel matrix is |K| = U |Λ| Uᵀ::

        min_{f, b}  ½ ‖f‖²_{|K|} + C Σ_i v_i max(0, 1 - y_i (f(x_i) + b))        f = |K| β on the samples
        α = U sign(Λ) Uᵀ β,      f(x) = Σ_i α_i k(x, x_i) + b

    with sample weights v_i. The decision uses the kernel as it is, also at new samples. For a positive semi-definite
    kernel it is the C-SVM. All classes share one decomposition.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel, optional
        A symmetric kernel, definite or not, for example ``"tl1(rho=4.0)"``; an asymmetric one is refused.
        By default that of the chain around it, else ``rbf``.
    C : float
        The price of slack; a larger value fits the data more closely.
    multi_class : {"one-vs-rest", "one-vs-one"}
        How more than two classes become problems of two. The metric |K| is that of all samples in either case.
    class_weight : dict or "balanced", optional
        Multiplies the weights of the samples of a class; ``"balanced"`` gives all classes the same sum.
    calibration : {"sigmoid", "isotonic"}
        How decision values of samples held out become the probabilities of `predict_proba`. When these are first asked
        for, the machine is fitted again without a fifth of the samples, up to five times. On landmarks one such fit,
        in the same features, is a part of `fit`.
    strategy : {"auto", "exact", "lowrank"}
        ``exact`` decomposes the kernel matrix; ``lowrank`` takes features of landmarks, with the signs of their
        eigenvalues, and solves the same problem in them. ``auto`` is exact while that fits the memory budget.
    tol : float
        How far the conditions of optimality may be from holding (exact: max g_j - min g_i of the gradient of the dual;
        lowrank: the relative duality gap).
    max_iter : int
        Steps of sequential minimal optimisation after which to stop with a ConvergenceWarning.
    n_landmarks : int, optional
        Landmarks of lowrank; by default as many as of ``ls-svm``, if their features fit an eighth of the memory budget.
    landmarks : str or array of int
        How they are chosen: ``"uniform"``, ``"kmeans++"``, ``"entropy"``, ``"leverage"``; or their indices.
    random_state : int, Generator or None
        Of that choice.

    Attributes
    ----------
    classes_ : ndarray
    dual_coef_ : ndarray of shape (m,) or (m, columns)
        α: one column for each class or pair of classes. It is not sparse, though β is.
    intercept_ : float or ndarray of shape (columns,)
    support_ : ndarray of int
        The samples whose β is not zero in some column (exact).
    signature_ : tuple of int
        Numbers of positive and negative eigenvalues of the (weighted) training matrix.
    kernel_ : Kernel
        The kernel, bound to the training samples.
    X_fit_ : array or CSR
        The training samples, or the landmarks.
    landmarks_ : ndarray of int
        Which samples they are, where the strategy is lowrank.
    solver_report_ : KreinReport
        Its residual is that of ``tol``, computed with the indefinite matrix.
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> clf = KreinSVC("tl1(rho=0.7)", C=10.0).fit(X[:100], y[:100])
    >>> clf.signature_[1] > 0, bool(clf.score(X[100:], y[100:]) > 0.9), clf.solver_report_.residual < 1e-6
    (True, True, True)
    """

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        kernel: Any = None,
        C: float = 1.0,
        *,
        multi_class: str = "one-vs-rest",
        class_weight: Any = None,
        calibration: str = "sigmoid",
        strategy: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 10_000_000,
        n_landmarks: int | None = None,
        landmarks: Any = "uniform",
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.C = C
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.calibration = calibration
        self.strategy = strategy
        self.tol = tol
        self.max_iter = max_iter
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KreinSVC:
        """Fit to samples in rows and their classes.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d), or sample indices for a kernel that holds its matrix
        y : array-like of shape (m,)
        sample_weight : array-like of shape (m,), optional
            An integer weight is the same as repeating the sample, zero the same as leaving it out.
        """
        C, tol = check_number("C", self.C), check_number("tol", self.tol)
        max_iter = check_count("max_iter", self.max_iter)
        check_choice("multi_class", self.multi_class, ("one-vs-rest", "one-vs-one"))
        data = self._training_set(X, y, sample_weight)
        targets = ClassTargets.of(data.y, pairwise=self.multi_class == "one-vs-one")
        self.__dict__.pop("support_", None)
        if pick_strategy(self.strategy, data) == "exact":
            self._fit_exact(data, targets, C, tol, max_iter)
        else:
            self._fit_landmarks(data, targets, C, tol)
        if not self.solver_report_.converged:
            warnings.warn(
                f"{self.solver_report_.method} stopped after {self.n_iter_} iterations with residual "
                f"{self.solver_report_.residual:.2g}, tol is {tol:g}; raise max_iter, lower C or scale the kernel",
                ConvergenceWarning,
                stacklevel=3,  # AtomicFit is in between
            )
        return self

    def _fit_exact(self, data: TrainingSet, targets: ClassTargets, C: float, tol: float, max_iter: int) -> None:
        # K = U Λ Uᵀ, once for all columns.
        K = self._matrix(data)
        space = KreinSpace(K, data.weights)
        H, box = space.associated(), C * (np.ones(len(K)) if data.weights is None else data.weights)
        # C-SVM on |K|, or on its part for a pair of classes.
        columns, intercepts, steps = [], [], 0
        for rows, y in _binary_problems(targets, data.y):
            inner = H if rows is None else np.ascontiguousarray(H[np.ix_(rows, rows)])
            solution = solve_box(inner, y, box if rows is None else box[rows], tol, max_iter)
            beta = np.zeros(len(K))
            beta[slice(None) if rows is None else rows] = solution.beta
            columns.append(beta)
            intercepts.append(solution.intercept)
            steps = max(steps, solution.steps)
        beta = np.column_stack(columns)
        # Back to the indefinite kernel.
        alpha = space.coefficients(beta)
        residual = _violation(K @ alpha, beta, targets, data.y, box)
        (p, q), note = space.signature, "" if not data.note else data.note
        report = KreinReport("exact", "smo", len(K), p, q, residual, steps, residual <= max(tol, 1e-9), note=note)
        again = {"C": C, "multi_class": self.multi_class, "strategy": "exact", "tol": tol, "max_iter": max_iter}
        self._keep_targets(data, targets, None, **again)
        machine = alpha, np.array(intercepts)
        self._store(data, machine, report, None, stacklevel=4, support_=np.flatnonzero(beta.any(axis=1)))

    def _fit_landmarks(self, data: TrainingSet, targets: ClassTargets, C: float, tol: float) -> None:
        self._refuse_asymmetric(data)
        chosen, m = pick_landmarks(self, data), len(data.y)
        space = LandmarkSpace(data.kernel, data.X, data.weights, chosen, centred=False, Y=np.zeros((m, 0)))
        # The associated Hilbert space: features times |Λ|^½, a linear C-SVM in them.
        scale = np.sqrt(np.abs(space.values))
        Psi, box = space.features() * scale, C * (np.ones(m) if data.weights is None else data.weights)

        def solve(seen: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, int]:
            columns, intercepts, gap, iterations = [], [], 0.0, 0
            for rows, y in _binary_problems(targets, data.y[seen]):
                some = seen if rows is None else seen[rows]
                solution = solve_linear(Psi[some], y, box[some], tol, _ITERATIONS)
                columns.append(solution.w)
                intercepts.append(solution.intercept)
                gap, iterations = max(gap, solution.gap), max(iterations, solution.iterations)
            return np.column_stack(columns), np.array(intercepts), gap, iterations

        fold = deal(targets.codes(data.y))
        unseen = np.flatnonzero(fold == 0)
        w, b, _, _ = solve(np.flatnonzero(fold != 0))
        held_out = targets.shaped(Psi[unseen] @ w + b), unseen
        w, b, gap, iterations = solve(np.arange(m))
        (p, q), note = space.signature, data.note
        report = KreinReport(
            "lowrank", "interior-point", m, p, q, gap, iterations, gap <= tol, landmarks=len(chosen), note=note
        )
        self._keep_targets(data, targets, held_out if len(unseen) else None)
        machine = space.machine((np.sign(space.values) / scale)[:, None] * w, b)
        self._store(data, machine, report, chosen, stacklevel=4)


def _binary_problems(targets: ClassTargets, y: np.ndarray) -> list[tuple[np.ndarray | None, np.ndarray]]:
    """Return the rows, None for all, and the signs of each problem of two classes."""
    return [(problem.rows, np.ascontiguousarray(column)) for problem in targets.problems(y) for column in problem.Y.T]


def _violation(F: np.ndarray, beta: np.ndarray, targets: ClassTargets, y: np.ndarray, box: np.ndarray) -> float:
    """Return how far f = K α is from the conditions of optimality of β: the worst of all problems."""
    worst = 0.0
    for column, (rows, sign) in enumerate(_binary_problems(targets, y)):
        some = slice(None) if rows is None else rows
        g, b, c = F[some, column] - sign, beta[some, column], box[some]
        up, down = g[b < np.maximum(0.0, sign * c)], g[b > np.minimum(0.0, sign * c)]
        worst = max(worst, float(down.max(initial=-np.inf) - up.min(initial=np.inf)))
    return worst
