"""Targets and weights in every form that holds the same ones."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

_PANDAS, _POLARS = (importlib.util.find_spec(name) is not None for name in ("pandas", "polars"))


def named(codes: np.ndarray, *names: Any, dtype: Any = None) -> np.ndarray:
    """Labels by their codes, as objects where no dtype is given."""
    return np.array(names[: int(codes.max()) + 1], dtype=object if dtype is None else dtype)[codes]


def reindexed(values: np.ndarray) -> Any:
    """A series whose index is in another order: it is the order of values that counts."""
    import pandas

    return pandas.Series(values, index=np.arange(len(values))[::-1])


def categorical(codes: np.ndarray) -> Any:
    """Categories that are in another order than their names, and one that no sample has."""
    import pandas

    return pandas.Series(
        pandas.Categorical(named(codes, "ape", "bee", "cat"), categories=["cat", "none", "bee", "ape"])
    )


def of_polars(values: np.ndarray) -> Any:
    import polars

    return polars.Series(values.tolist())


def strided(values: np.ndarray) -> np.ndarray:
    return np.repeat(values, 2, axis=0)[::2]


#: Labels by code, in the order of the codes.
LABELS: dict[str, Callable[[np.ndarray], Any]] = {
    "codes": lambda codes: codes,
    "int8": lambda codes: codes.astype(np.int8) - 1,
    "uint8": lambda codes: codes.astype(np.uint8),
    "2, 5, 7": lambda codes: named(codes, 2, 5, 7, dtype=np.int64),
    "float32": lambda codes: codes.astype(np.float32),
    "halves": lambda codes: named(codes, -2.0, 0.0, 3.0, dtype=np.float64),
    "text": lambda codes: named(codes, "a", "bee", "c", dtype=str),
    "objects": lambda codes: named(codes, "a", "bee", "c"),
    "integer objects": lambda codes: named(codes, 2, 5, 7),
    "list": lambda codes: codes.tolist(),
    "list of text": lambda codes: named(codes, "a", "bee", "c").tolist(),
    "column": lambda codes: codes[:, None],
    "strided": strided,
    **({"pandas": reindexed, "categorical": categorical} if _PANDAS else {}),
    **({"polars": of_polars, "polars text": lambda codes: of_polars(named(codes, "a", "b", "c"))} if _POLARS else {}),
}
FLAGS: dict[str, Callable[[np.ndarray], Any]] = {
    "bools": lambda codes: codes.astype(bool),
    "signs": lambda codes: np.where(codes == 1, 1, -1),
    "bool objects": lambda codes: codes.astype(bool).astype(object),
}
#: Real targets that are whole numbers.
NUMBERS: dict[str, Callable[[np.ndarray], Any]] = {
    "plain": lambda y: y,
    "float32": lambda y: y.astype(np.float32),
    "float16": lambda y: y.astype(np.float16),
    "int64": lambda y: y.astype(np.int64),
    "int8": lambda y: y.astype(np.int8),
    "objects": lambda y: y.astype(object),
    "list": lambda y: y.tolist(),
    "fortran": lambda y: np.asfortranarray(y),
    "strided": strided,
    "column": lambda y: y.reshape(len(y), -1),
    **({"pandas": lambda y: reindexed(y) if y.ndim == 1 else _frame(y)} if _PANDAS else {}),
}
#: Weights that are whole numbers.
WEIGHTS: dict[str, Callable[[np.ndarray], Any]] = {
    "plain": lambda w: w,
    "float32": lambda w: w.astype(np.float32),
    "int64": lambda w: w.astype(np.int64),
    "list": lambda w: w.tolist(),
    "strided": strided,
    **({"pandas": reindexed} if _PANDAS else {}),
    **({"polars": of_polars} if _POLARS else {}),
}


def _frame(values: np.ndarray) -> Any:
    import pandas

    return pandas.DataFrame(values, index=np.arange(len(values))[::-1])
