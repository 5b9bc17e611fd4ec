"""The centred kernel matrix: K̃ = P S K S P, with S = diag(√w) and P the projection away from u = √w / ‖√w‖.

With unit weights that is J K J. The weighted least squares systems, I/γ replaced by diag(1/(γ w)) and a border of ones,
become unweighted ones in â = S⁻¹ a, because the border turns into √w; so every solver sees one form::

    (K̃ + I/γ) â = P S Y,      b = (weighted mean of Y) - (uᵀ S K S) â / ‖√w‖

J is never formed, and centring needs no second matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from kernreg.engine.threads import configured_blas
from kernreg.errors import DataError

_ROWS = 256  # rows handled at once where a pass over the matrix needs temporaries
_CACHED_ROWS = 16
_NOTHING = 64.0 * float(np.finfo(np.float64).eps)  # of the means that were taken away

#: Values of `asymmetry` that rounding leaves in the matrix of a symmetric kernel, by the type of its entries.
SYMMETRY_TOLERANCE = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}


def weighted_border(m: int, weights: np.ndarray | None) -> tuple[np.ndarray | None, np.ndarray, float]:
    """Return √w (None for unit weights), the border u = √w / ‖√w‖ and the norm ‖√w‖ of m samples."""
    if weights is None:
        norm = float(np.sqrt(m))
        return None, np.full(m, 1.0 / norm), norm
    root = np.sqrt(np.asarray(weights, dtype=np.float64))
    norm = float(np.linalg.norm(root))
    return root, root / norm, norm


class Centring:
    """S and P as maps of columns, for what has a `weighted_border`."""

    root: np.ndarray | None
    border: np.ndarray
    norm: float

    def scale(self, V: np.ndarray) -> np.ndarray:
        """Return S V."""
        return V if self.root is None else self.root[:, None] * V

    def project(self, V: np.ndarray) -> np.ndarray:
        """Return P V: each column without its component along the border."""
        return V - np.outer(self.border, self.border @ V)

    def mean(self, V: np.ndarray) -> np.ndarray:
        """Return the weighted mean of each column."""
        return (self.border @ self.scale(V)) / self.norm


@dataclass(frozen=True)
class CentredKernel(Centring):
    """K̃ and what is needed to get back from it to coefficients and intercepts.

    Attributes
    ----------
    matrix : ndarray of shape (m, m)
        K̃, float64, C-ordered.
    root : ndarray of shape (m,) or None
        √w, or None for unit weights.
    border : ndarray of shape (m,)
        u, the direction K̃ is projected away from.
    left, right : ndarray of shape (m,)
        uᵀ S K S and S K S u of the matrix before it was centred.
    norm : float
        ‖√w‖.

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.linalg import centre
    >>> kernel = centre(np.array([[2.0, 0.0], [0.0, 4.0]]))
    >>> kernel.size, bool(np.allclose(kernel.matrix.sum(axis=0), 0.0))
    (2, True)
    """

    matrix: np.ndarray
    root: np.ndarray | None
    border: np.ndarray
    left: np.ndarray
    right: np.ndarray
    norm: float

    @property
    def size(self) -> int:
        """Number of samples."""
        return len(self.border)

    def product(self, V: np.ndarray) -> np.ndarray:
        """Return K̃ V for a few columns."""
        if V.shape[1] < 2:
            return (V.T @ self.matrix.T).T  # rows times a matrix, which BLAS does twice as fast
        return blas.dgemm(1.0, self.matrix.T, V, trans_a=1)

    def adjoint(self, V: np.ndarray) -> np.ndarray:
        """Return K̃ᵀ V for a few columns."""
        if V.shape[1] < 2:
            return (V.T @ self.matrix).T
        return blas.dgemm(1.0, self.matrix.T, V)

    def targets(self, Y: np.ndarray) -> np.ndarray:
        """Return P S Y, the right-hand sides, one column for each class or output.

        A column that is constant up to rounding becomes exactly zero: what is left of it would only be noise.
        """
        scaled = self.scale(Y)
        T = self.project(self.project(scaled))  # twice: a large mean leaves a trace of itself
        noise = 8.0 * np.finfo(np.float64).eps * np.linalg.norm(scaled, axis=0)
        T[:, np.linalg.norm(T, axis=0) <= noise] = 0.0
        return T

    def coefficients(self, A: np.ndarray) -> np.ndarray:
        """Return a = S â for solutions in columns."""
        return self.scale(A)

    def source_intercept(self, Y: np.ndarray, C: np.ndarray) -> np.ndarray:
        """Return mean(Y - K c) for solutions ĉ in columns."""
        return self.mean(Y) - (self.left @ C) / self.norm

    def target_intercept(self, Y: np.ndarray, A: np.ndarray) -> np.ndarray:
        """Return mean(Y - Kᵀ a) for solutions â in columns."""
        return self.mean(Y) - (self.right @ A) / self.norm


@configured_blas()
def centre(K: np.ndarray, weights: np.ndarray | None = None, *, overwrite: bool = False) -> CentredKernel:
    """Centre a square kernel matrix; one of which no more than rounding errors are left becomes zero.

    Parameters
    ----------
    K : ndarray of shape (m, m)
    weights : ndarray of shape (m,), optional
        Positive sample weights.
    overwrite : bool
        Whether K itself may become K̃ (a float64, C-ordered, writable K does; any other is copied).

    Examples
    --------
    >>> import numpy as np
    >>> centre(np.array([[2.0, 0.0], [0.0, 4.0]])).matrix
    array([[ 1.5, -1.5],
           [-1.5,  1.5]])
    """
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise DataError(f"the kernel matrix has shape {K.shape}; training needs a square one, samples by samples")
    in_place = overwrite and K.dtype == np.float64 and K.flags.c_contiguous and K.flags.writeable
    matrix = K if in_place else np.array(K, dtype=np.float64, order="C")
    m = len(matrix)
    root, border, norm = weighted_border(m, weights)
    if root is not None:
        for start in range(0, m, _ROWS):
            rows = slice(start, start + _ROWS)
            matrix[rows] *= root[rows, None]
            matrix[rows] *= root
    right, left = matrix @ border, border @ matrix
    total = float(border @ right)
    # K̃ = K - (r - t u) uᵀ - u lᵀ, a few rows at a time while they are in cache.
    across = right - total * border
    for start in range(0, m, _CACHED_ROWS):
        rows = slice(start, start + _CACHED_ROWS)
        if root is None:
            matrix[rows] -= left / norm
            matrix[rows] -= (across[rows] / norm)[:, None]
        else:
            matrix[rows] -= np.outer(across[rows], border)
            matrix[rows] -= np.outer(border[rows], left)
    # What rounding leaves of a constant is no direction to learn from, however large γ is made.
    size = max(float(np.abs(means).max(initial=0.0)) for means in (left, right)) / max(1.0, np.sqrt(m))
    if max(float(matrix.max(initial=0.0)), -float(matrix.min(initial=0.0))) <= _NOTHING * size:
        matrix[...] = 0.0
    return CentredKernel(matrix, root, border, left, right, norm)


def asymmetry(K: np.ndarray) -> float:
    """Return max |K - Kᵀ| / max |K| of a square matrix, block by block (0 for a matrix of zeros).

    Examples
    --------
    >>> import numpy as np
    >>> asymmetry(np.array([[1.0, 2.0], [0.0, 1.0]]))
    1.0
    """
    gap, largest = asymmetric_part(K)
    return gap / largest if largest > 0.0 else 0.0


def asymmetric_part(K: np.ndarray) -> tuple[float, float]:
    """Return max |K - Kᵀ| and max |K| of a square matrix, block by block."""
    largest = gap = 0.0
    starts = range(0, len(K), _ROWS)
    for i in starts:
        rows = slice(i, i + _ROWS)
        largest = max(largest, float(np.abs(K[rows]).max(initial=0.0)))
        for j in starts:
            if j <= i:
                columns = slice(j, j + _ROWS)
                gap = max(gap, float(np.abs(K[rows, columns] - K[columns, rows].T).max(initial=0.0)))
    return gap, largest


def mirror(M: np.ndarray, *, from_lower: bool) -> None:
    """Copy one triangle of a square matrix onto the other, in place."""
    for i in range(0, len(M), _ROWS):
        rows = slice(i, i + _ROWS)
        corner = M[rows, rows]
        corner[...] = np.tril(corner) + np.tril(corner, -1).T if from_lower else np.triu(corner) + np.triu(corner, 1).T
        rest = slice(i + _ROWS, None)
        if from_lower:
            M[rows, rest] = M[rest, rows].T
        else:
            M[rest, rows] = M[rows, rest].T


def induced_norms(M: np.ndarray) -> tuple[float, float]:
    """Return ‖M‖₁ and ‖M‖∞ of a C-ordered matrix (of a Fortran-ordered one, pass the transpose), block by block."""
    columns, largest = np.zeros(M.shape[1]), 0.0
    for start in range(0, len(M), _CACHED_ROWS):
        block = np.abs(M[start : start + _CACHED_ROWS])
        columns += block.sum(axis=0)
        largest = max(largest, float(block.sum(axis=1).max(initial=0.0)))
    return float(columns.max(initial=0.0)), largest
