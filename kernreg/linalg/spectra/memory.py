"""What decompositions need, about: bytes held at once, the matrix and the vectors returned among them.

Counted in arrays of float64, and compared with the memory that processes took. Solvers say so before they start where
that is beyond the memory budget.
"""

from __future__ import annotations

import numpy as np

from kernreg.config import memory_budget
from kernreg.linalg.spectra.lanczos import Settings

_WORK = 5  # arrays of k × k: LAPACK's copy and its workspace of divide and conquer
_KEPT = 5  # arrays of n × k made of eigenvectors: themselves, in the order wanted, scaled, scores, coefficients


def basis_sizes(shape: tuple[int, int], k: int, block: int | None = None) -> tuple[int, int]:
    """Return the columns of a block and of the basis of an iteration; the basis may take a quarter of the budget.

    >>> from kernreg import config_context
    >>> with config_context(memory="1GB"):
    ...     basis_sizes((1000, 800), 10)
    (16, 138)
    """
    small = min(shape)
    block, columns = Settings(1.0, 1, np.random.default_rng(0), block=block).sizes(small, k)
    fitting = max(1, memory_budget() // (4 * 8 * sum(shape)))
    return block, max(min(columns, fitting), min(small, k + 2 * block))


def of_triplets(shape: tuple[int, int], k: int, *, held: bool, dense: bool) -> int:
    """Return what k singular triplets need.

    Parameters
    ----------
    shape : tuple of int
    k : int
    held : bool
        Whether the matrix is in memory; else products with it are taken.
    dense : bool
        Whether LAPACK decomposes it: it finds all triplets, whatever is wanted.

    Examples
    --------
    >>> of_triplets((1000, 1000), 2, held=True, dense=True) / 8e6
    9.0
    """
    matrix, small = shape[0] * shape[1], min(shape)
    if dense:
        return 8 * (2 * matrix + sum(shape) * small + _WORK * small**2)
    block, columns = basis_sizes(shape, k)
    basis = sum(shape) * (columns + block)
    projected = (3 + _WORK) * columns**2  # the small matrix and its vectors
    return 8 * (basis + projected + sum(shape) * k + (matrix if held else 0))


def of_pairs(n: int, k: int, *, held: bool, dense: bool) -> int:
    """Return what k eigenpairs need, and the scores and coefficients made of them; parameters as of `of_triplets`.

    >>> of_pairs(1000, 1000, held=True, dense=True) / 8e6
    5.0
    """
    if dense:  # the vectors take the place of the matrix, beside a workspace of two
        return 8 * max(3 * n * n + n * k, _KEPT * n * k)
    block, columns = basis_sizes((n, n), k)
    return 8 * (n * (columns + block) + _WORK * columns**2 + _KEPT * n * k + (n * n if held else 0))
