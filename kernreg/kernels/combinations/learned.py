"""Kernels that were learned: another kernel, corrected or projected through fixed samples.

Their parameters are kernels, arrays and numbers, so they are kernels like any other: in and out of sample, in every
solver, in combinations. They need no reference set: the samples they were learned on are part of them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from kernreg.engine.arrays import in_double, is_sparse, result_dtype
from kernreg.engine.budget import rows_within
from kernreg.errors import ParameterError
from kernreg.kernels.base import Kernel
from kernreg.kernels.combinations.base import CombinedKernel, copied, one_kernel, squared_norms, with_form
from kernreg.kernels.domains import REQUIRED, Domain, Parameter, boolean, matrix
from kernreg.kernels.family import KernelFamily
from kernreg.kernels.ownership import frozen
from kernreg.kernels.packed import PackedSamples
from kernreg.kernels.samples import row_start, same_samples

_SYMMETRY = 1e-10  # of a correction, relative to its largest entry


class _ThroughSamples(CombinedKernel):
    """What kernels share that see a sample through its values k0(x, S) with fixed samples S."""

    __slots__ = ("_held",)
    binds_parameters = True

    _held: Any

    def __init__(self, family: KernelFamily, values: Any):
        kernel, samples = values["kernel"], values["samples"]
        if kernel.takes_reference:  # the samples are the reference set it was learned with
            kernel = kernel.bind(kernel._samples(samples, "samples"))
        super().__init__(family, {**values, "kernel": kernel})
        object.__setattr__(self, "_held", kernel._samples(samples, "samples"))

    @property
    def takes_reference(self) -> bool:
        """False: what it needs is in its parameters."""
        return False

    def bind(self, Z: Any) -> Kernel:
        """Return the kernel itself."""
        return self

    def _anchored(self, X: Any, Z: Any) -> Kernel:
        return self

    def _to_samples(self, X: Any) -> np.ndarray:
        """Return k0(X, S), computed in float64: what it is multiplied with may be large."""
        return np.asarray(self.parts[0]._evaluate(in_double(X), self._held, None, None), dtype=np.float64)

    def _from_samples(self, Z: Any) -> np.ndarray:
        """Return k0(S, Z), computed in float64."""
        return np.asarray(self.parts[0]._evaluate(self._held, in_double(Z), None, None), dtype=np.float64)

    def _scalar_rows(self) -> Any:
        return self.samples.toarray() if is_sparse(self.samples) else self.samples


class Corrected(_ThroughSamples):
    """k(x, z) = k0(x, z) + k0(x, S) Q k0(S, z), with fixed samples S and a matrix Q (symmetric where k0 is).

    ``training``, where given, is the matrix k(S, S): it spares computing it again, with less rounding. ``positive``
    says that the kernel is known to be positive semi-definite. The form in which SCG-LDK and LogDet kernel learning
    extend to new samples.

    >>> import numpy as np
    >>> k = corrected("linear", samples=np.eye(2), correction=np.diag([-0.5, 0.0]))
    >>> k([[1.0, 1.0]]).tolist()
    [[1.5]]
    """

    __slots__ = ()

    def __init__(self, family: KernelFamily, values: Any):
        super().__init__(family, values)
        n = self._held.shape[0]
        for name in ("correction", "training"):
            table = self._values[name]
            if table is None:
                continue
            if table.shape != (n, n):
                raise ParameterError(f"corrected: {name} has shape {table.shape}; with {n} samples it is {n} × {n}")
            if self.symmetric and _asymmetric(table):
                raise ParameterError(f"corrected: {name} is not symmetric, and the kernel {self.parts[0].name!r} is")

    @property
    def definite(self) -> bool | None:
        """True where the parameter ``positive`` says so; not known otherwise."""
        return True if self._values["positive"] else None

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        other = X if Z is None else Z
        dtype = result_dtype(X, other)
        start = self._training_start(X, other, self_start)
        if start is not None:
            return copied(self.training[start : start + X.shape[0]].astype(dtype), out)
        both = in_double(X), None if Z is None else in_double(Z)
        K = np.asarray(self.parts[0]._evaluate(*both, None, self_start), dtype=np.float64)
        mirrored = self.symmetric and (Z is None or same_samples(X, Z))
        left = self._to_samples(X)
        step = rows_within(2 * len(self.correction), 8)
        for begin in range(0, other.shape[0], step):
            columns = slice(begin, begin + step)
            right = left[columns].T if mirrored else self._from_samples(other[columns])
            K[:, columns] += left @ (self.correction @ right)
        if mirrored:
            _even_out(K)
        return copied(K.astype(dtype, copy=False), out)

    def _diagonal(self, X: Any) -> np.ndarray:
        dtype = result_dtype(X, X)
        if self._training_start(X, X, None) is not None:
            return self.training.diagonal().astype(dtype)
        values = self.parts[0]._diagonal(in_double(X)).astype(np.float64)
        step = rows_within(3 * len(self.correction), 8)
        for begin in range(0, X.shape[0], step):
            rows = slice(begin, begin + step)
            left = self._to_samples(X[rows])
            right = left if self.symmetric else self._from_samples(X[rows]).T
            values[rows] += np.einsum("ij,ij->i", left @ self.correction, right)
        return values.astype(dtype, copy=False)

    def _training_start(self, X: Any, Z: Any, self_start: int | None) -> int | None:
        """Return where the rows start among those of ``training``, None if they are not there."""
        if self.training is None or not same_samples(Z, self._held):
            return None
        return 0 if same_samples(X, self._held) else row_start(X, Z, self_start)

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        if self._training_start(X, X if Z is None else Z, None) is not None:
            return with_form(aslinearoperator(self.training))
        inner, X, Z = self.parts[0], in_double(X), None if Z is None else in_double(Z)
        plain, left = inner._operator(X, Z), inner._operator(X, self._held)
        right = left.T if Z is None and self.symmetric else inner._operator(self._held, X if Z is None else Z)
        return with_form(plain + left @ (aslinearoperator(self.correction) @ right), plain, left)

    def scalar(self, x: Any, z: Any) -> float:
        """Return k(x, z) of one pair by its definition."""
        inner, samples = self.parts[0], self._scalar_rows()
        row = np.array([inner.scalar(x, s) for s in samples])
        column = np.array([inner.scalar(s, z) for s in samples])
        return inner.scalar(x, z) + math.fsum((row[:, None] * self.correction * column).ravel())


class Projected(_ThroughSamples):
    """k(x, z) = ⟨φ(x), φ(z)⟩ with φ(x) = Fᵀ k0(S, x), for fixed samples S and a matrix F.

    Positive semi-definite for every F, of rank at most the number of its columns: the form of Nyström approximations,
    and of kernels learned on them.

    >>> import numpy as np
    >>> k = projected("linear", samples=np.eye(2), factor=np.array([[1.0], [1.0]]))
    >>> k([[1.0, 2.0]], [[3.0, 0.0]]).tolist()
    [[9.0]]
    """

    __slots__ = ()

    def __init__(self, family: KernelFamily, values: Any):
        super().__init__(family, values)
        n, factor = self._held.shape[0], self._values["factor"]
        if factor.shape[0] != n:
            raise ParameterError(f"projected: factor has shape {factor.shape}; with {n} samples it has {n} rows")

    @property
    def symmetric(self) -> bool:
        """True."""
        return True

    @property
    def definite(self) -> bool | None:
        """True."""
        return True

    def features(self, X: Any) -> np.ndarray:
        """Return φ(x) of each sample in rows: the kernel is their inner product."""
        return self._features(self._samples(X, "X"))

    def _features(self, X: Any) -> np.ndarray:
        return self._to_samples(X) @ self.factor

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        dtype = result_dtype(X, X if Z is None else Z)
        left = self._features(X)
        # One factor twice where the samples are the same: the result is then symmetric to the last bit.
        right = left if Z is None or same_samples(X, Z) else self._features(Z)
        if out is not None and out.dtype == np.float64:
            return np.matmul(left, right.T, out=out)
        return copied((left @ right.T).astype(dtype, copy=False), out)

    def _diagonal(self, X: Any) -> np.ndarray:
        return squared_norms(self._features, X, len(self.factor)).astype(result_dtype(X, X), copy=False)

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        inner, factor = self.parts[0], aslinearoperator(self.factor)
        left = inner._operator(in_double(X), self._held)
        right = left if Z is None else inner._operator(in_double(Z), self._held)
        return with_form((left @ factor) @ (right @ factor).T, left, right)

    def scalar(self, x: Any, z: Any) -> float:
        """Return k(x, z) of one pair by its definition."""
        inner, samples = self.parts[0], self._scalar_rows()
        left, right = (np.array([inner.scalar(side, s) for s in samples]) @ self.factor for side in (x, z))
        return math.fsum(left * right)


def _asymmetric(table: np.ndarray) -> bool:
    """Return whether M differs from Mᵀ by more than rounding, told by their products with random signs."""
    if not table.size:
        return False
    signs = np.random.default_rng(0).choice([-1.0, 1.0], len(table))
    gap = np.abs(table @ signs - signs @ table).max()
    return bool(gap > _SYMMETRY * max(table.max(), -table.min()))


def _even_out(K: np.ndarray, rows: int = 512) -> None:
    """Replace K by its mean with its transpose, in place: symmetric but for rounding becomes symmetric."""
    for start in range(0, len(K), rows):
        block, before = slice(start, start + rows), slice(0, start + rows)
        mean = 0.5 * (K[block, before] + K[before, block].T)
        K[block, before] = mean
        K[before, block] = mean.T


def _dense(value: Any) -> np.ndarray:
    if is_sparse(value):
        raise ValueError
    return frozen(np.ascontiguousarray(matrix.check(value), dtype=np.float64))


dense = Domain("a finite 2-D numeric array", _dense)
optional = Domain("a finite 2-D numeric array or None", lambda value: None if value is None else _dense(value))


def _corrected_example(rng: np.random.Generator, n: int) -> tuple[Kernel, Any]:
    A = 0.2 * rng.normal(size=(7, 7))
    return corrected("rbf(sigma=2.0)", rng.normal(size=(7, 4)), A + A.T), rng.normal(size=(n, 4))


def _projected_example(rng: np.random.Generator, n: int) -> tuple[Kernel, Any]:
    return projected("rbf(sigma=2.0)", rng.normal(size=(6, 4)), rng.normal(size=(6, 3))), rng.normal(size=(n, 4))


def _fixed_samples(value: Any) -> Any:
    return value if isinstance(value, PackedSamples) else matrix.check(value)


_SAMPLES = Parameter("samples", REQUIRED, Domain(f"{matrix}, or packed samples", _fixed_samples))

corrected = KernelFamily(
    "corrected",
    Corrected,
    (
        one_kernel,
        _SAMPLES,
        Parameter("correction", REQUIRED, dense),
        Parameter("training", None, optional),
        Parameter("positive", False, boolean),
    ),
    example=_corrected_example,
)
projected = KernelFamily(
    "projected",
    Projected,
    (one_kernel, _SAMPLES, Parameter("factor", REQUIRED, dense)),
    symmetric=True,
    definite=True,
    example=_projected_example,
)
