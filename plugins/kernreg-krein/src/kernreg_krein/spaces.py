"""The associated Hilbert space of an indefinite kernel, on all samples or on landmarks.

With sample weights w, S = diag(√w), the matrix is decomposed as repeated samples would be::

    S K S = U Λ Uᵀ,      |K| = S⁻¹ U |Λ| Uᵀ S⁻¹

A function f = |K| β of the Hilbert space is f = K α of the Kreĭn space, and k(x, X) α at a new sample x, with
α = S U sign(Λ) Uᵀ S⁻¹ β. Eigenvalues that cannot be told from rounding errors have no sign and are left out.

On landmarks K ≈ Φ diag(s) Φᵀ (`kernreg.linalg.symmetric_features`). The eigenpairs of that matrix come from
G = ΦᵀS²Φ = V D Vᵀ, which is accumulated over row blocks, and never from a matrix of samples by samples::

    D^½ Vᵀ diag(s) V D^½ = W Λ Wᵀ,      U = S Φ V D^(-½) W

For α = S U q the values of f on the samples are S⁻¹U Λ q, and f(x) = φ(x)ᵀ diag(s) V D^½ W q, landmarks only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from kernreg.kernels import Kernel
from kernreg.linalg import gram, symmetric_features

_VANISHING = 1e-10  # directions of G below this, relative to the largest, are rounding errors


def distinct_from_zero(values: np.ndarray, dtype: np.dtype[Any], size: int) -> np.ndarray:
    """Return which eigenvalues of a matrix of kernel values, of a type and size, are more than rounding errors."""
    eps = max(size * np.finfo(np.float64).eps, np.sqrt(size) * float(np.finfo(dtype).eps))
    return np.abs(values) > eps * np.abs(values).max(initial=0.0)


class KreinSpace:
    """All samples.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Symmetric.
    weights : ndarray of shape (m,), optional

    Attributes
    ----------
    values : ndarray of shape (r,)
        Eigenvalues of S K S other than zero, ascending.
    vectors : ndarray of shape (m, r)

    Examples
    --------
    >>> space = KreinSpace(np.array([[0.0, 2.0], [2.0, 0.0]]))
    >>> space.signature, space.associated().round(12).tolist()
    ((1, 1), [[2.0, 0.0], [0.0, 2.0]])
    >>> space.coefficients(np.array([[1.0], [0.0]])).round(12).ravel().tolist()
    [0.0, 1.0]
    """

    def __init__(self, K: np.ndarray, weights: np.ndarray | None = None):
        M = np.array(K, dtype=np.float64)
        self.root = None if weights is None else np.sqrt(weights)
        if self.root is not None:
            M *= self.root
            M *= self.root[:, None]
        values, vectors = linalg.eigh(M, overwrite_a=True, check_finite=False, driver="evd")
        kept = distinct_from_zero(values, K.dtype, len(K))
        self.values, self.vectors = values[kept], vectors if kept.all() else vectors[:, kept]

    @property
    def signature(self) -> tuple[int, int]:
        """The numbers of positive and negative eigenvalues."""
        return int((self.values > 0.0).sum()), int((self.values < 0.0).sum())

    def associated(self) -> np.ndarray:
        """Return |K|, exactly symmetric."""
        half = self.vectors * np.sqrt(np.abs(self.values))
        if self.root is not None:
            half /= self.root[:, None]
        return gram(half)

    def coefficients(self, beta: np.ndarray) -> np.ndarray:
        """Return α with K α = |K| β, for columns β."""
        inner = beta if self.root is None else beta / self.root[:, None]
        alpha = self.vectors @ (np.sign(self.values)[:, None] * (self.vectors.T @ inner))
        return alpha if self.root is None else alpha * self.root[:, None]


class LandmarkSpace:
    """Functions on landmarks.

    Parameters
    ----------
    kernel : Kernel
        Bound to its training samples.
    X : samples
    weights : ndarray of shape (m,), optional
    landmarks : ndarray of int
    centred : bool
        Whether features have mean zero over the samples, as machines want that decompose the centred matrix.
    Y : ndarray of shape (m, C), optional
        Targets, for `products`.

    Attributes
    ----------
    values : ndarray of shape (r,)
        Eigenvalues of the low-rank matrix, centred or not.
    products : ndarray of shape (r, C)
        UᵀS Y, of targets without their mean where ``centred``.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        weights: np.ndarray | None,
        landmarks: np.ndarray,
        *,
        centred: bool,
        Y: np.ndarray,
    ):
        self._kernel, self._X, self._weights = kernel.anchored(X), X, weights
        features = symmetric_features(self._kernel, X, landmarks, bool(kernel.definite))
        mean = np.average(Y, axis=0, weights=weights) if centred else np.zeros(Y.shape[1])
        moments = features.moments(Y - mean, weights)
        self._landmarks = features.landmarks
        origin = features.origin + moments.mean
        gram, targets = moments.gram, moments.targets
        if not centred:
            gram = gram + moments.mass * np.outer(origin, origin)
            sums = (Y if weights is None else weights[:, None] * Y).sum(axis=0)
            targets, origin = targets + np.outer(features.origin, sums), np.zeros_like(origin)
        sizes, V = linalg.eigh(gram) if len(gram) else (np.zeros(0), gram)
        kept = sizes > _VANISHING * max(float(sizes.max(initial=0.0)), np.finfo(np.float64).tiny)
        half = V[:, kept] * np.sqrt(sizes[kept])
        inner = half.T @ (features.signs[:, None] * half)
        values, W = linalg.eigh(inner) if len(inner) else (np.zeros(0), inner)
        told = distinct_from_zero(values, np.dtype(np.float64), max(1, len(values)))
        self.values = values[told]
        E = (V[:, kept] / np.sqrt(sizes[kept])) @ W[:, told]
        self.products = E.T @ targets
        self._transform, self._origin = features.transform @ E, origin @ E
        back = features.signs[:, None] * (half @ W[:, told])
        self._back, self._back_origin = features.transform @ back, origin @ back

    @property
    def signature(self) -> tuple[int, int]:
        """The numbers of positive and negative eigenvalues."""
        return int((self.values > 0.0).sum()), int((self.values < 0.0).sum())

    def features(self, some: np.ndarray | None = None) -> np.ndarray:
        """Return rows of S⁻¹U, of all training samples or of some of them."""
        X = self._X if some is None else self._X[some]
        return np.asarray(self._kernel.map_rows(X, self._landmarks, _features, args=(self._transform, self._origin)))

    def machine(self, Q: np.ndarray, intercepts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients of the landmarks and intercepts of k(x, X) S U q + b, for columns q."""
        return self._back @ Q, intercepts - self._back_origin @ Q


def _features(rows: slice, block: np.ndarray, transform: np.ndarray, origin: np.ndarray) -> np.ndarray:
    return np.asarray(block, dtype=np.float64) @ transform - origin
