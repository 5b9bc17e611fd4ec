"""pow, for real and for integer exponents.

Real exponents: |x|^y = e^(y log|x|). An error of y log|x| is a relative error of the result, and y log|x|
goes up to 709, so the logarithm is needed with some twelve bits more than a float64 number has: it is
computed as a sum of two numbers. With s = (m - 1)/(m + 1), z = s² and the notation of ``_log.py``,
log m = 2 s (1 + z (1/3 + z T(z))), where only T(z), a minimax fit, is a single number.

Integer exponents (of an integer *type*) below 64 are products: one or two plain multiplications up to the
cube, beyond that multiplications that carry their rounding errors along.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numba.core import types
from numba.extending import overload

from kernreg.jit._define import OPTIONS, emitter, float_type, implements, plain
from kernreg.jit._exp import ln2, scaled_exp
from kernreg.jit._ir import FLOAT64, Value, exact_product, muladd, ordered_sum, polynomial, remainder
from kernreg.jit._log import split_any

# T of degree 6 for float64 (relative error of the logarithm below 2^-65.3), of degree 2 for float32 (2^-36.6)
T64 = (
    0.20000000000001128,
    0.14285714285049164,
    0.11111111260077781,
    0.09090892172966863,
    0.07693379172352342,
    0.06628396651000422,
    0.06598281572880121,
)
T32 = (0.20000076, 0.14273559, 0.117094725)


def pow(x: Any, y: Any) -> Any:
    """x to the power y.

    ===========================  ==========================================================================
    arguments                    pow(x, y)
    ===========================  ==========================================================================
    y = 0, or x = 1              1, even if the other one is nan
    x < 0, y an integer          |x|^y, with the sign of x if y is odd
    x < 0 finite, y no integer   nan
    x = -0, 0                    0 if y > 0, inf if y < 0, with the sign of x if y is an odd integer
    x = -inf, inf                inf if y > 0, 0 if y < 0, with the sign of x if y is an odd integer
    y = inf                      0 if |x| < 1, 1 if x = -1, inf if |x| > 1
    y = -inf                     inf if |x| < 1, 1 if x = -1, 0 if |x| > 1
    |x|^y subnormal              0, with the sign the result has: flushed
    ===========================  ==========================================================================

    Elsewhere the error is below 1.5 ulp, in float64 and in float32. An exponent of an integer type, such as a
    degree, is much faster than the same number as a float; powers from -63 to 63 are not flushed, and have an
    error below 2 ulp down to the least normal number.

    Examples
    --------
    >>> pow(2.0, 0.5), pow(-2.0, 3), pow(0.0, 0.0)
    (1.4142135623730951, -8.0, 1.0)
    """
    return plain(np.power, x, y)


def log_pair(x: Value) -> tuple[Value, Value]:
    """log(x), x positive and finite, as a sum of two numbers whose first is the rounded sum."""
    format = x.format
    k, m = split_any(x)
    # s = 2 (m - 1) / (m + 1), as a quotient and its correction.
    divisor = m + 1.0
    divisor_low = m - (divisor - 1.0)
    twice = (m - 1.0) * 2.0
    reciprocal = 1.0 / divisor
    s = twice * reciprocal
    s_low = (remainder(twice, s, divisor) - s * divisor_low) * reciprocal
    # z = (s/2)²
    z, z_low = exact_product(s * 0.5, s * 0.5)
    z_low = muladd(s * 0.5, s_low, z_low)
    # t = 1/3 + z T(z)
    tail = polynomial(z, T64 if format is FLOAT64 else T32)
    third = float(format.dtype(1 / 3))
    third_low = float(Fraction(1, 3) - Fraction(third))
    t, t_low = ordered_sum(z.constant(third), z * tail)
    t_low = t_low + third_low
    # g = z t, then the logarithm s + s g + k ln 2
    g, g_low = exact_product(z, t)
    g_low = g_low + muladd(z, t_low, z_low * t)
    p, p_low = exact_product(s, g)
    p_low = p_low + muladd(s, g_low, s_low * g)
    a, a_low = ordered_sum(s, p)
    head, small = ln2(format)
    b, b_low = ordered_sum(k * head, a)
    b_low = b_low + muladd(k, small, a_low + (s_low + p_low))
    return ordered_sum(b, b_low)


def integrality(y: Value) -> tuple[Value, Value]:
    """Whether y is an integer, and, as an integer, whether it is an odd one."""
    limit = 2.0**y.format.mantissa
    size = abs(y)
    # Adding 2^mantissa rounds to an integer, whose parity is then the last bit.
    shifted = size + (size < limit).select(size.constant(limit), 0.0)
    is_integer = (shifted - limit).equals(size) | (size >= limit)
    return is_integer, (is_integer & (size < 2.0 * limit)).select(shifted.bits() & 1, 0)


def magnitude(size: Value, y: Value) -> Value:
    """size^y for size >= 0."""
    high, low = log_pair(size)
    # 0 gives -inf; inf and nan give themselves.
    high = (size > 0.0).select(high, -math.inf)
    high = (size < math.inf).select(high, size)
    exponent, lost = exact_product(y, high)
    result = scaled_exp(exponent, muladd(y, low, lost))
    return size.equals(1.0).select(1.0, result)


def signed(result: Value, odd: Value, x: Value) -> Value:
    """`result`, with the sign of x where the integer `odd` has its last bit set."""
    return (result.bits() ^ ((odd << x.format.width - 1) & x.bits())).from_bits()


@implements(pow, when=lambda x, y: not isinstance(y, types.Integer))
def real_power(x: Value, y: Value) -> Value:
    size = abs(x)
    is_integer, odd = integrality(y)
    result = signed(magnitude(size, y), odd, x)
    result = ((x < 0.0) & (size < math.inf)).select(is_integer.select(result, math.nan), result)
    return y.equals(0.0).select(1.0, result)


def integer_power(x: Value, n: Value) -> Value:
    """x^n for an integer n other than 0."""
    return signed(magnitude(abs(x), n.to_float()), n, x)


def up_to_cube(x: Value, n: Value) -> Value:
    """x^n for 0 <= n <= 3."""
    first = (n & 1).equals(0).select(1.0, x)
    return first * (n & 2).equals(0).select(1.0, x * x)


def up_to_seventh(x: Value, n: Value) -> Value:
    """x^n for 4 <= n <= 7."""
    return products(x, None, n, 3)


def below_64(x: Value, n: Value) -> Value:
    """x^n for 0 < |n| < 64."""
    negative = n < 0
    inverse = 1.0 / x
    rest = remainder(x.constant(1.0), inverse, x)
    # Where x or its inverse is 0 or inf there is nothing to correct.
    inverse_low = (abs(rest) < 1.0).select(inverse * rest, 0.0)
    base, base_low = negative.select(inverse, x), negative.select(inverse_low, 0.0)
    return products(base, base_low, negative.select(0 - n, n), 6)


def products(x: Value, x_low: Value | None, n: Value, bits: int) -> Value:
    """(x + x_low)^n for 0 < n < 2^bits from repeated squares, each product with its rounding error."""
    one = x.constant(1.0).bits()

    # Masks and not selects: see `integer_pow` on choices by the degree.
    def factor(bit: int, power: Value, low: Value | None) -> tuple[Value, Value | None]:
        """The power if that bit of n is set, else 1."""
        mask = 0 - ((n >> bit) & 1)
        chosen = (one ^ ((power.bits() ^ one) & mask)).from_bits()
        return chosen, None if low is None else (low.bits() & mask).from_bits()

    power: tuple[Value, Value | None] = (x, x_low)
    result = factor(0, *power)
    for bit in range(1, bits):
        power = _product(power, power)
        result = high, low = _product(result, factor(bit, *power))
    # The errors of an infinite product are nan, and those of a zero have the wrong sign.
    return (abs(high) < math.inf).select((high + low).copysign(high), high)


def _product(a: tuple[Value, Value | None], b: tuple[Value, Value | None]) -> tuple[Value, Value]:
    """The product of two numbers given with their rounding errors (None: exact)."""
    product, error = exact_product(a[0], b[0])
    if b[1] is not None:
        error = muladd(a[0], b[1], error)
    if a[1] is not None:
        error = muladd(b[0], a[1], error)
    return product, error


@overload(pow, jit_options=OPTIONS)
def integer_pow(x, y):
    """Four ways to an integer power, chosen by the size of the exponent.

    LLVM tests a degree that does not change in the loop once, before it, and makes one vectorised loop of
    each case. It gives up on that when more choices than a few depend on the degree, in the formulas too.
    """
    if not isinstance(y, types.Integer):
        return None
    kind = float_type("pow", (x, y))
    one_or_two_products = emitter(up_to_cube, kind, 1)
    some_products = emitter(up_to_seventh, kind, 1)
    many_products = emitter(below_64, kind, 1)
    by_logarithm = emitter(integer_power, types.float64, 1)

    def cases(x, y):
        if 0 <= y < 4:
            return one_or_two_products((x, y))
        if 4 <= y < 8:
            return some_products((x, y))
        if -64 < y < 64:
            return many_products((x, y))
        return kind(by_logarithm((x, y)))

    return cases
