"""Kernels of sample indices: the matrix is held by the kernel, and samples are numbers 0 … n-1.

A held matrix gives every block a solver may ask for, K[train, test] as well as K[test, train], which scikit-learn's
"precomputed" convention cannot.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from kernreg.engine.arrays import is_sparse
from kernreg.engine.operator import KernelOperator
from kernreg.errors import DataError
from kernreg.kernels.decorator import kernel
from kernreg.kernels.domains import boolean, choice, graph, matrix
from kernreg.kernels.function import FunctionKernel
from kernreg.kernels.row_block_operator import HeldOperator


class HeldKernel(FunctionKernel):
    """A kernel whose matrix is held: products with a sparse one are sparse products.

    Nothing is evaluated, so no engine is asked: the matrix would have to travel.
    """

    __slots__ = ()

    def _diagonal(self, X: Any) -> np.ndarray:
        (held,) = self.program.parameters
        check_indices(X, X, held, self.name)
        return np.asarray(held.diagonal(), dtype=np.float64)[X]

    def _matrix(self, X: Any, Z: Any, out: np.ndarray | None = None) -> np.ndarray:
        return self._evaluate(X, Z, out, None)

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        (held,) = self.program.parameters
        if not is_sparse(held):
            return KernelOperator(self.program, X, Z)
        return HeldOperator(held_rows(X, X if Z is None else Z, held, self.name))


def check_indices(rows: np.ndarray, columns: np.ndarray, held: Any, name: str) -> None:
    """Raise DataError where indices are beyond the held matrix."""
    for index, size, side in ((rows, held.shape[0], "row"), (columns, held.shape[1], "column")):
        if index.size and index.max() >= size:
            raise DataError(
                f"{name}: {side} index {int(index.max())} is beyond the held {held.shape[0]} × {held.shape[1]} matrix; "
                f"samples are indices 0 … {size - 1}"
            )


def _all_in_order(indices: np.ndarray, size: int) -> bool:
    return len(indices) == size and bool(np.array_equal(indices, np.arange(size)))


def held_rows(rows: np.ndarray, columns: np.ndarray, held: Any, name: str) -> Any:
    """Return held[rows][:, columns] as it is held: a sparse one itself where these are all."""
    check_indices(rows, columns, held, name)
    if not is_sparse(held):
        return held[np.ix_(rows, columns)]
    found = held if _all_in_order(rows, held.shape[0]) else held[rows]
    return found if _all_in_order(columns, held.shape[1]) else found[:, columns]


def held_block(rows: np.ndarray, columns: np.ndarray, held: Any, name: str = "precomputed") -> np.ndarray:
    """Return held[rows][:, columns] as a dense array."""
    block = held_rows(rows, columns, held, name)
    return block.toarray() if is_sparse(block) else block


def _precomputed_example(rng: np.random.Generator, n: int) -> Any:
    return precomputed(K=rng.normal(size=(n, n))), np.arange(n)


def _hold(K: Any) -> Any:
    return K


@kernel(
    of="blocks", inputs="index", parameters={"K": matrix}, prepare=_hold, definite=None, example=_precomputed_example
)
def precomputed(rows, columns, held):
    """K[i, j] of a given matrix, for sample indices i and j.

    >>> import numpy as np
    >>> k = precomputed(K=np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> k([1, 0], [1]).tolist()
    [[4.0], [2.0]]
    """
    return held_block(rows, columns, held)


def _adjacency_example(rng: np.random.Generator, n: int) -> Any:
    return adjacency(graph=sp.csr_array((rng.random((n, n)) < 0.2).astype(float))), np.arange(n)


def _normalised(graph: Any, self_loops: bool = True, normalize: str = "rows", cited: bool = True) -> Any:
    A = sp.csr_array(graph, dtype=np.float64)
    if cited:
        A = A.T.tocsr()
    if self_loops:
        A = sp.csr_array(A + sp.eye_array(A.shape[0], format="csr"))
    if normalize == "none":
        return A
    degrees = np.asarray(A.sum(axis=1)).ravel()
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    return sp.csr_array(sp.diags_array(inverse) @ A)


@kernel(
    of="blocks",
    inputs="index",
    parameters={
        "graph": graph,
        "self_loops": boolean,
        "normalize": choice("rows", "none"),
        "cited": boolean,
    },
    prepare=_normalised,
    example=_adjacency_example,
)
def adjacency(rows, columns, held):
    """D⁻¹(Aᵀ + I) of a directed graph, for node indices: row i spreads over the nodes that point to i.

    ``graph[i, j] != 0`` is an edge from i to j. ``cited=False`` takes A itself instead of its transpose,
    ``self_loops=False`` leaves out I, ``normalize="none"`` leaves out D⁻¹. Rows without any entry stay zero. He et al.,
    Learning with asymmetric kernels, TPAMI 45 (2023), use the default.

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_kernel("adjacency", graph=[[0, 1], [0, 0]])([0, 1]).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    return held_block(rows, columns, held, "adjacency")


precomputed.kernel_class = adjacency.kernel_class = HeldKernel
