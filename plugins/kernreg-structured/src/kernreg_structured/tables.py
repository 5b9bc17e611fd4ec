"""Tables of numbers and categories, with missing values: how they are read and packed.

A number stays as it is, a missing value is NaN. A category becomes a number that depends on the category alone, 52 bits
of a hash of its text: sets of samples are then packed one by one, and a category that one of them has not seen is
different from all of its own. Two of a million categories would coincide with a probability of 1e-4, two of a thousand
with 1e-10; inside of one table that is checked.
"""

from __future__ import annotations

import datetime
import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kernreg.engine import compiled_loop
from kernreg.errors import DataError
from kernreg.kernels import PackedSamples, Structure

_BITS = 52
_INFINITE = "holds infinite values; accepted are finite numbers, and NaN for missing ones"
_DATES = "dates or durations; make numbers of them"
_NAMED = ("Interval", "Period", "Timestamp", "Timedelta")  # of pandas: their text says what they are


def category_code(value: Any) -> float:
    """Return the number that stands for a category; NaN for a missing one.

    Numbers that are equal are one category, of whatever type they are; text never equals a number.

    >>> category_code(1) == category_code(1.0) == category_code(True), category_code("1") == category_code(1)
    (True, False)
    """
    if _missing(value):
        return math.nan
    if isinstance(value, bool | np.bool_ | int | np.integer | float | np.floating):
        try:
            number = float(value)
        except OverflowError:
            raise DataError("a category is an integer that no float holds; give it as text") from None
        text = f"number {int(value)}" if number.is_integer() else f"number {number!r}"
    elif isinstance(value, str):
        text = f"text {value}"
    elif isinstance(value, bytes):
        text = f"bytes {value!r}"
    elif isinstance(value, datetime.date | datetime.timedelta) or type(value).__name__ in _NAMED:
        text = f"{type(value).__name__} {value}"
    else:
        raise DataError(
            f"a category is a {type(value).__name__}; accepted are text, numbers, True, False, dates and intervals"
        )
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return float(int.from_bytes(digest, "big") >> (64 - _BITS))


def _missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and math.isnan(value)


class MixedTable(Structure):
    """Rows of numbers and categories, of which some may be missing.

    Accepted are two-dimensional arrays of numbers, with NaN for what is missing; arrays of objects and lists of rows,
    whose columns with text or True and False are categories; data frames of pandas and polars, whose columns of
    category, text and truth values are.
    """

    def __init__(self) -> None:
        super().__init__(
            "mixed",
            "rows of numbers and categories: a data frame, a 2-D array, a list of rows; NaN and None are missing",
        )

    def pack(self, X: Any, name: str) -> PackedSamples:
        """Return a table of numbers, which of its columns are codes of categories, and the names of all.

        A column in which everything is missing may hold either: None is said of it.
        """
        names: tuple[str, ...] = ()
        if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiu" and X.shape[1]:
            return _packed_numbers(self.name, X, name)  # all columns at once: small tables are packed often
        if hasattr(X, "collect_schema") and hasattr(X, "collect"):  # of polars; a frame in memory has no `collect`
            raise DataError(f"{name} is a {type(X).__name__}, which holds no samples yet; give {name}.collect()")
        if hasattr(X, "columns") and hasattr(X, "dtypes"):
            names = tuple(map(str, X.columns))
            columns = [_frame_column(X, number, f"{name}[{column!r}]") for number, column in enumerate(names)]
            count = len(X)
        else:
            table = _as_array(X, name, str(self))
            if table.dtype.kind in "fiu" and table.shape[1]:
                return _packed_numbers(self.name, table, name)
            columns = [_array_column(table[:, number], f"{name}[:, {number}]") for number in range(table.shape[1])]
            count = len(table)
        if not columns:
            raise DataError(f"{name} has no columns; at least one is needed")
        values = np.empty((count, len(columns)))
        for number, (column, _) in enumerate(columns):
            values[:, number] = column
        return _packed(self.name, values, tuple(kind for _, kind in columns), names)

    def one(self, x: Any, name: str = "x") -> PackedSamples:
        """Return one row as a packed set of one."""
        row = np.empty((1, len(x)), dtype=object)
        row[0] = list(x)
        return self.samples(row if not isinstance(x, np.ndarray) or x.dtype == object else x[None], name)

    def check_pair(self, X: PackedSamples, Z: PackedSamples) -> None:
        """Raise DataError unless both tables have the same columns."""
        if X.values.shape[1] != Z.values.shape[1]:
            raise DataError(f"X has {X.values.shape[1]} columns and Z {Z.values.shape[1]}; give both the same columns")
        if X.about["names"] and Z.about["names"] and X.about["names"] != Z.about["names"]:
            raise DataError(
                f"the columns of X are {_listed(X.about['names'])}, and those of Z {_listed(Z.about['names'])}; choose "
                "the same, in one order"
            )
        for number, kinds in enumerate(zip(X.about["categorical"], Z.about["categorical"], strict=True)):
            if None not in kinds and kinds[0] != kinds[1]:
                whose = "X" if kinds[0] else "Z"
                raise DataError(
                    f"column {number} holds categories in {whose} and numbers in the other table; read both in one way"
                )


