"""What the learners of this package share: from samples and a starting kernel to its matrix, checked."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernreg import get_config
from kernreg.errors import DataError
from kernreg.kernels import Kernel
from kernreg.solvers import (
    KernelLearner,
    KernelParameters,
    LabelInformation,
    check_samples,
    require_symmetric,
    warn_beyond_budget,
)
from kernreg_metric.report import LearningReport

_NEGATIVE = 1e-8  # eigenvalues below this fraction of the largest are more than rounding


class Learner(KernelLearner):
    """A kernel learner that says how it went."""

    solver_report_: LearningReport

    def _check_labels(self, X: Any, y: Any) -> LabelInformation:
        """Return labels, for methods that take nothing else."""
        side = self._check_side(X, y, None)
        assert isinstance(side, LabelInformation)
        return side


class FromKernel(Learner, KernelParameters):
    """A learner that starts from a kernel k_0 and changes it."""

    #: Declared for the conformance kit, which then holds the learner to refusing asymmetric kernels.
    requires_symmetric_kernel: ClassVar[bool] = True

    kernel: Any

    #: Square matrices held at once, K among them, while a kernel is learned from it.
    _matrices: ClassVar[float]

    def _start(self, X: Any) -> tuple[Kernel, Any]:
        """Return the starting kernel, bound to the samples, and the samples, checked."""
        kernel = self.resolve_kernel()
        X = check_samples(self, X, kernel, reset=True)
        if X.shape[0] < 2:
            raise DataError(f"there is {X.shape[0]} sample; kernels are learned from pairs of samples, give at least 2")
        self.X_fit_ = X
        return kernel.bind(X), X

    def _matrix(self, kernel: Kernel, X: Any, beside: float = 0.0) -> np.ndarray:
        """Return k0(X): finite, symmetric, without negative eigenvalues; ``beside`` counts bytes held besides."""
        n = X.shape[0]
        if 8 * n * n <= get_config().memory_budget():  # else the matrix itself is refused
            warn_beyond_budget(
                8 * self._matrices * n * n + beside,
                f"a kernel learned by {type(self).__name__} from {n} samples",
                "give labels or pairs of fewer samples",
                stacklevel=4,
            )
        K = kernel(X)
        if not np.isfinite(K).all():
            raise DataError(f"the kernel {kernel.name!r} is not finite on these samples; check its parameters")
        require_symmetric(kernel, K, who=type(self).__name__)
        K = np.array(K, dtype=np.float64)
        if kernel.definite is not True:
            lowest, highest = np.linalg.eigvalsh(K)[[0, -1]]
            if lowest < -_NEGATIVE * max(highest, -lowest):
                raise DataError(
                    f"the kernel {kernel.name!r} is indefinite on these samples (eigenvalues from {lowest:.3g} to "
                    f"{highest:.3g}), and {type(self).__name__} starts from a positive semi-definite one: "
                    "kernreg.kernels.spectrum(kernel, 'clip'), or a kernel such as 'rbf'"
                )
        return K

    def _checked(self, X: Any) -> Any:
        return check_samples(self, X, self.kernel_, reset=False)


def warn_not_converged(report: LearningReport, tol: float, advice: str) -> None:
    """Warn in scikit-learn's way when the iterations ran out."""
    if not report.converged:
        warnings.warn(
            f"{report.method} stopped after {report.iterations} iterations with residual {report.residual:.2g}, tol is "
            f"{tol:g}; {advice}",
            ConvergenceWarning,
            stacklevel=4,
        )
