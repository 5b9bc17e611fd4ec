"""Values that are no parameters, or just so: numbers at the ends, texts, arrays, objects whose every method raises."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np


class Refusal(Exception):
    """An error of a class that nobody catches by name."""


class Angry:
    """An object that refuses everything it is asked."""

    def refuse(self, *_: Any) -> Any:
        raise Refusal("this object refuses")

    __float__ = __int__ = __index__ = __len__ = __iter__ = __repr__ = __str__ = __bool__ = refuse
    __eq__ = __ne__ = __lt__ = __gt__ = __le__ = __ge__ = refuse  # type: ignore[assignment]
    __hash__ = refuse  # type: ignore[assignment]


class AngryFloat(Angry, float):
    """A float that raises when it is compared or converted."""

    __hash__ = Angry.refuse  # type: ignore[assignment]


class AngryInt(Angry, int):
    """An integer that raises when it is compared or converted."""

    __hash__ = Angry.refuse  # type: ignore[assignment]


class AngryText(Angry, str):
    """Text that raises when it is compared or printed."""

    __hash__ = Angry.refuse  # type: ignore[assignment]


class AngryList(Angry, list):  # type: ignore[type-arg]
    """A list that has no length."""


class AngryDict(Angry, dict):  # type: ignore[type-arg]
    """A dict that raises when it is asked for anything."""

    keys = items = values = get = __getitem__ = __contains__ = Angry.refuse  # type: ignore[assignment]


class Float:
    """What converts to a float, and is none."""

    def __init__(self, value: float):
        self.value = value

    def __float__(self) -> float:
        return self.value


class Index:
    """What converts to an integer, and is none."""

    def __index__(self) -> int:
        return 3


class Unhashable:
    """Equal to nothing, and in no dict."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return False


class Wild:
    """Has every attribute, each of which is callable and returns the like: a mock."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Wild()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return Wild()


class Raising:
    """Raises an error of its own class when any attribute is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Refusal("no attribute here")


def _table() -> Any:
    import pandas as pd

    return pd.DataFrame({"a": [1.0, 2.0]})


def _nothing() -> Any:
    import pandas as pd

    return pd.NA


def _timestamp() -> Any:
    import pandas as pd

    return pd.Timestamp("2020-01-01")


def _sparse() -> Any:
    import scipy.sparse as sp

    return sp.csr_array(np.eye(3))


def _loop() -> Any:
    values: list[Any] = []
    values.append(values)
    return values


def _deep() -> Any:
    value: Any = 1.0
    for _ in range(5000):
        value = [value]
    return value


