"""A symmetric kernel matrix in halves: every value is evaluated once, wherever it is, and serves twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernreg.engine.running.row_blocks import block_rows, blocks_of_chunk, borders

_Part = tuple[slice, slice | None, Any]  # rows, columns (None: the same as rows), products with these


@dataclass(frozen=True)
class HalfRows:
    """A symmetric kernel matrix as a sum of parts, one for each block of rows, that together have every value once.

    The part of a block of rows has these rows in its own columns, and in those of the next half of the blocks, in a
    circle; and the mirror image of the latter. So all parts cost about the same.

    Attributes
    ----------
    kernel : RowKernel
        Its row operators have `both`.
    starts : tuple of int
        Where blocks start, and the number of all rows.
    """

    kernel: Any
    starts: tuple[int, ...]

    @classmethod
    def of(cls, kernel: Any, chunks: tuple[int, ...]) -> HalfRows | None:
        """Return the parts of K(X) for samples in chunks; None where the kernel cannot be had in halves."""
        if not (getattr(kernel, "symmetric", False) and getattr(kernel, "gives_both_products", False)):
            return None
        n = sum(chunks)
        size = block_rows(n, 1)
        return cls(
            kernel, (*(b.start for start, stop in borders(chunks) for b in blocks_of_chunk(start, stop, size)), n)
        )

    def row_block(self, X: Any, Z: Any, rows: slice, square: bool) -> np.ndarray:
        """Refuse: a part has no rows."""
        raise NotImplementedError

    def row_operator(self, X: Any, Z: Any, rows: slice, square: bool) -> HalfOperator:
        """Return products with the part of a block of rows, all of them long."""
        own = self.starts.index(rows.start)
        operators: list[_Part] = [(rows, None, self.kernel.row_operator(X, X, slice(0, X.shape[0]), True))]
        operators += [
            (rows, columns, self.kernel.row_operator(X, Z[columns], rows, False)) for columns in self._columns(own)
        ]
        return HalfOperator(self.starts[-1], operators)

    def _columns(self, own: int) -> list[slice]:
        """Return the columns of the blocks after a block: half of the others, in a circle."""
        count = len(self.starts) - 1
        last = own + (count - 1) // 2 + (1 if count % 2 == 0 and own < count // 2 else 0)
        ranges = [(own + 1, min(last, count - 1)), (0, last - count)]
        return [slice(self.starts[a], self.starts[b + 1]) for a, b in ranges if a <= b]


class HalfOperator:
    """Products with one of the parts of `HalfRows`."""

    def __init__(self, n: int, operators: list[_Part]):
        self._n, self._operators = n, operators

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        total = np.zeros((self._n, V.shape[1]), dtype=np.result_type(self._operators[0][2].dtype, V.dtype))
        for rows, columns, operator in self._operators:
            if columns is None:
                total[rows] += operator @ V[rows]
            else:
                right, left = operator.both(V[columns], V[rows])
                total[rows] += right
                total[columns] += left
        return total
