"""Row sources in solvers: samples that stay on disk are predicted window by window, and fitted to as handles.

A fit that needs all samples at once reads them into memory where the budget allows it, and its report says so; where it
does not, the error says what to use instead.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from kernreg.common.progress import progress
from kernreg.common.sizes import readable
from kernreg.engine import Handle, is_row_source
from kernreg.engine.dispatch import configured_engine
from kernreg.engine.running.handles import HeldSamples
from kernreg.engine.sources.base import RowSource
from kernreg.engine.sources.views import as_row_source, windows
from kernreg.errors import DataError
from kernreg.kernels import Kernel


def row_by_row(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method of samples, each of whose results belongs to one sample, take row sources.

    On this machine windows of rows are read and given to the method, one after the other; what it returns (an array, or
    a dict or list of arrays) is put together. Another engine gets the source, which it places itself.

    Examples
    --------
    >>> import numpy as np
    >>> class Doubler:
    ...     @row_by_row
    ...     def transform(self, X):
    ...         return 2 * np.asarray(X)
    >>> Doubler().transform([[1.0]]).tolist()
    [[2.0]]
    """

    @wraps(method)
    def by_windows(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if isinstance(X, Handle) or not is_row_source(X) or configured_engine() is not None:
            return method(self, X, *args, **options)
        source = as_row_source(X)
        check_names(self, source)
        results = []
        with progress(method.__name__, source.shape[0]) as report:
            for rows in windows(source):
                results.append(method(self, source[rows], *args, **options))
                report(rows.stop)
        return _joined(results)

    return by_windows


def _joined(results: list[Any]) -> Any:
    first = results[0]
    if isinstance(first, dict):
        return {name: _joined([each[name] for each in results]) for name in first}
    if isinstance(first, list):
        return [_joined(list(parts)) for parts in zip(*results, strict=True)]
    return first if len(results) == 1 else np.concatenate(results, axis=0)


def in_memory(X: Any, who: str) -> Any:
    """Return samples as they are; a row source read into memory, or MemoryBudgetError, which says what to do."""
    if not is_row_source(X):
        return X
    return as_row_source(X).loaded(f"{who} needs all samples at once")


def reading_note(X: Any) -> str:
    """Return what a report says of samples that were read from a source; nothing of others."""
    if not is_row_source(X):
        return ""
    source = as_row_source(X)
    return f"samples read from {source.label} into memory ({readable(source.nbytes)})"


def check_source(estimator: Any, X: Any, kernel: Kernel, *, reset: bool, name: str = "X") -> Handle:
    """Return a handle of a row source; its rows are checked when they are read.

    Parameters
    ----------
    estimator : estimator
        Remembers the number of features, as scikit-learn wants.
    X : row source
    kernel : Kernel
        Whose samples they are.
    reset : bool
        Whether these are the samples of a fit.
    name : str
    """
    rows, features = X.shape
    if rows == 0:
        raise DataError(f"{name} has no samples, shape {X.shape}; at least one is needed")
    if reset:
        estimator.n_features_in_ = int(features)
        estimator.__dict__.pop("feature_names_in_", None)
    else:
        check_names(estimator, X)
        expected = getattr(estimator, "n_features_in_", features)
        if features != expected:
            raise DataError(
                f"{name} has {features} features, but {type(estimator).__name__} is expecting {expected} features as "
                "input"
            )
    return kernel.check_samples(X, name)


def check_names(estimator: Any, X: Any) -> None:
    """Raise DataError where the columns of a source are not those that the estimator was fitted to, in their order."""
    fitted, given = getattr(estimator, "feature_names_in_", None), getattr(X, "names", None)
    if fitted is None or given is None or not isinstance(X, RowSource):
        return
    if list(fitted) != list(given):
        raise DataError(
            f"the columns of {X.label} are {', '.join(map(str, given))}, and the model was fitted to "
            f"{', '.join(map(str, fitted))}; choose them in that order, open_samples(path, columns=…)"
        )


def some_rows(X: Any, rows: np.ndarray) -> Any:
    """Return some rows of samples, which ascend; of a source they are read when they are needed."""
    if isinstance(X, tuple):
        return tuple(some_rows(side, rows) for side in X)
    return X.some(rows) if isinstance(X, HeldSamples) else X[rows]
