"""Training sets of the dual machines: samples, targets and weights as they are given, checked; and their matrix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_regressor
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.class_weight import compute_class_weight

from kernreg.common.display import listed
from kernreg.common.medians import weighted_median
from kernreg.common.progress import row_progress
from kernreg.config import memory_budget
from kernreg.engine import Handle, is_row_source, whole
from kernreg.engine.running.handles import is_streamed
from kernreg.engine.sources.views import as_row_source
from kernreg.errors import DataError, ParameterError, shown
from kernreg.kernels import Kernel
from kernreg.kernels.function import FunctionKernel
from kernreg.solvers.declarations import refuse_false_declarations
from kernreg.solvers.elsewhere import brought_here, reader_of
from kernreg.solvers.finiteness import not_finite_error
from kernreg.solvers.labels import require_labels
from kernreg.solvers.samples import (
    check_pair,
    check_real_targets,
    check_samples,
    check_weights,
    input_kind,
    take,
    without_zero_weights,
)
from kernreg.solvers.streamed import in_memory, reading_note
from kernreg.solvers.tables import validated_table

_LARGEST_KERNEL_VALUE = 1e140
_ROWS = 200  # that tell the size of kernel values


@dataclass(frozen=True)
class TrainingSet:
    """Samples with positive weights (None for unit ones), their targets, and the kernel bound to them.

    X is a tuple where samples differ as sources and as targets; the kernel is then bound to the targets, over which
    rows are normalised. ``frequencies`` are the weights without those of the classes: how often a sample occurs.
    ``note`` is what the report of the fit says of where the samples come from.

    Examples
    --------
    >>> from kernreg.solvers import LSSVC
    >>> solver = LSSVC()
    >>> data = check_training_set(solver, solver.resolve_kernel(), [[0.0], [1.0]], ["a", "b"], None)
    >>> data.matrix().shape, data.weights is None
    ((2, 2), True)
    """

    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    frequencies: np.ndarray | None
    kernel: Kernel
    note: str = ""

    @property
    def streamed(self) -> bool:
        """Whether the samples are read block by block, and never all of them are here."""
        return any(is_streamed(side) for side in (self.X if isinstance(self.X, tuple) else (self.X,)))

    def matrix(self) -> np.ndarray:
        """Return the kernel matrix of the samples, checked."""
        return training_matrix(self.kernel, self.X)

    def size_of_values(self, K: np.ndarray | None = None) -> float:
        """Return the size of kernel values that γ is measured by: the median over rows of the largest magnitude.

        For a kernel with k(x, x) = 1 that is exceeded nowhere, such as ``rbf``, it is 1. At most 200 rows are looked
        at, always the same ones; rows of zeros, as of nodes without edges, are not.

        Parameters
        ----------
        K : ndarray, optional
            The matrix, where it is at hand; else these rows of it are evaluated, block by block.
        """
        m = len(self.y)
        rows = np.arange(m) if m <= _ROWS else np.linspace(0, m - 1, _ROWS).astype(np.intp)
        if K is None:
            source, target = self.X if isinstance(self.X, tuple) else (self.X, self.X)
            largest = self._largest_values(take(source, rows), target)
        else:
            largest = np.abs(K[rows]).max(axis=1, initial=0.0).astype(np.float64)
        used = (largest > 0.0) & np.isfinite(largest)
        if not used.any():
            return 1.0
        counts = None if self.frequencies is None else self.frequencies[rows][used]
        return weighted_median(largest[used], counts)

    def _largest_values(self, some: Any, target: Any) -> np.ndarray:
        """Return the largest magnitude in the rows of some samples, in blocks of rows or, of a source, of columns."""
        if not isinstance(target, Handle):
            blocks = (block for _, block in self.kernel.blocks(some, target))
            return np.concatenate([np.abs(block).max(axis=1, initial=0.0) for block in blocks]).astype(np.float64)
        with row_progress("size of kernel values", target.shape[0]):
            of_blocks = self.kernel.T.map_rows(target, some, _largest_of_columns)
        return of_blocks.max(axis=0).astype(np.float64)

    def kernel_dtype(self) -> np.dtype:
        """Return the type of kernel values, which is that of results."""
        sides = self.X if isinstance(self.X, tuple) else (self.X, self.X)
        return self.kernel(*(take(side, np.arange(1)) for side in sides)).dtype


def check_training_set(machine: Any, kernel: Kernel, X: Any, y: Any, sample_weight: Any = None) -> TrainingSet:
    """Return the training set of a machine, in scikit-learn's way as far as the kernel's inputs allow it.

    Parameters
    ----------
    machine : estimator
        Remembers the number and the names of features, as scikit-learn wants. One of two ``views`` takes a pair of
        sample sets, a regressor real targets in one or several columns, a classifier one or several of labels. Its
        ``class_weight``, where it has one, multiplies the weights; with ``strategy="lowrank"`` samples on disk stay
        there.
    kernel : Kernel
    X, y, sample_weight
        As given to ``fit``.

    Examples
    --------
    >>> from kernreg.solvers import LSSVC
    >>> solver = LSSVC(class_weight={"rare": 3.0})
    >>> data = check_training_set(solver, solver.resolve_kernel(), [[0.0], [1.0], [2.0]], ["rare", "b", "b"], [1, 1, 0])
    >>> data.y.tolist(), data.weights.tolist(), data.matrix().shape
    (['rare', 'b'], [3.0, 1.0], (2, 2))
    """
    regression, pairs = is_regressor(machine), len(getattr(machine, "views", ())) == 2
    is_pair = isinstance(X, tuple) and len(X) == 2
    if is_pair and not pairs and (input_kind(kernel) == "structured" or np.ndim(X[0]) >= 1):
        raise DataError(
            f"X is a pair; {type(machine).__name__} takes one set of samples. Pairs (X_source, X_target) are for "
            "asymmetric kernels: use 'ask-ls' or 'ask-lsr'"
        )
    is_pair = is_pair and pairs
    check: Callable[..., Any] = partial(
        check_pair if is_pair else check_samples, machine, kernel=kernel, reset=True, streamed=True
    )
    placed = reader_of(*(X if is_pair else (X,))) is not None
    if placed:
        X = check(X=X)
    first = X[0] if is_pair else X
    y, sample_weight = brought_here(y, first, "y"), brought_here(sample_weight, first, "sample_weight")
    if regression and y is not None:
        y = check_real_targets(y)
    else:
        require_labels(y)
    several = regression or is_table(y)
    X, note = (X, "") if placed else _from_sources(machine, kernel, X)
    on_disk = any(is_row_source(side) for side in (X if is_pair else (X,)))
    if not is_pair and input_kind(kernel) == "table" and not on_disk and not isinstance(X, Handle):
        X, y = validated_table(machine, X, y, multi_output=several, y_numeric=regression, copy=True)
    elif y is None:
        raise DataError(f"{type(machine).__name__} requires y to be passed, but the target y is None")
    else:
        X = X if placed else check(X=X)
        if not several:
            y = column_or_1d(y, warn=True)
        elif not regression:
            y = check_array(y, accept_sparse="csr", ensure_2d=False, dtype=None, input_name="y")
        check_consistent_length(X[0] if is_pair else X, y)
    y = dense_copy(y)
    frequencies = None if sample_weight is None else check_weights(sample_weight, len(y))
    weights, class_weight = frequencies, getattr(machine, "class_weight", None)
    if class_weight is not None:
        frequencies = np.ones(len(y)) if frequencies is None else frequencies
        weights = frequencies * _class_weights(class_weight, y, frequencies)
    if frequencies is not None and weights is not None:
        frequencies = frequencies[weights > 0.0]
    X, y, weights = without_zero_weights(X, y, weights)
    targets = X[1] if is_pair else X
    if kernel.takes_reference and not isinstance(kernel, FunctionKernel) and not is_streamed(targets):
        targets = whole(targets)  # what a combination learns from samples elsewhere, it learns from all of them here
    bound = kernel.resolve_widths(targets, frequencies).bind(targets)
    if not is_pair:
        refuse_false_declarations(bound, X)
    return TrainingSet(X, y, weights, frequencies, bound, note)


def _from_sources(machine: Any, kernel: Kernel, X: Any) -> tuple[Any, str]:
    """Return row sources as a fit takes them, in memory or as they are, and what its report says of them.

    Landmarks are fitted to blocks, where the kernel needs no more of the samples than some rows; the other strategies,
    and kernels with a reference set, keep all samples in the model, and need them in memory.
    """
    sides = X if isinstance(X, tuple) else (X,)
    sources = [as_row_source(side) for side in sides if is_row_source(side) and not isinstance(side, Handle)]
    if not sources:
        return X, ""
    strategy, by_blocks = getattr(machine, "strategy", "exact"), not kernel.keeps_reference
    fits = sum(source.nbytes for source in sources) <= memory_budget() // 2
    if by_blocks and (strategy in ("lowrank", "sketched") or (strategy == "auto" and not fits)):
        names = " and ".join(source.label for source in sources)
        return X, f"samples read from {names} in blocks"
    what = f"strategy={strategy!r}" if by_blocks else f"the kernel {kernel.name!r}"
    note = "; ".join(note for note in map(reading_note, sides) if note)
    loaded = tuple(in_memory(side, what) for side in sides)
    return loaded if isinstance(X, tuple) else loaded[0], note


def _largest_of_columns(rows: slice, block: np.ndarray) -> np.ndarray:
    return np.abs(block).max(axis=0, initial=0.0)[None]


def is_table(y: Any) -> bool:
    """Whether labels are in several columns: of an indicator matrix, or of several outputs."""
    shape = () if sp.issparse(y) else np.asarray(y).shape
    return sp.issparse(y) or (len(shape) == 2 and shape[1] > 1)


def dense_copy(y: Any) -> np.ndarray:
    """Return targets in memory of their own, row by row."""
    return np.array(y.toarray() if hasattr(y, "toarray") else y, order="C")


def _class_weights(class_weight: Any, y: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Return for each sample the weight of its class; ``"balanced"`` gives all classes the same sum of weights."""
    balanced = isinstance(class_weight, str) and class_weight == "balanced"
    if not balanced and not isinstance(class_weight, Mapping):
        raise ParameterError(
            f"class_weight={shown(class_weight)} is not accepted; give 'balanced', a dict such as {{'rare': 10}}, or "
            "None"
        )
    if y.ndim > 1:
        raise ParameterError(
            f"class_weight={shown(class_weight)} is for one column of labels, and y has {y.shape[1]}; fit each column "
            "by itself: sklearn.multioutput.MultiOutputClassifier"
        )
    classes, codes = np.unique(y, return_inverse=True)
    if not balanced:
        try:
            of_classes = compute_class_weight(dict(class_weight), classes=classes, y=y)
        except (TypeError, ValueError, OverflowError) as error:  # classes it does not know, weights that are no numbers
            raise ParameterError(
                f"class_weight={shown(class_weight)} is not accepted: {type(error).__name__}, {str(error)[:200]}; give "
                f"a number for each of the classes {listed(map(repr, classes.tolist()))}"
            ) from None
        return check_weights(of_classes[codes], len(y))
    sums = np.bincount(codes, weights=frequencies)
    mean = sums[sums > 0.0].mean()
    sums[sums == 0.0] = np.inf  # left out
    return mean / sums[codes]


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