def _packed(structure: str, values: np.ndarray, kinds: tuple[bool, ...], names: tuple[str, ...]) -> PackedSamples:
    """Return the samples; with nothing in it, a column may hold numbers or categories: its kind is None."""
    known: tuple[bool | None, ...] = kinds
    if np.isnan(values[:1]).any() or not len(values):  # else no column is without a value
        empty = np.atleast_1d(np.isnan(values).all(axis=0))
        known = tuple(None if empty[number] else kind for number, kind in enumerate(kinds))
    return PackedSamples(structure, values, None, {"categorical": known, "names": names})


def _packed_numbers(structure: str, table: np.ndarray, name: str) -> PackedSamples:
    """Return the samples of a table that holds numbers only."""
    _check_integers(table, name)
    values = np.array(table, dtype=np.float64, order="C")
    kinds: tuple[bool | None, ...] = (False,) * table.shape[1]
    if not np.isfinite(values).all() or not len(values):
        bottom, top = extents(values)
        if np.isinf(values).any():
            column = int(((top == np.inf) | (bottom == -np.inf)).argmax())
            raise DataError(f"{name}[:, {column}] {_INFINITE}")
        kinds = tuple(None if nothing else False for nothing in bottom > top)  # it may hold either
    return PackedSamples(structure, values, None, {"categorical": kinds, "names": ()})


@compiled_loop
def extents(values):
    """Return the least and the largest number of each column; infinity and minus infinity of one without numbers."""
    found = np.empty((2, values.shape[1]))
    low, high = found[0], found[1]
    low[:], high[:] = np.inf, -np.inf
    for i in range(values.shape[0]):
        row = values[i]
        for k in range(row.shape[0]):
            low[k] = row[k] if row[k] < low[k] else low[k]  # not for NaN
            high[k] = row[k] if row[k] > high[k] else high[k]
    return found


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (" …" if len(names) > 8 else "")


def _as_array(X: Any, name: str, accepted: str) -> np.ndarray:
    if isinstance(X, str | bytes | dict) or hasattr(X, "toarray") or not hasattr(X, "__len__"):
        raise DataError(f"{name} is a {type(X).__name__}; accepted are {accepted}")
    table = X if isinstance(X, np.ndarray) else _rows(X, name)
    if table.ndim != 2:
        raise DataError(f"{name} has {table.ndim} dimension(s), shape {table.shape}; accepted are {accepted}")
    return table


