"""What all kernels made of kernels share: the parts, and the samples as each part sees them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kernreg.config import memory_budget
from kernreg.engine import Handle, whole
from kernreg.engine.arrays import result_dtype
from kernreg.engine.budget import rows_within
from kernreg.engine.dispatch import LOCAL, configured_engine
from kernreg.engine.memory import empty
from kernreg.factory import make_kernel
from kernreg.kernels.base import Kernel
from kernreg.kernels.domains import REQUIRED, Domain, Parameter, value_key
from kernreg.kernels.family import KernelFamily
from kernreg.kernels.function import BoundKernel
from kernreg.kernels.ownership import own_samples
from kernreg.kernels.packed import PackedSamples
from kernreg.kernels.samples import SampleParts, same_samples
from kernreg.kernels.value import refuse_foreign_estimator

kernel_domain = Domain("a kernel: a spec such as 'rbf(sigma=2.0)', a Kernel or a family", make_kernel)
one_kernel = Parameter("kernel", REQUIRED, kernel_domain)


class CombinedKernel(Kernel):
    """A kernel made of the kernels among its parameters."""

    __slots__ = ()

    @property
    def parts(self) -> list[Kernel]:
        """The kernels this one is made of."""
        return [value for value in self._values.values() if isinstance(value, Kernel)]

    @property
    def _has_factors(self) -> bool:
        return True

    @property
    def symmetric(self) -> bool:
        """A combination of symmetric kernels is symmetric."""
        return all(part.symmetric for part in self.parts)

    @property
    def takes_reference(self) -> bool:
        """Whether one of its parts takes a reference set."""
        return any(part.takes_reference for part in self.parts)

    @property
    def keeps_reference(self) -> bool:
        """Whether one of its parts does."""
        return any(part.keeps_reference for part in self.parts)

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
            if not isinstance(checked, SampleParts | PackedSamples) and checked.ndim == 2:
                X = checked  # converted once for all parts that see plain rows
        one = all(checked is found[0] or _packed_alike(checked, found[0]) for checked in found)
        return found[0] if one else SampleParts(tuple(found))

    def _seen_by_parts(self, X: Any) -> tuple[Any, ...]:
        """Return the samples as each part sees them."""
        if isinstance(X, Handle) and X.shape[1] < 0:  # of such parts: they are told apart here
            X = whole(X)
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
        if not self.takes_reference:
            return self
        sides = zip(self.parts, self._seen_by_parts(X), self._seen_by_parts(Z), strict=True)
        return self._with_parts([part._anchored(x, z) for part, x, z in sides])

    def resolve_widths(self, X: Any, sample_weight: np.ndarray | None = None) -> Kernel:
        """Return the combination of kernels with numbers for widths that are words."""
        if not self.takes_reference:
            return self
        X = _parts_known(X)
        sides = zip(self.parts, self._seen_by_parts(X), strict=True)
        return self._with_parts([part.resolve_widths(x, sample_weight) for part, x in sides])

    def bind(self, Z: Any) -> Kernel:
        """Return the combination of the bound kernels."""
        if not self.takes_reference:
            return self
        Z = _parts_known(Z)
        return self._with_parts([part.bind(z) for part, z in zip(self.parts, self._seen_by_parts(Z), strict=True)])

    def __reduce__(self) -> Any:
        return _rebuild_combined, (type(self), self._family, dict(self._values))


class UnboundKernel(CombinedKernel):
    """A kernel defined through a reference set that is still open: each call takes its own, by binding to it."""

    __slots__ = ()

    @property
    def keeps_reference(self) -> bool:
        """True: it is defined through it."""
        return True

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        return self._anchored(X, Z)._evaluate(X, Z, out, self_start)

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        return self._anchored(X, Z)._operator(X, Z)

    def _diagonal(self, X: Any) -> np.ndarray:
        return self._anchored(X, None)._diagonal(X)

    def _bound_to(self, reference: Any) -> Kernel:
        """Return the kernel with checked samples, as they are, as its reference set."""
        raise NotImplementedError

    def bind(self, Z: Any) -> Kernel:
        """Return the kernel with ``Z``, copied, as its reference set."""
        return self._bound_to(own_samples(self._reference_samples(Z)))

    def _anchored(self, X: Any, Z: Any) -> Kernel:
        return self._bound_to(whole(X if Z is None else Z))

    def _reference_samples(self, Z: Any) -> Any:
        """Return the reference set, in memory."""
        return whole(self.check_samples(Z, "Z"), f"the kernel {self.name!r} is defined through all of them")


class BoundCombination(CombinedKernel):
    """A kernel defined through a reference set, with that: its inner kernel is bound to it, too."""

    __slots__ = ("_reference", "_unbound")

    _unbound: CombinedKernel
    _reference: Any

    def __init__(self, unbound: CombinedKernel, reference: Any, learnt: Mapping[str, Any] | None = None):
        inner = unbound.parts[0].bind(reference)._anchored(reference, None) if learnt is None else learnt["kernel"]
        super().__init__(unbound.family, {**unbound._values, "kernel": inner})
        object.__setattr__(self, "_unbound", unbound)
        object.__setattr__(self, "_reference", reference)

    @property
    def symmetric(self) -> bool:
        """As of the unbound kernel."""
        return self._unbound.symmetric

    @property
    def definite(self) -> bool | None:
        """As of the unbound kernel."""
        return self._unbound.definite

    def bind(self, Z: Any) -> Kernel:
        """Return the kernel bound to ``Z`` instead."""
        return self._unbound.bind(Z)

    def _anchored(self, X: Any, Z: Any) -> Kernel:
        return self

    def _shipped(self, X: Any, Z: Any) -> Any:
        # Values between the reference set and others take the normalisers of the former: they travel along.
        if configured_engine() is not None and isinstance(self.parts[0], BoundKernel):
            _ = self.parts[0].normalizers
        return self

    def set_params(self, **params: Any) -> Kernel:
        """Return a new kernel with these parameters changed, with the same reference set."""
        refuse_foreign_estimator(self, params)
        return self._unbound.set_params(**params).bind(self._reference)

    def _identity(self) -> Any:
        if self._key is None:
            object.__setattr__(self, "_key", (self._unbound._identity(), value_key(self._reference)))
        return self._key

    def __reduce__(self) -> Any:
        # With all that was learnt: whoever unpickles it need not learn anew.
        _, learnt = self.__kernreg_bound__()
        return type(self), (self._unbound, learnt.pop("reference"), learnt)

    def __kernreg_bound__(self) -> tuple[Kernel, dict[str, Any]]:
        return self._unbound, {"reference": self._reference, "kernel": self.parts[0]}


def combination(name: str, kind: type[Kernel], *parameters: Parameter, **example: Any) -> KernelFamily:
    """Return the family of a combination; its example has these parameters, and kernels where they do not say which."""
    kernels = {parameter.name: "rbf(sigma=2.0)" for parameter in parameters if parameter.domain is kernel_domain}

    def make_example(rng: np.random.Generator, n: int) -> tuple[Kernel, Any]:
        return family(**{**kernels, **example}), rng.normal(size=(n, 4))

    family = KernelFamily(name, kind, parameters, example=make_example)
    return family


def _packed_alike(checked: Any, first: Any) -> bool:
    """Return whether two parts packed samples in the same way: they then see one sample set."""
    return isinstance(checked, PackedSamples) and isinstance(first, PackedSamples) and same_samples(checked, first)


def _parts_known(X: Any) -> Any:
    """Return samples whose parts can be taken: those of a handle are known once its rows are here."""
    if not isinstance(X, Handle) or X.shape[1] >= 0:
        return X
    return whole(X, "widths and sums over samples that feature maps make are computed in memory")


def _rebuild_combined(kind: type[Kernel], family: KernelFamily, values: dict[str, Any]) -> Kernel:
    return kind(family, values)


def copied(K: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    """Return K, or ``out`` with the values of K where there is one."""
    if out is None:
        return K
    out[...] = K
    return out


def in_blocks(kernel: Kernel, X: Any, Z: Any, out: np.ndarray | None) -> np.ndarray | None:
    """Return K(X, Z) block by block where it does not fit in the memory budget twice, None where it does."""
    other = X if Z is None else Z
    dtype = result_dtype(X, other)
    if X.shape[0] < 2 or 2 * dtype.itemsize * X.shape[0] * other.shape[0] <= memory_budget():
        return None
    K = empty((X.shape[0], other.shape[0]), dtype) if out is None else out
    for rows, block in LOCAL.blocks(kernel._anchored(X, Z), X, Z, rows_beside(K)):
        K[rows] = block
    return K


def rows_beside(K: np.ndarray) -> int:
    """Return how many rows of a block fit in what K leaves of the memory budget.

    A block and what it is made of are three arrays of its size.
    """
    left = max(memory_budget() - K.nbytes, memory_budget() // 16)
    return max(1, left // (3 * K.itemsize * max(1, K.shape[1])))


def squared_norms(features: Callable[[Any], np.ndarray], X: Any, width: int) -> np.ndarray:
    """Return |φ(x)|² of each sample in float64; at most ``width`` values a sample, in pieces within the memory budget.

    >>> squared_norms(lambda X: 2.0 * X, np.eye(2), 2).tolist()
    [4.0, 4.0]
    """
    norms, step = np.empty(X.shape[0]), rows_within(2 * width, 8)
    for start in range(0, X.shape[0], step):
        F = features(X[start : start + step])
        norms[start : start + step] = np.einsum("ij,ij->i", F, F, dtype=np.float64)
    return norms


def with_form(operator: Any, *parts: Any) -> Any:
    """Return the operator with what its parts say about how products are computed, where they agree."""
    forms = {getattr(part, "form", "blocks") for part in parts}
    operator.form = forms.pop() if len(forms) == 1 else "blocks"
    return operator
