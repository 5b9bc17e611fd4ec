"""exp and expm1.

Method: n = round(x / ln 2) and r = x - n ln 2, with |r| <= (ln 2)/2 and ln 2 split into a short head (its
products with n are exact) and a tail; then e^r = 1 + r + r² q(r) with a polynomial q, and e^x = 2^n e^r,
where 2^n is an addition to the exponent bits. The polynomials are minimax fits of (e^r - 1 - r)/r² for the
relative error of e^r - 1; ``tests/jit/test_coefficients.py`` derives them again and states their error.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kernreg.jit._define import implements, plain
from kernreg.jit._ir import FLOAT64, Format, Value, muladd, ordered_sum, polynomial

# q of degree 9 for float64 (relative error of e^r - 1 below 2^-54.7), of degree 4 for float32 (2^-25.8).
Q64 = (
    0.5000000000000006,
    0.16666666666666588,
    0.04166666666657665,
    0.008333333333389622,
    0.0013888888931602391,
    0.00019841269718884395,
    2.4801505225603864e-05,
    2.7557407611590487e-06,
    2.762605808326436e-07,
    2.5053769465872326e-08,
)
Q32 = (0.49999997, 0.16666543, 0.0416672, 0.008366531, 0.0013882509)

# ln 2 = head + tail; the head has 36 (float64), 16 (float32) significant bits.
LN2_64 = (float.fromhex("0x1.62e42fefap-1"), float.fromhex("0x1.cf79abc9e3b3ap-40"))
LN2_32 = (float.fromhex("0x1.62e4p-1"), float.fromhex("0x1.7f7d1cp-20"))


def coefficients(format: Format) -> tuple[float, ...]:
    return Q64 if format is FLOAT64 else Q32


def ln2(format: Format) -> tuple[float, float]:
    return LN2_64 if format is FLOAT64 else LN2_32


def lowest(format: Format) -> float:
    """The least x for which e^x is a normal number: ln(2^(1 - bias)), rounded up."""
    return -708.3964185322641 if format is FLOAT64 else -87.33654


def highest(format: Format) -> float:
    """The greatest x for which e^x is finite."""
    return 709.782712893384 if format is FLOAT64 else 88.72283


def reduce(x: Value) -> tuple[Value, Value, Value]:
    """n = round(x / ln 2) in the low bits of a number, n itself, and x - n ln2_head."""
    magic = x.format.magic
    shifted = muladd(x, 1 / math.log(2), magic)
    n = shifted - magic
    return shifted, n, muladd(n, -ln2(x.format)[0], x)


def scaled_exp(x: Value, tail: Value | None = None) -> Value:
    """e^(x + tail), for a tail that is small against the last bit of x; flushed and saturated as `exp` is."""
    format = x.format
    shifted, n, head = reduce(x)
    small = -ln2(format)[1]
    r = muladd(n, small, head) if tail is None else head + muladd(n, small, tail)
    square = r * r
    p = muladd(polynomial(r, coefficients(format), square), square, r) + 1.0
    result = (p.bits() + (shifted.bits() << format.mantissa)).from_bits()
    result = (x >= lowest(format)).select(result, 0.0)
    # The sum is inf above the range and nan for nan, in one instruction.
    return (x <= highest(format)).select(result, x + math.inf)


def scaled_expm1(x: Value, scale: float) -> tuple[Value, Value]:
    """scale (e^x - 1) as a rounded number and what the rounding lost.

    For lowest <= x <= highest; the scale is a power of two that keeps 2^n scale finite.

    With e^r - 1 = r + t, the result is (2^n - 1) + 2^n r + 2^n t. The first two terms partly cancel when
    n = 1; their sum is therefore taken exactly (the first is zero or the greater one), and r with its
    rounding error.
    """
    format = x.format
    shifted, n, head = reduce(x)
    small = n * ln2(format)[1]
    r = head - small
    lost = (head - r) - small
    square = r * r
    t = muladd(polynomial(r, coefficients(format), square), square, lost)
    power = ((shifted.bits() << format.mantissa) + format.bits(scale)).from_bits()
    high, low = ordered_sum(power - scale, power * r)
    return ordered_sum(high, muladd(power, t, low))


def exp(x: Any) -> Any:
    """e to the power x.

    ================  =========================================================================
    x                 exp(x)
    ================  =========================================================================
    -inf              0
    x < -708.396      0: what would be a subnormal number is flushed (float32: x < -87.3365)
    -0, 0             1 exactly
    x > 709.782       inf (float32: x > 88.7228)
    inf, nan          inf, nan
    ================  =========================================================================

    Elsewhere the error is below 1.2 ulp, in float64 and in float32.

    Examples
    --------
    >>> exp(0.0)
    1.0
    >>> exp(1000.0)
    inf
    """
    return plain(np.exp, x)


@implements(exp)
def exp_formula(x: Value) -> Value:
    return scaled_exp(x)


def expm1(x: Any) -> Any:
    """e to the power x, minus 1, with full relative accuracy near 0.

    ================  ============================================
    x                 expm1(x)
    ================  ============================================
    -inf              -1
    subnormal, -0, 0  x
    x > 709.782       inf (float32: x > 88.7228)
    inf, nan          inf, nan
    ================  ============================================

    Elsewhere the error is below 1.3 ulp, in float64 and in float32.

    Examples
    --------
    >>> expm1(1e-20)
    1e-20
    """
    return plain(np.expm1, x)


@implements(expm1)
def expm1_formula(x: Value) -> Value:
    format = x.format
    # Half the result, doubled: 2^n itself overflows just below the greatest x.
    result = scaled_expm1(x, 0.5)[0] * 2.0
    result = (x < -1.5 * format.mantissa * math.log(2)).select(-1.0, result)
    result = (abs(x) < 2.0 ** (-format.mantissa - 2)).select(x, result)
    return (x <= highest(format)).select(result, x + math.inf)
