"""Products with sparse data: separable plus sparse.

Where two sparse samples share no feature their inner product is zero, and there an exponential kernel factorises:
K = diag(p) (11ᵀ + E) diag(q) with E as sparse as XZᵀ. A kernel of the inner product alone is f(0)·11ᵀ + E. So K @ v
costs O(nnz(XZᵀ) + n), exactly, whatever the size of K. Row normalisation only changes p.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from kernreg.engine.arrays import Samples, is_sparse
from kernreg.engine.program import Program
from kernreg.engine.tiles.blocks import function_values

# Worth it while XZᵀ has at most this share of stored entries: a stored entry costs more than a computed one.
WORTHWHILE = 0.05
STORED_COST = 20  # kernel values in blocks that one stored entry of XZᵀ costs as much as
# Exponents beyond this range would lose the small factors to underflow: blocks are used instead.
SAFE_EXPONENT = 600.0
# Where 1 + E is much smaller than 1 (strongly negative inner products) the sum cancels: blocks are used instead.
SMALLEST_EXCESS = -0.5


class SeparableProduct:
    """K = diag(p) (a·11ᵀ + E) diag(q), with E sparse: exact products in O(nnz(XZᵀ))."""

    def __init__(self, p: np.ndarray, q: np.ndarray, constant: float, E: sp.csr_array):
        self.p, self.q, self.constant, self.E = p, q, constant, E
        self._adjoint = E.T.tocsr()

    def product(self, V: np.ndarray, *, adjoint: bool = False) -> np.ndarray:
        """Return K @ V or K.T @ V for a matrix V."""
        left, right, E = (self.q, self.p, self._adjoint) if adjoint else (self.p, self.q, self.E)
        scaled = right[:, None] * V
        return left[:, None] * (self.constant * scaled.sum(axis=0) + E @ scaled)


def separable(
    program: Program, X: Samples, Z: Samples, normalizers: np.ndarray | None = None
) -> SeparableProduct | None:
    """Return the separable form of K(X, Z), or None where blocks are the better or the only way."""
    factorises = program.statistic == "dot" and not program.normalize
    if not (is_sparse(X) and is_sparse(Z)) or not (factorises or program.split is not None):
        return None
    if not program.self_term or X.dtype == np.float32 or Z.dtype == np.float32:
        return None
    if 0 in (X.shape[0], Z.shape[0]) or _stored_bound(X, Z) > WORTHWHILE * X.shape[0] * Z.shape[0]:
        return None
    G = sp.csr_array(X @ Z.T)
    if factorises:
        at_zero = float(function_values(program.name, program.function, np.zeros(1), program.parameters)[0])
        E = function_values(program.name, program.function, G.data, program.parameters) - at_zero
        return _finite(SeparableProduct(np.ones(X.shape[0]), np.ones(Z.shape[0]), at_zero, _like(G, E)))
    return _exponential(program, X, Z, G, normalizers)


def _exponential(
    program: Program, X: Samples, Z: Samples, G: sp.csr_array, normalizers: np.ndarray | None
) -> SeparableProduct | None:
    split = program.split
    assert split is not None
    log_p = function_values(program.name, split.log_left, squared_rows(X), program.parameters)
    log_q = function_values(program.name, split.log_right, squared_rows(Z), program.parameters)
    E = _like(G, function_values(program.name, split.excess, G.data, program.parameters))
    if E.data.min(initial=0.0) < SMALLEST_EXCESS:
        return None
    if not program.normalize:
        if max(np.ptp(log_p), np.ptp(log_q), np.abs(log_p).max(), np.abs(log_q).max()) > SAFE_EXPONENT / 2:
            return None
        return _finite(SeparableProduct(np.exp(log_p), np.exp(log_q), 1.0, E))
    # The left factor is common to the row and cancels in the normalisation, as any common right factor does.
    shift = log_q.max()
    if shift - log_q.min() > SAFE_EXPONENT:
        return None
    q = np.exp(log_q - shift)
    if normalizers is None:
        return _finite(SeparableProduct(1.0 / (q.sum() + E @ q), q, 1.0, E))
    log_scale = log_p + shift - normalizers
    if np.abs(log_scale).max() > SAFE_EXPONENT:
        return None
    return _finite(SeparableProduct(np.exp(log_scale), q, 1.0, E))


def product_cost(program: Program, X: Samples, Z: Samples) -> int:
    """Return about how many kernel values, as blocks compute them, one product with K(X, Z) costs."""
    whole = X.shape[0] * Z.shape[0]
    factorises = program.statistic == "dot" and not program.normalize
    if not (is_sparse(X) and is_sparse(Z)) or not (factorises or program.split is not None):
        return whole
    return min(whole, STORED_COST * _stored_bound(X, Z))


def _stored_bound(X: Samples, Z: Samples) -> int:
    """Return an upper bound on the stored entries of XZᵀ in O(nnz)."""
    per_feature = [np.bincount(side.indices, minlength=side.shape[1]).astype(np.int64) for side in (X, Z)]
    return int(per_feature[0] @ per_feature[1])


def squared_rows(X: Samples) -> np.ndarray:
    """Return |x|² of the rows of a sparse array."""
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()


def _like(pattern: sp.csr_array, data: np.ndarray) -> sp.csr_array:
    return sp.csr_array((data, pattern.indices, pattern.indptr), shape=pattern.shape)


def _finite(found: SeparableProduct) -> SeparableProduct | None:
    # Not only finite: what they are multiplied with must not overflow them either.
    parts = (found.p, found.q, found.E.data, np.array([found.constant]))
    sound = all(np.abs(part).max(initial=0.0) <= np.exp(SAFE_EXPONENT) for part in parts)
    return found if sound else None
