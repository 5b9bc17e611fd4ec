"""Cholesky factors, their inverses and symmetric products of any size, block by block where matrices are large.

OpenBLAS's symmetric product with several threads crashes where the result is large (see `kernreg.engine.gram`), and
Cholesky factorisation and the inverse from a factor are made of it. So large matrices are taken apart here into blocks
that BLAS multiplies as general ones. That takes 1.3 to 1.5 times as long as LAPACK where both work.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import blas, lapack

from kernreg.engine.gram import LARGEST
from kernreg.linalg.exact.triangles import invert_upper

_BLOCK = 2048  # rows and columns of a block
_HIGH = 8192  # rows of a product of blocks before it is subtracted: bounds the memory beside the matrix


def cholesky(W: np.ndarray, *, lower: bool) -> tuple[np.ndarray, int]:
    """Factorise a symmetric matrix in its own memory, as LAPACK's potrf does: W = UᵀU, or LLᵀ.

    Parameters
    ----------
    W : ndarray of float64 or float32 of shape (n, n), Fortran-ordered
        Only one triangle is read and overwritten; the other stays.
    lower : bool
        Which one.

    Returns
    -------
    factor : ndarray
        W itself.
    failed : int
        The order of the leading minor that is not positive, 0 where all are.

    Examples
    --------
    >>> W = np.array([[4.0, 2.0], [9.0, 5.0]], order="F")
    >>> cholesky(W, lower=False)
    (array([[2., 1.],
           [9., 2.]]), 0)
    """
    if len(W) <= LARGEST:
        return _lapack("potrf", W)(W, lower=int(lower), clean=0, overwrite_a=1)
    return W, _factorise_upper(W.T if lower else W)


def inverse_from(factor: np.ndarray) -> np.ndarray:
    """Return the inverse of a float64 matrix from its upper factor, in that triangle of its memory, as potri does.

    >>> U = np.array([[2.0, 1.0], [0.0, 2.0]], order="F")
    >>> inverse_from(U)[np.triu_indices(2)].tolist()  # of [[4, 2], [2, 5]]
    [0.3125, -0.125, 0.25]
    """
    if len(factor) <= LARGEST:
        inverse, failed = lapack.dpotri(factor, lower=0, overwrite_c=1)
        assert not failed, "a factor of Cholesky has no zero on its diagonal"
        return inverse
    _multiply_by_transpose(invert_upper(factor))
    return factor


def symmetric_product(
    A: np.ndarray, C: np.ndarray, *, alpha: float = 1.0, add: bool = False, lower: bool = False
) -> np.ndarray:
    """Return α A Aᵀ in one triangle of C, added to what is there or in its place, as syrk does.

    Parameters
    ----------
    A : ndarray of shape (n, k)
    C : ndarray of shape (n, n), Fortran-ordered, of the same dtype
    alpha : float
    add, lower : bool

    Examples
    --------
    >>> symmetric_product(np.array([[1.0], [2.0]]), np.zeros((2, 2), order="F"), alpha=3.0)
    array([[ 3.,  6.],
           [ 0., 12.]])
    """
    if len(C) <= LARGEST:
        syrk = blas.ssyrk if C.dtype == np.float32 else blas.dsyrk
        return syrk(alpha, A, beta=float(add), c=C, lower=int(lower), overwrite_c=1)
    upper = C.T if lower else C
    multiply = _Products(upper)
    for columns in _blocks(len(C)):
        for rows in _down_to(columns):
            product = multiply(A[rows], A[columns].T)
            product *= alpha
            _put(upper, rows, columns, product, add=add)
    return C


def _factorise_upper(W: np.ndarray) -> int:
    """Factorise the upper triangle of a matrix in any order; a block of columns after another, rest updated at once."""
    n = len(W)
    trsm = blas.strsm if W.dtype == np.float32 else blas.dtrsm
    multiply = _Products(W)
    for here in _blocks(n):
        corner, failed = _lapack("potrf", W)(np.array(W[here, here], order="F"), lower=0, clean=0, overwrite_a=1)
        _put(W, here, here, corner)
        if failed:
            return here.start + int(failed)
        if here.stop == n:
            break
        panel = trsm(1.0, corner, np.array(W[here, here.stop :], order="F"), trans_a=1, overwrite_b=1)
        W[here, here.stop :] = panel
        for columns in _blocks(n, start=here.stop):
            right = panel[:, columns.start - here.stop : columns.stop - here.stop]
            for rows in _down_to(columns, here.stop):
                left = panel[:, rows.start - here.stop : rows.stop - here.stop]
                _put(W, rows, columns, multiply.of_columns(left, right, -1.0), add=True)
    return 0


def _multiply_by_transpose(U: np.ndarray) -> None:
    """Overwrite the upper triangle of U, itself upper triangular, by that of U Uᵀ; rows from above to below.

    Row i of the product needs the rows from i on, which are still those of U.
    """
    n, multiply = len(U), _Products(U)
    for here in _blocks(n):
        rows = np.triu(U[here, here.start :])
        for columns in _blocks(n, start=here.start):
            below = rows[:, columns.start - here.start :]
            if columns.start == here.start:
                product = multiply(below, below.T)
            else:
                others = np.array(U[columns, columns.start :])
                others[:, : columns.stop - columns.start] = np.triu(others[:, : columns.stop - columns.start])
                product = multiply(below, others.T)
            _put(U, here, columns, product)


class _Products:
    """Products A B in the order of a matrix to which they are added, in memory that each takes over from the last.

    Adding across orders, and pages of fresh memory, would each cost a good part of the product.
    """

    def __init__(self, like: np.ndarray):
        self._by_columns = like.strides[0] < like.strides[1]
        self._memory = np.empty(min(len(like), _HIGH) * min(len(like), _BLOCK), dtype=like.dtype)

    def __call__(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        if self._by_columns:
            return self._placed(B.T, A.T).T
        return self._placed(A, B)

    def of_columns(self, A: np.ndarray, B: np.ndarray, alpha: float) -> np.ndarray:
        """Return α AᵀB of Fortran-ordered matrices, by SciPy's BLAS.

        It solves triangles between such products, and threads of NumPy's, another one, would wait awake meanwhile.
        """
        if not self._by_columns:
            A, B = B, A
        shape = A.shape[1], B.shape[1]
        memory = self._memory[: shape[0] * shape[1]].reshape(shape, order="F")
        gemm = blas.sgemm if memory.dtype == np.float32 else blas.dgemm
        product = gemm(alpha, A, B, trans_a=1, c=memory, overwrite_c=1)
        return product if self._by_columns else product.T

    def _placed(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        shape = A.shape[0], B.shape[1]
        return np.matmul(A, B, out=self._memory[: shape[0] * shape[1]].reshape(shape))


def _put(W: np.ndarray, rows: slice, columns: slice, values: np.ndarray, *, add: bool = False) -> None:
    """Write values, or add them, to a block above the diagonal, or to the upper triangle of one on it."""
    block = W[rows, columns]
    if rows.start == columns.start:
        np.copyto(block, block + values if add else values, where=np.triu(np.ones(block.shape, dtype=bool)))
    elif add:
        block += values
    else:
        block[...] = values


def _down_to(columns: slice, start: int = 0) -> Iterator[slice]:
    """Yield rows of blocks above the one on the diagonal, high ones, and last those of that."""
    yield from _blocks(columns.start, _HIGH, start)
    yield columns


def _blocks(n: int, size: int | None = None, start: int = 0) -> Iterator[slice]:
    size = size or _BLOCK
    for first in range(start, n, size):
        yield slice(first, min(first + size, n))


def _lapack(name: str, W: np.ndarray) -> Any:
    return getattr(lapack, ("s" if W.dtype == np.float32 else "d") + name)
