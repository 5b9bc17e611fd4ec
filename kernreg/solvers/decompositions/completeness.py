"""Did an iteration find all copies of repeated singular values?

A Krylov method that multiplies one vector at a time sees one direction of every singular subspace; it finds the others
by way of rounding errors, mostly. What it left out shows when the matrix is multiplied by random directions orthogonal
to everything found: a singular value of A (I - V Vᵀ) above the smallest one found is proof that one was missed. Ritz
values are never too large, so nothing is rejected wrongly; and copies are far above the rest where they get lost, so a
few steps find them.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from kernreg.linalg.spectra.basis import extend, largest_norm
from kernreg.linalg.spectra.lanczos import Map

_BLOCK, _STEPS = 4, 8
_MARGIN = 1e-8  # relative; what is closer to the smallest value found is as good as it


def missed(product: Map, adjoint: Map, V: np.ndarray, smallest: float, rng: np.random.Generator) -> np.ndarray | None:
    """Return directions orthogonal to V along which A is larger than ``smallest``, or None where none shows.

    Parameters
    ----------
    product, adjoint : callable
        A W and AᵀU for several columns.
    V : ndarray of shape (m, k)
        Right singular vectors found.
    smallest : float
        The smallest singular value found.
    rng : Generator

    Examples
    --------
    >>> import numpy as np
    >>> A, rng = np.diag([3.0, 3.0, 1.0, 0.5]), np.random.default_rng(0)
    >>> found = missed(A.dot, A.T.dot, np.eye(4)[:, [0, 2]], 1.0, rng)
    >>> bool(abs(found[1, 0]) > 0.999)
    True
    >>> missed(A.dot, A.T.dot, np.eye(4)[:, [0, 1]], 3.0, rng) is None
    True
    """
    m, k = V.shape
    steps = min(_STEPS, (m - k) // _BLOCK)
    width = _BLOCK if steps else m - k
    if width == 0:
        return None
    basis = np.empty((m, k + width * max(1, steps)), order="F")
    basis[:, :k], end = V, k
    images, W = [], rng.standard_normal((m, width))
    for _ in range(max(1, steps)):
        W = np.asfortranarray(W, dtype=np.float64)
        basis[:, end : end + width] = extend(W, basis[:, :end], width, max(largest_norm(W), smallest**2), rng)[0]
        images.append(product(basis[:, end : end + width]))
        end += width
        W = adjoint(images[-1])
    B = np.hstack(images)
    squares, S = linalg.eigh(B.T @ B, check_finite=False)  # ascending; the largest, which count, are accurate
    values, S = np.sqrt(np.maximum(squares, 0.0))[::-1], S[:, ::-1]
    above = values > smallest * (1.0 + _MARGIN)
    return basis[:, k:end] @ S[:, above] if above.any() else None