def _rows(X: Any, name: str) -> np.ndarray:
    """Return a list of rows as an array that changes none of their values."""
    rows = [list(row) if hasattr(row, "__len__") and not isinstance(row, str | bytes) else [row] for row in X]
    if len({len(row) for row in rows}) > 1:
        raise DataError(f"the rows of {name} have {sorted({len(row) for row in rows})} values; all have as many")
    table = np.empty((len(rows), len(rows[0]) if rows else 0), dtype=object)
    for number, row in enumerate(rows):
        table[number] = row
    return table


def _array_column(column: np.ndarray, name: str) -> tuple[np.ndarray, bool]:
    if column.dtype.kind in "fiu":
        return _numbers(column, name), False
    if column.dtype.kind == "O":
        if all(_missing(v) or (isinstance(v, int | float | np.number) and not isinstance(v, bool)) for v in column):
            return _numbers(np.array([math.nan if _missing(v) else float(v) for v in column]), name), False
        return _codes(column.tolist(), name), True
    if column.dtype.kind in "USb":
        return _codes(column.tolist(), name), True
    raise DataError(
        f"{name} has dtype {column.dtype}; accepted are numbers, text, True and False, and objects of these"
    )


def _frame_column(X: Any, number: int, name: str) -> tuple[np.ndarray, bool]:
    if hasattr(X, "get_columns"):  # polars
        column = X.get_columns()[number]
        if column.dtype.is_temporal():
            raise DataError(f"{name} holds {_DATES}, or categories with .cast(pl.String)")
        if not column.dtype.is_numeric():
            return _codes(column.to_list(), name), True
        if column.dtype.is_integer():
            _numbers(column.drop_nulls().to_numpy(), name)  # looked at as integers: a null makes floats of them
        return _numbers(np.array([math.nan if v is None else float(v) for v in column.to_list()]), name), False
    column = X.iloc[:, number]
    kind = getattr(column.dtype, "kind", "O")
    if kind in "fiu":
        return _numbers(column.to_numpy(dtype=np.float64, na_value=np.nan), name), False
    if kind in "mM":
        raise DataError(f"{name} holds {_DATES}, or categories with .astype('category')")
    if str(column.dtype) == "category":
        return _codes(column.cat.categories.tolist(), name, column.cat.codes.to_numpy()), True
    if kind == "O":
        return _array_column(column.to_numpy(dtype=object), name)
    return _codes(column.tolist(), name), True


def _numbers(column: np.ndarray, name: str) -> np.ndarray:
    """Return a column of numbers, or raise DataError."""
    _check_integers(column, name)
    values = column.astype(np.float64)
    if np.isinf(values).any():
        raise DataError(f"{name} {_INFINITE}")
    return values


def _check_integers(column: np.ndarray, name: str) -> None:
    """Raise DataError where a column, or one of a table, holds integers that float64 cannot."""
    if column.dtype.kind in "iu" and column.size and max(-int(column.min()), int(column.max())) > 2**53:
        where = name if column.ndim == 1 else f"{name}[:, {_widest(column)}]"
        raise DataError(f"{where} holds integers beyond 2**53, which float64 cannot represent; are they categories?")


def _widest(table: np.ndarray) -> int:
    """Return the first column of integers that holds one beyond 2**53."""
    sizes = [max(-int(column.min()), int(column.max())) for column in table.T]
    return next(number for number, size in enumerate(sizes) if size > 2**53)


def _codes(values: Sequence[Any], name: str, places: np.ndarray | None = None) -> np.ndarray:
    """Return the codes of categories; with places, of those of them that stand there, -1 for a missing one."""
    known: dict[Any, float] = {}
    try:
        for value in values:
            if not _missing(value) and value not in known:
                known[value] = category_code(value)
    except (DataError, TypeError) as error:
        raise DataError(f"{name}: {error}") from None
    if len(set(known.values())) < len(known):
        raise DataError(f"{name} has two categories with one code; rename one of them")
    codes = np.array([math.nan if _missing(value) else known[value] for value in values], dtype=np.float64)
    return codes if places is None else np.append(codes, math.nan)[places]
