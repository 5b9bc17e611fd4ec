"""Where the coefficients come from: each table is a minimax polynomial, found again here by Remez' exchange.

A table is accepted if its error is the one stated next to it, and if a minimax polynomial of the same degree
is at most twice as accurate (rounding the coefficients to the format costs that much).
"""

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from kernreg.jit import _exp, _log, _power

# The intervals are a little longer than the reduced arguments, which are rounded.
HALF_LN2 = float(np.log(2) / 2 * (1 + 2**-12))
Z_MAX = float(((2**0.5 - 1) / (2**0.5 + 1)) ** 2 * (1 + 2**-12))


def exponential(r):
    """(e^r - 1 - r)/r²."""
    return mpmath.hyp1f1(1, 3, r) / 2


def exponential_weight(r):
    """r²/(e^r - 1): the error of r + r² q(r) relative to e^r - 1."""
    return abs(r**2 / mpmath.expm1(r)) if r else mpf(0)


def artanh_series(start):
    """Sum over j of z^j / (2 (j + start) + 1)."""
    return lambda z: sum(z**j / (2 * (j + start) + 1) for j in range(32))


# name: table, function, weight of the error, interval, error of the rounded table in bits
TABLES = {
    "exp float64": (_exp.Q64, exponential, exponential_weight, (-HALF_LN2, HALF_LN2), 54.7),
    "exp float32": (_exp.Q32, exponential, exponential_weight, (-HALF_LN2, HALF_LN2), 25.8),
    "log float64": (_log.R64, lambda z: 2 * artanh_series(1)(z), lambda z: z / 2, (0, Z_MAX), 58.8),
    "log float32": (_log.R32, lambda z: 2 * artanh_series(1)(z), lambda z: z / 2, (0, Z_MAX), 30.0),
    "pow float64": (_power.T64, artanh_series(2), lambda z: z**2, (0, Z_MAX), 65.3),
    "pow float32": (_power.T32, artanh_series(2), lambda z: z**2, (0, Z_MAX), 36.6),
}


def grid(interval, n):
    low, high = map(mpf, interval)
    return [(low + high) / 2 - (high - low) / 2 * mpmath.cos(mpmath.pi * i / n) for i in range(n + 1)]


def evaluate(coefficients, x):
    """The polynomial with these coefficients, constant term first."""
    total = mpf(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def largest(errors):
    return max(abs(e) for e in errors)


def minimax_error(function, weight, degree, interval):
    """The least possible maximum of |weight (function - polynomial)|, by exchange of the reference points."""
    points = [(x, weight(x)) for x in grid(interval, 20 * (degree + 1))]
    heaviest = max(w for _, w in points)
    # Where the weight vanishes there is no extreme error, and no equation to be had.
    values = [(x, function(x), w) for x, w in points if w > 1e-6 * heaviest]
    picked = [values[round(i * (len(values) - 1) / (degree + 1))] for i in range(degree + 2)]
    # Chebyshev's points to start with: equally spaced in the angle, as the grid is.
    for _ in range(8):
        matrix = mpmath.matrix(
            [[x**j for j in range(degree + 1)] + [(-1) ** i / w] for i, (x, _, w) in enumerate(picked)]
        )
        solution = list(mpmath.lu_solve(matrix, mpmath.matrix([f for _, f, _ in picked])))
        polynomial = solution[:-1]
        extremes = []
        for value in values:
            x, f, w = value
            error = w * (f - evaluate(polynomial, x))
            if not extremes or (error > 0) != (extremes[-1][0] > 0):
                extremes.append((error, value))
            elif abs(error) > abs(extremes[-1][0]):
                extremes[-1] = (error, value)
        while len(extremes) > degree + 2:
            extremes.pop(0 if abs(extremes[0][0]) < abs(extremes[-1][0]) else -1)
        picked = [value for _, value in extremes]
        found = largest(error for error, _ in extremes)
        if found < abs(solution[-1]) * 1.01:
            break
    return found


@pytest.mark.parametrize("name", TABLES)
def test_table_is_a_rounded_minimax_polynomial(name):
    table, function, weight, interval, bits = TABLES[name]
    dtype = np.float32 if "float32" in name else np.float64
    with mpmath.workprec(160):
        rounded = [mpf(float(dtype(c))) for c in table]
        errors = [weight(x) * (function(x) - evaluate(rounded, x)) for x in grid(interval, 300)]
        error = largest(errors)
        assert -mpmath.log(error, 2) > bits - 0.05
        assert minimax_error(function, weight, len(table) - 1, interval) > error / 2


def test_tables_hold_numbers_of_their_format():
    for table in (_exp.Q32, _log.R32, _power.T32):
        assert [str(np.float32(c)) for c in table] == [str(c) for c in table]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_head_and_tail_of_ln_2(dtype):
    head, tail = _exp.LN2_64 if dtype == np.float64 else _exp.LN2_32
    significant, exponent_bits = (53, 11) if dtype == np.float64 else (24, 8)
    with mpmath.workprec(160):
        assert tail == float(dtype(float(mpmath.log(2) - mpf(head))))
    # Products of the head with the exponents that occur are exact.
    assert (head * 2.0 ** (significant - exponent_bits)).is_integer()
