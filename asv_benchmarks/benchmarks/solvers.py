"""LS-SVM, AsK-LS and tuning: times, memory, growth, and ratios against the formulas and the searches of others."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import linalg
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import kernreg
from kernreg.solvers import LSSVC, AsKLSClassifier

from .peers import TINY, best_times, extra_peak_bytes, samples, size, sizes, threads, times_as_long

GAMMA = 0.311


def held_kernels(m: int):
    """An asymmetric and a symmetric kernel that hold their matrices, and the sample indices they take."""
    K = samples(m, m) / np.sqrt(m)
    S = K @ K.T
    return K, kernreg.make_kernel("precomputed", K=K), kernreg.make_kernel("precomputed", K=(S + S.T) / 2)


def textbook(K: np.ndarray, y: np.ndarray) -> np.ndarray:
    """AsK-LS as printed: the (2m + 2) system, its matrix included."""
    m = len(K)
    A = np.zeros((2 * m + 2, 2 * m + 2))
    A[0, 2 : m + 2] = A[2 : m + 2, 0] = A[1, m + 2 :] = A[m + 2 :, 1] = 1.0
    A[2:, 2:][np.diag_indices(2 * m)] = 1.0 / GAMMA
    A[2 : m + 2, m + 2 :], A[m + 2 :, 2 : m + 2] = K, K.T
    return np.linalg.solve(A, np.concatenate([[0.0, 0.0], y, y]))


class ExactFits:
    """Fits with the kernel matrix given, m = 3000."""

    timeout = 600

    def setup(self):
        m = size(3000)
        rng = np.random.default_rng(0)
        self.K, self.asymmetric, self.symmetric = held_kernels(m)
        self.X, self.y, self.y10 = np.arange(m)[:, None], rng.integers(2, size=m), rng.integers(10, size=m)
        # Compiles, and makes sure that both solve the same system.
        fitted = self.ask_ls()
        self.ls_svm()
        expected = textbook(self.K, 2.0 * self.y - 1.0)
        np.testing.assert_allclose(fitted.dual_coef_[1], expected[2 : m + 2], rtol=1e-7, atol=1e-9)

    def ask_ls(self, y=None):
        return AsKLSClassifier(self.asymmetric, GAMMA).fit(self.X, self.y if y is None else y)

    def ls_svm(self):
        return LSSVC(self.symmetric, GAMMA).fit(self.X, self.y)

    def time_ask_ls(self):
        self.ask_ls()

    def time_ls_svm(self):
        self.ls_svm()

    def track_ask_ls_over_textbook(self):
        return times_as_long(lambda: textbook(self.K, 2.0 * self.y - 1.0), self.ask_ls)

    def track_ten_classes_over_one(self):
        return times_as_long(lambda: self.ask_ls(self.y10), self.ask_ls)

    def track_ask_ls_over_ls_svm(self):
        return times_as_long(self.ask_ls, self.ls_svm)

    track_ask_ls_over_textbook.unit = "times faster"
    track_ten_classes_over_one.unit = track_ask_ls_over_ls_svm.unit = "times the time"


class Paths:
    """30 values of γ with leave-one-out, as a multiple of the one decomposition this needs."""

    params = ("ls-svm", "ask-ls")
    param_names = ("solver",)
    unit = "times the time"
    timeout = 600

    def setup(self, solver):
        m = size(1500)
        rng = np.random.default_rng(0)
        K, asymmetric, symmetric = held_kernels(m)
        self.X, self.y = np.arange(m)[:, None], rng.integers(2, size=m)
        self.matrix = K if solver == "ask-ls" else symmetric(self.X)
        self.solver = kernreg.make_solver(
            solver, kernel=asymmetric if solver == "ask-ls" else symmetric, gamma=list(np.logspace(-3, 3, 30))
        )
        self.solver.fit(self.X[: m // 10], self.y[: m // 10])  # compiles

    def track_path_over_decomposition(self, solver):
        def decompose():
            if solver == "ask-ls":
                return linalg.svd(self.matrix, lapack_driver="gesdd", check_finite=False)
            return linalg.eigh(self.matrix, driver="evd", check_finite=False)

        return times_as_long(lambda: self.solver.fit(self.X, self.y), decompose)


class Tuning:
    """30 values of γ × 7 of σ on 1000 samples, against a grid search with 10 folds over the same grid."""

    params = ("SVC", "KernelRidge")
    param_names = ("peer",)
    unit = "times faster"
    timeout = 1800
    number = repeat = 1

    def setup(self, peer):
        m, gammas = (60, 3) if TINY else (1000, 30)
        self.X, self.y = make_classification(m, 10, n_informative=6, n_redundant=0, random_state=0)
        self.sigmas, self.gammas = 2.0 ** np.arange(-2, 5)[: 2 if TINY else 7], np.logspace(-2, 3, gammas)
        self.ours()

    def ours(self):
        return kernreg.tune(LSSVC(), {"kernel__sigma": self.sigmas, "gamma": self.gammas}, self.X, self.y)

    def theirs(self, peer):
        widths = 1.0 / self.sigmas**2
        if peer == "SVC":
            return GridSearchCV(SVC(), {"gamma": widths, "C": self.gammas}, cv=10).fit(self.X, self.y)
        grid = {"gamma": widths, "alpha": 1.0 / self.gammas}
        return GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=10).fit(self.X, 2.0 * self.y - 1.0)

    def track_tune_over_grid_search(self, peer):
        with threads(2):
            (ours,) = best_times([self.ours])
            (theirs,) = best_times([lambda: self.theirs(peer)], rounds=1)  # long enough to need no repetition
        return theirs / ours


def _bayes_task(m: int):
    """Two classes with Gaussian noise along a curved boundary, and the Bayes error of it."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((m, 16))
    margin = np.sin(2.0 * X[:, 0]) + X[:, 1]
    clean = margin > 0
    flipped = rng.random(m) < 0.1
    return X, (clean ^ flipped).astype(int), 0.1


