"""Randomly pivoted Cholesky: landmarks by what is left of the kernel matrix, in blocks with rejection.

K ≈ G Gᵀ grows one pivot at a time. Each is drawn with a probability proportional to d = diag(K - G Gᵀ), what the pivots
before it leave of every sample, so that none is drawn where there is nothing more to see. The trace of K - G Gᵀ, which
is positive semi-definite, is Σ d: the error that is left is known.

In blocks: b candidates I are drawn by d at once, H = K[I, I] - G[I] G[I]ᵀ, and one after the other is accepted with the
probability that the candidates accepted before it leave of its diagonal, H downdated each time. So the pivots have the
law of the one-at-a-time form, and the passes over all samples are few and wide:

    G gains the columns (K[:, S] - G G[S]ᵀ) L⁻ᵀ,   L Lᵀ = H[S, S] before the downdates,   S accepted

With k pivots of n samples it takes n k kernel values and n k² operations, and holds n k numbers.

Kernels that are not positive semi-definite have no Cholesky factor. Their counterpart looks at the rows of M, some
columns of K (and some rows, where K is asymmetric), and draws a row with a probability proportional to the squared norm
of what the span of the rows before it leaves of it. This is the same method on M Mᵀ, which is never held.

References
----------
Chen, Epperly, Tropp & Webber, Randomly pivoted Cholesky, Communications on Pure and Applied Mathematics 78 (2025).
Epperly, Tropp & Webber, Embrace rejection: kernel matrix approximation by accelerated randomly pivoted Cholesky, 2024.
Deshpande, Rademacher, Vempala & Wang, Matrix approximation and projective clustering via volume sampling, 2006 (rows by
what is left of their norms).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import linalg

from kernreg.common.progress import progress
from kernreg.engine import ByRow
from kernreg.engine.dispatch import configured_engine
from kernreg.engine.threads import configured_blas
from kernreg.errors import DataError
from kernreg.kernels.base import Kernel
from kernreg.linalg.randomness import generator

_SHARE, _FEWEST = 10, 16  # candidates of a block: a tenth of the pivots, no fewer than these
_ROUNDING = 10.0  # times √k rounding errors of k(x, x): less than this is nothing


@dataclass(frozen=True)
class PivotedCholesky:
    """K ≈ G Gᵀ.

    Attributes
    ----------
    pivots : ndarray of shape (k,)
        Samples, in the order in which they were accepted; fewer than asked for where nothing is left of any other.
    factor : ndarray of shape (n, k)
        G, lower triangular in the rows of the pivots.
    left : ndarray of shape (n,)
        The diagonal of K - G Gᵀ.
    trace : float
        That of K.
    """

    pivots: np.ndarray
    factor: np.ndarray
    left: np.ndarray
    trace: float

    @property
    def trace_error(self) -> float:
        """The share of the trace of K that is left, between 0 and 1."""
        return min(1.0, float(self.left.sum()) / self.trace) if self.trace > 0.0 else 0.0


class PositiveMatrix(Protocol):
    """A positive semi-definite matrix that is known by its diagonal, by blocks and by columns."""

    def diagonal(self) -> np.ndarray:
        """Return the diagonal; its type tells how exact values are."""
        ...

    def block(self, chosen: np.ndarray) -> np.ndarray:
        """Return K[chosen, chosen]."""
        ...

    def new_columns(self, chosen: np.ndarray, G: np.ndarray, L: np.ndarray) -> np.ndarray:
        """Return (K[:, chosen] - G G[chosen]ᵀ) L⁻ᵀ."""
        ...


class KernelMatrix:
    """K(X) of a kernel that is bound to its reference set, through the configured engine."""

    def __init__(self, kernel: Kernel, X: Any):
        self._kernel, self._X = kernel, X

    def diagonal(self) -> np.ndarray:
        """Return k(x, x) of all samples."""
        return self._kernel.diagonal(self._X)

    def block(self, chosen: np.ndarray) -> np.ndarray:
        """Return K[chosen, chosen]."""
        return self._kernel(self._X[chosen])

    def new_columns(self, chosen: np.ndarray, G: np.ndarray, L: np.ndarray) -> np.ndarray:
        """Return (K[:, chosen] - G G[chosen]ᵀ) L⁻ᵀ in one pass over the samples."""
        if configured_engine() is None:
            return self._kernel.map_rows(self._X, self._X[chosen], _new_columns, args=(ByRow(G), G[chosen], L))
        # Elsewhere kernel values travel, and the factor so far stays here.
        columns = self._kernel.map_rows(self._X, self._X[chosen], _as_they_are)
        return _new_columns(slice(None), columns, G, G[chosen], L)


class RowProducts:
    """M Mᵀ, the inner products of the rows of a matrix in memory."""

    def __init__(self, M: np.ndarray):
        self._M = np.asarray(M, dtype=np.float64)

    def diagonal(self) -> np.ndarray:
        """Return the squared norms of the rows."""
        return np.einsum("ij,ij->i", self._M, self._M)

    def block(self, chosen: np.ndarray) -> np.ndarray:
        """Return inner products of some rows."""
        return self._M[chosen] @ self._M[chosen].T

    def new_columns(self, chosen: np.ndarray, G: np.ndarray, L: np.ndarray) -> np.ndarray:
        """Return (M M[chosen]ᵀ - G G[chosen]ᵀ) L⁻ᵀ."""
        return _new_columns(slice(None), self._M @ self._M[chosen].T, G, G[chosen], L)


def _as_they_are(rows: slice, block: np.ndarray) -> np.ndarray:
    return block


def _new_columns(rows: slice, block: np.ndarray, G: np.ndarray, own: np.ndarray, L: np.ndarray) -> np.ndarray:
    rest = np.asarray(block, dtype=np.float64) - G @ own.T
    return linalg.solve_triangular(L, rest.T, lower=True, check_finite=False).T


@configured_blas()
def pivoted_cholesky(
    matrix: PositiveMatrix,
    rank: int,
    *,
    weights: np.ndarray | None = None,
    candidates: int | None = None,
    random_state: Any = None,
) -> PivotedCholesky:
    """Return a factor of at most so many columns, its pivots drawn by what is left of the diagonal.

    Parameters
    ----------
    matrix : PositiveMatrix
        `KernelMatrix` of a positive semi-definite kernel, or `RowProducts`.
    rank : int
        How many pivots, k.
    weights : ndarray of shape (n,), optional
        Positive weights v: the pivots are then those of diag(√v) K diag(√v). The factor is that of K.
    candidates : int, optional
        Candidates drawn at once, b; k/10 by default, at least 16. The law of the pivots does not depend on it.
    random_state : int, numpy Generator or RandomState, optional

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.kernels.builtin import rbf
    >>> X = np.linspace(-3.0, 3.0, 200)[:, None]
    >>> k = rbf(sigma=2.0)
    >>> found = pivoted_cholesky(KernelMatrix(k, X), 12, random_state=0)
    >>> left = np.trace(k(X) - found.factor @ found.factor.T) / 200
    >>> bool(abs(left - found.trace_error) < 1e-12), bool(found.trace_error < 1e-6)
    (True, True)
    """
    rng = generator(random_state)
    diagonal = matrix.diagonal()
    eps = float(np.finfo(diagonal.dtype).eps)
    own = np.maximum(diagonal.astype(np.float64), 0.0)
    if not np.isfinite(own).all():
        raise DataError(
            "k(x, x) is not finite for some samples, and landmarks='rpcholesky' draws them by these values; check the "
            "kernel's parameters and the scale of the features, or use landmarks='uniform'"
        )
    n, rank = len(own), min(rank, len(own))
    nothing = _ROUNDING * np.sqrt(rank) * eps * own
    left, G, pivots = own.copy(), np.zeros((n, rank)), np.empty(0, dtype=np.intp)
    share = np.ones(n) if weights is None else weights
    at_once = max(_FEWEST, -(-rank // _SHARE)) if candidates is None else candidates
    with progress("landmarks", rank) as show:
        while len(pivots) < rank:
            left[left <= nothing] = 0.0
            chances = share * left
            total = float(chances.sum())
            if not total > 0.0:
                break
            drawn = rng.choice(n, at_once, p=chances / total)
            have = len(pivots)
            H = np.asarray(matrix.block(drawn), dtype=np.float64) - G[drawn, :have] @ G[drawn, :have].T
            accepted, L = _accept(H, nothing[drawn], rank - have, rng)
            left[drawn[H.diagonal() <= nothing[drawn]]] = 0.0  # nothing is there but rounding errors
            if not len(accepted):
                continue
            new = drawn[accepted]
            columns = matrix.new_columns(new, G[:, :have], L)
            pivots = np.append(pivots, new)
            G[:, have : len(pivots)] = columns
            left = np.maximum(left - np.einsum("ij,ij->i", columns, columns), 0.0)
            left[pivots] = 0.0
            show(len(pivots))
    return PivotedCholesky(pivots, G[:, : len(pivots)], left, float(own.sum()))


def _accept(H: np.ndarray, nothing: np.ndarray, most: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return which candidates are accepted, no more than `most`, and L with L Lᵀ = H[accepted, accepted]."""
    before, chances = H.diagonal().copy(), rng.random(len(H))
    rest = H.copy()
    accepted: list[int] = []
    columns: list[np.ndarray] = []
    for j in range(len(H)):
        pivot = rest[j, j]
        if pivot > nothing[j] and chances[j] * before[j] < pivot:
            column = rest[:, j] / np.sqrt(pivot)
            column[accepted] = 0.0  # but for rounding errors it is
            rest -= np.outer(column, column)
            accepted.append(j)
            columns.append(column)
            if len(accepted) == most:
                break
    if not accepted:
        return np.empty(0, dtype=np.intp), np.empty((0, 0))
    return np.array(accepted), np.column_stack(columns)[accepted]