#: By name, so that a case is plain data: what makes the value.
VALUES: dict[str, Callable[[], Any]] = {
    "0": lambda: 0,
    "1": lambda: 1,
    "-1": lambda: -1,
    "2": lambda: 2,
    "0.0": lambda: 0.0,
    "-0.0": lambda: -0.0,
    "0.5": lambda: 0.5,
    "1.0": lambda: 1.0,
    "2.5": lambda: 2.5,
    "-2.5": lambda: -2.5,
    "1e-8": lambda: 1e-8,
    "1e-100": lambda: 1e-100,
    "1e-308": lambda: 1e-308,
    "5e-324": lambda: 5e-324,
    "-5e-324": lambda: -5e-324,
    "1e16": lambda: 1e16,
    "1e100": lambda: 1e100,
    "1e155": lambda: 1e155,
    "1e308": lambda: 1e308,
    "-1e308": lambda: -1e308,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "nan": lambda: math.nan,
    "1000": lambda: 1000,
    "2**31 - 1": lambda: 2**31 - 1,
    "2**31": lambda: 2**31,
    "2**63": lambda: 2**63,
    "-2**63": lambda: -(2**63),
    "10**400": lambda: 10**400,
    "-10**400": lambda: -(10**400),
    "10**5000": lambda: 10**5000,
    "True": lambda: True,
    "False": lambda: False,
    "None": lambda: None,
    "Ellipsis": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    "empty text": lambda: "",
    "a blank": lambda: " ",
    "text": lambda: "nonsense",
    "a number as text": lambda: "2.0",
    "nan as text": lambda: "nan",
    "long text": lambda: "x" * 10**6,
    "long number as text": lambda: "1" * 10**5,
    "open brackets": lambda: "(" * 10**5,
    "nested spec": lambda: "scale(" * 2000 + "rbf" + ")" * 2000,
    "escapes": lambda: "\x1b[31mred\x1b[0m\r\n\t\0",
    "surrogate": lambda: "\ud800",
    "other letters": lambda: "\u202eaverage\u0301",
    "text in capitals": lambda: "AUTO",
    "bytes": lambda: b"auto",
    "bytearray": lambda: bytearray(b"loo"),
    "memoryview": lambda: memoryview(b"loo"),
    "str_": lambda: np.str_("auto"),
    "str_ nonsense": lambda: np.str_("nonsense"),
    "bytes_": lambda: np.bytes_(b"auto"),
    "array of text": lambda: np.array(["auto", "loo"]),
    "0-d text": lambda: np.array("auto"),
    "empty list": list,
    "list": lambda: [1.0],
    "list of text": lambda: ["rbf", "linear"],
    "list of None": lambda: [None, None],
    "list of nan": lambda: [0.5, math.nan],
    "list of lists": lambda: [[1, 2], [3]],
    "list of huge": lambda: [10**400, 1e308],
    "long list": lambda: [0.5] * 10**5,
    "list in itself": _loop,
    "deep list": _deep,
    "tuple": lambda: (1, 2),
    "empty tuple": tuple,
    "set": lambda: {1.0, 2.0},
    "frozenset": lambda: frozenset({1}),
    "dict": lambda: {"a": 1.0},
    "empty dict": dict,
    "dict of numbers": lambda: {0: 1.0, 1: -1.0, -1: math.nan},
    "dict of inf": lambda: {0: math.inf, 1: 1.0, -1: 1.0},
    "dict of tiny": lambda: {0: 5e-324, 1: 1e308, -1: 1e308},
    "range": lambda: range(3),
    "generator": lambda: (i for i in range(3)),
    "slice": lambda: slice(2),
    "0-d": lambda: np.array(2.0),
    "0-d integer": lambda: np.array(2),
    "0-d object": lambda: np.array(None, dtype=object),
    "one element": lambda: np.array([2.0]),
    "no elements": lambda: np.array([]),
    "array": lambda: np.array([1, 2, 3]),
    "array of flags": lambda: np.array([True, False]),
    "table": lambda: np.ones((2, 2)),
    "table of nan": lambda: np.full((3, 3), np.nan),
    "no rows": lambda: np.ones((0, 3)),
    "cube": lambda: np.ones((2, 2, 2)),
    "object array": lambda: np.array([None, "a", 1.0], dtype=object),
    "complex array": lambda: np.ones((2, 2)) * 1j,
    "structured": lambda: np.zeros(2, dtype=[("a", float)]),
    "matrix": lambda: np.matrix([[1.0, 2.0], [3.0, 4.0]]),
    "recarray": lambda: np.rec.array([(1.0, 2)], dtype=[("a", float), ("b", int)]),
    "masked": lambda: np.ma.masked,
    "masked array": lambda: np.ma.array([1.0, 2.0], mask=[True, False]),
    "masked 0-d": lambda: np.ma.array(2.0, mask=True),
    "sparse": _sparse,
    "float16": lambda: np.float16(0.5),
    "float16 inf": lambda: np.float16("inf"),
    "float32": lambda: np.float32(0.1),
    "longdouble": lambda: np.longdouble(2),
    "longdouble beyond": lambda: np.longdouble("1e4000"),
    "longdouble below": lambda: np.longdouble("1e-4000"),
    "longdouble nan": lambda: np.longdouble("nan"),
    "int8": lambda: np.int8(-128),
    "uint64": lambda: np.uint64(2**64 - 1),
    "bool_": lambda: np.True_,
    "complex": lambda: 1 + 0j,
    "complex128": lambda: np.complex128(2),
    "datetime64": lambda: np.datetime64("2020-01-01"),
    "timedelta64": lambda: np.timedelta64(2, "s"),
    "timedelta": lambda: datetime.timedelta(1),
    "void": lambda: np.void(b"ab"),
    "Fraction": lambda: Fraction(1, 3),
    "huge Fraction": lambda: Fraction(10**400, 3),
    "Fraction below": lambda: Fraction(1, 10**400),
    "Decimal": lambda: Decimal("0.5"),
    "Decimal beyond": lambda: Decimal("1e400"),
    "Decimal NaN": lambda: Decimal("NaN"),
    "Decimal sNaN": lambda: Decimal("sNaN"),
    "angry": Angry,
    "angry float": AngryFloat,
    "angry int": AngryInt,
    "angry text": lambda: AngryText("auto"),
    "angry list": lambda: AngryList([1, 2]),
    "angry dict": lambda: AngryDict({0: 1.0}),
    "like a float": lambda: Float(0.5),
    "like nan": lambda: Float(math.nan),
    "like an integer": Index,
    "unhashable": Unhashable,
    "mock": Wild,
    "raising attributes": Raising,
    "object": object,
    "class": lambda: int,
    "class of an error": lambda: ValueError,
    "function": lambda: len,
    "lambda": lambda: lambda *_: 0.0,
    "lambda of a table": lambda: lambda X, Z=None: np.ones((len(X), len(X if Z is None else Z))),
    "module": lambda: math,
    "NA": _nothing,
    "Timestamp": _timestamp,
    "DataFrame": _table,
    "Series": lambda: _table()["a"],
}
