"""gower: in how many columns two rows of a mixed table agree, and how closely."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kernreg import kernel
from kernreg.errors import DataError
from kernreg.kernels import Domain, PackedSamples, nonnegative
from kernreg_structured.coefficients import fill_coefficients
from kernreg_structured.tables import MixedTable, extents

table = MixedTable()


def _columns(value: Any) -> tuple[int | str, ...]:
    if isinstance(value, str | bytes):
        raise ValueError
    columns = tuple(column.item() if isinstance(column, np.generic) else column for column in value)
    if not all(type(column) in (int, str) and (isinstance(column, str) or 0 <= column < 2**31) for column in columns):
        raise ValueError
    return columns


def _numbers(value: Any) -> tuple[float, ...] | None:
    return None if value is None else tuple(nonnegative.check(number) for number in value)


def _ranges(value: Any) -> tuple[float, ...] | str:
    if isinstance(value, str):
        if value != "data":
            raise ValueError
        return value
    if type(value) is tuple and all(type(number) is float and 0.0 <= number < math.inf for number in value):
        return value  # those of samples, in every call
    return tuple(nonnegative.check(number) for number in value)


columns = Domain("a sequence of numbers or names of columns", _columns)
column_weights = Domain("None, or a sequence of weights >= 0, one for each column", _numbers)
column_ranges = Domain("'data', or a sequence of numbers >= 0, one for each column", _ranges)


def _range_of_columns(samples: PackedSamples, weights: np.ndarray | None, parameters: Mapping[str, Any]) -> Any:
    """Return max - min of each column of numbers over the samples that count; 0 of categories."""
    values = samples.values if weights is None else samples.values[weights > 0.0]
    bottom, top = extents(values).tolist()
    equal = _categorical(samples, parameters["categorical"])
    spread = tuple(0.0 if equal[k] or low > top[k] else top[k] - low for k, low in enumerate(bottom))
    if math.inf in spread:
        raise DataError("gower: a column holds numbers so large that their range is beyond float64; scale it")
    return spread


def _categorical(samples: PackedSamples, declared: tuple[int | str, ...]) -> list[bool]:
    """Return which columns hold categories: those that were read so, and those that are declared."""
    found, names = [kind is True for kind in samples.about["categorical"]], samples.about["names"]
    for column in declared:
        if isinstance(column, str) and column not in names:
            known = ", ".join(names) if names else "without names"
            raise DataError(f"gower: categorical names the column {column!r}, and those of the samples are {known}")
        number = names.index(column) if isinstance(column, str) else column
        if number >= len(found):
            raise DataError(f"gower: categorical names column {number}, and the samples have {len(found)}, from 0")
        found[number] = True
    return found


def _with_columns(samples: PackedSamples, categorical: Any, ranges: Any, weights: Any) -> tuple[np.ndarray, ...]:
    """Return the values, and for each sample the same: what numbers are multiplied by, -1 for others; and weights."""
    n, d = samples.values.shape
    factors = _factors(weights, d)
    if len(ranges) != d:
        raise DataError(f"gower: ranges has {len(ranges)} numbers, and there are {d} columns; give one for each")
    equal = _categorical(samples, categorical)
    # A column without a range has values that are the same or not, like one of categories.
    scales = [-1.0 if equal[k] or spread == 0.0 else factors[k] / spread for k, spread in enumerate(ranges)]
    if any(factors[k] > 0.0 and not 1e-290 < abs(scale) < math.inf for k, scale in enumerate(scales)):
        raise DataError(
            "gower: the range of a column is so large or so small that its weight over the range is beyond float64; "
            "scale the column, or its weight"
        )
    columns = np.array((scales, factors))
    return samples.values, np.ndarray((n, 2, d), np.float64, columns, strides=(0, *columns.strides))


def _factors(weights: tuple[float, ...] | None, d: int) -> Sequence[float]:
    """Return the weights of d columns."""
    factors = (1.0,) * d if weights is None else weights
    if len(factors) != d:
        raise DataError(f"gower: weights has {len(factors)} numbers, and there are {d} columns; give one for each")
    if not sum(factors) > 0.0:
        raise DataError("gower: all weights are 0; at least one column must count")
    unit = math.frexp(max(factors))[1]  # weights count beside each other: their sum must not be infinite
    scaled = tuple(math.ldexp(factor, -unit) for factor in factors)
    if any(factor > 0.0 and small < 1e-290 for factor, small in zip(factors, scaled, strict=True)):
        raise DataError("gower: a weight is less than 1e-290 of another one; beside it, it counts nothing: give 0")
    return scaled


def _example(rng: np.random.Generator, n: int) -> tuple[Any, np.ndarray]:
    X = np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 3, (n, 2))])
    X[rng.random(X.shape) < 0.1] = np.nan
    return gower(categorical=(3, 4), ranges=(5.0, 5.0, 5.0, 0.0, 0.0)), X


@kernel(
    of="blocks",
    inputs=table,
    symmetric=True,
    definite=None,
    represent=_with_columns,
    learn={"ranges": _range_of_columns},
    blas=False,
    parameters={"categorical": columns, "ranges": column_ranges, "weights": column_weights},
    example=_example,
)
def gower(X, Z, categorical=(), ranges="data", weights=None, *, out=None):
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
    (x, of_x), (z, of_z) = X, Z
    lower = X is Z and out is not None  # half of a block on the diagonal
    out = np.empty((len(x), len(z))) if out is None else out
    fill_coefficients(x, z, of_x[0], of_z[0], lower, out)
    return out
