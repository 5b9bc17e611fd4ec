"""Checks of single parameters: numbers, counts, flags and words, and the one error for what is none of them.

A number is a real number of Python or NumPy. Truth values and spans of time count as numbers for these two, not here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Sized
from numbers import Integral, Real
from typing import Any

import numpy as np

from kernreg.errors import ParameterError, shown

_LARGEST_COUNT = 2**31 - 1  # of iterations, neighbours, landmarks: what every library counts to
_PLAIN = (type(None), bool, int, float, str, bytes, tuple, list, dict)  # what nobody has put code into
_LONGEST = 200  # characters of somebody else's message
_NO_NUMBERS: tuple[type, ...] = (bool, np.bool_, np.timedelta64)  # which are integers to Python or NumPy


def is_real(value: Any) -> bool:
    """Whether a value is a real number; truth values are none.

    >>> is_real(2), is_real(np.float32(0.5)), is_real(True), is_real("2"), is_real(np.timedelta64(2, "s"))
    (True, True, False, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, _NO_NUMBERS) and not _refuses(value)


def is_whole(value: Any) -> bool:
    """Whether a value is of a type of integers; truth values are none.

    >>> is_whole(2), is_whole(np.int8(2)), is_whole(2.0), is_whole(True)
    (True, True, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, _NO_NUMBERS) and not _refuses(value)


def _refuses(value: Any) -> bool:
    """Whether a value's own code raises where it is compared: what is derived from a number or text may do so."""
    try:
        bool(value == value), bool(value < value), hash(value)
    except Exception:  # of any kind: the code is somebody's own
        return True
    return False


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
    except Exception:  # of any kind: the value's own code
        return math.nan


def is_word(value: Any, word: str) -> bool:
    """Whether a parameter is this word. Of an array, which no fit has seen yet, ``==`` has several answers.

    >>> is_word("a3", "a3"), is_word(["a3"], "a3")
    (True, False)
    """
    return isinstance(value, str) and str.__eq__(value, word)  # whatever a subclass makes of it


def check_choice(name: str, value: Any, accepted: Sequence[str]) -> str:
    """Return the value if it is one of the accepted strings.

    >>> check_choice("on_pole", "damp", ("raise", "damp"))
    'damp'
    """
    if isinstance(value, str) and not _refuses(value) and value in accepted:
        return value
    raise ParameterError(f"{name}={shown(value)} is not accepted; give {' or '.join(map(repr, accepted))}")


def check_sound(name: str, value: Any) -> None:
    """Refuse a value whose own code raises where it is compared, measured or asked for an attribute, and mocks.

    What a parameter may be is for others to say. They ask whether it is equal to a word, how long it is or whether it
    has a method, and an error that comes out of the value itself would name neither the parameter nor what is accepted.

    >>> check_sound("gamma", [1.0, 2.0])
    >>> class Proud:
    ...     def __eq__(self, other):
    ...         raise RuntimeError("incomparable")
    >>> check_sound("gamma", Proud())
    Traceback (most recent call last):
    kernreg.errors.ParameterError: gamma=... is not accepted; RuntimeError came out of it: incomparable
    """
    if type(value) in _PLAIN or isinstance(value, np.ndarray | np.generic | type):
        return
    try:
        pretends = hasattr(value, "no attribute has this name")
        # Ensembles that are not fitted yet have no length, nor have sparse tables; others compare number by number.
        if not pretends and not hasattr(value, "get_params") and not hasattr(value, "shape"):
            _ = value == "", value == value
            if isinstance(value, Sized):
                len(value)
            if isinstance(value, Mapping):
                value.keys(), value.items()
    except Exception as error:  # of any kind: the code is somebody's own
        raise ParameterError(
            f"{name}={shown(value)} is not accepted; {type(error).__name__} came out of it: {str(error)[:_LONGEST]}"
        ) from None
    if pretends:
        raise ParameterError(f"{name}={shown(value)} is not accepted; it has an attribute of every name, as mocks have")


def check_number(name: str, value: Any, low: float = 0.0, high: float = 1e100, *, open_low: bool = True) -> float:
    """Return a number above ``low`` and below ``high`` as a float; without ``open_low`` also ``low`` itself.

    Few computations get further than ``high``: squares and products of larger numbers are soon infinite.

    >>> check_number("C", 2), check_number("ridge", 0.0, open_low=False)
    (2.0, 0.0)
    >>> check_number("tol", -1.0)
    Traceback (most recent call last):
    kernreg.errors.ParameterError: tol=-1.0 is not accepted; give a number above 0 and below 1e+100
    """
    number = as_number(value)
    if low < number < high or (number == low and not open_low):
        return number
    bounds = f"{'above' if open_low else 'of at least'} {low:g} and below {high:g}"
    raise ParameterError(f"{name}={shown(value)} is not accepted; give a number {bounds}")


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
