"""Training sets of the dual machines: samples, targets and weights as they are given, checked; and their matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data

from kernreg.errors import DataError
from kernreg.kernels import Kernel
from kernreg.solvers.finiteness import not_finite_error
from kernreg.solvers.samples import check_pair, check_samples, input_kind, take, without_zero_weights

_LARGEST_KERNEL_VALUE = 1e140


@dataclass(frozen=True)
class TrainingSet:
    """Samples with positive weights (None for unit ones), their targets, and the kernel bound to them.

    X is a tuple where samples differ as sources and as targets; the kernel is then bound to the targets, over which
    rows are normalised.
    """

    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    kernel: Kernel

    def matrix(self) -> np.ndarray:
        """Return the kernel matrix of the samples, checked."""
        return training_matrix(self.kernel, self.X)

    def kernel_dtype(self) -> np.dtype:
        """Return the type of kernel values, which is that of results."""
        sides = self.X if isinstance(self.X, tuple) else (self.X, self.X)
        return self.kernel(*(take(side, np.arange(1)) for side in sides)).dtype


def check_training_set(machine: Any, kernel: Kernel, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
    """Return the training set of a machine, in scikit-learn's way as far as the kernel's inputs allow it.

    Parameters
    ----------
    machine : estimator
        Remembers the number and the names of features, as scikit-learn wants. One of two views takes a pair of
        sample sets, a regressor real targets in one or several columns, a classifier one column of labels.
    kernel : Kernel
    X, y, sample_weight
        As given to ``fit``.
    """
    regression, pairs = is_regressor(machine), len(machine.views) == 2
    is_pair = isinstance(X, tuple) and len(X) == 2
    if is_pair and not pairs and np.ndim(X[0]) >= 1:
        raise DataError(
            f"X is a pair; {type(machine).__name__} takes one set of samples. Pairs (X_source, X_target) are for "
            "asymmetric kernels: use 'ask-ls' or 'ask-lsr'"
        )
    is_pair = is_pair and pairs
    if not is_pair and input_kind(kernel) == "table":
        X, y = validate_data(
            machine,
            X,
            y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            multi_output=regression,
            y_numeric=regression,
        )
    elif y is None:
        raise DataError(f"{type(machine).__name__} requires y to be passed, but the target y is None")
    else:
        check = check_pair if is_pair else check_samples
        X = check(machine, X, kernel, reset=True)
        if regression:
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        else:
            y = column_or_1d(y, warn=True)
        check_consistent_length(X[0] if is_pair else X, y)
    X, y, weights = without_zero_weights(X, y, sample_weight)
    return TrainingSet(X, y, weights, kernel.bind(X[1] if is_pair else X))


def training_matrix(kernel: Kernel, X: Any) -> np.ndarray:
    """Return the kernel matrix of training samples; raise DataError where it is not finite, or its squares are not."""
    K = kernel(X[0], X[1]) if isinstance(X, tuple) else kernel(X)
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(np.linalg.norm(K))
    if suspicious and not np.isfinite(K).all():
        raise not_finite_error(kernel, *(X if isinstance(X, tuple) else (X,)))
    largest = float(np.abs(K).max()) if suspicious else 0.0
    if largest > _LARGEST_KERNEL_VALUE:
        raise DataError(
            f"the kernel {kernel.name!r} is as large as {largest:.3g} on the training samples, and squares of values "
            f"above {_LARGEST_KERNEL_VALUE:g} overflow. Scale the features, or the kernel"
        )
    return K
