"""Kernels that are sums of products of one factor for each feature: k(x, z) = Σ_t c_t Π_j k_tj(x_j, z_j).

``rbf``, ``laplacian``, ``chi2`` and ``kl`` are such products, as is every kernel e^{-s} of a statistic s that is a sum
over features, sums, products, multiples and powers of them, and compositions with maps of each feature by itself (a
width for each feature). ``linear`` and ``intersection`` are sums over features. ``matern`` and ``cauchy`` are neither:
the distance stands under a root or in a denominator, which ties all features together.

Whether a kernel is one is found out from its values: the factors are the kernel itself, seen with one feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernreg.engine.matrix import matrix
from kernreg.errors import ParameterError
from kernreg.kernels import Kernel
from kernreg.kernels.combinations import algebra
from kernreg.kernels.function import FunctionKernel

_PROBES = 12
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class ProductTerm:
    """One product, times a constant: each part is a kernel with the power it is raised to and the map before it."""

    constant: float
    parts: tuple[tuple[FunctionKernel, int, tuple[Any, ...]], ...]

    def factors(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Return k_j(x_j, z_j), (n, d, m), of samples in rows."""
        found = np.ones((len(X), X.shape[1], len(Z)))
        for kernel, power, maps in self.parts:
            A, B = (_mapped(maps, side) for side in (X, Z))
            for j in range(X.shape[1]):
                column = matrix(kernel.program, _column(A, j), _column(B, j))
                found[:, j] *= column if power == 1 else column**power
        return found


@dataclass(frozen=True)
class AdditiveTerm:
    """A sum over features, times a constant."""

    constant: float
    kernel: FunctionKernel
    maps: tuple[Any, ...]

    def summands(self, X: np.ndarray, coefficients: np.ndarray, Z: np.ndarray, swapped: bool = False) -> np.ndarray:
        """Return Σ_i a_i k_j(x_j, z_ij), (n, d, columns), or where ``swapped`` with the arguments exchanged."""
        A, B = (_mapped(self.maps, side) for side in (X, Z))
        columns = []
        for j in range(X.shape[1]):
            x, z = _column(A, j), _column(B, j)
            K = matrix(self.kernel.program, z, x).T if swapped else matrix(self.kernel.program, x, z)
            columns.append(K @ coefficients)
        return np.stack(columns, axis=1)


def _column(X: np.ndarray, j: int) -> np.ndarray:
    return np.ascontiguousarray(X[:, j : j + 1])


def _mapped(maps: tuple[Any, ...], X: np.ndarray) -> np.ndarray:
    for feature_map in maps:
        X = np.ascontiguousarray(feature_map(X), dtype=np.float64)
    return X


def terms_of(kernel: Kernel, X: np.ndarray) -> list[ProductTerm | AdditiveTerm]:
    """Return a kernel as a sum of terms that are products or sums over features.

    Parameters
    ----------
    kernel : Kernel
        With all its widths known.
    X : ndarray of shape (m, d)
        Samples to find out with; some of them are enough.

    Raises
    ------
    ParameterError
        If it is no such sum.

    Examples
    --------
    >>> from kernreg.kernels.builtin import linear, rbf
    >>> [type(term).__name__ for term in terms_of(rbf(sigma=2.0) + 3.0 * linear(), np.eye(4))]
    ['ProductTerm', 'AdditiveTerm']
    """
    probes = np.ascontiguousarray(X[np.linspace(0, len(X) - 1, min(len(X), _PROBES)).astype(int)], dtype=np.float64)
    return [_checked(*term, probes, kernel) for term in _expanded(kernel, ())]


def _expanded(kernel: Kernel, maps: tuple[Any, ...]) -> list[tuple[float, list[Any]]]:
    """Return a kernel as a list of constants and lists of (function kernel, power, maps)."""
    if kernel.family is algebra.add:
        return [*_expanded(kernel.left, maps), *_expanded(kernel.right, maps)]
    if kernel.family is algebra.scale:
        return [(kernel.factor * c, parts) for c, parts in _expanded(kernel.kernel, maps)]
    if kernel.family is algebra.multiply:
        pairs = [(a, b) for a in _expanded(kernel.left, maps) for b in _expanded(kernel.right, maps)]
        return [(c * e, [*parts, *others]) for (c, parts), (e, others) in pairs]
    if kernel.family is algebra.power:
        inner = _expanded(kernel.kernel, maps)
        if len(inner) == 1:
            ((c, parts),) = inner
            return [(c**kernel.exponent, [(k, power * kernel.exponent, m) for k, power, m in parts])]
    if kernel.family is algebra.compose:
        return _expanded(kernel.kernel, (*maps, kernel.feature_map))
    return [(1.0, [(kernel, 1, maps)])]


def _checked(constant: float, parts: list[Any], probes: np.ndarray, whole: Kernel) -> ProductTerm | AdditiveTerm:
    columnwise = all(_is_columnwise(maps, probes) for _, _, maps in parts)
    compiled = all(
        isinstance(k, FunctionKernel)
        and not k.normalize
        and k.program.statistic in ("dot", "sqeuclidean", "l1", "term")
        for k, _, _ in parts
    )
    if columnwise and compiled:
        K = np.ones((len(probes), len(probes)))
        for kernel, power, maps in parts:
            mapped = _mapped(maps, probes)
            K = K * matrix(kernel.program, mapped, mapped) ** power
        product = ProductTerm(constant, tuple(parts))
        if _close(product.factors(probes, probes).prod(axis=1), K):
            return product
        if len(parts) == 1 and parts[0][1] == 1:
            additive = AdditiveTerm(constant, parts[0][0], parts[0][2])
            if _close(additive.summands(probes, np.eye(len(probes)), probes).sum(axis=1), K):
                return additive
    names = ", ".join(sorted({kernel.name for kernel, _, _ in parts}))
    reason = "its feature map mixes features" if not columnwise else f"{names} is neither a product nor a sum over them"
    raise ParameterError(
        f"exact Shapley values need a kernel that is a product over features (rbf, laplacian, chi2, kl) or a sum "
        f"(linear, intersection), or is made of such; in {whole!r}, {reason}. permutation_importance takes any kernel, "
        "decision_gradients differentiable ones"
    )


def _close(found: np.ndarray, K: np.ndarray) -> bool:
    return bool(np.abs(found - K).max(initial=0.0) <= _TOLERANCE * max(1.0, np.abs(K).max(initial=0.0)))


def _is_columnwise(maps: tuple[Any, ...], X: np.ndarray) -> bool:
    """Whether maps take each feature by itself: a change of one changes that one alone."""
    if not maps:
        return True
    before = _mapped(maps, X)
    if before.shape != X.shape:
        return False
    for j in range(X.shape[1]):
        changed = X.copy()
        changed[:, j] = changed[::-1, j] + 0.37
        if not np.array_equal(np.delete(_mapped(maps, changed), j, axis=1), np.delete(before, j, axis=1)):
            return False
    return True
