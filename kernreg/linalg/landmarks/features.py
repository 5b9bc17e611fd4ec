"""Nyström features of landmarks, and their moments over all samples, streamed by row blocks.

From p landmarks with W = K[landmarks, landmarks]:

symmetric    W = V Λ Vᵀ,  φ(x) = |Λ|^(-1/2) Vᵀ k(landmarks, x),  K ≈ Φ diag(s) Φᵀ with the signs s of Λ
asymmetric   W = U Σ Vᵀ,  φ_s(x) = Σ^(-1/2) Vᵀ k(x, landmarks),  φ_t(z) = Σ^(-1/2) Uᵀ k(landmarks, z),  K ≈ Φ_s Φ_tᵀ

Both are K ≈ K[:, landmarks] W⁺ K[landmarks, :]. Directions in which W vanishes but for rounding are left out. Where all
samples are landmarks, K is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from kernreg.common.progress import row_progress
from kernreg.engine import ByRow
from kernreg.engine.gram import gram
from kernreg.kernels.base import Kernel

#: Directions of W below this, relative to the largest, are rounding errors. Without definiteness W may be small in
#: directions in which K is not, and dividing by it would blow up the approximation, hence the second, safer value.
CUT_DEFINITE, CUT = 1e-12, 1e-9


@dataclass(frozen=True)
class Features:
    """x ↦ k(x, landmarks) T - origin.

    Attributes
    ----------
    kernel : Kernel
        Gives rows k(x, landmarks).
    samples, landmarks : array or CSR
    transform : ndarray of shape (p, q)
        T.
    signs : ndarray of shape (q,)
        Signature of the features: all one for a positive semi-definite kernel.
    origin : ndarray of shape (q,)
        Near the mean of the features, so that subtracting the mean later cancels little.

    Examples
    --------
    >>> import numpy as np
    >>> import kernreg as kr
    >>> X = np.linspace(0.0, 1.0, 30)[:, None]
    >>> features = symmetric_features(kr.make_kernel("rbf(sigma=1.0)"), X, np.arange(0, 30, 6), True)
    >>> features.rank <= 5, features.landmarks.shape
    (True, (5, 1))
    """

    kernel: Kernel
    samples: Any
    landmarks: Any
    transform: np.ndarray
    signs: np.ndarray
    origin: np.ndarray

    @property
    def rank(self) -> int:
        """Number of features."""
        return self.transform.shape[1]

    def moments(self, Y: np.ndarray, weights: np.ndarray | None) -> Moments:
        """Return centred second moments and products with targets (weighted means zero), in one pass."""
        args = self.transform, self.origin, ByRow(Y), None if weights is None else ByRow(weights)
        with row_progress(f"features of {self.landmarks.shape[0]} landmarks", len(Y)):
            total = self.kernel.map_rows(self.samples, self.landmarks, _moments, "add", args=args)
        q, mass = self.rank, float(len(Y) if weights is None else weights.sum())
        mean = total[:, q] / mass
        gram = total[:, :q] - mass * np.outer(mean, mean)
        return Moments(mean, 0.5 * (gram + gram.T), total[:, q + 1 :], mass)


@dataclass(frozen=True)
class Moments:
    """Mean, ΦᵀJΦ and ΦᵀJY of features over all samples, and the sum of the weights."""

    mean: np.ndarray
    gram: np.ndarray
    targets: np.ndarray
    mass: float


def features_of(block: np.ndarray, transform: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Return the features of samples whose rows k(x, landmarks) are given."""
    F = np.asarray(block, dtype=np.float64) @ transform
    F -= origin
    return F


def _moments(
    rows: slice, block: np.ndarray, T: np.ndarray, origin: np.ndarray, Y: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    F = features_of(block, T, origin)
    G = F if weights is None else weights[:, None] * F
    # Without weights a symmetric product, at half the price.
    return np.hstack([gram(F.T) if weights is None else G.T @ F, G.sum(axis=0)[:, None], G.T @ Y])


def symmetric_features(kernel: Kernel, X: Any, chosen: np.ndarray, definite: bool) -> Features:
    """Return the features of a symmetric kernel, already bound to its reference set.

    Examples
    --------
    >>> import numpy as np
    >>> import kernreg as kr
    >>> X, k = np.linspace(0.0, 1.0, 30)[:, None], kr.make_kernel("rbf(sigma=1.0)")
    >>> features = symmetric_features(k, X, np.arange(0, 30, 3), True)
    >>> Phi = k(X, features.landmarks) @ features.transform
    >>> bool(np.allclose(Phi @ Phi.T, k(X), atol=1e-6))
    True
    """
    L = X[chosen]
    W = np.asarray(kernel(L), dtype=np.float64)
    values, vectors = linalg.eigh(0.5 * (W + W.T))
    size = values if definite else np.abs(values)
    kept = size > (CUT_DEFINITE if definite else CUT) * np.abs(values).max(initial=0.0)
    return _features(kernel, X, L, vectors[:, kept] / np.sqrt(size[kept]), np.sign(values[kept]), W)


def asymmetric_features(kernel: Kernel, X: Any, Z: Any, chosen: np.ndarray) -> tuple[Features, Features]:
    """Return φ_s over X and φ_t over Z of any kernel, already bound to its reference set."""
    rows, columns = X[chosen], Z[chosen]
    W = np.asarray(kernel(rows, columns), dtype=np.float64)
    U, values, V = linalg.svd(W)
    kept = values > CUT * values.max(initial=0.0)
    root, signs = np.sqrt(values[kept]), np.ones(int(kept.sum()))
    source = _features(kernel, X, columns, V[kept].T / root, signs, W)
    target = _features(kernel.T, Z, rows, U[:, kept] / root, signs, W.T)
    return source, target


def _features(kernel: Kernel, X: Any, L: Any, T: np.ndarray, signs: np.ndarray, W: np.ndarray) -> Features:
    return Features(kernel, X, L, T, signs, (W @ T).mean(axis=0))
