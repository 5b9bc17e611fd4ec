"""The recursion of global alignment, in numbers with an exponent of their own: exact at any length, and vectorised.

With the local similarities g_ij, M_ij = g_ij (M_{i-1,j} + M_{i,j-1} + M_{i-1,j-1}) sums over all alignments and leaves
the range of float64 within some hundred steps. Logarithms would cost three exponentials and a logarithm in each cell.
Here a value is m 2^e, with m in [1, 2) and e, a whole number, in a float64 of its own: sums and products take a few
additions and shifts, which become SIMD instructions along the antidiagonals, where cells do not depend on each other.
Nothing underflows, so no term is lost but those that are less than 2^-1000 of their sum.
"""

from __future__ import annotations

import math

import numpy as np

from kernreg.engine import compiled_loop

LOG2E = 1.0 / math.log(2.0)
LN2_HEAD, LN2_TAIL = float.fromhex("0x1.62e42fefap-1"), float.fromhex("0x1.cf79abc9e3b3ap-40")
ROUND = 6755399441055744.0  # 1.5 · 2^52: adding and subtracting it rounds to a whole number
SHIFT = 4503599627370496.0  # 2^52: the low bits of 2^52 + k are k
NOTHING = -1e307  # the exponent of zero
FARTHEST = 1e300  # squared distances, in widths, beyond this one count as it
EXACT = 1e15  # from here on only the exponent counts, and rounding leaves nothing of the mantissa
LEAST = -1000.0  # below this power of two a term is nothing beside another

EXPONENT = np.uint64(52)
MANTISSA = np.uint64(0x000FFFFFFFFFFFFF)
ONE = np.uint64(0x3FF0000000000000)
WHOLE = np.uint64(0x4330000000000000)  # the bits of 2^52


@compiled_loop
def _power_of_two(k):
    """2^k of a whole number k from -1000 to 1000."""
    return np.uint64(np.float64(k + (SHIFT + 1023.0)).view(np.uint64) << EXPONENT).view(np.float64)


@compiled_loop
def _exp_reduced(r):
    """e^r for |r| <= (ln 2)/2, by the Taylor polynomial of degree 13: the rest is below 5e-18."""
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    return p * r + 1.0


@compiled_loop
def _local(distances, weights, first, count, g, exponents):
    """g 2^-exponent = w κ / (2 - w κ), κ = exp(-u), for ``count`` numbers u = d²/2σ²; w = 1 without weights."""
    for k in range(count):
        u = distances[k] if distances[k] < FARTHEST else FARTHEST
        n = (u * LOG2E + ROUND) - ROUND
        r = (n * LN2_HEAD - u) + n * LN2_TAIL
        p = _exp_reduced(r if u < EXACT else 0.0)
        if weights.size:
            p = p * weights[first + 2 * k]
        small = _power_of_two(-(n if n < 1000.0 else 1000.0))
        g[k] = p / (2.0 - p * small)
        exponents[k] = n


@compiled_loop
def _step(g, exponents, count, last, before, new):
    """One antidiagonal, from the last two into a new one: mantissas and exponents, which begin one cell earlier."""
    (m1, e1), (m2, e2), (m0, e0) = last, before, new
    for k in range(count):
        above, left, across = e1[k], e1[k + 1], e2[k]
        top = above if above > left else left
        top = across if across > top else top
        a, b, c = above - top, left - top, across - top
        a, b, c = (a if a > LEAST else LEAST), (b if b > LEAST else LEAST), (c if c > LEAST else LEAST)
        total = m1[k] * _power_of_two(a) + m1[k + 1] * _power_of_two(b) + m2[k] * _power_of_two(c)
        bits = np.float64(total * g[k]).view(np.uint64)
        m0[k + 1] = np.uint64((bits & MANTISSA) | ONE).view(np.float64)
        e0[k + 1] = top + (np.uint64((bits >> EXPONENT) | WHOLE).view(np.float64) - (SHIFT + 1023.0)) - exponents[k]


