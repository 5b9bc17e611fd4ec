"""Fisher-score kernel: a kernel stretched where that moves the classes apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh

from kernreg.errors import DataError, shown
from kernreg.linalg import generator
from kernreg.solvers import check_choice, check_count, check_number
from kernreg_metric.base import FromKernel
from kernreg_metric.conformal import conformal_kernel
from kernreg_metric.report import LearningReport

METHODS = ("ascent", "eigen")

_FAINT = 0.01


class FisherScore(FromKernel):
    """A data-dependent kernel k(x, z) = q(x) q(z) k_0(x, z) with the best Fisher score for the classes.

    q(x) = α_0 + Σ_i α_i k_1(x, a_i), with some of the labelled samples as cores a_i. The score is the ratio of the
    between-class to the within-class scatter in feature space, a quotient of quadratic forms in α::

        max_α  tr S_b / tr S_w = αᵀMα / αᵀNα       M = EᵀBE,  N = EᵀWE,  E = [1, k_1(X, a)]
        B = K_0 ∘ (P - 11ᵀ/n),       W = K_0 ∘ (I - P),       P_ij = 1/n_c for two samples of class c, 0 otherwise

    K_0 is the matrix of the labelled samples. This is what the literature on supervised kernels calls the Fisher score;
    it is not the Fisher kernel of a generative model. New samples are in the same formula.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel, optional
        The symmetric, positive semi-definite kernel k_0 to start from.
        By default that of the chain around it, else ``rbf``.
    basis : str, KernelFamily or Kernel, optional
        k_1; by default the same as ``kernel``.
    n_cores : int or float
        How many cores: a number of samples, or a fraction of the labelled ones.
    method : {"ascent", "eigen"}
        ``ascent``: steps along the gradient of the score from q = 1, each shorter than the one before. Where they lead
        depends on ``step`` and ``max_iter``, which regularise: a higher score is not always better, because in the end
        q vanishes at samples that are hard to place. ``eigen``: the α with the largest score of all, from a
        generalised eigenvalue problem.
    step : float
        Length of the first step of ``ascent``; the lengths fall to zero linearly.
    max_iter : int
        Number of steps of ``ascent``.
    ridge : float
        For ``eigen``: N + ridge · tr(N)/size · I stands in for N, which is close to singular.
    unlabelled : object
        The entry of y that marks samples without a label; None stands for missing values.
    random_state : int, Generator or None
        Of the choice of cores.

    Attributes
    ----------
    kernel_ : Kernel
        The learned kernel, for training samples and new ones: ``kernel * conformal(…)``, scaled so that the mean of
        k(x, x) over the labelled samples is what it was.
    cores_ : ndarray of int
        Positions of the cores in X.
    coefficients_ : ndarray
        α, the constant first.
    score_, initial_score_ : float
        tr S_b / tr S_w of the learned kernel and of k_0, on the labelled samples.
    classes_ : ndarray
    X_fit_ : array or CSR
        The training samples.
    n_iter_ : int
    solver_report_ : LearningReport
        The objective is the score; the note says where q nearly vanishes.

    References
    ----------
    Xiong, Swamy & Ahmad, Optimizing the kernel in the empirical feature space, IEEE Transactions on Neural Networks 16
    (2005), for two classes; Li, Wang, Chu & Roddick, Kernel self-optimization learning for kernel-based feature
    extraction and recognition, Information Sciences 257 (2014).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> learner = FisherScore(kernel="rbf(sigma=4.0)").fit(X, y)
    >>> bool(learner.score_ > 1.2 * learner.initial_score_)
    True
    """

    _matrices = 5.0

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        kernel: Any = None,
        *,
        basis: Any = None,
        n_cores: float = 1.0 / 3.0,
        method: str = "ascent",
        step: float = 0.01,
        max_iter: int = 200,
        ridge: float = 1e-3,
        unlabelled: Any = -1,
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.basis = basis
        self.n_cores = n_cores
        self.method = method
        self.step = step
        self.max_iter = max_iter
        self.ridge = ridge
        self.unlabelled = unlabelled
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> FisherScore:
        """Learn the kernel from samples and labels.

        Parameters
        ----------
        X : array-like or CSR of shape (n, d), or sample indices for a kernel that holds its matrix
            Samples; those without a label have no influence on the kernel.
        y : array-like of shape (n,)
            Labels, ``unlabelled`` where there is none.
        """
        check_choice("method", self.method, METHODS)
        step, ridge = check_number("step", self.step, 0.0), check_number("ridge", self.ridge, 0.0)
        max_iter = check_count("max_iter", self.max_iter)
        kernel, X = self._start(X)
        side = self._check_labels(X, y)
        labelled = np.flatnonzero(side.codes >= 0)
        self.cores_ = labelled[self._choose_cores(len(labelled))]
        basis = (kernel if self.basis is None else self.resolve_kernel("basis")).bind(X[self.cores_])
        K = self._matrix(kernel, X[labelled], beside=24.0 * len(labelled) * len(self.cores_))
        between, within = scatter_forms(K, side.codes[labelled])
        E = np.hstack([np.ones((len(labelled), 1)), basis(X[labelled], X[self.cores_])]).astype(np.float64)
        M, N = E.T @ between @ E, E.T @ within @ E
        if N[0, 0] <= 0.0:
            raise DataError(
                "samples of a class are all one point to the kernel, so that their scatter is zero and the score "
                "infinite from the beginning; there is nothing to improve. Check the kernel's parameters"
            )
        if self.method == "ascent":
            alpha, self.n_iter_ = _ascend(M, N, step, max_iter), max_iter
        else:
            alpha, self.n_iter_ = _best_quotient(M, N, ridge), 1
        q = E @ alpha
        alpha *= np.sqrt(np.trace(K) / float(K.diagonal() @ q**2)) * (1.0 if q.sum() >= 0.0 else -1.0)
        self.coefficients_ = alpha
        self.initial_score_, self.score_ = float(M[0, 0] / N[0, 0]), float(alpha @ M @ alpha) / float(alpha @ N @ alpha)
        self.kernel_ = conformal_kernel(kernel, basis, X[self.cores_], alpha)
        faint = int(np.sum(np.abs(q) < _FAINT * np.abs(q).max()))
        note = (
            f"q nearly vanishes at {faint} labelled sample(s), which become one point; take fewer steps"
            if faint
            else ""
        )
        self.solver_report_ = LearningReport(self.method, X.shape[0], self.score_, self.n_iter_, note=note)
        return self

    def _choose_cores(self, n: int) -> np.ndarray:
        wanted: Any = self.n_cores
        if isinstance(wanted, float | np.floating):
            count = max(1, round(check_number("n_cores", wanted, 0.0, np.nextafter(1.0, 2.0)) * n))
        else:
            count = check_count("n_cores", wanted)
        if count > n:
            raise DataError(
                f"n_cores={shown(wanted)}, and there are {n} labelled samples; give at most {n}, or a fraction"
            )
        return np.sort(generator(self.random_state).choice(n, count, replace=False))


def scatter_forms(K: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return B and W: qᵀBq and qᵀWq are the traces of the scatter matrices of the kernel q(x) q(z) k(x, z).

    >>> B, W = scatter_forms(np.ones((2, 2)), np.array([0, 1]))
    >>> B.tolist(), W.tolist()
    ([[0.5, -0.5], [-0.5, 0.5]], [[0.0, 0.0], [0.0, 0.0]])
    """
    share = np.where(codes[:, None] == codes, 1.0 / np.bincount(codes)[codes], 0.0)
    return K * (share - 1.0 / len(K)), K * (np.eye(len(K)) - share)


def _ascend(M: np.ndarray, N: np.ndarray, step: float, count: int) -> np.ndarray:
    """Follow the gradient of αᵀMα / αᵀNα on the unit sphere, from the constant function."""
    alpha = np.zeros(len(M))
    alpha[0] = 1.0
    for number in range(count):
        ahead, along = M @ alpha, N @ alpha
        within = float(alpha @ along)
        if within <= 0.0:  # the score is infinite: nothing is left to improve
            break
        score = float(alpha @ ahead) / within
        alpha = alpha + step * (1.0 - number / count) * (ahead - score * along) / within
        alpha /= np.linalg.norm(alpha)
    return alpha


def _best_quotient(M: np.ndarray, N: np.ndarray, ridge: float) -> np.ndarray:
    """Return the α with the largest αᵀMα / αᵀ(N + ridge)α."""
    lifted = N + (ridge * np.trace(N) / len(N)) * np.eye(len(N))
    return eigh(0.5 * (M + M.T), 0.5 * (lifted + lifted.T), subset_by_index=[len(M) - 1, len(M) - 1])[1][:, 0]
