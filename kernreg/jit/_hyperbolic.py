"""tanh.

Method: tanh |x| = E / (E + 2) with E = e^(2|x|) - 1, then the sign of x. E is kept as a sum of two numbers,
and the quotient of the greater ones is corrected by its remainder. Beyond |x| = 20 the result is 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.jit._define import implements, plain
from kernreg.jit._exp import scaled_expm1
from kernreg.jit._ir import Value, exact_sum, muladd, remainder


def tanh(x: Any) -> Any:
    """Hyperbolic tangent.

    ================  ============
    x                 tanh(x)
    ================  ============
    -inf, inf         -1, 1
    subnormal, -0, 0  x
    nan               nan
    ================  ============

    Elsewhere the error is below 1 ulp, in float64 and in float32.

    Examples
    --------
    >>> tanh(-0.0), tanh(1000.0)
    (-0.0, 1.0)
    """
    return plain(np.tanh, x)


@implements(tanh)
def tanh_formula(x: Value) -> Value:
    size = abs(x)
    high, low = scaled_expm1((size > 20.0).select(20.0, size) * 2.0, 1.0)
    divisor, divisor_low = exact_sum(high, 2.0)
    reciprocal = 1.0 / divisor
    quotient = high * reciprocal
    rest = remainder(high, quotient, divisor) + (low - quotient * (divisor_low + low))
    return muladd(rest, reciprocal, quotient).copysign(x)
