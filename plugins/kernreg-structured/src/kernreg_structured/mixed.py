"""gower: in how many columns two rows of a mixed table agree, and how closely."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kernreg import kernel
from kernreg.errors import DataError
from kernreg.kernels import Domain, PackedSamples, nonnegative
from kernreg_structured.coefficients import coefficients
from kernreg_structured.tables import MixedTable

table = MixedTable()


def _columns(value: Any) -> tuple[int | str, ...]:
    if isinstance(value, str | bytes):
        raise ValueError
    columns = tuple(column.item() if isinstance(column, np.generic) else column for column in value)
    if not all(type(column) in (int, str) and (isinstance(column, str) or column >= 0) for column in columns):
        raise ValueError
    return columns


def _numbers(value: Any) -> tuple[float, ...] | None:
    return None if value is None else tuple(nonnegative.check(number) for number in value)


def _ranges(value: Any) -> tuple[float, ...] | str:
    if isinstance(value, str):
        if value != "data":
            raise ValueError
        return value
    return tuple(nonnegative.check(number) for number in value)


columns = Domain("a sequence of numbers or names of columns", _columns)
column_weights = Domain("None, or a sequence of weights >= 0, one for each column", _numbers)
column_ranges = Domain("'data', or a sequence of numbers >= 0, one for each column", _ranges)


def _range_of_columns(samples: PackedSamples, weights: np.ndarray | None, parameters: Mapping[str, Any]) -> Any:
    """Return max - min of each column of numbers over the samples that count; 0 of categories."""
    values = samples.values if weights is None else samples.values[weights > 0.0]
    top = np.fmax.reduce(values, axis=0, initial=-np.inf)  # fmax and fmin look past NaN
    bottom = np.fmin.reduce(values, axis=0, initial=np.inf)
    spread = np.where(top >= bottom, top - bottom, 0.0)
    spread[_categorical(samples, parameters["categorical"])] = 0.0
    if not np.isfinite(spread).all():
        raise DataError("gower: a column holds numbers so large that their range is beyond float64; scale it")
    return tuple(spread.tolist())


def _categorical(samples: PackedSamples, declared: tuple[int | str, ...]) -> np.ndarray:
    """Return which columns hold categories: those that were read so, and those that are declared."""
    found, names = np.array([kind is True for kind in samples.about["categorical"]]), samples.about["names"]
    for column in declared:
        if isinstance(column, str) and column not in names:
            known = ", ".join(names) if names else "without names"
            raise DataError(f"gower: categorical names the column {column!r}, and those of the samples are {known}")
        number = names.index(column) if isinstance(column, str) else column
        if number >= len(found):
            raise DataError(f"gower: categorical names column {number}, and the samples have {len(found)}, from 0")
        found[number] = True
    return found


def _scaled(samples: PackedSamples, categorical: Any, ranges: Any, weights: Any) -> tuple[np.ndarray, ...]:
    """Return numbers over ranges beside values that are equal or not; which columns hold these, and complete rows."""
    n, d = samples.values.shape
    spread, factors = np.array(ranges), _factors(weights, d)
    if len(spread) != d:
        raise DataError(f"gower: ranges has {len(spread)} numbers, and there are {d} columns; give one for each")
    # A column without a range has values that are the same or not, like one of categories.
    equal = _categorical(samples, categorical) | (spread == 0.0)
    values = samples.values * np.where(equal, 1.0, factors / np.where(equal, 1.0, spread))
    complete = ~np.isnan(samples.values[:, factors > 0.0]).any(axis=1)
    return values, np.broadcast_to(equal, (n, d)), complete


def _factors(weights: tuple[float, ...] | None, d: int) -> np.ndarray:
    """Return the weights of d columns."""
    factors = np.ones(d) if weights is None else np.array(weights)
    if len(factors) != d:
        raise DataError(f"gower: weights has {len(factors)} numbers, and there are {d} columns; give one for each")
    if not factors.sum() > 0.0:
        raise DataError("gower: all weights are 0; at least one column must count")
    return factors


def _example(rng: np.random.Generator, n: int) -> tuple[Any, np.ndarray]:
    X = np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 3, (n, 2))])
    X[rng.random(X.shape) < 0.1] = np.nan
    return gower(categorical=(3, 4), ranges=(5.0, 5.0, 5.0, 0.0, 0.0)), X


@kernel(
    of="blocks",
    inputs=table,
    symmetric=True,
    definite=None,
    represent=_scaled,
    learn={"ranges": _range_of_columns},
    parameters={"categorical": columns, "ranges": column_ranges, "weights": column_weights},
    example=_example,
)
def gower(X, Z, categorical=(), ranges="data", weights=None):
    """Σ_k w_k δ_k s_k / Σ_k w_k δ_k, s_k = 1 - |x_k - z_k| / range_k of numbers, [x_k = z_k] of categories.

    The coefficient of Gower for tables of numbers and categories; δ_k is 0 where x_k or z_k is missing, else 1, and the
    value is 0 where two rows have no column in common. Samples are rows: a data frame, whose columns of category, text
    and truth values are categories, or an array, whose columns ``categorical=(3, 4)`` are. NaN and None are missing.

    ``ranges`` are those of the training samples, or given, one for each column; a number that is further away than the
    range counts as 0, as a different category does. A column without a range, because it is constant, counts as
    categories do. A category that the training samples do not have is different from all of theirs. ``weights`` has one
    for each column.

    Positive semi-definite within the ranges where nothing is missing; indefinite in general with missing values.

    Gower, A general coefficient of similarity and some of its properties, Biometrics 27 (1971).

    >>> k = gower(ranges=(10.0, 0.0))
    >>> k([[1.0, "red"], [6.0, "red"], [None, "blue"]]).tolist()
    [[1.0, 0.75, 0.0], [0.75, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    (x, x_equal, x_complete), (z, z_equal, z_complete) = X, Z
    factors = _factors(weights, x.shape[1])
    # One side may have nothing but missing values in a column, and then does not know what the other holds.
    equal = (x_equal[0] | z_equal[0]) & (factors > 0.0)
    numeric = ~(x_equal[0] | z_equal[0]) & (factors > 0.0)
    return coefficients(
        (x[:, numeric], z[:, numeric], factors[numeric]),
        (x[:, equal], z[:, equal], factors[equal]),
        bool(x_complete.all() and z_complete.all()),
    )
