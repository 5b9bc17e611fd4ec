"""Kernels made of kernels: sums, products, multiples, powers, transposes, symmetrised and composed kernels.

Each is a registered family like any other, so that its repr is a spec:
``add(left='rbf(sigma=2.0)', right='linear()')``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kernreg.config import memory_budget
from kernreg.engine.arrays import check_finite, is_sparse, result_dtype
from kernreg.engine.local import row_blocks
from kernreg.errors import DataError
from kernreg.kernels.base import Kernel, as_kernel, refuse_foreign_estimator
from kernreg.kernels.domains import REQUIRED, Domain, Parameter, choice, function, integer, real, value_key
from kernreg.kernels.family import KernelFamily
from kernreg.kernels.samples import SampleParts, same_samples

kernel_domain = Domain("a kernel: a spec such as 'rbf(sigma=2.0)', a Kernel or a family", as_kernel)


class CombinedKernel(Kernel):
    """A kernel made of the kernels among its parameters."""

    __slots__ = ()

    @property
    def parts(self) -> list[Kernel]:
        """The kernels this one is made of."""
        return [value for value in self._values.values() if isinstance(value, Kernel)]

    @property
    def symmetric(self) -> bool:
        """A combination of symmetric kernels is symmetric."""
        return all(part.symmetric for part in self.parts)

    @property
    def definite(self) -> bool | None:
        """Sums, products and powers of positive semi-definite kernels are positive semi-definite."""
        return True if all(part.definite for part in self.parts) else None

    def _samples(self, X: Any, name: str) -> Any:
        if isinstance(X, SampleParts):
            return X
        found = []
        for part in self.parts:
            checked = part._samples(X, name)
            found.append(checked)
            if not isinstance(checked, SampleParts) and checked.ndim == 2:
                X = checked  # converted once for all parts that see plain rows
        return found[0] if all(checked is found[0] for checked in found) else SampleParts(tuple(found))

    def _seen_by_parts(self, X: Any) -> tuple[Any, ...]:
        """Return the samples as each part sees them."""
        several = len(self.parts) > 1 and isinstance(X, SampleParts)
        return X.parts if several else (X,) * len(self.parts)

    def _with_parts(self, parts: list[Kernel]) -> Kernel:
        """Return the combination of these kernels instead, itself where nothing changes."""
        if all(new is old for new, old in zip(parts, self.parts, strict=True)):
            return self
        replaced = iter(parts)
        values = {name: next(replaced) if isinstance(v, Kernel) else v for name, v in self._values.items()}
        return type(self)(self._family, values)

    def _anchored(self, X: Any, Z: Any) -> Kernel:
        sides = zip(self.parts, self._seen_by_parts(X), self._seen_by_parts(Z), strict=True)
        return self._with_parts([part._anchored(x, z) for part, x, z in sides])

    def bind(self, Z: Any) -> Kernel:
        """Return the combination of the bound kernels."""
        return self._with_parts([part.bind(z) for part, z in zip(self.parts, self._seen_by_parts(Z), strict=True)])

    def __reduce__(self) -> Any:
        return _rebuild_combined, (type(self), self._family, dict(self._values))


def _rebuild_combined(kind: type[Kernel], family: KernelFamily, values: dict[str, Any]) -> Kernel:
    return kind(family, values)


class _Elementwise(CombinedKernel):
    """left ∘ right, entry by entry."""

    __slots__ = ()
    _ufunc: np.ufunc

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        (left, right), (x_left, x_right), (z_left, z_right) = self.parts, *map(self._seen_by_parts, (X, Z))
        dtype = result_dtype(X, X if Z is None else Z)
        K = left._evaluate(x_left, z_left, None if _kernel_dtype(x_left, z_left) != dtype else out, self_start)
        if K.dtype != dtype:
            K = K.astype(dtype) if out is None else _copied(K, out)
        if 2 * K.nbytes <= memory_budget() or self_start is not None:
            self._ufunc(K, right._evaluate(x_right, z_right, None, self_start), out=K)
        else:
            for rows, block in row_blocks(right._anchored(x_right, z_right), x_right, z_right):
                self._ufunc(K[rows], block, out=K[rows])
        return K


def _kernel_dtype(X: Any, Z: Any) -> np.dtype:
    return result_dtype(X, X if Z is None else Z)


def _copied(K: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    """Return K, or ``out`` with the values of K where there is one."""
    if out is None:
        return K
    out[...] = K
    return out


class Sum(_Elementwise):
    """k(x, z) = left(x, z) + right(x, z)."""

    __slots__ = ()
    _ufunc = np.add

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        sides = zip(self.parts, self._seen_by_parts(X), self._seen_by_parts(Z), strict=True)
        left, right = (part._operator(x, z) for part, x, z in sides)
        return left + right

    def scalar(self, x: Any, z: Any) -> float:
        """Return the sum of the two values."""
        return self.parts[0].scalar(x, z) + self.parts[1].scalar(x, z)


class Product(_Elementwise):
    """k(x, z) = left(x, z) · right(x, z)."""

    __slots__ = ()
    _ufunc = np.multiply

    def scalar(self, x: Any, z: Any) -> float:
        """Return the product of the two values."""
        return self.parts[0].scalar(x, z) * self.parts[1].scalar(x, z)


class Multiple(CombinedKernel):
    """k(x, z) = factor · kernel(x, z)."""

    __slots__ = ()

    @property
    def definite(self) -> bool | None:
        """A non-negative multiple keeps definiteness."""
        return self.parts[0].definite if self.factor >= 0 else None

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        K = self.parts[0]._evaluate(X, Z, out, self_start)
        return np.multiply(K, K.dtype.type(self.factor), out=K)

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        return self.factor * self.parts[0]._operator(X, Z)

    def scalar(self, x: Any, z: Any) -> float:
        """Return the multiple of the value."""
        return self.factor * self.parts[0].scalar(x, z)


class Power(CombinedKernel):
    """k(x, z) = kernel(x, z) ** exponent."""

    __slots__ = ()

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        K = self.parts[0]._evaluate(X, Z, out, self_start)
        return np.power(K, self.exponent, out=K)

    def scalar(self, x: Any, z: Any) -> float:
        """Return the power of the value."""
        return self.parts[0].scalar(x, z) ** self.exponent


class Transposed(CombinedKernel):
    """k(x, z) = kernel(z, x)."""

    __slots__ = ()

    @property
    def T(self) -> Kernel:
        """The kernel itself."""
        return self.parts[0]

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        inner = self.parts[0]
        if Z is None:
            columns = inner._evaluate(X, None, None, None).T
        else:
            columns = inner._evaluate(Z, X, None, None if self_start is None else -self_start).T
        return np.ascontiguousarray(columns) if out is None else _copied(columns, out)

    def _anchored(self, X: Any, Z: Any) -> Kernel:
        inner = self.parts[0]  # K(X, Z) is inner(Z, X)ᵀ, whose reference set is X
        return self._with_parts([inner._anchored(X, None) if Z is None else inner._anchored(Z, X)])

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        inner = self.parts[0]
        return (inner._operator(X, None) if Z is None else inner._operator(Z, X)).T

    def scalar(self, x: Any, z: Any) -> float:
        """Return the value with the arguments exchanged."""
        return self.parts[0].scalar(z, x)


class Symmetrized(CombinedKernel):
    """(K + Kᵀ)/2, K Kᵀ or Kᵀ K: the usual ways to make a symmetric kernel of an asymmetric one."""

    __slots__ = ()

    @property
    def symmetric(self) -> bool:
        """True: that is what it is for."""
        return True

    @property
    def definite(self) -> bool | None:
        """K Kᵀ and Kᵀ K are positive semi-definite; the mean need not be."""
        return True if self.how != "mean" else self.parts[0].definite or None

    def bind(self, Z: Any) -> Kernel:
        """Return the kernel with its reference set: for "left" and "right" the sums run over it."""
        return BoundSymmetrized(self, Z)

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        return self._anchored(X, Z)._evaluate(X, Z, out, self_start)

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        return self._anchored(X, Z)._operator(X, Z)

    def _anchored(self, X: Any, Z: Any) -> Kernel:
        return self.bind(X if Z is None else Z)


class BoundSymmetrized(CombinedKernel):
    """A symmetrised kernel with its reference set R: "left" is Σ_r k(x, r) k(z, r), "right" Σ_r k(r, x) k(r, z)."""

    __slots__ = ("_reference", "_unbound")

    _unbound: Symmetrized
    _reference: Any

    def __init__(self, unbound: Symmetrized, reference: Any):
        inner = unbound.parts[0]
        reference = inner._samples(reference, "Z")
        bound = inner.bind(reference)._anchored(reference, None)
        super().__init__(unbound.family, {**unbound._values, "kernel": bound})
        object.__setattr__(self, "_unbound", unbound)
        object.__setattr__(self, "_reference", reference)

    @property
    def symmetric(self) -> bool:
        """True: that is what it is for."""
        return True

    @property
    def definite(self) -> bool | None:
        """As of the unbound kernel."""
        return self._unbound.definite

    def bind(self, Z: Any) -> Kernel:
        """Return the kernel bound to ``Z`` instead."""
        return self._unbound.bind(Z)

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        inner = self.parts[0]
        if self.how == "mean":
            other = X if Z is None else Z
            K = inner._evaluate(X, other, None, 0 if Z is None else self_start)
            K += inner._evaluate(other, X, None, None if self_start is None else -self_start).T
            K *= K.dtype.type(0.5)
        else:
            left = self._factor(X)
            # One factor twice: BLAS then computes half, and the result is symmetric to the last bit.
            K = left @ (left if Z is None or same_samples(X, Z) else self._factor(Z)).T
        return _copied(K, out)

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        inner, R = self.parts[0], self._reference
        other = X if Z is None else Z
        if self.how == "mean":
            forward = inner._operator(X, Z)
            return 0.5 * (forward + (forward if Z is None else inner._operator(other, X)).T)
        if self.how == "left":
            return inner._operator(X, R) @ inner._operator(other, R).T
        return inner._operator(R, X).T @ inner._operator(R, other)

    def _factor(self, X: Any) -> np.ndarray:
        inner, R = self.parts[0], self._reference
        if self.how == "left":
            return inner._evaluate(X, R, None, None)
        return np.ascontiguousarray(inner._evaluate(R, X, None, None).T)

    def _anchored(self, X: Any, Z: Any) -> Kernel:
        return self

    def set_params(self, **params: Any) -> Kernel:
        """Return a new kernel with these parameters changed, with the same reference set."""
        refuse_foreign_estimator(self, params)
        return self._unbound.set_params(**params).bind(self._reference)

    def scalar(self, x: Any, z: Any) -> float:
        """Return the value of one pair by its definition."""
        inner = self.parts[0]
        if self.how == "mean":
            return 0.5 * (inner.scalar(x, z) + inner.scalar(z, x))
        left, right = (self._factor(self._samples(np.asarray(side)[None], "x"))[0] for side in (x, z))
        return math.fsum(left * right)

    def _identity(self) -> Any:
        return self._unbound._identity(), value_key(self._reference)

    def __reduce__(self) -> Any:
        return BoundSymmetrized, (self._unbound, self._reference)


class Composed(CombinedKernel):
    """k(x, z) = kernel(φ(x), φ(z)) for a feature map φ applied to the sample arrays."""

    __slots__ = ()

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

    def _anchored(self, X: Any, Z: Any) -> Kernel:
        return self._with_parts([self.parts[0]._anchored(*_mapped(X, Z))])

    def bind(self, Z: Any) -> Kernel:
        """Return the composition with the bound kernel."""
        return self._with_parts([self.parts[0].bind(self._samples(Z, "Z").parts[0])])

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        return self.parts[0]._operator(*_mapped(X, Z))

    def scalar(self, x: Any, z: Any) -> float:
        """Return the value of the mapped pair."""
        mapped = (np.asarray(self.feature_map(np.asarray(side)[None]))[0] for side in (x, z))
        return self.parts[0].scalar(*mapped)


def _mapped(X: SampleParts, Z: SampleParts | None) -> tuple[Any, Any]:
    """Return what the feature map made of both sample sets."""
    return X.parts[0], None if Z is None else Z.parts[0]


def _example(family_name: str, **more: Any) -> Any:
    def example(rng: np.random.Generator, n: int) -> tuple[Kernel, Any]:
        kernels = {p.name: "rbf(sigma=2.0)" for p in FAMILIES[family_name].parameters if p.domain is kernel_domain}
        return FAMILIES[family_name](**kernels, **more), rng.normal(size=(n, 4))

    return example


def _family(name: str, kind: type[Kernel], *parameters: Parameter, **more: Any) -> KernelFamily:
    return KernelFamily(
        name, kind, parameters, doc=kind.__doc__ or "", module=__name__, qualname=name, example=_example(name, **more)
    )


_LEFT, _RIGHT, _ONE = (Parameter(name, REQUIRED, kernel_domain) for name in ("left", "right", "kernel"))

add = _family("add", Sum, _LEFT, _RIGHT)
multiply = _family("multiply", Product, _LEFT, _RIGHT)
scale = _family("scale", Multiple, _ONE, Parameter("factor", REQUIRED, real), factor=2.0)
power = _family("power", Power, _ONE, Parameter("exponent", REQUIRED, integer(1)), exponent=2)
transpose = _family("transpose", Transposed, _ONE)
symmetrize = _family("symmetrize", Symmetrized, _ONE, Parameter("how", "mean", choice("mean", "left", "right")))
compose = _family("compose", Composed, _ONE, Parameter("feature_map", REQUIRED, function), feature_map=np.tanh)

FAMILIES = {f.name: f for f in (add, multiply, scale, power, transpose, symmetrize, compose)}
