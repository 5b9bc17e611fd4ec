"""Samples, targets and weights of a fit in cells, and what a partition sees of samples.

Tables are seen as they are, pairs of tables side by side. Samples that are no rows of features (indices of a matrix,
text, graphs) are seen through the kernel: by its values with some of the training samples, both ways round where it
is asymmetric.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_consistent_length, column_or_1d

from kernreg.engine import Handle, is_row_source
from kernreg.errors import DataError
from kernreg.kernels import Kernel
from kernreg.solvers.dual.training import dense_copy, is_table
from kernreg.solvers.elsewhere import brought_here, reader_of
from kernreg.solvers.samples import (
    check_pair,
    check_real_targets,
    check_samples,
    input_kind,
    take,
    without_zero_weights,
)
from kernreg.solvers.tables import validated_table

_LANDMARKS = 50


@dataclass(frozen=True)
class CellData:
    """Samples of positive weight (None for unit ones) and their targets."""

    X: Any
    y: np.ndarray
    weights: np.ndarray | None


def check_data(machine: Any, kernel: Kernel, X: Any, y: Any, sample_weight: Any, *, regression: bool) -> CellData:
    """Return what is given to ``fit``, in scikit-learn's way as far as the kernel's inputs allow it."""
    pair = is_pair(X)
    first = X[0] if pair else X
    if y is None:
        raise DataError(f"{type(machine).__name__} requires y to be passed, but the target y is None")
    if not regression and is_table(y):
        raise DataError(
            f"y has {y.shape[1] if hasattr(y, 'shape') else len(y[0])} columns of labels, and cells take one: fit each "
            "separately, sklearn.multioutput.MultiOutputClassifier, or use 'ls-svm'"
        )
    y, sample_weight = brought_here(y, first, "y"), brought_here(sample_weight, first, "sample_weight")
    if regression:
        y = check_real_targets(y)
    plain = not (is_row_source(first) or isinstance(first, Handle) or reader_of(first) is not None)
    if plain and not pair and input_kind(kernel) == "table":
        X, y = validated_table(machine, X, y, order="C", multi_output=regression, y_numeric=regression)
    else:
        check = check_pair if pair else check_samples
        X = check(machine, X, kernel=kernel, reset=True)
        if not regression:
            y = column_or_1d(y, warn=True)
        check_consistent_length(X[0] if pair else X, y)
    return CellData(*without_zero_weights(X, dense_copy(y), sample_weight))


def check_new(machine: Any, kernel: Kernel, X: Any, *, pair: bool) -> Any:
    """Return new samples, checked as those of the fit were."""
    if pair != is_pair(X):
        given = "one set of samples" if pair else "a pair"
        raise DataError(f"fitted to {'a pair' if pair else 'one set of samples'}, asked about {given}")
    check = check_pair if pair else check_samples
    return check(machine, X, kernel=kernel, reset=False)


def is_pair(X: Any) -> bool:
    """Whether samples are a pair of tables, of sources and of targets."""
    return isinstance(X, tuple) and len(X) == 2 and np.ndim(X[0]) >= 1


@dataclass(frozen=True)
class Sight:
    """What a partition sees of samples: their features, or values of the kernel with landmarks."""

    kernel: Kernel | None = None
    landmarks: Any = None

    @classmethod
    def of(cls, kernel: Kernel, X: Any, rng: np.random.Generator) -> Sight:
        """Return how the samples of a fit are seen."""
        if input_kind(kernel) == "table":
            return cls()
        n = (X[0] if isinstance(X, tuple) else X).shape[0] if hasattr(X, "shape") or isinstance(X, tuple) else len(X)
        some = take(X, np.sort(rng.choice(n, min(n, _LANDMARKS), replace=False)))
        return cls(kernel.bind(some[1] if isinstance(some, tuple) else some), some)

    def features(self, X: Any) -> Any:
        """Return the features of samples, an array or CSR with a row for each."""
        if self.kernel is None:
            if not isinstance(X, tuple):
                return X
            return sp.hstack(X, format="csr") if any(map(sp.issparse, X)) else np.hstack(X)
        source, target = X if isinstance(X, tuple) else (X, X)
        near, far = self.landmarks if isinstance(self.landmarks, tuple) else (self.landmarks, self.landmarks)
        forth = self.kernel(source, far)
        return forth if self.kernel.symmetric else np.hstack([forth, self.kernel(near, target).T])
