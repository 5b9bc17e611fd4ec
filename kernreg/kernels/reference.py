"""Kernels that are defined through a reference set: centred kernels, and kernels with a corrected spectrum.

``bind(Z)`` fixes the reference (a training set) and gives one formula for every pair, training and new alike.
Unbound, ``k(X, Z)`` takes its second argument as the reference, and ``k(X)`` takes X.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.engine.arrays import result_dtype
from kernreg.engine.local import row_blocks
from kernreg.errors import AsymmetryError
from kernreg.kernels.base import Kernel, refuse_foreign_estimator
from kernreg.kernels.combinators import CombinedKernel, kernel_domain
from kernreg.kernels.domains import REQUIRED, Parameter, choice, value_key
from kernreg.kernels.family import KernelFamily
from kernreg.kernels.samples import same_samples


class _Unbound(CombinedKernel):
    __slots__ = ()
    _bound_class: type[_Bound]

    def bind(self, Z: Any) -> Kernel:
        """Return the kernel with ``Z`` as its reference set."""
        return self._bound_class(self, self._samples(Z, "Z"))

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        return self._anchored(X, Z)._evaluate(X, Z, out, self_start)

    def _anchored(self, X: Any, Z: Any) -> Kernel:
        return self.bind(X if Z is None else Z)


class _Bound(CombinedKernel):
    __slots__ = ("_reference", "_state", "_unbound")

    _unbound: _Unbound
    _reference: Any
    _state: Any

    def __init__(self, unbound: _Unbound, reference: Any):
        bound = unbound.parts[0].bind(reference)._anchored(reference, None)
        super().__init__(unbound.family, {**unbound._values, "kernel": bound})
        object.__setattr__(self, "_unbound", unbound)
        object.__setattr__(self, "_reference", reference)
        object.__setattr__(self, "_state", self._learn(self.parts[0]._evaluate(reference, None, None, None)))

    def _learn(self, K: np.ndarray) -> Any:
        """Return what is kept of the reference's own kernel matrix."""
        raise NotImplementedError

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

    def set_params(self, **params: Any) -> Kernel:
        """Return a new kernel with these parameters changed, with the same reference set."""
        refuse_foreign_estimator(self, params)
        return self._unbound.set_params(**params).bind(self._reference)

    def _finish(self, K: np.ndarray, out: np.ndarray | None) -> np.ndarray:
        if out is None:
            return K
        out[...] = K
        return out

    def scalar(self, x: Any, z: Any) -> float:
        """Return the value of one pair (through the matrix path: there is no shorter formula)."""
        row, column = (self._samples(np.asarray(side)[None], "x") for side in (x, z))
        return float(self._evaluate(row, column, None, None)[0, 0])

    def _identity(self) -> Any:
        if self._key is None:
            object.__setattr__(self, "_key", (self._unbound._identity(), value_key(self._reference)))
        return self._key

    def __reduce__(self) -> Any:
        return type(self), (self._unbound, self._reference)


class BoundCentered(_Bound):
    """k(x, w) minus its means over the reference set, plus their mean."""

    __slots__ = ()

    def _learn(self, K: np.ndarray) -> Any:
        rows = K.mean(axis=1, dtype=np.float64)
        columns = rows if self.parts[0].symmetric else K.mean(axis=0, dtype=np.float64)
        return rows, columns, float(rows.mean()) if len(rows) else 0.0

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        inner, R = self.parts[0], self._reference
        whole = Z is None
        Z = X if whole else Z
        K = inner._evaluate(X, None if whole else Z, out, self_start)
        rows = self._row_means(X, self_start if same_samples(Z, R) else None)
        if inner.symmetric and (whole or same_samples(X, Z)):
            columns = rows
        else:
            columns = self._column_means(Z, self_start if same_samples(X, R) else None)
        for i in range(len(K)):  # the sum of the two means first: it is the same for (i, j) and (j, i)
            K[i] -= (rows[i] + columns) - self._state[2]
        return K

    def _row_means(self, X: Any, start: int | None) -> np.ndarray:
        inner, R = self.parts[0], self._reference
        if same_samples(X, R):
            return self._state[0]
        if start is not None:  # rows of the reference, a slice of them
            return self._state[0][start : start + X.shape[0]]
        means = [block.mean(axis=1, dtype=np.float64) for _, block in row_blocks(inner, X, R)]
        return np.concatenate([np.empty(0), *means])

    def _column_means(self, Z: Any, start: int | None) -> np.ndarray:
        inner, R = self.parts[0], self._reference
        if same_samples(Z, R):
            return self._state[1]
        if start is not None:  # the reference's own columns, a slice of them
            return self._state[1][-start : Z.shape[0] - start]
        if inner.symmetric:
            return self._row_means(Z, None)
        sums = (block.sum(axis=0, dtype=np.float64) for _, block in row_blocks(inner, R, Z))
        return sum(sums, np.zeros(Z.shape[0])) / max(1, R.shape[0])


