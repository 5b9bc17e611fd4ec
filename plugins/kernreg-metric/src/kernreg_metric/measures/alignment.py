"""How alike two kernel matrices are: kernel alignment and its centred form."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.errors import DataError
from kernreg_metric.measures.matrices import doubly_centred, matrix_pair


def kernel_alignment(K: Any, L: Any) -> float:
    """Return the alignment ⟨K, L⟩ / (‖K‖ ‖L‖) of two kernel matrices, in the Frobenius inner product.

    A number in [-1, 1], not changed by scaling either kernel. With L = yyᵀ, y = ±1, it says how well K fits the labels;
    `ideal_kernel` makes L for any number of classes.

    Parameters
    ----------
    K, L : array-like of shape (n, n)
        Kernel matrices of the same samples in the same order; they may be asymmetric.

    References
    ----------
    Cristianini, Shawe-Taylor, Elisseeff & Kandola, On kernel-target alignment, NIPS 14 (2002).

    Examples
    --------
    >>> kernel_alignment([[1, 0], [0, 1]], [[1, -1], [-1, 1]])
    0.7071067811865475
    """
    left, right = matrix_pair(K, L)
    return _cosine(left, right, "is zero everywhere")


def centred_alignment(K: Any, L: Any) -> float:
    """Return the alignment of JKJ and JLJ, J = I - 11ᵀ/n: that of the kernels centred in feature space.

    Unlike the uncentred one it is not misled by the means: a constant added to a kernel does not change it, and it
    agrees better with the error of a classifier when classes are of different size.

    Parameters
    ----------
    K, L : array-like of shape (n, n)
        Kernel matrices of the same samples in the same order; they may be asymmetric.

    References
    ----------
    Cortes, Mohri & Rostamizadeh, Algorithms for learning kernels based on centered alignment, JMLR 13 (2012).

    Examples
    --------
    >>> centred_alignment([[1, 0], [0, 1]], [[1, -1], [-1, 1]])
    1.0
    """
    left, right = matrix_pair(K, L)
    return _cosine(
        doubly_centred(left), doubly_centred(right), "is constant up to sums over rows and columns", (left, right)
    )


def _cosine(
    left: np.ndarray, right: np.ndarray, failing: str, before: tuple[np.ndarray, np.ndarray] | None = None
) -> float:
    """Return the cosine of the angle between two matrices; ``before`` says what counts as rounding."""
    norms = []
    for name, matrix, source in zip("KL", (left, right), before or (left, right), strict=True):
        largest = np.abs(source).max()
        # Divided first: the squares of huge or tiny entries are out of range.
        norm = float(np.linalg.norm(matrix / largest)) if largest > 0.0 else 0.0
        if norm <= len(matrix) * np.finfo(np.float64).eps:
            raise DataError(f"{name} {failing}, so it has no direction to align; give a kernel that varies")
        norms.append((largest, norm))
    (left_scale, left_norm), (right_scale, right_norm) = norms
    value = float(np.vdot(left / left_scale, right / right_scale)) / (left_norm * right_norm)
    return max(-1.0, min(1.0, value))
