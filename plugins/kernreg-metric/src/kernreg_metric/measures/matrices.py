"""What the functions of this package accept as a kernel matrix, and means over it."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.errors import AsymmetryError, DataError
from kernreg.linalg import SYMMETRY_TOLERANCE, asymmetry


def square_matrix(K: Any, name: str) -> np.ndarray:
    """Return a finite square matrix in double precision.

    >>> square_matrix([[1, 2], [2, 4]], "K").dtype
    dtype('float64')
    """
    try:
        table = np.asarray(K, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} is not an array of numbers: {error}") from None
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not table.size:
        raise DataError(
            f"{name} has shape {table.shape}; give a square kernel matrix, samples by samples, such as kernel(X)"
        )
    if not np.isfinite(table).all():
        raise DataError(f"{name} has infinite entries or NaN; a kernel matrix is finite")
    return table


def matrix_pair(K: Any, L: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return two kernel matrices of the same samples."""
    left, right = square_matrix(K, "K"), square_matrix(L, "L")
    if left.shape != right.shape:
        raise DataError(f"K has shape {left.shape} and L {right.shape}; two kernels are compared on the same samples")
    return left, right


def require_symmetry(K: np.ndarray, name: str, instead: str) -> None:
    """Raise AsymmetryError for a matrix that is not its own transpose; ``instead`` says what to do."""
    gap = asymmetry(K)
    if gap > SYMMETRY_TOLERANCE[K.dtype]:
        raise AsymmetryError(
            f"{name} is asymmetric (max |{name} - {name}ᵀ| is {gap:.3g} of its largest entry). {instead}"
        )


def doubly_centred(K: np.ndarray) -> np.ndarray:
    """Return JKJ, J = I - 11ᵀ/n, as a new array.

    >>> doubly_centred(np.array([[1.0, 0.0], [0.0, 1.0]])).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    rows = K.mean(axis=1)
    return K - rows[:, None] - (K.mean(axis=0) - rows.mean())