@compiled_loop
def _log_alignments(x, z, width, precision, weights, band, work):
    """log Σ over alignments of Π of local similarities; x is width × n, z width × m with its columns reversed."""
    n, m = len(x) // width, len(z) // width
    distances, g, exponents = work[0], work[1], work[2]
    m0, m1, m2 = work[3], work[4], work[5]
    e0, e1, e2 = work[6], work[7], work[8]
    for buffer in (m0, m1, m2):
        buffer[: n + 2] = 0.0
    for buffer in (e0, e1, e2):
        buffer[: n + 2] = NOTHING
    m2[0], e2[0] = 1.0, 0.0  # where all alignments begin: cell (-1, -1), two antidiagonals before the first
    for t in range(n + m - 1):
        low, high = max(0, t - m + 1), min(n - 1, t)
        if band:  # |i - j| < band, j = t - i
            low, high = max(low, (t - band + 2) // 2), min(high, (t + band - 1) // 2)
        count = high - low + 1
        for d in range(width):
            xs, zs = x[d * n + low :], z[d * m + m - 1 - t + low :]
            if d == 0:
                for k in range(count):
                    gap = (xs[k] - zs[k]) * precision
                    distances[k] = gap * gap
            else:
                for k in range(count):
                    gap = (xs[k] - zs[k]) * precision
                    distances[k] += gap * gap
        # weights[band + i - j] with i - j = 2 i - t
        _local(distances, weights, band + 2 * low - t, count, g, exponents)
        # Cell i stands at i + 1, so that its neighbours i - 1 and i begin at low.
        last, before, new = (m1[low:], e1[low:]), (m2[low:], e2[low:]), (m0[low:], e0[low:])
        _step(g, exponents, count, last, before, new)
        m0[low], e0[low] = 0.0, NOTHING
        m0[high + 2], e0[high + 2] = 0.0, NOTHING
        m0, m1, m2 = m2, m0, m1
        e0, e1, e2 = e2, e0, e1
    return (e1[n] + math.log2(m1[n])) / LOG2E


@compiled_loop
def _reversed(values, start, length, width, into):
    for d in range(width):
        for k in range(length):
            into[d * length + k] = values[start + d * length + length - 1 - k]


@compiled_loop
def log_alignments(left, right, width, sigma, band, weights, same, out):
    """Fill ``out`` with the logarithm of the kernel of all pairs; -inf where a band admits no alignment.

    Both sides are (values, starts), the series one after the other, feature by feature: series i is width × length,
    from starts[i] to starts[i + 1]. Where both are the ``same`` series, one half is computed and mirrored.
    """
    (X, x_starts), (Z, z_starts) = left, right
    longest, other = 0, 0
    for i in range(len(x_starts) - 1):
        longest = max(longest, (x_starts[i + 1] - x_starts[i]) // width)
    for j in range(len(z_starts) - 1):
        other = max(other, (z_starts[j + 1] - z_starts[j]) // width)
    work, backwards = np.empty((9, longest + 3)), np.empty(other * width)
    precision = math.sqrt(0.5) / sigma  # not squared: of a tiny width that would be infinite
    for j in range(len(z_starts) - 1):
        m = (z_starts[j + 1] - z_starts[j]) // width
        _reversed(Z, z_starts[j], m, width, backwards)
        for i in range(j if same else 0, len(x_starts) - 1):
            n = (x_starts[i + 1] - x_starts[i]) // width
            if band and abs(n - m) >= band:
                out[i, j] = -np.inf
            else:
                series = X[x_starts[i] : x_starts[i + 1]]
                reverse = backwards[: width * m]
                out[i, j] = _log_alignments(series, reverse, width, precision, weights, band, work)
            if same:
                out[j, i] = out[i, j]


@compiled_loop
def own_log_alignments(side, width, sigma, band, weights, out):
    """Fill ``out`` with the logarithm of the kernel of each series with itself."""
    X, starts = side
    one = np.empty((1, 1))
    for i in range(len(starts) - 1):
        some = X, starts[i : i + 2]
        log_alignments(some, some, width, sigma, band, weights, False, one)
        out[i] = one[0, 0]
