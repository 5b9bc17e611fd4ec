"""Kernels made of kernels: sums, products, multiples, powers, transposes, composed kernels, and their families.

Each is a registered family like any other, so that its repr is a spec:
``add(left='rbf(sigma=2.0)', right='linear()')``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kernreg.config import memory_budget
from kernreg.engine import whole
from kernreg.engine.arrays import check_finite, is_sparse, result_dtype
from kernreg.engine.dispatch import LOCAL
from kernreg.engine.running.row_blocks import streamed_rows
from kernreg.errors import DataError
from kernreg.kernels.base import Kernel
from kernreg.kernels.combinations.base import (
    CombinedKernel,
    combination,
    copied,
    in_blocks,
    kernel_domain,
    one_kernel,
    rows_beside,
    with_form,
)
from kernreg.kernels.domains import REQUIRED, Parameter, function, integer, real
from kernreg.kernels.function import BoundKernel
from kernreg.kernels.normalisation import NormalizedColumns
from kernreg.kernels.samples import SampleParts
from kernreg.kernels.value import ARITHMETIC


class _Elementwise(CombinedKernel):
    """left ∘ right, entry by entry."""

    __slots__ = ()
    _ufunc: np.ufunc

    def _diagonal(self, X: Any) -> np.ndarray:
        left, right = (part._diagonal(x) for part, x in zip(self.parts, self._seen_by_parts(X), strict=True))
        return self._ufunc(left, right)

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        (left, right), (x_left, x_right), (z_left, z_right) = self.parts, *map(self._seen_by_parts, (X, Z))
        dtype = result_dtype(X, X if Z is None else Z)
        K = left._evaluate(x_left, z_left, None if _kernel_dtype(x_left, z_left) != dtype else out, self_start)
        if K.dtype != dtype:
            K = K.astype(dtype) if out is None else copied(K, out)
        if 2 * K.nbytes <= memory_budget() or (self_start is not None and self_start < 0):
            self._ufunc(K, right._evaluate(x_right, z_right, None, self_start), out=K)
        elif self_start is None:
            for rows, block in LOCAL.blocks(right._shipped(x_right, z_right), x_right, z_right, rows_beside(K)):
                self._ufunc(K[rows], block, out=K[rows])
        else:
            for rows in streamed_rows(len(K), K.shape[1], rows_beside(K)):
                block = right._evaluate(x_right[rows], z_right, None, self_start + rows.start)
                self._ufunc(K[rows], block, out=K[rows])
        return K


def _kernel_dtype(X: Any, Z: Any) -> np.dtype:
    return result_dtype(X, X if Z is None else Z)


class Sum(_Elementwise):
    """k(x, z) = left(x, z) + right(x, z).

    Examples
    --------
    >>> import kernreg as kr
    >>> (kr.make_kernel("linear") + kr.make_kernel("poly(degree=1)"))([[2.0]]).tolist()
    [[9.0]]
    """

    __slots__ = ()
    _ufunc = np.add

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        sides = zip(self.parts, self._seen_by_parts(X), self._seen_by_parts(Z), strict=True)
        left, right = (part._operator(x, z) for part, x, z in sides)
        return with_form(left + right, left, right)

    def scalar(self, x: Any, z: Any) -> float:
        """Return the sum of the two values."""
        return self.parts[0].scalar(x, z) + self.parts[1].scalar(x, z)


class Product(_Elementwise):
    """k(x, z) = left(x, z) · right(x, z).

    Examples
    --------
    >>> import kernreg as kr
    >>> (kr.make_kernel("linear") * kr.make_kernel("linear"))([[2.0]]).tolist()
    [[16.0]]
    """

    __slots__ = ()
    multiplies = True
    _ufunc = np.multiply

    def scalar(self, x: Any, z: Any) -> float:
        """Return the product of the two values."""
        return self.parts[0].scalar(x, z) * self.parts[1].scalar(x, z)


class Multiple(CombinedKernel):
    """k(x, z) = factor · kernel(x, z).

    Examples
    --------
    >>> import kernreg as kr
    >>> (0.5 * kr.make_kernel("linear"))([[2.0]]).tolist()
    [[2.0]]
    """

    __slots__ = ()
    multiplies = True

    @property
    def definite(self) -> bool | None:
        """A non-negative multiple keeps definiteness."""
        return self.parts[0].definite if self.factor >= 0 else None

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        K = self.parts[0]._evaluate(X, Z, out, self_start)
        return np.multiply(K, K.dtype.type(self.factor), out=K)

    def _diagonal(self, X: Any) -> np.ndarray:
        values = self.parts[0]._diagonal(X)
        return values * values.dtype.type(self.factor)

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        inner = self.parts[0]._operator(X, Z)
        return with_form(self.factor * inner, inner)

    def scalar(self, x: Any, z: Any) -> float:
        """Return the multiple of the value."""
        return self.factor * self.parts[0].scalar(x, z)


class Power(CombinedKernel):
    """k(x, z) = kernel(x, z) ** exponent.

    Examples
    --------
    >>> import kernreg as kr
    >>> (kr.make_kernel("linear") ** 3)([[2.0]]).tolist()
    [[64.0]]
    """

    __slots__ = ()
    multiplies = True

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        K = self.parts[0]._evaluate(X, Z, out, self_start)
        return np.power(K, self.exponent, out=K)

    def _diagonal(self, X: Any) -> np.ndarray:
        return np.power(self.parts[0]._diagonal(X), self.exponent)

    def scalar(self, x: Any, z: Any) -> float:
        """Return the power of the value."""
        return self.parts[0].scalar(x, z) ** self.exponent


class Transposed(CombinedKernel):
    """k(x, z) = kernel(z, x).

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_kernel("precomputed", K=[[0.0, 1.0], [2.0, 0.0]]).T([0, 1]).tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """

    __slots__ = ()

    @property
    def _has_factors(self) -> bool:
        return self.parts[0]._has_factors

    @property
    def T(self) -> Kernel:
        """The kernel itself."""
        return self.parts[0]

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        inner, K = self.parts[0], in_blocks(self, X, Z, out)
        if K is not None:
            return K
        if Z is None:
            columns = inner._evaluate(X, None, None, None).T
        else:
            columns = inner._evaluate(Z, X, None, None if self_start is None else -self_start).T
        return np.ascontiguousarray(columns) if out is None else copied(columns, out)

    def _diagonal(self, X: Any) -> np.ndarray:
        return self.parts[0]._diagonal(X)

    def _anchored(self, X: Any, Z: Any) -> Kernel:
        inner = self.parts[0]  # K(X, Z) is inner(Z, X)ᵀ, whose reference set is X
        return self._with_parts([inner._anchored(X, None) if Z is None else inner._anchored(Z, X)])

    def _shipped(self, X: Any, Z: Any) -> Any:
        inner = self.parts[0]._anchored(X, None) if Z is None else self.parts[0]._anchored(Z, X)
        if not isinstance(inner, BoundKernel):
            return self._with_parts([inner])
        # Every block of rows takes the normalisers of all columns: they are summed up once.
        return NormalizedColumns(inner.unbound, inner._row_normalizers(X if Z is None else Z, X))

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        inner = self.parts[0]
        forward = inner._operator(X, None) if Z is None else inner._operator(Z, X)
        return with_form(forward.T, forward)

    def scalar(self, x: Any, z: Any) -> float:
        """Return the value with the arguments exchanged."""
        return self.parts[0].scalar(z, x)


class Composed(CombinedKernel):
    """k(x, z) = kernel(φ(x), φ(z)) for a feature map φ applied to the sample arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.kernels import compose
    >>> compose("linear", np.sqrt)([[4.0]], [[9.0]]).tolist()
    [[6.0]]
    """

    __slots__ = ()

    @property
    def keeps_reference(self) -> bool:
        """Whether there is one: what the feature map makes of it is in memory."""
        return self.takes_reference

    def _samples(self, X: Any, name: str) -> Any:
        # The feature map may take anything (text, graphs): it is applied here, and the kernel checks what it returns.
        if isinstance(X, SampleParts):  # mapped already
            return X
        if not is_sparse(X) and np.asarray(X).dtype in (np.float64, np.float32):
            check_finite(np.asarray(X), name)  # the map might hide what is missing: tanh(inf) is 1
        try:
            mapped = self.feature_map(X)
        except (TypeError, ValueError) as cause:
            raise DataError(f"the feature map of compose(…) does not accept {name}: {cause}") from cause
        return SampleParts((self.parts[0]._samples(mapped, f"feature_map({name})"),))

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        return self.parts[0]._evaluate(*_mapped(X, Z), out, self_start)

    def _diagonal(self, X: Any) -> np.ndarray:
        return self.parts[0]._diagonal(X.parts[0])

    def _anchored(self, X: Any, Z: Any) -> Kernel:
        if not self.takes_reference:
            return self
        why = f"the kernel {self.name!r} takes widths from what its feature map makes of them"
        reference = whole(X if Z is None else Z, why)
        return self._with_parts([self.parts[0]._anchored(reference.parts[0], None)])

    def resolve_widths(self, X: Any, sample_weight: np.ndarray | None = None) -> Kernel:
        """Return the composition with numbers for widths that are words."""
        if not self.takes_reference:
            return self
        return self._with_parts([self.parts[0].resolve_widths(self._mapped_whole(X, "X"), sample_weight)])

    def bind(self, Z: Any) -> Kernel:
        """Return the composition with the bound kernel."""
        if not self.takes_reference:
            return self
        return self._with_parts([self.parts[0].bind(self._mapped_whole(Z, "Z"))])

    def _seen_by_parts(self, X: Any) -> tuple[Any, ...]:
        """Return what the feature map made of the samples."""
        return X.parts

    def _mapped_whole(self, X: Any, name: str) -> Any:
        """Return what the feature map makes of all samples, in memory."""
        samples = self.check_samples(X, name)
        return whole(samples, f"the kernel {self.name!r} takes widths from what its feature map makes of them").parts[0]

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        return self.parts[0]._operator(*_mapped(X, Z))

    def scalar(self, x: Any, z: Any) -> float:
        """Return the value of the mapped pair."""
        mapped = (np.asarray(self.feature_map(np.asarray(side)[None]))[0] for side in (x, z))
        return self.parts[0].scalar(*mapped)


def _mapped(X: SampleParts, Z: SampleParts | None) -> tuple[Any, Any]:
    """Return what the feature map made of both sample sets."""
    return X.parts[0], None if Z is None else Z.parts[0]


_LEFT, _RIGHT = (Parameter(name, REQUIRED, kernel_domain) for name in ("left", "right"))

add = combination("add", Sum, _LEFT, _RIGHT)
multiply = combination("multiply", Product, _LEFT, _RIGHT)
scale = combination("scale", Multiple, one_kernel, Parameter("factor", REQUIRED, real), factor=2.0)
power = combination("power", Power, one_kernel, Parameter("exponent", REQUIRED, integer(1)), exponent=2)
transpose = combination("transpose", Transposed, one_kernel)
compose = combination(
    "compose", Composed, one_kernel, Parameter("feature_map", REQUIRED, function), feature_map=np.tanh
)

ARITHMETIC.update(add=add, multiply=multiply, scale=scale, power=power, transpose=transpose)
