"""IKSVM-DC: the indefinite kernel SVM as a difference of convex functions.

Xu, Xue, Chen & Wang, Solving indefinite kernel support vector machine with difference of convex functions programming,
AAAI (2017).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.exceptions import ConvergenceWarning

from kernreg.errors import KernregWarning, ParameterError, shown
from kernreg.solvers import ClassTargets, TrainingSet, check_choice, check_count, check_number
from kernreg_krein.dc_program import DCProgram, DCSolution, Geometry
from kernreg_krein.machine import KreinClassifier, deal
from kernreg_krein.report import KreinReport
from kernreg_krein.settings import STRATEGIES, pick_landmarks, pick_strategy
from kernreg_krein.spaces import KreinSpace, LandmarkSpace

ON_UNBOUNDED = ("warn", "raise", "ignore")

_SMALL = 50  # samples up to which a matrix is made of products and decomposed
_ABOVE = 1.01  # ρ may not be below this times -λ_min


class UnboundedObjectiveWarning(KernregWarning):
    """The objective has no minimum, and a result is where the steps towards minus infinity were stopped.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():  # or give the solver on_unbounded="ignore"
    ...     warnings.simplefilter("ignore", UnboundedObjectiveWarning)
    """


@dataclass(frozen=True)
class _Setting:
    """Coordinates of all columns, ρ, the ends of the spectrum, and eigenvectors that may prove unboundedness."""

    geometry: Geometry
    rho: float
    signature: tuple[int, int]
    directions: np.ndarray  # (size, k)


class IndefiniteDCSVC(KreinClassifier):
    """Support vector classifier for an indefinite kernel by difference-of-convex programming: IKSVM-DC.

    The primal problem with the squared hinge loss and f = K β + b on the samples, sample weights v_i::

        min_{β, b}  J = ½ βᵀK β + C Σ_i v_i max(0, 1 - y_i f(x_i))²,      f(x) = Σ_i β_i k(x, x_i) + b

    is not convex where K is indefinite. J is written as a difference of two convex functions, ½ βᵀ(K + ρI)β + C Σ … and
    ½ ρ‖β‖², the second one is replaced by its tangent at the last β, and the convex problem that is left is solved; so
    step by step, from β = 0. J never rises, and `objectives_` keeps its values.

    J may be unbounded below: wherever K has a small negative eigenvalue (between -1/C and 0, but others may do), the
    loss cannot hold the penalty. Then there is no minimum, steps go on for ever, and the result is where they were
    stopped, as the papers' are. The machine looks for a direction that proves it, `unbounded_` says where it found one,
    and ``on_unbounded`` what happens then. ``krein-svm`` has a solution for every kernel.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel, optional
        A symmetric kernel, definite or not, for example ``"tl1(rho=4.0)"``; an asymmetric one is refused.
        By default that of the chain around it, else ``rbf``.
    C : float
        The price of squared slack; a larger value fits the data more closely.
    rho : float or "norm"
        ρ, at least -λ_min. The smaller it is the longer the steps; ``"norm"`` is ‖K‖. For a kernel matrix without
        negative eigenvalues ``"norm"`` is 0: the problem is convex, and solved in one step.
    max_iter : int
        Steps. A ConvergenceWarning says if they were too few, unless the objective is known to have no minimum.
    tol : float
        Length of a step, relative to β, at which to stop.
    on_unbounded : {"warn", "raise", "ignore"}
        What happens where the objective is known to have no minimum.
    class_weight : dict or "balanced", optional
        Multiplies the weights of the samples of a class; ``"balanced"`` gives all classes the same sum.
    calibration : {"sigmoid", "isotonic"}
        How decision values of samples held out become the probabilities of `predict_proba`. When these are first asked
        for, the machine is fitted again without a fifth of the samples, up to five times. On landmarks one such fit,
        in the same features, is a part of `fit`.
    strategy : {"auto", "exact", "iterative", "lowrank"}
        ``exact`` decomposes the kernel matrix; ``iterative`` never holds it, and works by products, which suits graphs
        and sparse samples; ``lowrank`` takes features of landmarks, with the signs of their eigenvalues, and solves the
        same problem in them. ``auto`` is exact while that fits the memory budget, else lowrank.
    n_landmarks : int, optional
        Landmarks of lowrank; by default as many as of ``ls-svm``, if their features fit an eighth of the memory budget.
    landmarks : str or array of int
        How they are chosen: ``"uniform"``, ``"kmeans++"``, ``"entropy"``, ``"leverage"``; or their indices.
    random_state : int, Generator or None
        Of that choice.

    Attributes
    ----------
    classes_ : ndarray
    dual_coef_ : ndarray of shape (m,) or (m, classes)
        β: one column for each class against the rest.
    intercept_ : float or ndarray of shape (classes,)
    objectives_ : list of ndarray
        J before the first and after each step, for each column.
    unbounded_ : ndarray of bool of shape (columns,)
        Where a direction was found along which J falls without end. False is no proof that there is none, unless
        `signature_` has no negative eigenvalues.
    rho_ : float
    signature_ : tuple of int
        Numbers of positive and negative eigenvalues of the (weighted) training matrix; of ``iterative`` whether there
        are any, 1 or 0.
    kernel_ : Kernel
        The kernel, bound to the training samples.
    X_fit_ : array or CSR
        The training samples, or the landmarks.
    landmarks_ : ndarray of int
        Which samples they are, where the strategy is lowrank.
    solver_report_ : KreinReport
        Its residual is the length of the last step relative to β.
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> clf = IndefiniteDCSVC("tl1(rho=0.7)", on_unbounded="ignore").fit(X[:100], y[:100])
    >>> bool(clf.unbounded_[0]), bool((np.diff(clf.objectives_[0]) < 0).all()), bool(clf.score(X[100:], y[100:]) > 0.9)
    (True, True, True)
    """

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        kernel: Any = None,
        C: float = 1.0,
        *,
        rho: Any = "norm",
        max_iter: int = 5,
        tol: float = 1e-6,
        on_unbounded: str = "warn",
        class_weight: Any = None,
        calibration: str = "sigmoid",
        strategy: str = "auto",
        n_landmarks: int | None = None,
        landmarks: Any = "uniform",
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.C = C
        self.rho = rho
        self.max_iter = max_iter
        self.tol = tol
        self.on_unbounded = on_unbounded
        self.class_weight = class_weight
        self.calibration = calibration
        self.strategy = strategy
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> IndefiniteDCSVC:
        """Fit to samples in rows and their classes.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d), or sample indices for a kernel that holds its matrix
        y : array-like of shape (m,)
        sample_weight : array-like of shape (m,), optional
            An integer weight is the same as repeating the sample, zero the same as leaving it out.
        """
        C, tol, max_iter = (
            check_number("C", self.C),
            check_number("tol", self.tol),
            check_count("max_iter", self.max_iter),
        )
        check_choice("on_unbounded", self.on_unbounded, ON_UNBOUNDED)
        if not (isinstance(self.rho, str) and self.rho == "norm"):
            check_number("rho", self.rho, open_low=False)
        data = self._training_set(X, y, sample_weight)
        targets = ClassTargets.of(data.y)
        Y, m = targets.problems(data.y)[0].Y, len(data.y)
        root = np.ones(m) if data.weights is None else np.sqrt(data.weights)
        strategy = pick_strategy(self.strategy, data, (*STRATEGIES, "iterative"))
        # The coordinates of the problem, and ρ.
        chosen, vectors, space = None, None, None
        if strategy == "exact":
            exact = KreinSpace(self._matrix(data), data.weights)
            vectors = exact.vectors
            setting = self._spectral(vectors, exact.values, root)
        elif strategy == "iterative":
            self._refuse_asymmetric(data)
            setting = self._by_products(data, root)
        else:
            self._refuse_asymmetric(data)
            chosen = pick_landmarks(self, data)
            space = LandmarkSpace(data.kernel, data.X, data.weights, chosen, centred=False, Y=np.zeros((m, 0)))
            setting = self._spectral(root[:, None] * space.features(), space.values, root)
        # Step by step, each class against the rest.
        held_out = None if chosen is None else self._held_out_on_landmarks(setting, targets, data, C, tol, max_iter)
        solutions = [DCProgram(setting.geometry, y, C, setting.rho).solve(tol, max_iter) for y in Y.T]
        unbounded = np.array([self._is_unbounded(setting, y, C, s) for y, s in zip(Y.T, solutions, strict=True)])
        self._tell(unbounded, setting, solutions, C, tol)
        # f = S⁻¹A z + b as coefficients of the kernel.
        Z, b = np.column_stack([s.z for s in solutions]), np.array([s.intercept for s in solutions])
        if space is not None:
            machine = space.machine(Z, b)
        else:
            machine = root[:, None] * (Z if vectors is None else vectors @ Z), b
        moved, steps = max(s.moved for s in solutions), max(len(s.objectives) - 1 for s in solutions)
        note = "; ".join(filter(None, ("the objective has no minimum" if unbounded.any() else "", data.note)))
        report = KreinReport(
            strategy,
            "dca",
            m,
            *setting.signature,
            moved,
            steps,
            moved <= tol,
            0 if chosen is None else len(chosen),
            note,
        )
        again = {"C": C, "rho": self.rho, "max_iter": max_iter, "tol": tol, "on_unbounded": "ignore"}
        self._keep_targets(data, targets, held_out, **again, strategy=strategy)
        objectives = [solution.objectives for solution in solutions]
        facts = {"objectives_": objectives, "unbounded_": unbounded, "rho_": setting.rho}
        self._store(data, machine, report, chosen, stacklevel=3, **facts)
        return self

    # Coordinates --------------------------------------------------------------------------------------------

    def _spectral(self, U: np.ndarray, values: np.ndarray, root: np.ndarray) -> _Setting:
        """Return coordinates in which the penalty is diagonal: f = S⁻¹U Λ z."""

        def both(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            scaled = values * z
            return U @ scaled, scaled

        def adjoint(v: np.ndarray) -> np.ndarray:
            return values * (U.T @ v)

        negative = values < 0.0
        rho = self._rho(float(np.abs(values).max(initial=0.0)), float(values.min(initial=0.0)))
        least = int(np.argmax(np.where(negative, values, -np.inf))) if negative.any() else 0
        directions = np.eye(len(values))[:, [least]] if negative.any() else np.zeros((len(values), 0))
        geometry = Geometry(len(values), both, adjoint, root, values)
        return _Setting(geometry, rho, (int((values > 0.0).sum()), int(negative.sum())), directions)

    def _by_products(self, data: TrainingSet, root: np.ndarray) -> _Setting:
        """Return the coefficients β = S z themselves as coordinates, with products only."""
        K = data.kernel.operator(data.X)

        def product(z: np.ndarray) -> np.ndarray:
            return root * np.asarray(K @ (root * z), dtype=np.float64)

        low, high, vector = _ends(product, len(root))
        rho = self._rho(max(abs(low), abs(high)), low)
        tolerance = len(root) * np.finfo(np.float64).eps * max(abs(low), abs(high))
        negative = low < -tolerance
        directions = vector[:, None] if negative else np.zeros((len(root), 0))

        def both(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            found = product(z)
            return found, found

        return _Setting(Geometry(len(root), both, product, root), rho, (int(high > 0.0), int(negative)), directions)

    def _rho(self, norm: float, lowest: float) -> float:
        """Return ρ: 0 for a convex problem, else what was asked for, above -λ_min."""
        if isinstance(self.rho, str):
            return 0.0 if lowest >= 0.0 else max(norm, -_ABOVE * lowest)
        rho = check_number("rho", self.rho, open_low=False)
        if rho < -lowest:
            raise ParameterError(
                f"rho={shown(self.rho)} is below -λ_min = {-lowest:.6g} of the kernel matrix, and the steps would not "
                "be convex problems; give a larger number, or 'norm'"
            )
        return rho

    # No minimum ---------------------------------------------------------------------------------------------

    def _is_unbounded(self, setting: _Setting, y: np.ndarray, C: float, solution: DCSolution) -> bool:
        """Whether a direction proves it: that of the steps, or the eigenvector of the smallest negative eigenvalue."""
        if setting.signature[1] == 0:
            return False
        program = DCProgram(setting.geometry, y, C, setting.rho)
        return solution.certificate is not None or any(
            program.recession(direction) is not None for direction in setting.directions.T
        )

    def _tell(
        self, unbounded: np.ndarray, setting: _Setting, solutions: list[DCSolution], C: float, tol: float
    ) -> None:
        moved, steps = max(s.moved for s in solutions), max(len(s.objectives) - 1 for s in solutions)
        if unbounded.any():
            message = (
                f"the objective has no minimum in {unbounded.sum()} of {len(unbounded)} problems: it falls without end "
                f"along negative eigenvalues, as it does wherever one lies between -1/C = {-1 / C:.3g} and 0."
            )
            advice = "Use 'krein-svm', which has a solution, or kernreg.kernels.spectrum(kernel, 'clip')"
            if self.on_unbounded == "raise":
                raise ParameterError(f"{message} {advice}, or on_unbounded='warn' for what {steps} steps lead to")
            if self.on_unbounded == "warn":
                warnings.warn(
                    f"{message} The result is where {steps} steps from zero lead to, and depends on max_iter and rho. "
                    f"{advice}",
                    UnboundedObjectiveWarning,
                    stacklevel=4,
                )
        elif moved > tol:
            warnings.warn(
                f"the last of {steps} steps was {moved:.2g} of the solution long, tol is {tol:g}; raise max_iter, or "
                f"lower rho ({setting.rho:.3g}), which makes steps longer",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _held_out_on_landmarks(
        self, setting: _Setting, targets: ClassTargets, data: TrainingSet, C: float, tol: float, max_iter: int
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return decision values of a fifth of the samples by a machine of the others, in the same coordinates."""
        geometry, fold = setting.geometry, deal(targets.codes(data.y))
        unseen = np.flatnonzero(fold == 0)
        if not len(unseen):
            return None
        seen = np.where(fold == 0, 0.0, geometry.root)

        def both(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            A, B = geometry.both(z)
            return np.where(seen > 0.0, A, 0.0), B

        def adjoint(v: np.ndarray) -> np.ndarray:
            return geometry.adjoint(np.where(seen > 0.0, v, 0.0))

        without = Geometry(geometry.size, both, adjoint, seen, geometry.diagonal)
        values = []
        for y in targets.problems(data.y)[0].Y.T:
            found = DCProgram(without, y, C, setting.rho).solve(tol, max_iter)
            values.append((geometry.both(found.z)[0] / geometry.root)[unseen] + found.intercept)
        return targets.shaped(np.column_stack(values)), unseen


def _ends(product: Any, m: int) -> tuple[float, float, np.ndarray]:
    """Return the least and the largest eigenvalue, and an eigenvector of the least."""
    if m <= _SMALL:
        values, vectors = np.linalg.eigh(np.column_stack([product(column) for column in np.eye(m)]))
        return float(values[0]), float(values[-1]), vectors[:, 0]
    operator = LinearOperator((m, m), matvec=product, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(m)
    low, vector = eigsh(operator, 1, which="SA", v0=start, tol=1e-6)
    high = eigsh(operator, 1, which="LA", v0=start, tol=1e-3, return_eigenvectors=False)
    return float(low[0]), float(high[0]), vector[:, 0]
