"""sqrt, fabs, maximum and minimum: functions that are a single instruction."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.jit._define import implements, plain
from kernreg.jit._ir import Value


def sqrt(x: Any) -> Any:
    """Square root, correctly rounded; nan below 0, -0 for -0.

    Examples
    --------
    >>> sqrt(9.0), sqrt(-1.0)
    (3.0, nan)
    """
    return plain(np.sqrt, x)


@implements(sqrt)
def sqrt_formula(x: Value) -> Value:
    return x.sqrt()


def fabs(x: Any) -> Any:
    """Absolute value.

    Examples
    --------
    >>> fabs(-2.0)
    2.0
    """
    return plain(np.fabs, x)


@implements(fabs)
def fabs_formula(x: Value) -> Value:
    return abs(x)


def maximum(x: Any, y: Any) -> Any:
    """The greater of two numbers, nan if either is nan.

    An integer takes the type of the other argument: with float32, write ``maximum(x, 0)``, because ``0.0``
    is a float64 number to Numba and makes the result one.

    Examples
    --------
    >>> maximum(-1.5, 0)
    0.0
    """
    return plain(np.maximum, x, y)


@implements(maximum)
def maximum_formula(x: Value, y: Value) -> Value:
    return (x > y).select(x, x.equals(x).select(y, x))


def minimum(x: Any, y: Any) -> Any:
    """The lesser of two numbers, nan if either is nan; types as for `maximum`.

    Examples
    --------
    >>> minimum(-1.5, 0)
    -1.5
    """
    return plain(np.minimum, x, y)


@implements(minimum)
def minimum_formula(x: Value, y: Value) -> Value:
    return (x < y).select(x, x.equals(x).select(y, x))
