"""Kernels made of kernels: sums, products, multiples, powers, transposes, symmetrised and composed kernels.

Each is a registered family like any other, so that its repr is a spec:
``add(left='rbf(sigma=2.0)', right='linear()')``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from kernreg.config import memory_budget
from kernreg.engine.arrays import check_finite
from kernreg.engine.local import row_blocks
from kernreg.kernels.base import Kernel, as_kernel
from kernreg.kernels.domains import REQUIRED, Domain, Parameter, choice, function, integer, real
from kernreg.kernels.family import KernelFamily

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
        for part in self.parts:
            X = part._samples(X, name)
        return X

    def bind(self, Z: Any) -> Kernel:
        """Return the combination of the bound kernels."""
        bound = {name: v.bind(Z) if isinstance(v, Kernel) else v for name, v in self._values.items()}
        if all(bound[name] is value for name, value in self._values.items()):
            return self
        return type(self)(self._family, bound)

    def __reduce__(self) -> Any:
        return _rebuild_combined, (type(self), self._family, dict(self._values))


def _rebuild_combined(kind: type[Kernel], family: KernelFamily, values: dict[str, Any]) -> Kernel:
    return kind(family, values)


class _Elementwise(CombinedKernel):
    """left ∘ right, entry by entry."""

    __slots__ = ()
    _ufunc: np.ufunc

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        left, right = self.parts
        K = left._evaluate(X, Z, out, self_start)
        if 2 * K.nbytes <= memory_budget() or self_start is not None:
            self._ufunc(K, right._evaluate(X, Z, None, self_start), out=K)
        else:
            for rows, block in row_blocks(right, X, Z):
                self._ufunc(K[rows], block, out=K[rows])
        return K


class Sum(_Elementwise):
    """k(x, z) = left(x, z) + right(x, z)."""

    __slots__ = ()
    _ufunc = np.add

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        left, right = (part._operator(X, Z) for part in self.parts)
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
        if self_start is not None:  # rows of K(Z)ᵀ are columns of K(Z): the same reference set normalises both
            columns = inner.bind(Z)._evaluate(Z, X, None, None).T
        else:
            columns = (inner._evaluate(X, None, None, None) if Z is None else inner._evaluate(Z, X, None, None)).T
        if out is None:
            return np.ascontiguousarray(columns)
        out[...] = columns
        return out

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
        return self.bind(X if Z is None else Z)._evaluate(X, Z, out, self_start)


class BoundSymmetrized(CombinedKernel):
    """A symmetrised kernel with its reference set R: "left" is Σ_r k(x, r) k(z, r), "right" Σ_r k(r, x) k(r, z)."""

    __slots__ = ("_reference", "_unbound")

    _unbound: Symmetrized
    _reference: Any

    def __init__(self, unbound: Symmetrized, reference: Any):
        inner = unbound.parts[0]
        super().__init__(unbound.family, {**unbound._values, "kernel": inner.bind(reference)})
        object.__setattr__(self, "_unbound", unbound)
        object.__setattr__(self, "_reference", inner._samples(reference, "Z"))

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
        inner, R = self.parts[0], self._reference
        Z = X if Z is None else Z
        if self.how == "mean":
            K = inner._evaluate(X, Z, None, self_start)
            K += inner._evaluate(Z, X, None, None).T
            K *= K.dtype.type(0.5)
        else:
            left, right = (
                inner._evaluate(side, R, None, None) if self.how == "left" else inner._evaluate(R, side, None, None).T
                for side in (X, Z)
            )
            K = left @ right.T
        if out is None:
            return K
        out[...] = K
        return out

    def scalar(self, x: Any, z: Any) -> float:
        """Return the value of one pair by its definition."""
        inner = self.parts[0]
        if self.how == "mean":
            return 0.5 * (inner.scalar(x, z) + inner.scalar(z, x))
        if self.how == "left":
            return sum(inner.scalar(x, r) * inner.scalar(z, r) for r in self._reference)
        return sum(inner.scalar(r, x) * inner.scalar(r, z) for r in self._reference)

    def __reduce__(self) -> Any:
        return BoundSymmetrized, (self._unbound, self._reference)


class Composed(CombinedKernel):
    """k(x, z) = kernel(φ(x), φ(z)) for a feature map φ applied to the sample arrays."""

    __slots__ = ()

    def _samples(self, X: Any, name: str) -> Any:
        # The feature map may take anything (text, graphs): it is applied here, and the kernel checks what it returns.
        if isinstance(X, _Mapped):
            return X
        if np.asarray(X).dtype in (np.float64, np.float32):
            check_finite(np.asarray(X), name)  # the map might hide what is missing: tanh(inf) is 1
        mapped = self.parts[0]._samples(self.feature_map(X), f"feature_map({name})")
        return mapped.view(_Mapped) if isinstance(mapped, np.ndarray) else mapped

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        X, Z = _plain(X), None if Z is None else _plain(Z)
        return self.parts[0]._evaluate(X, Z, out, self_start)

    def bind(self, Z: Any) -> Kernel:
        """Return the composition with the bound kernel."""
        inner = self.parts[0].bind(_plain(self._samples(Z, "Z")))
        return self if inner is self.parts[0] else type(self)(self._family, {**self._values, "kernel": inner})

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        return aslinearoperator(self.parts[0]._operator(_plain(X), None if Z is None else _plain(Z)))

    def scalar(self, x: Any, z: Any) -> float:
        """Return the value of the mapped pair."""
        mapped = (np.asarray(self.feature_map(np.asarray(side)[None]))[0] for side in (x, z))
        return self.parts[0].scalar(*mapped)


class _Mapped(np.ndarray):
    """Samples that have been through the feature map: the map is not applied twice."""


def _plain(X: Any) -> Any:
    return X.view(np.ndarray) if isinstance(X, _Mapped) else X


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
