"""Ideal regularisation: a kernel drawn towards the ideal one, in which samples of a class are alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernreg import make_kernel
from kernreg.errors import ParameterError
from kernreg.solvers import SideInformation, check_choice, check_number
from kernreg_metric.base import FromKernel
from kernreg_metric.report import LearningReport

IDEALS = ("simplex", "indicator")

_LARGEST = 600.0  # exp of more is beyond the largest number

#: f(t) - 1: by how much more than before the metric weighs a direction of strength t.
_GROWTH: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "von-neumann": np.expm1,
    "logdet": lambda t: t / (1.0 - t),
    "frobenius": lambda t: t,
}


def ideal_factor(codes: np.ndarray, n_classes: int, ideal: str) -> np.ndarray:
    """Return Z with T = Z Zᵀ, one row for each labelled sample.

    >>> Z = ideal_factor(np.array([0, 1, 1]), 2, "simplex")
    >>> (Z @ Z.T).round(12).tolist()
    [[1.0, -1.0, -1.0], [-1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]]
    """
    Z = np.eye(n_classes)
    if ideal == "simplex":
        Z = np.sqrt(n_classes / (n_classes - 1.0)) * (Z - 1.0 / n_classes)
    return Z[codes]


def ideal_kernel(y: Any, ideal: str = "simplex", *, unlabelled: Any = -1) -> np.ndarray:
    """Return the ideal kernel T of labels: 1 for two samples of one class, less for others.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels; rows and columns of samples without one are zero.
    ideal : {"simplex", "indicator"}
        Samples of different classes have -1/(C - 1), as the corners of a simplex (yyᵀ for two classes, y = ±1), or 0.
        Both are positive semi-definite, which 1 and -1 for more than two classes is not.
    unlabelled : object
        The entry of y that marks samples without a label; None stands for missing values.

    Examples
    --------
    >>> ideal_kernel(["a", "b", "a"]).tolist()
    [[1.0, -1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, 1.0]]
    >>> ideal_kernel([0, 2, -1], "indicator").tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    check_choice("ideal", ideal, IDEALS)
    side = SideInformation.from_labels(y, unlabelled)
    codes, n_classes = side.codes, len(side.classes)
    T = np.where(codes[:, None] == codes, 1.0, -1.0 / (n_classes - 1.0) if ideal == "simplex" else 0.0)
    T[codes < 0] = 0.0
    T[:, codes < 0] = 0.0
    return T


