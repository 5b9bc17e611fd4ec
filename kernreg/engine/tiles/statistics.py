"""The statistic of every pair of a block of dense samples: sums over features, or one matrix product.

`accumulate` sums term(x_d, z_d) feature by feature over tiles that stay in cache. For squared distances it takes the
differences themselves, so nothing cancels, duplicates are at distance exactly zero, and a common offset does
no harm. With many features the matrix product wins; there the rows are first recentred, and pairs that
are much closer than their norms (where |x|² + |z|² - 2<x,z> would cancel) are recomputed from the differences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernreg.engine.compiler.compile import compiled
from kernreg.engine.threads import run_tasks
from kernreg.jit import wide

BLOCK = 256  # rows and columns of a block: its statistics (512 KB) stay in a core's second-level cache
STEP = 128  # widths are multiples of this many values, so vector loops have no remainder
PANEL = 128  # columns accumulated together
DEPTH = 32  # features accumulated together: a PANEL × DEPTH slice of Z stays in the first-level cache

# From this many features on, BLAS on recentred rows beats accumulating differences (measured).
GEMM_FROM = {"dot": 48, "sqeuclidean": 48}

# A pair closer than this fraction of |x|² + |z|² is recomputed from its differences: the others lose at most
# log2(1/fraction) = 4 of 53 bits to cancellation.
CANCELLED = 1.0 / 16.0


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


def make_accumulator(term: Callable[..., Any]) -> Callable[..., None]:
    """Driver: S[i, j] = Σ_d term(X[i0 + i, d], Z[j0 + j, d]) for a block, four rows by four features at a time.

    Rows past the end repeat the last one, so that every value of S is finite and the loops are always full.
    """

    def accumulate(X, Z, i0, rows, j0, width, S, panel):
        wide()
        last_x, last_z, features = X.shape[0] - 1, Z.shape[0] - 1, X.shape[1]
        for c in range(0, width, PANEL):
            for i in range(rows + 3):
                if i < S.shape[0]:
                    for j in range(PANEL):
                        S[i, c + j] = 0.0
            for k0 in range(0, features, DEPTH):
                depth = min(DEPTH, features - k0)
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
                        x00, x01, x02, x03 = float(x0[q]), float(x0[q + 1]), float(x0[q + 2]), float(x0[q + 3])
                        x10, x11, x12, x13 = float(x1[q]), float(x1[q + 1]), float(x1[q + 2]), float(x1[q + 3])
                        x20, x21, x22, x23 = float(x2[q]), float(x2[q + 1]), float(x2[q + 2]), float(x2[q + 3])
                        x30, x31, x32, x33 = float(x3[q]), float(x3[q + 1]), float(x3[q + 2]), float(x3[q + 3])
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
                        x00, x10, x20, x30 = float(x0[q]), float(x1[q]), float(x2[q]), float(x3[q])
                        for j in range(PANEL):
                            z0 = p0[j]
                            a0[j] = a0[j] + term(x00, z0)
                            a1[j] = a1[j] + term(x10, z0)
                            a2[j] = a2[j] + term(x20, z0)
                            a3[j] = a3[j] + term(x30, z0)
                        k += 1

    return accumulate


def make_distances() -> Callable[..., None]:
    """Driver: inner products of recentred rows in S become squared distances, cancelled pairs recomputed."""

    def distances(S, X, Z, x_norms, z_norms, i0, rows, j0, columns, width):
        wide()
        features = X.shape[1]
        last_z = Z.shape[0] - 1
        for i in range(rows):
            s = S[i]
            xx = x_norms[i0 + i]
            cancelled = 0
            for j in range(width):
                norms = xx + z_norms[j0 + j]
                d2 = norms - 2.0 * s[j]
                cancelled += 0 if d2 >= CANCELLED * norms else 1  # also where infinities met
                s[j] = d2
            if cancelled > 0:
                x = X[i0 + i]
                for j in range(columns):
                    if not s[j] >= CANCELLED * (xx + z_norms[j0 + j]):
                        z = Z[min(j0 + j, last_z)]
                        t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
                        k = 0
                        while k + 4 <= features:
                            e0, e1 = float(x[k]) - float(z[k]), float(x[k + 1]) - float(z[k + 1])
                            e2, e3 = float(x[k + 2]) - float(z[k + 2]), float(x[k + 3]) - float(z[k + 3])
                            t0 += e0 * e0
                            t1 += e1 * e1
                            t2 += e2 * e2
                            t3 += e3 * e3
                            k += 4
                        while k < features:
                            e0 = float(x[k]) - float(z[k])
                            t0 += e0 * e0
                            k += 1
                        s[j] = (t0 + t1) + (t2 + t3)

    return distances


class DenseStatistic:
    """Blocks of a statistic between the rows of two dense arrays."""

    def __init__(self, statistic: str, term: Callable[..., Any] | None, X: np.ndarray, Z: np.ndarray, name: str):
        self.X, self.Z = X, Z
        self.squared = statistic == "sqeuclidean"
        self.gemm = X.shape[1] >= GEMM_FROM.get(statistic, np.inf)
        if self.gemm:
            with np.errstate(over="ignore", invalid="ignore"):
                self._prepare_product()
        else:
            chosen = TERMS[statistic] if term is None else term
            self._accumulate = compiled(make_accumulator, statistic if term is None else name, chosen)

    def _prepare_product(self) -> None:
        # Distances do not change when both sets move; around the mean the products are as small as they can be.
        center = self.Z.mean(axis=0, dtype=np.float64) if self.squared and len(self.Z) else None
        self._x, self._x_norms = _padded(self.X, center)
        self._z, self._z_norms = (self._x, self._x_norms) if self.Z is self.X else _padded(self.Z, center)
        if self.squared:
            self._distances = compiled(make_distances, "sqeuclidean")

    def scratch(self) -> tuple[np.ndarray, ...]:
        """Return the working memory one thread needs."""
        return np.empty((BLOCK, BLOCK)), np.empty((DEPTH, PANEL))

    def rows(self, scratch: tuple[np.ndarray, ...], i0: int, i1: int, strip: np.ndarray) -> int:
        """Fill a strip with the statistics of rows i0:i1 against all of Z and return the width that is filled."""
        width = -(-len(self.Z) // STEP) * STEP
        self._accumulate(self.X, self.Z, i0, i1 - i0, 0, width, strip, scratch[1])
        return width

    def block(self, scratch: tuple[np.ndarray, ...], i0: int, i1: int, j0: int, j1: int) -> tuple[np.ndarray, int]:
        """Return the statistics of rows i0:i1 against j0:j1 and the width up to which they are filled."""
        S, panel = scratch
        rows, columns = i1 - i0, j1 - j0
        width = -(-columns // STEP) * STEP
        if not self.gemm:
            self._accumulate(self.X, self.Z, i0, rows, j0, width, S, panel)
            return S, width
        # Always the full block: BLAS may add in another order for another shape.
        with np.errstate(over="ignore", invalid="ignore"):  # as all compiled code
            np.dot(self._x[i0 : i0 + BLOCK], self._z[j0 : j0 + BLOCK].T, out=S)
        if self.squared:
            self._distances(S, self.X, self.Z, self._x_norms, self._z_norms, i0, rows, j0, columns, width)
        return S, width


def _padded(X: np.ndarray, center: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return X as float64, moved by ``center``, zero rows after it so that every block is full, and its row norms."""
    padded, norms = np.empty((len(X) + BLOCK, X.shape[1])), np.zeros(len(X) + BLOCK)
    padded[len(X) :] = 0.0

    def task(number: int) -> None:
        rows = slice(number * BLOCK, min((number + 1) * BLOCK, len(X)))
        part = padded[rows]
        part[...] = X[rows]
        if center is not None:
            part -= center
            np.einsum("ij,ij->i", part, part, out=norms[rows])

    run_tasks(task, -(-len(X) // BLOCK))
    return padded, norms