class Large:
    """Fits without the kernel matrix in memory, d = 16, rbf."""

    params = (["iterative", "lowrank"], sizes(5_000, 50_000))
    param_names = ("strategy", "m")
    timeout = 3600

    def setup(self, strategy, m):
        self.X, self.y, self.bayes = _bayes_task(m)
        self.solver = LSSVC(
            f"rbf(sigma={np.sqrt(32.0)})", 1.0, strategy=strategy, n_landmarks=min(1000, m // 4), random_state=0
        )
        clone(self.solver).set_params(n_landmarks=20).fit(self.X[:200], self.y[:200])  # compiles

    def fit(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            return self.solver.fit(self.X, self.y)

    def time_fit(self, strategy, m):
        self.fit()

    def track_extra_peak_memory(self, strategy, m):
        return extra_peak_bytes(self.fit)

    def track_error_above_bayes(self, strategy, m):
        model = self.fit()
        X, y, _ = _bayes_task(m + 2000)
        return max(0.0, 1.0 - model.score(X[m:], y[m:]) - self.bayes)

    track_extra_peak_memory.unit = "bytes"
    track_error_above_bayes.unit = "error rate"


class Limits:
    """Memory beyond the data, and the residual of the system; the bars are 2 and 4 GB, and 1e-6 of the first."""

    params = ("iterative, m = 50000", "lowrank, m = 500000")
    param_names = ("work",)
    timeout = 3600

    def setup(self, work):
        strategy, m = work.split(", m = ")
        self.large = Large()
        self.large.setup(strategy, size(int(m)))

    def track_extra_peak_memory(self, work):
        return extra_peak_bytes(self.large.fit)

    def track_residual(self, work):
        """Low-rank solves another system, exactly."""
        return float(self.large.fit().solver_report_.residual)

    track_extra_peak_memory.unit = "bytes"
    track_residual.unit = "relative residual"
