"""Kernels that are defined through a reference set: centred kernels, and kernels with a corrected spectrum.

``bind(Z)`` fixes the reference (a training set) and gives one formula for every pair, training and new alike.
Unbound, ``k(X, Z)`` takes its second argument as the reference, and ``k(X)`` takes X.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator

from kernreg.engine.arrays import in_double, result_dtype
from kernreg.engine.budget import rows_within, warn_beyond_budget
from kernreg.engine.gram import gram
from kernreg.engine.memory import empty
from kernreg.engine.running.row_blocks import streamed_rows
from kernreg.errors import AsymmetryError
from kernreg.factory import make_kernel
from kernreg.kernels.base import Kernel
from kernreg.kernels.combinations.base import (
    BoundCombination,
    UnboundKernel,
    combination,
    copied,
    one_kernel,
    squared_norms,
)
from kernreg.kernels.domains import Parameter, check_learnt, choice
from kernreg.kernels.row_block_operator import CenteredOperator
from kernreg.kernels.samples import identical_pairs, row_start, same_samples


class _Unbound(UnboundKernel):
    __slots__ = ()
    _bound_class: type[_Learnt]

    @property
    def takes_reference(self) -> bool:
        """True: it is defined through one."""
        return True

    def _bound_to(self, reference: Any) -> Kernel:
        return self._bound_class(self, reference)

    def __kernreg_rebind__(self, learnt: Mapping[str, Any]) -> Kernel:
        reference, inner = self._samples(learnt["reference"], "reference"), make_kernel(learnt["kernel"])
        return self._bound_class(self, reference, {"kernel": inner, "state": learnt["state"]})


class _Learnt(BoundCombination):
    """A bound kernel that keeps something of the reference's own kernel matrix."""

    __slots__ = ("_state",)

    _state: Any

    def __init__(self, unbound: _Unbound, reference: Any, learnt: Mapping[str, Any] | None = None):
        super().__init__(unbound, reference, learnt)
        object.__setattr__(self, "_state", self._learn() if learnt is None else self._check_learnt(learnt["state"]))

    def _learn(self) -> Any:
        """Return what is kept of the reference's own kernel matrix."""
        raise NotImplementedError

    def _check_learnt(self, state: Any) -> Any:
        """Return the state read from a file, or raise ParameterError where `_learn` could not have returned it."""
        raise NotImplementedError

    def scalar(self, x: Any, z: Any) -> float:
        """Return the value of one pair (through the matrix path: there is no shorter formula)."""
        row, column = (self._samples(np.asarray(side)[None], "x") for side in (x, z))
        return float(self._evaluate(row, column, None, None)[0, 0])

    def __kernreg_bound__(self) -> tuple[Kernel, dict[str, Any]]:
        unbound, learnt = super().__kernreg_bound__()
        return unbound, {**learnt, "state": self._state}


class BoundCentered(_Learnt):
    """k(x, w) minus its means over the reference set, plus their mean."""

    __slots__ = ()

    def _learn(self) -> Any:
        # By products with ones: K itself is never held, and sparse samples cost what their shared features do.
        inner, n = self.parts[0], self._reference.shape[0]
        K = inner._operator(in_double(self._reference), None)  # means of float32 serve float64 samples, too
        rows = _mean_product(K, n)
        columns = rows if inner.symmetric else _mean_product(K.T, n)
        return rows, columns, float(rows.mean()) if n else 0.0

    def _check_learnt(self, state: Any) -> Any:
        rows, columns, mean = state
        for name, means in (("row means", rows), ("column means", columns)):
            check_learnt(self.name, name, means, (self._reference.shape[0],))
        return rows, columns, float(mean)

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        other = X if Z is None else Z
        return CenteredOperator(
            self.parts[0]._operator(X, Z), self._row_means(X, None), self._column_means(other, None), self._state[2]
        )

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        inner, R = self.parts[0], self._reference
        whole = Z is None
        Z = X if whole else Z
        K = inner._evaluate(X, None if whole else Z, out, self_start)
        rows = self._row_means(X, row_start(X, Z, self_start) if same_samples(Z, R) else None)
        if inner.symmetric and (whole or same_samples(X, Z)):
            columns = rows
        else:
            mirrored = None if self_start is None else -self_start
            columns = self._column_means(Z, row_start(Z, X, mirrored) if same_samples(X, R) else None)
        for i in range(len(K)):  # the sum of the two means first: it is the same for (i, j) and (j, i)
            K[i] -= (rows[i] + columns) - self._state[2]
        return K

    def _diagonal(self, X: Any) -> np.ndarray:
        values, rows = self.parts[0]._diagonal(X), self._row_means(X, None)
        columns = rows if self.parts[0].symmetric else self._column_means(X, None)
        return (values - ((rows + columns) - self._state[2])).astype(values.dtype, copy=False)

    def _row_means(self, X: Any, start: int | None) -> np.ndarray:
        inner, R = self.parts[0], self._reference
        if same_samples(X, R):
            return self._state[0]
        if start is not None:  # rows of the reference, a slice of them
            return self._state[0][start : start + X.shape[0]]
        return _mean_product(inner._operator(in_double(X), R), R.shape[0])

    def _column_means(self, Z: Any, start: int | None) -> np.ndarray:
        inner, R = self.parts[0], self._reference
        if same_samples(Z, R):
            return self._state[1]
        if start is not None:  # the reference's own columns, a slice of them
            return self._state[1][start : start + Z.shape[0]]
        if inner.symmetric:
            return self._row_means(Z, None)
        return _mean_product(inner._operator(R, in_double(Z)).T, R.shape[0])


