"""The dual system of LS-SVM by blocks of samples: block coordinate descent, the kernel matrix never in memory."""

from __future__ import annotations

import numpy as np

from kernreg.common.progress import progress
from kernreg.errors import ParameterError
from kernreg.linalg.krylov.block_descent import BlockSettings, solve_by_blocks
from kernreg.solvers.dual.solution import DualSolution
from kernreg.solvers.dual.strategy import Settings
from kernreg.solvers.dual.training import TrainingSet


class BlockDescentSystem:
    """The system by blocks, with a progress bar on a terminal; for positive semi-definite kernels only.

    Parameters
    ----------
    symmetric, data, Y, settings
        As for `IterativeSystem`.
    """

    landmarks = None

    def __init__(self, symmetric: bool, data: TrainingSet, Y: np.ndarray, settings: Settings):
        if not symmetric:
            raise ParameterError(
                "strategy='blocks' solves the system of LS-SVM, and that of AsK-LS is not positive definite; use "
                "strategy='iterative' or 'lowrank', or 'ls-svm' ('ls-svr') where the kernel is symmetric"
            )
        if data.kernel.definite is not True:
            known = "is known not to be so" if data.kernel.definite is False else "is not known to be so"
            raise ParameterError(
                f"strategy='blocks' needs a positive definite kernel, and {data.kernel.name!r} {known}; use "
                "strategy='iterative', which takes any symmetric kernel, or 'lowrank'"
            )
        self._data, self._Y, self._settings = data, Y, settings
        self.dtype = data.kernel_dtype()

    def solve(self, gamma: float) -> DualSolution:
        """Solve for one γ."""
        data, settings = self._data, self._settings
        with progress("passes over blocks", settings.max_iter) as show:
            blocks = BlockSettings(
                tol=settings.tol,
                max_iter=settings.max_iter,
                max_seconds=settings.max_seconds,
                rank=settings.n_landmarks,
                random_state=settings.random_state,
                watch=lambda passes, ratio: show(passes),
            )
            a, b, report = solve_by_blocks(data.kernel, data.X, self._Y, gamma, weights=data.weights, settings=blocks)
        return DualSolution({"decision": a}, {"decision": b}, report)
