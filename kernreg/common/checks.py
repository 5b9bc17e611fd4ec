"""Checks of single parameters: numbers, counts, flags and words, and the one error for what is none of them.

A number is a real number of Python or NumPy. Truth values and spans of time count as numbers for these two, not here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from kernreg.errors import ParameterError, shown

_LARGEST_COUNT = 2**31 - 1  # of iterations, neighbours, landmarks: what every library counts to
_NO_NUMBERS = (bool, np.bool_, np.timedelta64)  # which are integers to Python or NumPy


def is_real(value: Any) -> bool:
    """Whether a value is a real number; truth values are none.

    >>> is_real(2), is_real(np.float32(0.5)), is_real(True), is_real("2"), is_real(np.timedelta64(2, "s"))
    (True, True, False, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, _NO_NUMBERS)


def is_whole(value: Any) -> bool:
    """Whether a value is of a type of integers; truth values are none.

    >>> is_whole(2), is_whole(np.int8(2)), is_whole(2.0), is_whole(True)
    (True, True, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, _NO_NUMBERS)


def as_number(value: Any) -> float:
    """Return a real number as a float: infinite where it is an integer that no float holds, NaN where it is none.

    >>> as_number(2), as_number(-(10**400)), as_number("2"), as_number(True)
    (2.0, -inf, nan, nan)
    """
    if not is_real(value):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def check_choice(name: str, value: Any, accepted: Sequence[str]) -> str:
    """Return the value if it is one of the accepted strings.

    >>> check_choice("on_pole", "damp", ("raise", "damp"))
    'damp'
    """
    if isinstance(value, str) and value in accepted:
        return value
    raise ParameterError(f"{name}={shown(value)} is not accepted; give {' or '.join(map(repr, accepted))}")


def check_number(name: str, value: Any, low: float = 0.0, high: float = math.inf, *, open_low: bool = True) -> float:
    """Return a finite number above ``low`` and below ``high`` as a float; without ``open_low`` also ``low`` itself.

    >>> check_number("C", 2), check_number("ridge", 0.0, open_low=False)
    (2.0, 0.0)
    >>> check_number("tol", -1.0)
    Traceback (most recent call last):
    kernreg.errors.ParameterError: tol=-1.0 is not accepted; give a finite number above 0
    """
    number = as_number(value)
    if low < number < high or (number == low and not open_low):
        return number
    bounds = f"{'above' if open_low else 'of at least'} {low:g}" + (f" and below {high:g}" if high < math.inf else "")
    raise ParameterError(f"{name}={shown(value)} is not accepted; give a finite number {bounds}")


def check_count(name: str, value: Any, low: int = 1) -> int:
    """Return an integer of at least ``low``, and small enough to count to.

    >>> check_count("max_iter", 100)
    100
    >>> check_count("max_iter", 1.5)
    Traceback (most recent call last):
    kernreg.errors.ParameterError: max_iter=1.5 is not accepted; give an integer of at least 1 and below 2³¹
    """
    if is_whole(value) and low <= int(value) <= _LARGEST_COUNT:
        return int(value)
    raise ParameterError(f"{name}={shown(value)} is not accepted; give an integer of at least {low} and below 2³¹")


def check_flag(name: str, value: Any) -> bool:
    """Return True or False, also where it is NumPy's; nothing else says yes or no.

    >>> check_flag("center", True), check_flag("center", np.False_)
    (True, False)
    >>> check_flag("center", "no")
    Traceback (most recent call last):
    kernreg.errors.ParameterError: center='no' is not accepted; give True or False
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise ParameterError(f"{name}={shown(value)} is not accepted; give True or False")
