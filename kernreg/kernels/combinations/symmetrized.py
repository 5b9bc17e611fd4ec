"""Symmetric kernels of an asymmetric one: the mean with its transpose, and the two products with it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kernreg.engine.arrays import in_double, result_dtype
from kernreg.engine.budget import rows_within, warn_beyond_budget
from kernreg.engine.gram import gram
from kernreg.factory import make_kernel
from kernreg.kernels.base import Kernel
from kernreg.kernels.combinations.base import (
    BoundCombination,
    UnboundKernel,
    combination,
    copied,
    in_blocks,
    one_kernel,
    squared_norms,
    with_form,
)
from kernreg.kernels.domains import Parameter, choice
from kernreg.kernels.samples import same_samples


class Symmetrized(UnboundKernel):
    """(K + Kᵀ)/2, K Kᵀ or Kᵀ K: the usual ways to make a symmetric kernel of an asymmetric one.

    Examples
    --------
    >>> import kernreg as kr
    >>> from kernreg.kernels import symmetrize
    >>> symmetrize(kr.make_kernel("precomputed", K=[[0.0, 1.0], [3.0, 0.0]]), "mean")([0, 1]).tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    """

    __slots__ = ()

    @property
    def symmetric(self) -> bool:
        """True: that is what it is for."""
        return True

    @property
    def takes_reference(self) -> bool:
        """The products are sums over a reference set; the mean takes one where the kernel does."""
        return self.how != "mean" or self.parts[0].takes_reference

    @property
    def definite(self) -> bool | None:
        """K Kᵀ and Kᵀ K are positive semi-definite; the mean need not be."""
        return True if self.how != "mean" else self.parts[0].definite or None

    def _bound_to(self, reference: Any) -> Kernel:
        return BoundSymmetrized(self, reference)

    def __kernreg_rebind__(self, learnt: Mapping[str, Any]) -> Kernel:
        reference, inner = self._samples(learnt["reference"], "reference"), make_kernel(learnt["kernel"])
        return BoundSymmetrized(self, reference, {"kernel": inner})


class BoundSymmetrized(BoundCombination):
    """A symmetrised kernel with its reference set R: "left" is Σ_r k(x, r) k(z, r), "right" Σ_r k(r, x) k(r, z)."""

    __slots__ = ()

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        inner = self.parts[0]
        if self.how == "mean":
            whole = in_blocks(self, X, Z, out)
            if whole is not None:
                return whole
            other = X if Z is None else Z
            K = inner._evaluate(X, other, None, 0 if Z is None else self_start)
            K += inner._evaluate(other, X, None, None if self_start is None else -self_start).T
            K *= K.dtype.type(0.5)
        else:
            factors = 8 * self._reference.shape[0] * X.shape[0]
            needed = factors + 8 * X.shape[0] * (X if Z is None else Z).shape[0]
            what = f"symmetrize(…, {self.how!r}) of {X.shape[0]} samples"
            warn_beyond_budget(needed, what, "multiply with k.operator(X, Z) without ever holding the matrix")
            dtype = result_dtype(X, X if Z is None else Z)
            left = self._factor(X, dtype)
            if Z is None or same_samples(X, Z):
                K = gram(left).astype(dtype, copy=False)  # of a float64 reference set it is float64
            else:
                K = np.empty((X.shape[0], Z.shape[0]), dtype=dtype)
                step = rows_within(self._reference.shape[0], K.itemsize)
                for start in range(0, Z.shape[0], step):
                    columns = slice(start, start + step)
                    K[:, columns] = left @ self._factor(Z[columns], dtype).T
        return copied(K, out)

    def _diagonal(self, X: Any) -> np.ndarray:
        if self.how == "mean":
            return self.parts[0]._diagonal(X)
        dtype = result_dtype(X, X)
        return squared_norms(lambda rows: self._factor(rows, dtype), X, self._reference.shape[0]).astype(dtype)

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        inner, R = self.parts[0], self._reference
        other = X if Z is None else Z
        if self.how == "mean":
            forward = inner._operator(X, Z)
            backward = forward if Z is None else inner._operator(other, X)
            return with_form(0.5 * (forward + backward.T), forward, backward)
        if result_dtype(X, other) == np.float64:
            X, other = in_double(X), in_double(other)
        if self.how == "left":
            first, second = inner._operator(X, R), inner._operator(other, R)
            return with_form(first @ second.T, first, second)
        first, second = inner._operator(R, X), inner._operator(R, other)
        return with_form(first.T @ second, first, second)

    def _factor(self, X: Any, dtype: Any) -> np.ndarray:
        """Return k(X, R), or k(R, X)ᵀ, good to the precision of the result, whatever that of X."""
        inner, R = self.parts[0], self._reference
        if dtype == np.float64:
            X = in_double(X)
        if self.how == "left":
            return inner._evaluate(X, R, None, None)
        return np.ascontiguousarray(inner._evaluate(R, X, None, None).T)

    def scalar(self, x: Any, z: Any) -> float:
        """Return the value of one pair by its definition."""
        inner = self.parts[0]
        if self.how == "mean":
            return 0.5 * (inner.scalar(x, z) + inner.scalar(z, x))
        left, right = (self._factor(self._samples(np.asarray(side)[None], "x"), np.float64)[0] for side in (x, z))
        return math.fsum(left * right)


symmetrize = combination(
    "symmetrize", Symmetrized, one_kernel, Parameter("how", "mean", choice("mean", "left", "right"))
)