def _asymmetry(K: np.ndarray, rows: int = 256) -> float:
    """Return the largest |K - Kᵀ|, without a second matrix."""
    gaps = (np.abs(K[i : i + rows] - K[:, i : i + rows].T).max(initial=0.0) for i in range(0, len(K), rows))
    return max(map(float, gaps), default=0.0)


def _mean_product(K: LinearOperator, count: int) -> np.ndarray:
    return (K @ np.ones(K.shape[1])) / max(1, count)


class Centered(_Unbound):
    """k(x, z) - mean_r k(x, r) - mean_r k(r, z) + mean: centred in feature space over the reference set.

    Examples
    --------
    >>> from kernreg.kernels import centered
    >>> centered("linear")([[1.0], [3.0]]).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """

    __slots__ = ()
    _bound_class = BoundCentered


_MATRICES = 7  # of the reference set, held at once: K, its eigenvectors, LAPACK's workspace, and what is made of them


class BoundSpectrum(_Learnt):
    """A symmetric kernel whose training spectrum is made non-negative, with the matching transform of new rows."""

    __slots__ = ()

    def _learn(self) -> Any:
        if self.method != "shift":
            needed = _MATRICES * 8 * self._reference.shape[0] ** 2
            what = f"spectrum(…, {self.method!r}) of {self._reference.shape[0]} samples"
            warn_beyond_budget(needed, what, "method 'shift' needs less")
        # Small eigenvalues are only as good as the values they come of.
        K = self.parts[0]._matrix(in_double(self._reference), None)
        gap = _asymmetry(K)
        if gap > 1e-10 * max(K.max(initial=0.0), -K.min(initial=0.0), np.finfo(float).tiny):
            raise AsymmetryError(
                f"spectrum(…) corrects the eigenvalues of a symmetric kernel, and {self.parts[0].name!r} is asymmetric "
                f"on this data (largest |K - Kᵀ| is {gap:.3g}). Symmetrise it first: spectrum(symmetrize(k), …), or "
                "use a solver that takes asymmetric kernels, such as 'ask-ls' or 'ksvd'"
            )
        if self.method == "shift":
            if not len(K):
                return 0.0
            # The transpose is in the order of LAPACK, which then works in the memory of K.
            return max(0.0, -float(scipy.linalg.eigvalsh(K.T, overwrite_a=True, check_finite=False)[0]))
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
        return half, ratio @ vectors.T, gram(root)

    def _check_learnt(self, state: Any) -> Any:
        if self.method == "shift":
            return float(state)
        n = self._reference.shape[0]
        half, ratio, training = state
        check_learnt(self.name, "half", half, (n, None))
        check_learnt(self.name, "ratio", ratio, (n, n))
        check_learnt(self.name, "training matrix", training, (n, n))
        return half, ratio, training

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        inner, R = self.parts[0], self._reference
        to_reference = same_samples(X if Z is None else Z, R)
        if self.method == "shift":  # k(x, z) + shift where x and z are identical: one formula for every pair
            K = inner._evaluate(X, Z, None, self_start)
            K[identical_pairs(X, X if Z is None else Z)] += self._state
            return copied(K, out)
        start = None
        if to_reference:
            start = 0 if same_samples(X, R) else row_start(X, R, self_start)
        other = X if Z is None else Z
        half, ratio, training = self._state
        if out is None:
            out = empty((X.shape[0], other.shape[0]), result_dtype(X, other))
        if start is not None:
            out[...] = training[start : start + X.shape[0]]
        elif to_reference:
            self._fill(out, X, None, ratio)
        else:
            # Features of as many second samples as fit beside the result, all of them unless the budget is small. They
            # serve as those of the first where these are the same: the result is then symmetric to the last bit. Of a
            # kernel that is symmetric on the reference set only, by chance perhaps, the two kinds of features differ.
            same = inner.symmetric and (Z is None or same_samples(X, Z))
            for columns in streamed_rows(other.shape[0], half.shape[1], rows_within(half.shape[1], 8, 0.5)):
                features = self._features(other[columns], half, first=same)
                if same:
                    out[columns, columns] = gram(features)
                    rest = slice(columns.stop, X.shape[0])
                    self._fill(out[rest, columns], X[rest], features, half)
                    out[columns, rest] = out[rest, columns].T
                else:
                    self._fill(out[:, columns], X, features, half)
        return out

    def _fill(self, out: np.ndarray, X: Any, features: np.ndarray | None, factor: np.ndarray) -> None:
        """Fill rows of a matrix with k(X, R) @ factor @ featuresᵀ, some at a time."""
        inner, R = self.parts[0], self._reference
        for rows in streamed_rows(X.shape[0], sum(factor.shape), rows_within(sum(factor.shape), 8)):
            left = inner._evaluate(in_double(X[rows]), R, None, None) @ factor
            out[rows] = left if features is None else left @ features.T

    def _features(self, X: Any, half: np.ndarray, *, first: bool) -> np.ndarray:
        """Return k(X, R) @ half of first samples, k(R, X)ᵀ @ half of second ones."""
        inner, R = self.parts[0], self._reference
        found = np.empty((X.shape[0], half.shape[1]))
        for rows in streamed_rows(X.shape[0], sum(half.shape), rows_within(sum(half.shape), 8)):
            some = in_double(X[rows])
            K = inner._evaluate(some, R, None, None) if first else inner._evaluate(R, some, None, None).T
            np.matmul(K, half, out=found[rows])
        return found

    def _diagonal(self, X: Any) -> np.ndarray:
        inner, R, dtype = self.parts[0], self._reference, result_dtype(X, X)
        if self.method == "shift":
            return (inner._diagonal(X) + self._state).astype(dtype, copy=False)
        half, _, training = self._state
        if same_samples(X, R):
            return training.diagonal().astype(dtype)
        if not inner.symmetric:
            return super()._diagonal(X)
        norms = squared_norms(lambda rows: inner._evaluate(in_double(rows), R, None, None) @ half, X, R.shape[0])
        return norms.astype(dtype, copy=False)


class Spectrum(_Unbound):
    """K with its eigenvalues clipped at 0, flipped to |λ|, shifted by |λ_min| or squared: positive semi-definite.

    Examples
    --------
    >>> import kernreg as kr
    >>> from kernreg.kernels import spectrum
    >>> indefinite = kr.make_kernel("precomputed", K=[[0.0, 1.0], [1.0, 0.0]])  # eigenvalues 1 and -1
    >>> spectrum(indefinite, "clip")([0, 1]).round(12).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    __slots__ = ()
    _bound_class = BoundSpectrum

    @property
    def definite(self) -> bool | None:
        """True for symmetric kernels, but for a shift, which is large enough for the reference set only."""
        return True if self.method != "shift" and self.parts[0].symmetric else None


_METHOD = Parameter("method", "clip", choice("clip", "flip", "shift", "square"))

centered = combination("centered", Centered, one_kernel, kernel="tl1(rho=2.0)")
spectrum = combination("spectrum", Spectrum, one_kernel, _METHOD, kernel="tl1(rho=2.0)")
