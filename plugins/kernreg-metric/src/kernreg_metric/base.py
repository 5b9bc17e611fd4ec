"""What the learners of this package share: from samples and a starting kernel to its matrix, checked."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernreg.errors import DataError, ParameterError
from kernreg.kernels import Kernel
from kernreg.solvers import KernelLearner, KernelParameters, LabelInformation, check_samples, require_symmetric
from kernreg_metric.report import LearningReport

_LARGEST_COUNT = 2**31 - 1
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

    def _start(self, X: Any) -> tuple[Kernel, Any]:
        """Return the starting kernel, bound to the samples, and the samples, checked."""
        kernel = self.resolve_kernel()
        X = check_samples(self, X, kernel, reset=True)
        if X.shape[0] < 2:
            raise DataError(f"there is {X.shape[0]} sample; kernels are learned from pairs of samples, give at least 2")
        self.X_fit_ = X
        return kernel.bind(X), X

    def _matrix(self, kernel: Kernel, X: Any) -> np.ndarray:
        """Return k0(X): finite, symmetric, without negative eigenvalues."""
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


def check_number(name: str, value: Any, low: float, high: float = np.inf, *, open_low: bool = True) -> float:
    """Return a number between two bounds, as a float.

    >>> check_number("tol", 1e-3, 0.0, 1.0)
    0.001
    """
    truth_value = isinstance(value, bool | np.bool_)
    if isinstance(value, Real) and not truth_value:
        try:
            number = float(value)
        except OverflowError:  # an integer that no float holds
            number = np.inf
        if low < number < high or (number == low and not open_low):
            return number
    range_text = f"between {low:g} and {high:g}" if np.isfinite(high) else f"greater than {low:g}"
    raise ParameterError(
        f"{name}={value!r} is not accepted; give a finite number {range_text}" + ("" if open_low else f", or {low:g}")
    )


def check_count(name: str, value: Any, low: int = 1) -> int:
    """Return an integer of at least ``low``, small enough to count to.

    >>> check_count("max_iter", 100)
    100
    """
    truth_value = isinstance(value, bool | np.bool_)
    if isinstance(value, Integral) and not truth_value and low <= int(value) <= _LARGEST_COUNT:
        return int(value)
    countable = not isinstance(value, Integral) or abs(int(value)) < 10**20
    shown = f"{name}={value!r}" if countable else f"so large a {name}"
    raise ParameterError(f"{shown} is not accepted; give an integer of at least {low} and below 2³¹")


def warn_not_converged(report: LearningReport, tol: float, advice: str) -> None:
    """Warn in scikit-learn's way when the iterations ran out."""
    if not report.converged:
        warnings.warn(
            f"{report.method} stopped after {report.iterations} iterations with residual {report.residual:.2g}, tol is "
            f"{tol:g}; {advice}",
            ConvergenceWarning,
            stacklevel=4,
        )
