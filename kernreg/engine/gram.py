"""A Aᵀ of any size, block by block where the result is large.

OpenBLAS's symmetric product with several threads writes past its buffers where the result is large, and the process
dies. With two threads on a CPU with AVX-512 this begins between 14 000 and 16 000 rows (OpenBLAS 0.3.30), elsewhere
later. NumPy takes that product wherever an array is multiplied by its own transpose.
"""

from __future__ import annotations

import numpy as np

LARGEST = 12_000  # rows of a symmetric result that BLAS and LAPACK are given whole
_HIGH = 8192  # rows and columns of a block


def gram(A: np.ndarray) -> np.ndarray:
    """Return A Aᵀ, exactly symmetric; of the columns of a matrix it is ``gram(A.T)``.

    >>> gram(np.array([[1.0, 2.0], [0.0, 1.0]]))
    array([[5., 2.],
           [2., 1.]])
    """
    n = len(A)
    if n <= LARGEST:
        return A @ A.T  # one array twice: BLAS then computes half, and mirrors it
    result = np.empty((n, n), dtype=A.dtype)
    for top in range(0, n, _HIGH):
        rows = slice(top, min(top + _HIGH, n))
        for left in range(0, rows.stop, _HIGH):
            columns = slice(left, min(left + _HIGH, rows.stop))
            result[rows, columns] = A[rows] @ A[columns].T
            if left < top:
                result[columns, rows] = result[rows, columns].T
    return result
