"""log and log1p.

Method: x = 2^k m with sqrt(1/2) <= m < sqrt(2), f = m - 1 and s = f / (2 + f), so that
log m = 2 artanh(s) = f - h + s (h + z R(z)) with h = f²/2 and z = s² <= 0.0295, and log x = k ln 2 + log m.
R is a minimax fit (``tests/jit/test_coefficients.py``); f is exact, which makes the result accurate near 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kernreg.jit._define import implements, plain
from kernreg.jit._exp import ln2
from kernreg.jit._ir import FLOAT64, Value, exact_sum, muladd, polynomial

# R of degree 6 for float64 (relative error of the logarithm below 2^-58.8), of degree 2 for float32 (2^-30).
R64 = (
    0.6666666666666734,
    0.39999999999413777,
    0.2857142874260496,
    0.22222198549174876,
    0.18183565661660198,
    0.15314014195139394,
    0.14796334682611406,
)
R32 = (0.66666776, 0.39977533, 0.29872015)


def split(x: Value) -> tuple[Value, Value, Value]:
    """For a positive normal x = 2^k m: k + bias as an integer, k, and m in [sqrt(1/2), sqrt(2))."""
    format = x.format
    root = format.bits(math.sqrt(0.5))
    moved = x.bits() + (format.bits(1.0) - root)
    exponent = moved >> format.mantissa
    m = ((moved & ((1 << format.mantissa) - 1)) + root).from_bits()
    # An integer below 2^mantissa becomes a float by writing it into the bits of 2^mantissa.
    offset = 2.0**format.mantissa
    k = (exponent | format.bits(offset)).from_bits() - (offset + format.bias)
    return exponent, k, m


def split_any(x: Value) -> tuple[Value, Value]:
    """k and m as `split` gives them, for any positive finite x, subnormal numbers included."""
    format = x.format
    subnormal = x < 2.0 ** (1 - format.bias)
    _, k, m = split(subnormal.select(x * 2.0 ** (format.mantissa + 1), x))
    return subnormal.select(k - (format.mantissa + 1), k), m


def log_of_parts(k: Value, f: Value) -> Value:
    """k ln 2 + log(1 + f), for 1 + f in [sqrt(1/2), sqrt(2))."""
    head, tail = ln2(f.format)
    s = f / (f + 2.0)
    z = s * s
    half = f * f * 0.5
    series = half + z * polynomial(z, R64 if f.format is FLOAT64 else R32)
    return muladd(k, head, f - (half - muladd(s, series, k * tail)))


def log(x: Any) -> Any:
    """Natural logarithm.

    ================  ===================
    x                 log(x)
    ================  ===================
    x < 0, -inf       nan
    -0, 0             -inf
    1                 0 exactly
    subnormal         as accurate as elsewhere
    inf, nan          inf, nan
    ================  ===================

    Elsewhere the error is below 1 ulp, in float64 and in float32.

    Examples
    --------
    >>> log(1.0), log(0.0), log(-1.0)
    (0.0, -inf, nan)
    """
    return plain(np.log, x)


@implements(log)
def log_formula(x: Value) -> Value:
    k, m = split_any(x)
    return _outside_domain(x, 0.0, log_of_parts(k, m - 1.0))


def log1p(x: Any) -> Any:
    """Natural logarithm of 1 + x, with full relative accuracy near 0.

    ================  ===================
    x                 log1p(x)
    ================  ===================
    x < -1, -inf      nan
    -1                -inf
    subnormal, -0, 0  x
    inf, nan          inf, nan
    ================  ===================

    Elsewhere the error is below 1.5 ulp, in float64 and in float32.

    Examples
    --------
    >>> log1p(1e-20)
    1e-20
    """
    return plain(np.log1p, x)


@implements(log1p)
def log1p_formula(x: Value) -> Value:
    format = x.format
    u, lost = exact_sum(x, 1.0)
    exponent, k, m = split(u)
    # 2 * 2^-k, and 0 for the greatest exponent, where nothing is lost.
    scale = ((2 * format.bias + 1 - exponent) << format.mantissa).from_bits()
    result = log_of_parts(k, (m - 1.0) + lost * 0.5 * scale)
    result = (abs(x) < 2.0 ** (-format.mantissa - 2)).select(x, result)
    return _outside_domain(x, -1.0, result)


def _outside_domain(x: Value, pole: float, result: Value) -> Value:
    """`result` between the pole and inf, -inf at the pole, nan below it and for nan."""
    at_or_below = x.equals(pole).select(x.constant(-math.inf), math.nan)
    return (x < math.inf).select((x > pole).select(result, at_or_below), x)