class Centered(_Unbound):
    """k(x, z) - mean_r k(x, r) - mean_r k(r, z) + mean: centred in feature space over the reference set."""

    __slots__ = ()
    _bound_class = BoundCentered


class BoundSpectrum(_Bound):
    """A symmetric kernel whose training spectrum is made non-negative, with the matching transform of new rows."""

    __slots__ = ()

    def _learn(self, K: np.ndarray) -> Any:
        gap = np.abs(K - K.T).max(initial=0.0)
        if gap > 1e-10 * max(np.abs(K).max(initial=0.0), np.finfo(float).tiny):
            raise AsymmetryError(
                f"spectrum(…) corrects the eigenvalues of a symmetric kernel, and {self.parts[0].name!r} is asymmetric "
                f"on this data (largest |K - Kᵀ| is {gap:.3g}). Symmetrise it first: spectrum(symmetrize(k), …), or "
                "use a solver that takes asymmetric kernels, such as 'ask-ls' or 'ksvd'"
            )
        K = K.astype(np.float64)
        if self.method == "shift":
            return max(0.0, -float(np.linalg.eigvalsh(K)[0])) if len(K) else 0.0
        values, vectors = np.linalg.eigh(K)
        precision = np.finfo(result_dtype(self._reference, self._reference)).eps
        kept = np.abs(values) > len(K) * precision * np.abs(values).max(initial=0.0)
        values, vectors = values[kept], vectors[:, kept]
        corrected = {
            "clip": np.maximum(values, 0.0),
            "flip": np.abs(values),
            "square": values * values,
        }[self.method]
        # k(x, w) = k(x, R) Q k(R, w) is the only extension that agrees with the corrected matrix on the reference.
        half = vectors * (np.sqrt(corrected) / values)  # Q = half halfᵀ
        ratio = vectors * (corrected / values)
        root = vectors * np.sqrt(corrected)
        return half, ratio @ vectors.T, root @ root.T

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        inner, R = self.parts[0], self._reference
        to_reference = same_samples(X if Z is None else Z, R)
        start = 0 if to_reference and same_samples(X, R) else self_start if to_reference else None
        if self.method == "shift":
            K = inner._evaluate(X, Z, None, self_start)
            if start is not None:
                K[np.arange(len(K)), start + np.arange(len(K))] += self._state
            return self._finish(K, out)
        dtype = result_dtype(X, X if Z is None else Z)
        half, ratio, training = self._state
        if start is not None:
            return self._finish(training[start : start + X.shape[0]].astype(dtype), out)
        left = inner._evaluate(X, R, None, None)
        if to_reference:
            return self._finish((left @ ratio).astype(dtype), out)
        left = left @ half
        # One factor twice where the samples are the same: the result is then symmetric to the last bit.
        right = left if Z is None or same_samples(X, Z) else inner._evaluate(R, Z, None, None).T @ half
        return self._finish((left @ right.T).astype(dtype), out)


class Spectrum(_Unbound):
    """K with its eigenvalues clipped at 0, flipped to |λ|, shifted by |λ_min| or squared: positive semi-definite."""

    __slots__ = ()
    _bound_class = BoundSpectrum

    @property
    def definite(self) -> bool | None:
        """True on the reference set and its extension (a shift holds for the reference only)."""
        return True


def _example(family_name: str) -> Any:
    def example(rng: np.random.Generator, n: int) -> tuple[Kernel, Any]:
        X = rng.normal(size=(n, 4))
        return FAMILIES[family_name]("tl1(rho=2.0)"), X

    return example


_ONE = Parameter("kernel", REQUIRED, kernel_domain)


def _family(name: str, kind: type[Kernel], *parameters: Parameter) -> KernelFamily:
    return KernelFamily(
        name, kind, parameters, doc=kind.__doc__ or "", module=__name__, qualname=name, example=_example(name)
    )


centered = _family("centered", Centered, _ONE)
spectrum = _family("spectrum", Spectrum, _ONE, Parameter("method", "clip", choice("clip", "flip", "shift", "square")))

FAMILIES = {f.name: f for f in (centered, spectrum)}
