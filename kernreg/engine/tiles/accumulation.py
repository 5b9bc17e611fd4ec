"""Sums over features of a term of every pair of a block, over tiles that stay in cache.

For distances the term is made of the difference itself: nothing cancels, duplicates are at distance exactly zero, and a
common offset does no harm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernreg.jit import wide

PANEL = 128  # columns accumulated together
DEPTH = 32  # features accumulated together: a PANEL × DEPTH slice of Z stays in the first-level cache


def product_term(x, z):
    """⟨x, z⟩ is the sum of these."""
    return x * z


def square_term(x, z):
    """|x - z|² is the sum of these."""
    return (x - z) * (x - z)


def absolute_term(x, z):
    """The l1 distance is the sum of these."""
    return abs(x - z)


TERMS: dict[str, Callable[..., Any]] = {"dot": product_term, "sqeuclidean": square_term, "l1": absolute_term}


def as_double(value):
    """Arithmetic in float64."""
    return np.float64(value)  # float(value) of a float32 number stays one in compiled code


def as_single(value):
    """Arithmetic in float32."""
    return np.float32(value)


REAL: dict[np.dtype, Callable[..., Any]] = {np.dtype(np.float64): as_double, np.dtype(np.float32): as_single}


def make_accumulator(term: Callable[..., Any], real: Callable[..., Any]) -> Callable[..., None]:
    """Driver: S[i, j] = Σ_d term(X[i0 + i, d], Z[j0 + j, d]) for a block, four rows by four features at a time.

    The sum runs over the features from ``first`` to ``last``, in the precision of S. Rows past the end repeat the last
    one, so that every value of S is finite and the loops are always full.
    """

    def accumulate(X, Z, i0, rows, j0, width, S, panel, first, last):
        wide()
        last_x, last_z = X.shape[0] - 1, Z.shape[0] - 1
        for c in range(0, width, PANEL):
            for i in range(rows + 3):
                if i < S.shape[0]:
                    for j in range(PANEL):
                        S[i, c + j] = 0.0
            for k0 in range(first, last, DEPTH):
                depth = min(DEPTH, last - k0)
                for j in range(PANEL):
                    z = Z[min(j0 + c + j, last_z)]
                    for k in range(depth):
                        panel[k, j] = z[k0 + k]
                for i in range(0, rows, 4):
                    a0, a1 = S[i, c : c + PANEL], S[i + 1, c : c + PANEL]
                    a2, a3 = S[i + 2, c : c + PANEL], S[i + 3, c : c + PANEL]
                    x0, x1 = X[min(i0 + i, last_x)], X[min(i0 + i + 1, last_x)]
                    x2, x3 = X[min(i0 + i + 2, last_x)], X[min(i0 + i + 3, last_x)]
                    k = 0
                    while k + 4 <= depth:
                        q = k0 + k
                        p0, p1, p2, p3 = panel[k], panel[k + 1], panel[k + 2], panel[k + 3]
                        x00, x01, x02, x03 = real(x0[q]), real(x0[q + 1]), real(x0[q + 2]), real(x0[q + 3])
                        x10, x11, x12, x13 = real(x1[q]), real(x1[q + 1]), real(x1[q + 2]), real(x1[q + 3])
                        x20, x21, x22, x23 = real(x2[q]), real(x2[q + 1]), real(x2[q + 2]), real(x2[q + 3])
                        x30, x31, x32, x33 = real(x3[q]), real(x3[q + 1]), real(x3[q + 2]), real(x3[q + 3])
                        for j in range(PANEL):
                            z0, z1, z2, z3 = p0[j], p1[j], p2[j], p3[j]
                            a0[j] = a0[j] + term(x00, z0) + term(x01, z1) + term(x02, z2) + term(x03, z3)
                            a1[j] = a1[j] + term(x10, z0) + term(x11, z1) + term(x12, z2) + term(x13, z3)
                            a2[j] = a2[j] + term(x20, z0) + term(x21, z1) + term(x22, z2) + term(x23, z3)
                            a3[j] = a3[j] + term(x30, z0) + term(x31, z1) + term(x32, z2) + term(x33, z3)
                        k += 4
                    while k < depth:
                        q = k0 + k
                        p0 = panel[k]
                        x00, x10, x20, x30 = real(x0[q]), real(x1[q]), real(x2[q]), real(x3[q])
                        for j in range(PANEL):
                            z0 = p0[j]
                            a0[j] = a0[j] + term(x00, z0)
                            a1[j] = a1[j] + term(x10, z0)
                            a2[j] = a2[j] + term(x20, z0)
                            a3[j] = a3[j] + term(x30, z0)
                        k += 1

    return accumulate
