"""Compatibility: how samples of different dimension come to be compared by one kernel.

The rows of a data matrix A (N × M) have M features, its columns N. A linear map C on the longer side makes both equally
long, and the kernel then compares Cᵀx with z (or x with Cᵀz). Below, X are the samples in rows of the longer side, and
k is the dimension of the shorter one:

============  =======================================================================================================
``a0``        C = X⁺, the pseudo-inverse of the data matrix. With the linear kernel the kernel matrix is
              A A⁺ A = A, so that kernel SVD is the SVD of A.
``a1``        The k principal directions of X, C = argmin ‖X - X C Cᵀ‖ (not centred, as in the paper). Directions
              beyond the rank of X are zero; the largest entry of each other one is positive, because a nonlinear
              kernel does see the sign.
              They come in the order of the singular values; C R of any rotation R would do as well, and a nonlinear
              kernel sees R, too. `bicluster` takes the one that turns columns towards rows.
``a2``        Independent Gaussian entries of variance 1/k, which keep lengths on average. (The paper leaves out the
              variance; with one side projected that is not a matter of the bandwidth alone.)
``a3``        Learned for a downstream task: see `learned`. It starts at ``a1``.
``identity``  No map: both sides have the same dimension, as the rows and columns of a square matrix do.
============  =======================================================================================================

Samples of equal dimension are mapped on the left side, where the name asks for a map.

References
----------
Tao, Tonin, Lambert, Chen, Patrinos & Suykens, Learning in feature spaces via coupled covariances: asymmetric kernel SVD
and Nyström method, ICML 2024, remark 2.3 and algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from kernreg.common.sizes import readable
from kernreg.config import memory_budget
from kernreg.engine.arrays import is_sparse
from kernreg.engine.threads import configured_blas
from kernreg.errors import DataError, MemoryBudgetError, ParameterError, shown
from kernreg.linalg.randomness import generator

COMPATIBILITIES = ("a0", "a1", "a2", "a3", "identity")


@dataclass(frozen=True)
class Compatibility:
    """A linear map on one side, or none.

    Attributes
    ----------
    name : str
        How it was made.
    left, right : ndarray or None
        C of shape (features, k) for the side it maps, None for a side that stays as it is.

    Examples
    --------
    >>> import numpy as np
    >>> C = Compatibility("a1", left=np.array([[1.0], [2.0]]))
    >>> C.left_samples(np.array([[3.0, 4.0]])), C.right_samples(np.array([[5.0]]))
    (array([[11.]]), array([[5.]]))
    """

    name: str
    left: np.ndarray | None = None
    right: np.ndarray | None = None

    def left_samples(self, X: Any) -> Any:
        """Return the samples of the left side as the kernel sees them."""
        return X if self.left is None else X @ self.left

    def right_samples(self, Z: Any) -> Any:
        """Return the samples of the right side as the kernel sees them."""
        return Z if self.right is None else Z @ self.right


@configured_blas()
def make_compatibility(name: str, X: Any, Z: Any, *, rows_and_columns: bool, random_state: Any = None) -> Compatibility:
    """Return the map that makes X and Z comparable; of ``a3`` the one that learning starts from.

    Parameters
    ----------
    name : {"a0", "a1", "a2", "a3", "identity"}
    X, Z : ndarray or CSR
        Both sample sets, in rows.
    rows_and_columns : bool
        Whether they are the rows and the columns of one matrix, Z = Xᵀ, which ``a0`` requires.
    random_state : int, Generator or None
        Of ``a2``.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])
    >>> C = make_compatibility("a0", A, A.T, rows_and_columns=True)
    >>> np.allclose(C.left_samples(A) @ C.right_samples(A.T).T, A)
    True
    """
    left, right = X.shape[1], Z.shape[1]
    if name == "identity":
        if left != right:
            raise DataError(
                f"compatibility='identity' compares the samples as they are, and those of the left side have {left} "
                f"features, those of the right side {right}. Use 'a0', 'a1', 'a2' or 'a3', which make them comparable"
            )
        return Compatibility(name)
    if name == "a0" and not rows_and_columns:
        raise ParameterError(
            "compatibility='a0' is the pseudo-inverse of a data matrix whose rows and columns are the samples; "
            "for two sample sets use 'a1', 'a2' or 'a3'"
        )
    longer, k = (X, right) if left >= right else (Z, left)
    _check_memory(name, longer, k)
    if name == "a2":
        C = generator(random_state).standard_normal((longer.shape[1], k)) / np.sqrt(k)
    else:
        C = _pseudo_inverse(longer) if name == "a0" else _principal_directions(longer, k)
    C = C.astype(longer.dtype, copy=False)
    return Compatibility(name, left=C) if longer is X else Compatibility(name, right=C)


def _decomposed(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the thin SVD of the samples, without what is zero but for rounding."""
    table = X.toarray() if is_sparse(X) else X
    U, values, Vt = scipy.linalg.svd(table.astype(np.float64, copy=False), full_matrices=False, check_finite=False)
    kept = values > max(X.shape) * np.finfo(X.dtype).eps * values.max(initial=0.0)
    return U[:, kept], values[kept], Vt[kept].T


def _pseudo_inverse(X: Any) -> np.ndarray:
    U, values, V = _decomposed(X)
    return (V / values) @ U.T


def _principal_directions(X: Any, k: int) -> np.ndarray:
    _, _, V = _decomposed(X)
    V = V[:, :k]
    C = np.zeros((X.shape[1], k))
    C[:, : V.shape[1]] = V * np.where(V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])] < 0.0, -1.0, 1.0)
    return C


def _check_memory(name: str, X: Any, k: int) -> None:
    """Refuse maps that are larger than the memory budget."""
    copies = 1 if name == "a2" else 3  # the map; and for the others the dense samples and their factors
    needed, budget = copies * 8 * X.shape[1] * max(k, 1 if name == "a2" else X.shape[0]), memory_budget()
    if needed > budget:
        instead = "" if name == "a2" else "Use 'a2', which only draws the map, or "
        raise MemoryBudgetError(
            f"compatibility={shown(name)} of samples with {X.shape[1]} features against {k} needs about "
            f"{readable(needed)}, "
            f"and the memory budget is {readable(budget)}. {instead or 'Use '}'identity' for a square matrix, or raise "
            "the budget with kernreg.config_context(memory=…)"
        )
