"""Systems without the kernel matrix: iterations that landmarks of preconditioners save, and residuals after equal time.

The sets are those of the data folder that KERNREG_DATA names; what needs them is left out without it.
"""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import kernreg
from kernreg.linalg.krylov.block_descent import BlockSettings, solve_by_blocks
from kernreg.linalg.krylov.cg_and_minres import IterationSettings
from kernreg.linalg.krylov.dual_systems import solve_symmetric_iterative
from kernreg.linalg.landmarks.pivoted_cholesky import KernelMatrix, pivoted_cholesky

from .peers import TINY, samples, size, threads

SETS = ("covtype", "keggundirected", "casp_protein", "spambase", "kin40k")
METHODS = ("uniform", "kmeans++", "leverage", "rpcholesky")
KERNEL, GAMMA = "rbf(sigma='3*scale')", 1e3


def real_set(name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The standardised features of n samples of a set, drawn at random, and standardised targets."""
    path = Path(os.environ.get("KERNREG_DATA", ".")) / f"{name}.npz"
    if TINY:
        X = samples(n, 6)
        return X, np.sin(X[:, 0]) + 0.1 * X[:, 1]
    if not path.exists():
        raise NotImplementedError(f"{path} is missing; set KERNREG_DATA to the folder of the sets")
    with np.load(path) as arrays:
        chosen = np.random.default_rng(0).permutation(len(arrays["y"]))[:n]
        X, y = arrays["X"][chosen].astype(np.float64), arrays["y"][chosen].astype(np.float64)
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


def iterations(
    X: np.ndarray, y: np.ndarray, landmarks: str, rank: int, spec: str = KERNEL, gamma: float = GAMMA
) -> int:
    """Iterations of conjugate gradients to a relative residual of 1e-6, no more than 1000."""
    settings = IterationSettings(tol=1e-6, max_iter=1000, rank=rank, landmarks=landmarks)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return solve_symmetric_iterative(kernreg.make_kernel(spec).bind(X), X, y, gamma, settings=settings)[
            2
        ].iterations


class Preconditioners:
    """Iterations with m/5 landmarks, m = 2000."""

    params = (SETS, METHODS)
    param_names = ("set", "landmarks")
    timeout = 1800

    def setup(self, name, landmarks):
        self.X, self.y = real_set(name, size(2000))

    def track_iterations(self, name, landmarks):
        return iterations(self.X, self.y, landmarks, len(self.X) // 5)

    track_iterations.unit = "iterations"


class Pivots:
    """The bar: at most half of the iterations of uniform landmarks on four of five sets."""

    timeout = 3600

    def track_sets_with_half_of_the_iterations(self):
        met = 0
        for name in SETS:
            X, y = real_set(name, size(2000))
            uniform, pivots = (iterations(X, y, word, len(X) // 5) for word in ("uniform", "rpcholesky"))
            met += pivots <= 0.5 * uniform
        return met

    track_sets_with_half_of_the_iterations.unit = "sets"

    def setup(self):
        self.X, _ = real_set("covtype", size(10_000))
        self.kernel = kernreg.make_kernel("rbf(sigma=7.0)")
        self.kernel(self.X[:10])

    def time_pivoted_cholesky(self):
        pivoted_cholesky(KernelMatrix(self.kernel, self.X), min(400, len(self.X)), random_state=0)


#: Sets, kernels and γ with which conjugate gradients hardly move.
HARD = {
    "kin40k, rbf, γ = 1e4": ("kin40k", "rbf", 1e4),
    "covtype, laplacian, γ = 1e4": ("covtype", "laplacian", 1e4),
    "casp_protein, matern, γ = 1e4": ("casp_protein", "matern", 1e4),
}


def residual_after(work: str, strategy: str, n: int, seconds: float) -> tuple[float, int, float]:
    """Relative residual, iterations or passes, and seconds, of a strategy that is stopped by time."""
    name, spec, gamma = HARD[work]
    X, y = real_set(name, n)
    kernel = kernreg.make_kernel(spec).bind(X)
    kernel(X[:10])
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if strategy == "blocks":
            blocks = BlockSettings(tol=1e-6, max_iter=10**6, max_seconds=seconds)
            report = solve_by_blocks(kernel, X, y, gamma, settings=blocks)[2]
        else:
            krylov = IterationSettings(tol=1e-6, max_iter=10**6, max_seconds=seconds, landmarks=strategy)
            report = solve_symmetric_iterative(kernel, X, y, gamma, settings=krylov)[2]
    return report.residual, report.iterations, time.perf_counter() - start


class EqualTime:
    """The residual of the full system after a minute, n = 20 000."""

    params = (tuple(HARD), ("blocks", "uniform", "rpcholesky"))
    param_names = ("work", "strategy")
    timeout = 1800

    def setup(self, work, strategy):
        self.n, self.seconds = size(20_000), 1.0 if TINY else 60.0

    def track_residual(self, work, strategy):
        with threads(2):
            return residual_after(work, strategy, self.n, self.seconds)[0]

    track_residual.unit = "relative residual"
