"""SCG-LDK: the kernel nearest to a given one, in LogDet divergence, that is smooth over what is known about pairs.

With the kernel matrix K0 of a given kernel k0 and the normalised Laplacian S of the supervised complete graph
(`side_information`)::

    min_K  tr(K K0⁻¹) - log det(K K0⁻¹) - n + γ ⟨K, S⟩        K = (K0⁻¹ + γ S)⁻¹

and for new samples k(x, z) = k0(x, z) + k0(x, X) Q k0(X, z), Q = -γ (I + γ S K0)⁻¹ S. Neither needs K0⁻¹
(`linalg.graph_penalty`).

Pan, Chen, Chen & Xu, Efficient learning of supervised kernels with a graph-based loss function, Information Sciences
370-371 (2016), section 5.2.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernreg.common.checks import as_number
from kernreg.common.display import Display
from kernreg.common.progress import progress
from kernreg.common.sizes import readable
from kernreg.config import memory_budget
from kernreg.engine.dispatch import current_engine
from kernreg.engine.gram import gram
from kernreg.errors import DataError, ParameterError, shown
from kernreg.kernels import Kernel
from kernreg.kernels.combinations.learned import corrected, projected
from kernreg.kernels.indexed import precomputed
from kernreg.linalg.landmarks.features import symmetric_features
from kernreg.linalg.landmarks.selection import choose_landmarks
from kernreg.solvers.advice import warn_beyond_budget
from kernreg.solvers.declarations import refuse_false_declarations
from kernreg.solvers.dual.gamma import check_gamma
from kernreg.solvers.dual.ls_svm import LSSVC
from kernreg.solvers.kernel_learning.graph_penalty import (
    PenalisedKernel,
    feature_products,
    penalise_by_factors,
    penalise_by_products,
    penalise_features,
    penalty_residual,
)
from kernreg.solvers.kernel_learning.kernel_learner import KernelLearner
from kernreg.solvers.kernel_learning.side_information import LabelInformation, SideInformation
from kernreg.solvers.parameters import KernelParameters, check_choice
from kernreg.solvers.samples import check_samples, input_kind
from kernreg.solvers.symmetry import require_symmetric
from kernreg.solvers.tables import check_table

#: The values of γ that ``gamma="loo"`` chooses from: the paper's.
GAMMAS = (0.01, 0.1, 1.0, 10.0, 100.0)

_MATRICES, _TO_CHOOSE = 5, 13  # of n × n numbers, held at once by an exact fit; by one that chooses γ
_OF_LABELLED = 10  # of labelled × labelled numbers: K, twice, and what its leave-one-out values take
_DEFAULT_LANDMARKS = 500  # where the budget holds
_ON_LANDMARKS, _TO_CHOOSE_ON_THEM = 8, 20  # matrices of landmarks × landmarks: those of the fit, of one that chooses γ
_INACCURATE = 1e-6  # a residual that is worth a warning


@dataclass(frozen=True)
class KernelReport(Display):
    """How a kernel was learned.

    Attributes
    ----------
    strategy : str
        ``"exact"`` or ``"lowrank"``.
    method : str
        ``"cholesky"`` (labels, few pairs), ``"lu"`` (many pairs, a dense matrix) or ``"features"``.
    size : int
        Number of samples.
    gamma : float
    residual : float
        ‖(I + γ K0 S) K Z - K0 Z‖ / ‖K0 Z‖ for random columns Z, K0 being the low-rank matrix where that was taken.
    condition : float
        Condition number of the matrix factorised, estimated or bounded from above.
    side : str
        The form of the side information.
    landmarks : int
        How many samples stand for all; 0 for an exact fit.
    note : str
        Anything else worth saying.
    """

    strategy: str
    method: str
    size: int
    gamma: float
    residual: float
    condition: float
    side: str
    landmarks: int = 0
    note: str = ""


class SCGLDK(KernelLearner, KernelParameters):
    """Learn a kernel from labels or pairs: K = (K0⁻¹ + γ S)⁻¹.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel, optional
        The kernel k0 to start from, symmetric and positive semi-definite.
        By default that of the chain around it, else ``rbf``.
    gamma : float, sequence of float or "loo"
        Weight of the side information. Of a sequence (or of 0.01, 0.1, 1, 10, 100, ``"loo"``) the value is taken with
        which LS-SVM has the best leave-one-out accuracy on the labelled samples, its own γ tuned likewise, on landmarks
        where the matrix of the labelled ones does not fit the memory budget. The learned kernel is held fixed while
        samples are left out, so that accuracy is optimistic: it has seen every label.
    unlabelled : object
        The entry of y that marks samples without a label; None stands for missing values.
    strategy : {"auto", "exact", "lowrank"}
        ``exact`` holds three n × n matrices at once; ``lowrank`` takes Nyström features of landmarks and is linear in
        n. ``auto`` is exact while that fits the memory budget; `solver_report_` says what was taken.
    n_landmarks : int, optional
        Landmarks of the approximation; 500 by default, or fewer where the memory budget holds no more.
    landmarks : str or array of int
        How they are chosen: ``"uniform"``, ``"kmeans++"``, ``"entropy"``, ``"leverage"``, ``"rpcholesky"``; or their
        indices.
    random_state : int, Generator or None
        Of that choice.

    Attributes
    ----------
    kernel_ : Kernel
        The learned kernel, for training samples and new ones: ``corrected(…)``, or ``projected(…)`` where the strategy
        is lowrank.
    gamma_ : float
        The γ used.
    classes_ : ndarray
        Where labels were given.
    X_fit_ : array or CSR
        The training samples.
    solver_report_ : KernelReport
    loo_path_ : dict
        gamma, score, squared_error, where γ was chosen by leave-one-out.
    landmarks_ : ndarray of int
        Where the strategy is lowrank.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from kernreg.solvers import LSSVC, SCGLDK
    >>> X, y = load_iris(return_X_y=True)
    >>> known = np.where(np.arange(150) % 3 == 0, y, -1)  # a third of the labels
    >>> learner = SCGLDK(kernel="rbf(sigma=2.0)", gamma=1.0).fit(X, known)
    >>> labelled = known >= 0
    >>> model = LSSVC(kernel=learner.kernel_).fit(X[labelled], y[labelled])
    >>> bool(model.score(X[~labelled], y[~labelled]) > 0.9)
    True
    """

    requires_symmetric_kernel = True

    def __init__(
        self,
        kernel: Any = None,
        gamma: Any = 1.0,
        *,
        unlabelled: Any = -1,
        strategy: str = "auto",
        n_landmarks: int | None = None,
        landmarks: Any = "uniform",
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.unlabelled = unlabelled
        self.strategy = strategy
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, side_information: SideInformation | None = None) -> SCGLDK:
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
        gamma = check_gamma(self.gamma)
        check_choice("strategy", self.strategy, ("auto", "exact", "lowrank"))
        kernel = self.resolve_kernel()
        X = self._table(X, kernel, reset=True)
        if X.shape[0] < 2:
            raise DataError(f"there is {X.shape[0]} sample; kernels are learned from pairs of samples, give at least 2")
        side = self._check_side(X, y, side_information)
        self.X_fit_ = X
        start = kernel.bind(X)
        refuse_false_declarations(start, X)
        for left_by_another_fit in ("loo_path_", "landmarks_"):
            self.__dict__.pop(left_by_another_fit, None)
        strategy, note = self._pick(X.shape[0], _MATRICES if isinstance(gamma, float) else _TO_CHOOSE)
        learner: _Exact | _LowRank
        if strategy == "exact":
            learner = _Exact(start, X, side)
        else:
            learner = _LowRank(start, X, side, self._choose_landmarks(start, X, gamma))
            self.landmarks_ = learner.chosen
        if isinstance(gamma, float):
            self.gamma_ = gamma
        else:
            grid = np.asarray(GAMMAS) if gamma is None else gamma
            self.gamma_ = self._choose_gamma(learner, side, grid)
            note = "; ".join(part for part in (note, f"gamma chosen by leave-one-out from {len(grid)} values") if part)
        self.kernel_, self.solver_report_ = learner.learned(self.gamma_, note)
        if not self.solver_report_.residual <= _INACCURATE:
            warnings.warn(
                f"the learned kernel satisfies its equation to {self.solver_report_.residual:.2g} only: gamma="
                f"{self.gamma_:g} times the kernel matrix is too large for double precision (condition number "
                f"{self.solver_report_.condition:.2g}). Take a smaller gamma, or scale the samples or the kernel",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _checked(self, X: Any) -> Any:
        return self._table(X, self.kernel_, reset=False)

    def _table(self, X: Any, kernel: Kernel, *, reset: bool) -> Any:
        if input_kind(kernel) == "any":  # a feature map takes anything, but a learned kernel holds its samples
            return check_table(self, X, reset=reset)
        return check_samples(self, X, kernel, reset=reset)

    def _pick(self, n: int, matrices: int) -> tuple[str, str]:
        needed, budget = matrices * 8 * n * n, memory_budget()
        fits = current_engine().fits(needed)
        if self.strategy == "exact" and not fits and 8 * n * n <= budget:
            warn_beyond_budget(needed, f"strategy='exact' with {n} samples", "take strategy='lowrank'", stacklevel=4)
        if self.strategy != "auto":
            return self.strategy, ""
        if fits:
            return "exact", ""
        return "lowrank", f"strategy 'lowrank': {n} samples do not fit the memory budget of {readable(budget)} exactly"

    def _choose_landmarks(self, kernel: Kernel, X: Any, gamma: Any) -> np.ndarray:
        count, matrices = self.n_landmarks, _ON_LANDMARKS if isinstance(gamma, float) else _TO_CHOOSE_ON_THEM
        if count is None and isinstance(self.landmarks, str):
            affordable = int(np.sqrt(memory_budget() / (8 * matrices)))
            count = max(1, min(X.shape[0], _DEFAULT_LANDMARKS, affordable))
        elif 1 <= (given := as_number(np.size(self.landmarks) if count is None else count)) <= X.shape[0]:
            what = f"strategy='lowrank' with {given:g} landmarks"
            warn_beyond_budget(matrices * 8 * given**2, what, "take fewer landmarks (n_landmarks)", stacklevel=4)
        return choose_landmarks(kernel, X, count, self.landmarks, random_state=self.random_state)

    def _choose_gamma(self, learner: _Exact | _LowRank, side: SideInformation, grid: np.ndarray) -> float:
        """Return the γ whose kernel gives LS-SVM the best leave-one-out accuracy on the labelled samples."""
        if not isinstance(side, LabelInformation):
            raise ParameterError(
                f"gamma={shown(self.gamma)} is chosen by the leave-one-out accuracy of a classifier, which needs "
                f"labels, and there is {side!r}; give gamma as a number"
            )
        labels = side.codes[side.labelled]
        scores = np.empty((len(grid), 2))
        with progress("gamma", len(grid)) as report:
            for g, value in enumerate(grid):
                report(g)
                path = learner.machine(float(value), side.labelled, labels)
                best = int(np.lexsort((-path.loo_path_["squared_error"], path.loo_path_["score"]))[-1])
                scores[g] = path.loo_path_["score"][best], -path.loo_path_["squared_error"][best]
        self.loo_path_ = {"gamma": grid, "score": scores[:, 0], "squared_error": -scores[:, 1]}
        return float(grid[int(np.lexsort((scores[:, 1], scores[:, 0]))[-1])])


def _machine_of(K: np.ndarray, labels: np.ndarray) -> LSSVC:
    return LSSVC(kernel=precomputed(K=K), gamma="loo", strategy="exact").fit(np.arange(len(K)), labels)


class _Exact:
    """Learning with n × n matrices in memory."""

    def __init__(self, kernel: Kernel, X: Any, side: SideInformation):
        self.kernel, self.X, self.side = kernel, X, side
        factors = side.factors()
        few = factors is not None and 2 * factors[0].shape[1] <= X.shape[0] + 8
        self.factors = (factors[0].toarray(), factors[1].toarray()) if factors is not None and few else None

    def _matrix(self) -> np.ndarray:
        K = self.kernel(self.X)
        if not np.isfinite(K.sum()) and not np.isfinite(K).all():
            raise DataError(f"the kernel {self.kernel.name!r} is not finite on these samples; check its parameters")
        require_symmetric(self.kernel, K, who="SCGLDK")
        return np.ascontiguousarray(K, dtype=np.float64)

    def _penalised(self, gamma: float) -> PenalisedKernel:
        if self.factors is not None:
            return penalise_by_factors(self._matrix(), *self.factors, gamma)
        definite = bool(self.kernel.definite)
        return penalise_by_products(self._matrix(), self.side.laplacian, gamma, definite=definite)

    def machine(self, gamma: float, labelled: np.ndarray, labels: np.ndarray) -> LSSVC:
        """Return LS-SVM of the labelled samples with the learned kernel."""
        return _machine_of(self._penalised(gamma).matrix[np.ix_(labelled, labelled)], labels)

    def learned(self, gamma: float, note: str) -> tuple[Kernel, KernelReport]:
        """Return the learned kernel and how it was learned."""
        found = self._penalised(gamma)
        operator = self.kernel.operator(self.X)
        residual = penalty_residual(operator.matmat, found.matrix, self.side.laplacian, gamma)
        kernel = corrected(
            self.kernel, self.X, found.correction, training=found.matrix, positive=bool(self.kernel.definite)
        )
        report = KernelReport(
            "exact", found.method, len(found.matrix), gamma, residual, found.condition, self.side.form, note=note
        )
        return kernel, report


class _LowRank:
    """Learning on Nyström features: nothing larger than samples × landmarks, in blocks."""

    def __init__(self, kernel: Kernel, X: Any, side: SideInformation, chosen: np.ndarray):
        self.kernel, self.X, self.side, self.chosen = kernel, X, side, chosen
        if not kernel.symmetric:
            require_symmetric(kernel, kernel(X[chosen]), who="SCGLDK")
        self.features = symmetric_features(kernel, X, chosen, definite=bool(kernel.definite))
        if np.any(self.features.signs < 0):
            raise DataError(
                f"the kernel {kernel.name!r} is indefinite on the landmarks, and kernels are learned from positive "
                "semi-definite ones: kernreg.kernels.spectrum(kernel, 'clip'), or a kernel such as 'rbf'"
            )
        self.products = feature_products(self.features, side.factors(), side.laplacian)

    def machine(self, gamma: float, labelled: np.ndarray, labels: np.ndarray) -> LSSVC:
        """Return LS-SVM of the labelled samples with the learned kernel, on landmarks where its matrix is too large."""
        F, _, _ = penalise_features(self.features, self.products, gamma)
        if not current_engine().fits(_OF_LABELLED * 8 * len(labels) ** 2):
            kernel = projected(self.kernel, self.features.landmarks, F)
            # As many landmarks as the kernel has dimensions are all of it, but for rounding.
            count = min(len(labels), len(self.chosen))
            machine = LSSVC(kernel=kernel, gamma="loo", strategy="lowrank", n_landmarks=count)
            return machine.fit(self.X[labelled], labels)
        mapped = np.asarray(self.kernel(self.X[labelled], self.features.landmarks), dtype=np.float64) @ F
        return _machine_of(gram(mapped), labels)

    def learned(self, gamma: float, note: str) -> tuple[Kernel, KernelReport]:
        """Return the learned kernel and how it was learned."""
        F, residual, condition = penalise_features(self.features, self.products, gamma)
        kernel = projected(self.kernel, self.X[self.chosen], F)
        report = KernelReport(
            "lowrank",
            "features",
            self.X.shape[0],
            gamma,
            residual,
            condition,
            self.side.form,
            landmarks=len(self.chosen),
            note=note,
        )
        return kernel, report
