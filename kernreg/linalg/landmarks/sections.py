"""Some rows and some columns of a kernel matrix that is never held: all that Nyström methods look at.

Of G = K(X, Z), N × M, with n landmarks among the samples of the rows and m among those of the columns::

    block      G[rows, columns]      n × m, held
    left       G[:, columns] V       products, streamed over X or over new samples
    right      G[rows, :]ᵀ U         products, streamed over Z or over new samples

Row-normalised kernels (SNE, T) divide row i by d_i, the sum of its weights over all of Z. Those of the n landmark rows
come with the n × M weights that are looked at anyway. Those of the other rows would take all N × M weights, which is
what Nyström methods are there to avoid, so there are two ways:

``exact``     every d_i is summed up
``estimate``  d_i ≈ Σ_j a_j w(x_i, z_j) over the m landmark columns, with the a_j of a quadrature rule: near M/m, fitted
              to the exact sums of the landmark rows (ridge regression). Where all columns are landmarks it is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from kernreg.engine.arrays import is_sparse
from kernreg.engine.budget import chunks
from kernreg.engine.gram import gram
from kernreg.kernels.base import Kernel
from kernreg.kernels.function import FunctionKernel
from kernreg.linalg.exact.large_matrices import cholesky

_RIDGE = 1e-3  # of the quadrature, relative to the mean squared column of G[rows, columns]
_SMALLEST_SHARE = 0.1  # below this share of the plain estimate a fitted sum is not believed
_CHECKED_ROWS = 200  # landmark rows on which the fit is checked by leaving them out


@dataclass(frozen=True)
class Section:
    """Rows and columns of a kernel matrix whose values need nothing but the two samples.

    Attributes
    ----------
    kernel : Kernel
        Bound to its reference set where it has one.
    row_samples, column_samples : array or CSR
        The landmarks: n of the rows' samples, m of the columns'.
    """

    kernel: Kernel
    row_samples: Any
    column_samples: Any

    def block(self) -> np.ndarray:
        """Return G[rows, columns], float64."""
        return np.array(self.kernel(self.row_samples, self.column_samples), dtype=np.float64)

    def left(self, X: Any, V: np.ndarray, normalizers: np.ndarray | None = None) -> np.ndarray:
        """Return k(X, column landmarks) V."""
        parts = [self.kernel.operator(X[rows], self.column_samples) @ V for rows in chunks(X)]
        return np.concatenate(parts).astype(np.float64, copy=False) if len(parts) > 1 else parts[0]

    def right(self, Z: Any, U: np.ndarray) -> np.ndarray:
        """Return k(row landmarks, Z)ᵀ U."""
        # A kernel with a reference set would go through it for every piece.
        steps = chunks(Z) if isinstance(self.kernel, FunctionKernel) else [slice(0, Z.shape[0])]
        parts = [self.kernel.operator(self.row_samples, Z[rows]).T @ U for rows in steps]
        return np.concatenate(parts).astype(np.float64, copy=False) if len(parts) > 1 else parts[0]


@dataclass(frozen=True)
class ExactRows(Section):
    """Of a row-normalised kernel, bound to all of Z, with the true normalisers of every row.

    Attributes
    ----------
    row_normalizers : ndarray of shape (n,)
        Of the landmark rows.
    """

    row_normalizers: np.ndarray

    def block(self) -> np.ndarray:
        """Return G[rows, columns], float64."""
        kernel = self.kernel.unbound
        return np.array(kernel.normalized(self.row_samples, self.column_samples, self.row_normalizers), np.float64)

    def left(self, X: Any, V: np.ndarray, normalizers: np.ndarray | None = None) -> np.ndarray:
        """Return k(X, column landmarks) V, with the normalisers of the rows of X where they are known."""
        kernel = self.kernel.unbound
        X = kernel.check_samples(X, "X")
        if normalizers is None:
            normalizers = kernel.row_normalizers(X, self.kernel.reference)
        pieces = ((X[rows], normalizers[rows]) for rows in chunks(X))
        parts = [kernel.normalized_operator(some, self.column_samples, sums) @ V for some, sums in pieces]
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def right(self, Z: Any, U: np.ndarray) -> np.ndarray:
        """Return k(row landmarks, Z)ᵀ U."""
        kernel = self.kernel.unbound
        Z = kernel.check_samples(Z, "Z")
        pieces = (Z[rows] for rows in chunks(Z))
        parts = [kernel.normalized_operator(self.row_samples, some, self.row_normalizers).T @ U for some in pieces]
        return np.concatenate(parts) if len(parts) > 1 else parts[0]


@dataclass(frozen=True)
class EstimatedRows(ExactRows):
    """Of a row-normalised kernel, bound to the landmark columns: rows other than landmarks have estimated normalisers.

    Attributes
    ----------
    weights : ndarray of shape (m,)
        a, of the quadrature rule.
    """

    weights: np.ndarray

    def left(self, X: Any, V: np.ndarray, normalizers: np.ndarray | None = None) -> np.ndarray:
        """Return estimates of k(X, column landmarks) V."""
        # Rows normalised over the landmarks alone are w_ij / Σ_j w_ij: a common factor, which the ratio forgets.
        both = np.column_stack([V, self.weights])
        plain = float(self.weights.mean())
        X = self.kernel.check_samples(X, "X")
        parts = []
        for rows in chunks(X):
            operator = self.kernel.operator(X[rows], self.column_samples) if is_sparse(X) else None
            if getattr(operator, "form", "blocks") == "separable":
                parts.append(_ratio(operator @ both, plain))
            else:  # blocks, whose rows are normalised while they are at hand
                parts.append(self.kernel.map_rows(X[rows], self.column_samples, _ratios, args=(both, plain)))
        return np.concatenate(parts) if len(parts) > 1 else parts[0]


def _ratios(rows: slice, block: np.ndarray, both: np.ndarray, plain: float) -> np.ndarray:
    return _ratio(block @ both, plain)


def _ratio(products: np.ndarray, plain: float) -> np.ndarray:
    """Return products with V divided by the estimated sums, which are the last column."""
    sums = products[:, -1]
    return products[:, :-1] / np.where(sums > _SMALLEST_SHARE * plain, sums, plain)[:, None]


@dataclass(frozen=True)
class Swapped:
    """The section of Gᵀ that a section of G is: for kernels whose columns are normalised.

    Attributes
    ----------
    inner : Section
    """

    inner: Section

    def block(self) -> np.ndarray:
        """Return the block, transposed."""
        return np.ascontiguousarray(self.inner.block().T)

    def left(self, X: Any, V: np.ndarray, normalizers: np.ndarray | None = None) -> np.ndarray:
        """Return k(X, column landmarks) V."""
        return self.inner.right(X, V)

    def right(self, Z: Any, U: np.ndarray) -> np.ndarray:
        """Return k(row landmarks, Z)ᵀ U."""
        return self.inner.left(Z, U)


def quadrature(G: np.ndarray, columns: int) -> tuple[np.ndarray, float]:
    """Return weights a with G a ≈ 1, near columns/m each, and the error of rows that were left out of the fit.

    Parameters
    ----------
    G : ndarray of shape (n, m)
        m of the columns of a matrix whose rows sum to one.
    columns : int
        How many columns it has.

    Examples
    --------
    >>> import numpy as np
    >>> weights, error = quadrature(np.array([[0.25, 0.25], [0.3, 0.2]]), 4)
    >>> weights, error
    (array([2., 2.]), 0.0)
    """
    n, m = G.shape
    plain = np.full(m, columns / m)
    rest = 1.0 - G @ plain
    H = gram(G.T)
    H.flat[:: m + 1] += max(_RIDGE * float(np.trace(H)) / m, np.finfo(np.float64).tiny)
    factor, failed = cholesky(H.T, lower=True)  # of any size, which LAPACK's own is not
    if failed:
        raise linalg.LinAlgError(f"the leading minor {failed} of the quadrature is not positive")
    weights = plain + linalg.cho_solve((factor, True), G.T @ rest, check_finite=False)
    some = np.linspace(0, n - 1, min(n, _CHECKED_ROWS)).astype(int)
    half = linalg.solve_triangular(factor, G[some].T, lower=True, check_finite=False)
    leverage = np.einsum("ij,ij->j", half, half)
    left_out = (1.0 - G[some] @ weights) / np.maximum(1.0 - leverage, 1e-3)
    return weights, float(np.sqrt(np.mean(left_out**2)))
