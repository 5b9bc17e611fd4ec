"""Eigenpairs of the centred kernel matrix K̃ = P S K S P: what kernel PCA stands on.

A matrix in memory is centred in place for LAPACK; for methods that only multiply it stays as it is, and vectors are
projected on the way, as they are for a kernel matrix that is never held.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from kernreg.linalg.exact.centring import centre, weighted_border
from kernreg.linalg.spectra.partial import eigenpairs
from kernreg.linalg.spectra.products import NotFiniteError, Products, is_finite
from kernreg.linalg.spectra.report import PartialReport


class CentredProducts(Products):
    """Products with K̃ of a symmetric K in any form.

    Parameters
    ----------
    K : ndarray, sparse array or LinearOperator of shape (m, m)
    weights : ndarray of shape (m,), optional
        Positive sample weights w; S = diag(√w), and P projects away from √w.

    Attributes
    ----------
    border : ndarray of shape (m,)
        √w / ‖√w‖, the direction taken out.
    crossing : ndarray of shape (m,)
        S K S times the border, known after the first product.
    """

    def __init__(self, K: Any, weights: np.ndarray | None = None):
        super().__init__(K, symmetric=True, check=False)
        m = self.shape[0]
        self._weights = weights
        self._root, self.border, self.norm = weighted_border(m, weights)
        self._crossing: np.ndarray | None = None

    @property
    def crossing(self) -> np.ndarray:
        """S K S times the border."""
        if self._crossing is None:
            self.product(np.zeros((self.shape[0], 0)))
        assert self._crossing is not None
        return self._crossing

    def product(self, V: np.ndarray) -> np.ndarray:
        """Return K̃ V."""
        V = self._project(V)
        first = self._crossing is None
        if first:  # one column more in the first pass tells what centring needs later
            V = np.concatenate([V.T, self.border[None]]).T
        W = self._scale(super().product(self._scale(V)))
        if first:
            self._crossing, W = W[:, -1] / self.factor, W[:, :-1]
        return self._project(W)

    def noise(self) -> float:
        """Return the rounding error of products: that of K, of which centring may leave little."""
        return 100.0 * self.eps * self.factor * _length(self.crossing)

    def dense(self, *, overwrite: bool = False) -> tuple[np.ndarray, bool]:
        """Return K̃ as an array, in the memory of K where that is allowed."""
        if not self.held:
            return super().dense()
        if not is_finite(self.matrix):
            raise NotFiniteError("the kernel matrix contains NaN or infinity")
        centred = centre(self.matrix, self._weights, overwrite=overwrite)
        self._crossing = centred.right
        return self._scaled(centred.matrix), centred.matrix is self.matrix

    def _scale(self, V: np.ndarray) -> np.ndarray:
        return V if self._root is None else self._root[:, None] * V

    def _project(self, V: np.ndarray) -> np.ndarray:
        # Column order is kept: products are faster with it.
        along = self.border @ V
        return V - along / self.norm if self._root is None else V - np.outer(along, self.border).T


def _length(v: np.ndarray) -> float:
    return float(linalg.norm(v, check_finite=False))  # of BLAS: no overflow, as numpy's has for large values


@dataclass(frozen=True)
class Components:
    """Eigenpairs of K̃, and the weighted mean over the samples of what the vectors make of K.

    Attributes
    ----------
    values : ndarray of shape (k,)
    vectors : ndarray of shape (m, k)
        Orthonormal, orthogonal to the border where the value is not zero.
    mean : ndarray of shape (k,)
        Σ_i w_i Σ_j k(x_i, x_j) √w_j v_j / Σ_i w_i.
    floor : float
        What rounding makes of an eigenvalue that is zero; that of K before centring counts, too.
    report : PartialReport
    """

    values: np.ndarray
    vectors: np.ndarray
    mean: np.ndarray
    floor: float
    report: PartialReport


def principal_components(K: Any, k: int, weights: np.ndarray | None = None, **options: Any) -> Components:
    """Return k eigenpairs of the centred kernel matrix.

    Parameters
    ----------
    K : ndarray, sparse array or LinearOperator of shape (m, m)
        The kernel matrix, not centred.
    k : int
        How many pairs.
    weights : ndarray of shape (m,), optional
        Positive sample weights.
    **options
        As `eigenpairs` takes them; a hint of ``overwrite=True`` lets K itself be centred.

    Examples
    --------
    >>> components = principal_components(np.diag([1.0, 2.0, 3.0]), 1)
    >>> J = np.eye(3) - 1 / 3
    >>> bool(np.isclose(components.values[0], np.linalg.eigvalsh(J @ np.diag([1.0, 2.0, 3.0]) @ J)[-1]))
    True
    """
    matrix = CentredProducts(K, weights)
    values, vectors, report = eigenpairs(matrix, k, **options)
    m, crossing = matrix.shape[0], matrix.crossing
    floor = matrix.eps * max(m * float(np.abs(values).max()), np.sqrt(m + 100.0) * _length(crossing))
    mean = crossing @ vectors.astype(np.float64, copy=False) / matrix.norm
    return Components(values, vectors, mean, floor, report)
