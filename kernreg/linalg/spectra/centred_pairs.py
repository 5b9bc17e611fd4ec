"""Rectangular kernel matrices centred on both sides, G̃ = J_n G J_m, J = I - 11ᵀ/n: in place, or applied on the way.

The counterpart of `centring` and `centred_operator` for two sample sets. J is never formed, and G̃ of a sparse or
streamed G costs what products with G do.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kernreg.kernels.row_block_operator import RealOperator

_CACHED_ROWS = 16


def centre_both_sides(G: np.ndarray) -> np.ndarray:
    """Turn a float64 matrix into J_n G J_m in place and return the means of its columns before that.

    Examples
    --------
    >>> import numpy as np
    >>> G = np.array([[1.0, 2.0, 6.0], [3.0, 4.0, 2.0]])
    >>> centre_both_sides(G)
    array([2., 3., 4.])
    >>> G
    array([[-1., -1.,  2.],
           [ 1.,  1., -2.]])
    """
    columns = G.mean(axis=0)
    for start in range(0, len(G), _CACHED_ROWS):  # a few rows at a time while they are in cache
        block = G[start : start + _CACHED_ROWS]
        block -= columns
        block -= block.mean(axis=1, keepdims=True)
    return columns


def without_mean(V: np.ndarray) -> np.ndarray:
    """Return J V: each column without its mean."""
    return V - V.mean(axis=0)


class TwoSidedOperator(RealOperator):
    """Products with J_n G J_m, for G given by products.

    Parameters
    ----------
    operator : LinearOperator of shape (n, m)
        G, for example ``kernel.operator(X, Z)``; ``form`` is that of its products.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse.linalg import aslinearoperator
    >>> centred = TwoSidedOperator(aslinearoperator(np.array([[1.0, 2.0, 6.0], [3.0, 4.0, 2.0]])))
    >>> centred @ np.eye(3)
    array([[-1., -1.,  2.],
           [ 1.,  1., -2.]])
    """

    def __init__(self, operator: LinearOperator):
        self._operator = operator
        self.form = str(getattr(operator, "form", "blocks"))
        super().__init__(np.float64, operator.shape)

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        return without_mean(np.asarray(self._operator.matmat(without_mean(V)), dtype=np.float64))

    def _rmatmat(self, V: np.ndarray) -> np.ndarray:
        return without_mean(np.asarray(self._operator.rmatmat(without_mean(V)), dtype=np.float64))