class IdealRegularized(FromKernel):
    """A kernel pulled towards the ideal one of the labels, in closed form: IR-Gaussian, if it starts from a Gaussian.

    With the ideal kernel T of the labelled samples and features Φ of the kernel k_0, K_0 = ΦᵀΦ, the kernel is
    K = ΦᵀWΦ, its metric W near the identity and K aligned with T::

        min_W  D(W, I) - γ' ⟨K, T⟩,       γ' = γ / largest eigenvalue of T K_0

    The regulariser -⟨K, T⟩ is linear in K, and so the optimum is a function of ΦTΦᵀ, W = f(γ'ΦTΦᵀ):

    ===============  ======================================  ==============  ======================================
    ``divergence``   D(W, I)                                 f(t)            K
    ===============  ======================================  ==============  ======================================
    ``von-neumann``  tr(W log W - W + I)                     exp(t)          K_0^½ exp(γ' K_0^½ T K_0^½) K_0^½
    ``logdet``       tr W - log det W - d                    1/(1 - t)       (K_0⁻¹ - γ' T)⁻¹, for γ < 1
    ``frobenius``    ½ ‖W - I‖²                              1 + t           K_0 + γ' K_0 T K_0
    ===============  ======================================  ==============  ======================================

    T = ZZᵀ has a rank of at most the number of classes, so the eigenpairs t_c, w_c of γ' Zᵀ K_0 Z are all that is
    needed, and new samples are in the same formula::

        k(x, z) = k_0(x, z) + Σ_c (f(t_c) - 1)/t_c · γ' φ_c(x) φ_c(z),       φ_c(x) = k_0(x, X) Z w_c

    K_0 is never inverted and may be singular. The scaling of γ makes it free of units: the direction that the labels
    support most is stretched by f(γ).

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel, optional
        The symmetric, positive semi-definite kernel k_0 to start from.
        By default that of the chain around it, else ``rbf``.
    gamma : float
        Strength γ; less than 1 for ``logdet``.
    divergence : {"von-neumann", "logdet", "frobenius"}
    ideal : {"simplex", "indicator"}
        The ideal kernel, see `ideal_kernel`.
    unlabelled : object
        The entry of y that marks samples without a label; None stands for missing values.

    Attributes
    ----------
    kernel_ : Kernel
        The learned kernel, for training samples and new ones: ``kernel + projected(…)``.
    scale_ : float
        γ'/γ, one over the largest eigenvalue of T K_0.
    stretches_ : ndarray
        f(t_c), by how much the metric stretches each direction.
    classes_ : ndarray
    X_fit_ : array or CSR
        The training samples.
    solver_report_ : LearningReport
        The objective is the one above.

    References
    ----------
    Pan, Lai & Shen, Ideal regularization for learning kernels from labels, Neural Networks 56 (2014), for the
    regulariser and the von Neumann divergence; Jain, Kulis, Davis & Dhillon, Metric and kernel learning using a linear
    transformation, JMLR 13 (2012), for divergences of the metric, which is what makes the kernel known at new samples.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from kernreg.solvers import LSSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> known = np.where(np.arange(150) % 3 == 0, y, -1)  # a third of the labels
    >>> learner = IdealRegularized(kernel="rbf(sigma=2.0)").fit(X, known)
    >>> labelled = known >= 0
    >>> model = LSSVC(kernel=learner.kernel_).fit(X[labelled], y[labelled])
    >>> bool(model.score(X[~labelled], y[~labelled]) > 0.9)
    True
    """

    _matrices = 3.0

    def __init__(
        self,
        kernel: Any = None,
        gamma: float = 1.0,
        *,
        divergence: str = "von-neumann",
        ideal: str = "simplex",
        unlabelled: Any = -1,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.divergence = divergence
        self.ideal = ideal
        self.unlabelled = unlabelled

    def fit(self, X: Any, y: Any = None) -> IdealRegularized:
        """Learn the kernel from samples and labels.

        Parameters
        ----------
        X : array-like or CSR of shape (n, d), or sample indices for a kernel that holds its matrix
            Samples; those without a label have no influence on the kernel.
        y : array-like of shape (n,)
            Labels, ``unlabelled`` where there is none.
        """
        gamma = self._check_gamma()
        check_choice("ideal", self.ideal, IDEALS)
        kernel, X = self._start(X)
        side = self._check_labels(X, y)
        labelled = np.flatnonzero(side.codes >= 0)
        K = self._matrix(kernel, X[labelled])
        Z = ideal_factor(side.codes[labelled], len(self.classes_), self.ideal)
        strengths, directions = np.linalg.eigh(Z.T @ K @ Z)
        kept = strengths > len(strengths) * np.finfo(np.float64).eps * max(strengths[-1], 0.0)
        if not kept.any():
            raise ParameterError(
                f"the kernel {kernel.name!r} does not tell the classes apart at all on these samples (⟨K, T⟩ is zero), "
                "there is no direction to stretch; check its parameters"
            )
        strengths, directions = strengths[kept], directions[:, kept]
        self.scale_ = float(1.0 / strengths[-1])
        t = gamma * self.scale_ * strengths
        growth = _GROWTH[self.divergence](t)
        self.stretches_ = 1.0 + growth
        # (f(t) - 1) / t · γ' is (f(t) - 1) over the strength itself.
        factor = (Z @ directions) * np.sqrt(growth / strengths)
        self.kernel_ = kernel + make_kernel("projected", kernel=kernel, samples=X[labelled], factor=factor)
        self.solver_report_ = LearningReport("closed form", X.shape[0], self._objective(t))
        return self

    def _check_gamma(self) -> float:
        check_choice("divergence", self.divergence, tuple(_GROWTH))
        high = {"logdet": 1.0, "von-neumann": _LARGEST}.get(self.divergence, 1e100)
        return check_number("gamma", self.gamma, 0.0, high)

    def _objective(self, t: np.ndarray) -> float:
        """Return D(W, I) - γ'⟨K, T⟩: W differs from I in the directions of the labels only."""
        w = self.stretches_
        divergence = {
            "von-neumann": lambda: w * np.log(w) - w + 1.0,
            "logdet": lambda: w - np.log(w) - 1.0,
            "frobenius": lambda: 0.5 * (w - 1.0) ** 2,
        }[self.divergence]()
        return float(np.sum(divergence - w * t))
