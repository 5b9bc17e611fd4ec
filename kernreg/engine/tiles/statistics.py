"""The statistic of every pair of a block of dense samples: sums over features, or one matrix product.

With few features the terms are accumulated (accumulation.py), with many the matrix product wins (inner_products.py).
Statistics are float64, or float32 where the samples are and precision.py allows it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernreg.engine.compiler.compile import compiled
from kernreg.engine.memory import empty
from kernreg.engine.tiles.accumulation import DEPTH, PANEL, REAL, TERMS, make_accumulator
from kernreg.engine.tiles.grid import BLOCK, HEIGHT, STEP, padded
from kernreg.engine.tiles.inner_products import InnerProducts
from kernreg.engine.tiles.precision import SAMPLED_ROWS, TRUSTED_ERROR, TRUSTED_FEATURES

# From this many features on, BLAS on recentred rows beats accumulating differences (measured).
GEMM_FROM = {"dot": 48, "sqeuclidean": 48}

# Matrix products of larger blocks are faster: BLAS packs its operands anew for each. These are in the third-level cache
# when the function is applied. Whether they are used depends on Z, not on X: row blocks of K are added up as K is.
PRODUCT_SIDE = 512
PRODUCT_PANEL = 1024, 1024  # where K is not mirrored, and the product is most of the work
MANY_ROWS, MANY_FEATURES = 2048, 256


class DenseStatistic:
    """Blocks of a statistic between the rows of two dense arrays.

    Attributes
    ----------
    dtype : dtype
        Of the statistics: float64, unless ``single`` is asked for and float32 is accurate enough.
    side : int
        How many rows and columns to compute together.
    panel : tuple of int
        The same where rows and columns need not be as many.
    """

    def __init__(
        self,
        statistic: str,
        term: Callable[..., Any] | None,
        X: np.ndarray,
        Z: np.ndarray,
        name: str,
        single: bool = False,
    ):
        self.X, self.Z, self.side, self.panel = X, Z, BLOCK, (BLOCK, BLOCK)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.gemm = X.shape[1] >= GEMM_FROM.get(statistic, np.inf)
        if self.gemm:
            self._products = self._inner_products(statistic == "sqeuclidean")
            if len(Z) >= MANY_ROWS:
                self.side = PRODUCT_SIDE
                self.panel = PRODUCT_PANEL if X.shape[1] >= MANY_FEATURES else (self.side, self.side)
        else:
            chosen = TERMS[statistic] if term is None else term
            label = statistic if term is None else name
            self._accumulate = compiled(make_accumulator, label, chosen, REAL[self.dtype])

    def _inner_products(self, squared: bool) -> InnerProducts:
        products = InnerProducts(self.X, self.Z, squared, self.dtype)
        if self.dtype == np.float32 and not products.sampled_error(SAMPLED_ROWS) <= TRUSTED_ERROR:
            self.dtype = np.dtype(np.float64)
            return InnerProducts(self.X, self.Z, squared, self.dtype)
        return products

    @property
    def fills_rows(self) -> bool:
        """Whether `rows` may be called."""
        return not self.gemm and not self._in_parts

    @property
    def _in_parts(self) -> bool:
        return self.dtype == np.float32 and self.X.shape[1] > TRUSTED_FEATURES

    def scratch(self) -> tuple[np.ndarray, ...]:
        """Return the working memory one thread needs."""
        return (
            empty((max(self.side * self.side, self.panel[0] * self.panel[1]),), self.dtype),
            np.empty((DEPTH, PANEL), dtype=self.dtype),
            np.empty(max(self.side, self.panel[0]), dtype=np.bool_),
        )

    def rows(self, scratch: tuple[np.ndarray, ...], i0: int, i1: int, strip: np.ndarray) -> int:
        """Fill a strip with the statistics of rows i0:i1 against all of Z and return the width that is filled."""
        width = padded(len(self.Z), STEP)
        self._accumulate(self.X, self.Z, i0, i1 - i0, 0, width, strip, scratch[1], 0, self.X.shape[1])
        return width

    def block(self, scratch: tuple[np.ndarray, ...], i0: int, i1: int, j0: int, j1: int) -> tuple[np.ndarray, int]:
        """Return the statistics of rows i0:i1 against j0:j1 and the width up to which they are filled."""
        memory, panel, marks = scratch
        rows, columns = i1 - i0, j1 - j0
        width = padded(columns, STEP)
        # No less than a block, no remainder: BLAS has other ways for small products, and might add in another order.
        height, length = max(BLOCK, padded(rows, HEIGHT)), max(BLOCK, width)
        S = memory[: height * length].reshape(height, length)
        if self.gemm:
            self._products.block(S, marks, i0, rows, j0, columns, width)
        else:
            self._sums(S, panel, i0, rows, j0, width)
        return S, width

    def _sums(self, S: np.ndarray, panel: np.ndarray, i0: int, rows: int, j0: int, width: int) -> None:
        features = self.X.shape[1]
        if not self._in_parts:
            self._accumulate(self.X, self.Z, i0, rows, j0, width, S, panel, 0, features)
            return
        part = np.empty_like(S)
        self._accumulate(self.X, self.Z, i0, rows, j0, width, S, panel, 0, TRUSTED_FEATURES)
        for first in range(TRUSTED_FEATURES, features, TRUSTED_FEATURES):
            last = min(first + TRUSTED_FEATURES, features)
            self._accumulate(self.X, self.Z, i0, rows, j0, width, part, panel, first, last)
            S[:rows, :width] += part[:rows, :width]
