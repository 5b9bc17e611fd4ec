"""local-rbf: a Gaussian whose width is the distance to the k-th neighbour, of one sample or of both.

Zelnik-Manor & Perona, Self-tuning spectral clustering, NeurIPS 2004 (both). The widths belong to a reference set R:
that of x is the k-th smallest distance between x and samples of R that are not x itself. ``bind(R)`` fixes it, as
solvers do; unbound, k(X, Z) takes Z.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from kernreg import kernel
from kernreg.engine import whole
from kernreg.errors import ParameterError
from kernreg.kernels import Kernel, KernelFamily, Parameter, choice, integer, positive

SIDES = ("column", "row", "both")


@kernel(of="sqeuclidean", symmetric=True)
def squared_distance(d2):
    """|x - z|²."""
    return d2


_DISTANCE = squared_distance()


class LocalRBF(Kernel):
    """exp(-|x - z|² / (factor w)²), w the distance from z (or x, or both) to its k-th neighbour in the reference set.

    ``side="column"`` takes w = w(z), the width of the second sample: every centre has its own bandwidth. ``"row"``
    takes w(x). Both are asymmetric, and each other's transpose. ``"both"`` is the self-tuning form, w² = w(x) w(z),
    symmetric. ``n_neighbors`` is k. Copies of a sample are not its neighbours.

    >>> k = local_rbf(n_neighbors=1, side="column").bind([[0.0], [1.0], [3.0]])
    >>> k([[0.0]], [[1.0], [3.0]]).round(3).tolist()  # widths 1 and 2
    [[0.368, 0.105]]
    """

    __slots__ = ()

    @property
    def symmetric(self) -> bool:
        """Where both widths count."""
        return self._values["side"] == "both"

    @property
    def takes_reference(self) -> bool:
        """True: neighbours are found in it."""
        return True

    def _samples(self, X: Any, name: str) -> Any:
        return _DISTANCE.check_samples(X, name)

    def _anchored(self, X: Any, Z: Any) -> Kernel:
        return BoundLocalRBF(self, whole(X if Z is None else Z))

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        return self._anchored(X, Z)._evaluate(X, Z, out, self_start)

    def bind(self, Z: Any) -> Kernel:
        """Return the kernel with ``Z``, copied, as its reference set."""
        Z = whole(self.check_samples(Z, "Z"), f"the kernel {self.name!r} finds neighbours among all of them")
        return BoundLocalRBF(self, Z.copy())

    def scalar(self, x: Any, z: Any) -> float:
        """Refuse: one pair has no value without a reference set."""
        raise ParameterError(f"{self.name} finds neighbours in a reference set: use k.bind(Z).scalar(x, z)")

    def __kernreg_rebind__(self, learnt: Mapping[str, Any]) -> Kernel:
        reference, widths = self._samples(learnt["reference"], "reference"), np.asarray(learnt["widths"])
        if widths.shape != (reference.shape[0],) or widths.dtype != np.float64 or not np.all(widths > 0.0):
            raise ParameterError(
                f"{self.name}: {reference.shape[0]} samples of reference need as many positive widths, and there are "
                f"{widths.dtype} of shape {widths.shape}"
            )
        return BoundLocalRBF(self, reference, widths)


class BoundLocalRBF(Kernel):
    """`LocalRBF` with its reference set: one formula for every pair."""

    __slots__ = ("_reference", "_unbound", "_widths")

    _unbound: LocalRBF
    _reference: Any
    _widths: np.ndarray

    def __init__(self, unbound: LocalRBF, reference: Any, widths: np.ndarray | None = None):
        super().__init__(unbound.family, unbound.get_params(deep=False))
        object.__setattr__(self, "_unbound", unbound)
        object.__setattr__(self, "_reference", reference)
        object.__setattr__(self, "_widths", self._find_widths(reference) if widths is None else widths)

    @property
    def symmetric(self) -> bool:
        """Where both widths count."""
        return self._unbound.symmetric

    @property
    def widths(self) -> np.ndarray:
        """The distance from each sample of the reference set to its k-th neighbour."""
        return self._widths

    def _samples(self, X: Any, name: str) -> Any:
        return self._unbound._samples(X, name)

    def _find_widths(self, X: Any) -> np.ndarray:
        k = self._values["n_neighbors"]
        return _DISTANCE.map_rows(X, self._reference, _kth_distance, args=(k,))

    def _widths_of(self, X: Any, start: int | None) -> np.ndarray:
        """Return the widths of samples, known ones where they are the reference set or begin at a row of it."""
        if _same(X, self._reference):
            return self._widths
        if start is not None and start >= 0:
            return self._widths[start : start + X.shape[0]]
        return self._find_widths(X)

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        side, factor = self._values["side"], self._values["factor"]
        other = X if Z is None else Z
        K = _DISTANCE(X, other, out)
        rows = columns = np.ones(0)
        if side != "column":
            inside = self_start if self_start is not None and _same(other, self._reference) else None
            rows = factor * self._widths_of(X, inside)
        if side != "row":
            columns = factor * self._widths_of(other, None)
        # Divided twice: the square of a small width underflows.
        first, second = (rows, columns) if side == "both" else (rows, rows) if side == "row" else (columns, columns)
        for width, vertical in ((first, side != "column"), (second, side == "row")):
            K /= (width[:, None] if vertical else width).astype(K.dtype)
        np.negative(K, out=K)
        return np.exp(K, out=K)

    def bind(self, Z: Any) -> Kernel:
        """Return the kernel bound to ``Z`` instead."""
        return self._unbound.bind(Z)

    def set_params(self, **params: Any) -> Kernel:
        """Return a new kernel with these parameters changed, bound to the same reference set."""
        return self._unbound.set_params(**params).bind(self._reference)

    def scalar(self, x: Any, z: Any) -> float:
        """Return k(x, z) of one pair by the plain formula in Python."""
        reference = self._reference.toarray() if hasattr(self._reference, "toarray") else self._reference
        k, side, factor = (self._values[name] for name in ("n_neighbors", "side", "factor"))

        def width(sample: Any) -> float:
            apart = sorted(d for d in (math.dist(sample, other) for other in reference) if d > 0.0)
            return factor * (apart[min(k, len(apart)) - 1] if apart else 1.0)

        size = {"column": lambda: width(z) ** 2, "row": lambda: width(x) ** 2, "both": lambda: width(x) * width(z)}
        return math.exp(-(math.dist(x, z) ** 2) / size[side]())

    def _identity(self) -> Any:
        if self._key is None:
            R = self._reference.toarray() if hasattr(self._reference, "toarray") else self._reference
            digest = hashlib.sha256(np.ascontiguousarray(R).tobytes()).hexdigest()
            object.__setattr__(self, "_key", (self._unbound._identity(), R.shape, str(R.dtype), digest))
        return self._key

    def __reduce__(self) -> Any:
        return BoundLocalRBF, (self._unbound, self._reference, self._widths)

    def __kernreg_bound__(self) -> tuple[Kernel, dict[str, Any]]:
        return self._unbound, {"reference": self._reference, "widths": self._widths}


def _kth_distance(rows: slice, block: np.ndarray, k: int) -> np.ndarray:
    """Return the k-th smallest distance of each row that is not zero; the largest where there are fewer, 1 for none."""
    apart = np.where(block > 0.0, block, np.inf).astype(np.float64)
    place = np.minimum(k, np.count_nonzero(np.isfinite(apart), axis=1)) - 1
    apart.sort(axis=1)
    squares = np.take_along_axis(apart, np.maximum(place, 0)[:, None], axis=1)[:, 0]
    return np.where(place < 0, 1.0, np.sqrt(np.where(place < 0, 1.0, squares)))


def _same(X: Any, R: Any) -> bool:
    if X is R:
        return True
    if X.shape != R.shape or hasattr(X, "toarray") != hasattr(R, "toarray"):
        return False
    return (X != R).nnz == 0 if hasattr(X, "toarray") else np.array_equal(X, R)


local_rbf: KernelFamily = KernelFamily(
    "local-rbf",
    LocalRBF,
    (
        Parameter("n_neighbors", 7, integer(1)),
        Parameter("side", "column", choice(*SIDES)),
        Parameter("factor", 1.0, positive),
    ),
    example=lambda rng, n: (local_rbf(n_neighbors=3), rng.normal(size=(n, 4))),
)
