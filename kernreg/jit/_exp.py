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
from kernreg.jit._ir import FLOAT64, Format, Value, muladd, polynomial

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
    """(a number with n in its low bits, n, x - n ln2_head)."""
    magic = x.format.magic
    shifted = muladd(x, 1 / math.log(2), magic)
    n = shifted - magic
    return shifted, n, muladd(n, -ln2(x.format)[0], x)


def exp(x: Any) -> Any:
    """e to the power x.

    ============== =========================================
    x              exp(x)
    ============== =========================================
    -inf           0
    below -708.396 0: a result that would be subnormal is flushed (float32: below -87.3365)
    ±0             1 exactly
    above 709.783  inf (float32: above 88.7228)
    nan            nan
    ============== =========================================

    Error below 1 ulp elsewhere, float64 and float32.

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
    format = x.format
    shifted, n, head = reduce(x)
    r = muladd(n, -ln2(format)[1], head)
    square = r * r
    p = muladd(polynomial(r, coefficients(format), square), square, r) + 1.0
    result = (p.bits() + (shifted.bits() << format.mantissa)).from_bits()
    result = (x >= lowest(format)).select(result, 0.0)
    # The sum is inf above the range and nan for nan, in one instruction.
    return (x <= highest(format)).select(result, x + math.inf)
