"""What goes in: views, a dict of arrays of one shape, and the targets they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernreg.errors import DataError
from kernreg.solvers.dual.targets import predicted_codes as predicted_codes  # for the other ensemblers, too

Views = dict[str, np.ndarray]


def check_views(views: Any, names: Sequence[str] | None = None, shape: tuple[int, ...] | None = None) -> Views:
    """Return the views as finite floating-point arrays of one shape, ordered by name.

    Parameters
    ----------
    views : mapping of str to array of shape (n,) or (n, C)
    names : sequence of str, optional
        The names there must be, no more and no fewer: those seen in fit.
    shape : tuple, optional
        The shape of one sample seen in fit: ``()`` or ``(C,)``.

    Examples
    --------
    >>> list(check_views({"target": [1, 2], "source": [3, 4]}))
    ['source', 'target']
    """
    if not isinstance(views, Mapping) or not views:
        given = "an empty mapping" if isinstance(views, Mapping) else f"a {type(views).__name__}"
        raise DataError(
            f"views is {given}; give a dict of at least one view, for example {{'source': f_s, 'target': f_t}}"
        )
    if names is not None and set(views) != set(names):
        raise DataError(f"the views are {sorted(map(str, views))}, and those seen in fit were {sorted(names)}")
    checked = {name: _as_view(name, views[name]) for name in sorted(views, key=str)}
    shapes = {name: view.shape for name, view in checked.items()}
    if len(set(shapes.values())) > 1:
        raise DataError(f"the views have different shapes: {shapes}; all must have the same")
    found = next(iter(shapes.values()))
    if shape is not None and found[1:] != shape:
        raise DataError(f"the views have shape {found}, and those seen in fit had {('n', *shape)}")
    return checked


def _as_view(name: Any, view: Any) -> np.ndarray:
    if not isinstance(name, str):
        raise DataError(f"the view {name!r} is not named by a string")
    try:
        array = np.asarray(view)
        array = array if array.dtype in (np.float64, np.float32) else array.astype(np.float64)
    except (TypeError, ValueError) as cause:
        raise DataError(f"the view {name!r} does not hold numbers: {cause}") from cause
    if array.ndim not in (1, 2):
        raise DataError(f"the view {name!r} has shape {array.shape}; accepted are (n,) and (n, C)")
    if not np.all(np.isfinite(array)):
        raise DataError(f"the view {name!r} contains NaN or infinity")
    return array


@dataclass(frozen=True)
class Targets:
    """Targets in the shape of a view: ±1 for classes, real numbers for regression; and the weights of the samples."""

    values: np.ndarray
    classes: bool
    weights: np.ndarray | None = None

    @property
    def sample_weight(self) -> np.ndarray:
        """A weight for each sample, one in the mean."""
        return np.ones(len(self.values)) if self.weights is None else self.weights / self.weights.mean()

    def error(self, view: np.ndarray) -> float:
        """Return the share of samples in the wrong class, or the mean squared error of a regression."""
        if not self.classes:
            return self.squared_error(view)
        return float(np.average(predicted_codes(view) != predicted_codes(self.values), weights=self.weights))

    def squared_error(self, view: np.ndarray) -> float:
        """Return the mean squared error."""
        squares = (self.values - view.astype(np.float64)) ** 2
        return float(np.average(squares.reshape(len(squares), -1).mean(axis=1), weights=self.weights))


def targets(y: Any, shape: tuple[int, ...]) -> Targets:
    """Return the targets of views of that shape.

    Parameters
    ----------
    y : array of shape (n,) or (n, C)
        For views (n,): labels ±1 or integer codes 0 and 1 are classes; other numbers are a regression. For views
        (n, C): integer codes 0 … C-1 of shape (n,) are classes; numbers of shape (n, C) are a regression.
    shape : tuple
        The shape of the views.

    Examples
    --------
    >>> targets([0, 2], (2, 3)).values.tolist()
    [[1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]]
    >>> targets([1.5, 2.0], (2,)).classes
    False
    """
    try:
        given = np.asarray(y)
        numbers = given.astype(np.float64)
    except (TypeError, ValueError) as cause:
        raise DataError(f"y does not hold numbers: {cause}; give ±1, class codes 0 … C-1 or real targets") from cause
    if len(shape) == 1 and numbers.shape == (shape[0], 1):
        given, numbers = given[:, 0], numbers[:, 0]
    if numbers.shape[:1] != shape[:1] or numbers.ndim not in (1, len(shape)):
        raise DataError(f"y has shape {numbers.shape}, and the views have shape {shape}; give one target per sample")
    if not np.all(np.isfinite(numbers)):
        raise DataError("y contains NaN or infinity")
    if numbers.shape == shape:
        return _one_column(numbers, given.dtype) if numbers.ndim == 1 else Targets(numbers, classes=False)
    if len(shape) != 2 or numbers.ndim != 1:
        raise DataError(f"y has shape {numbers.shape}, and the views have shape {shape}; the shapes do not match")
    if shape[1] == 1:
        flat = _one_column(numbers, given.dtype)
        return Targets(flat.values[:, None], flat.classes)
    codes = numbers.astype(np.intp)
    if np.any(codes != numbers) or (codes.size and (codes.min() < 0 or codes.max() >= shape[1])):
        raise DataError(
            f"y holds values from {numbers.min():g} to {numbers.max():g}, and the views have {shape[1]} columns; "
            f"give class codes 0 … {shape[1] - 1}, or real targets of shape {shape}"
        )
    return Targets(np.where(codes[:, None] == np.arange(shape[1]), 1.0, -1.0), classes=True)


def _one_column(numbers: np.ndarray, dtype: np.dtype) -> Targets:
    """Return targets of shape (n,): integers 0 and 1 become ±1; ±1 are classes, other numbers a regression."""
    if dtype.kind in "iub" and np.isin(numbers, (0, 1)).all() and numbers.any():
        return Targets(2.0 * numbers - 1.0, classes=True)
    return Targets(numbers, classes=bool(np.isin(numbers, (-1, 1)).all()))
