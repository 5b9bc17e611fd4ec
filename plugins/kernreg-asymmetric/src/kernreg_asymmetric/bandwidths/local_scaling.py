"""local-rbf: a Gaussian whose width is the distance to the k-th neighbour, of one sample or of both.

Zelnik-Manor & Perona, Self-tuning spectral clustering, NeurIPS 2004 (both). The widths belong to a reference set R:
that of x is the k-th smallest distance between x and samples of R that are not x itself. ``bind(R)`` fixes it, as
solvers do; unbound, k(X, Z) takes Z.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kernreg import kernel
from kernreg.errors import ParameterError
from kernreg.kernels import KernelFamily, Parameter, ReferenceKernel, choice, integer, positive

SIDES = ("column", "row", "both")
_TOGETHER = 64  # rows of distances


@kernel(of="sqeuclidean", symmetric=True)
def squared_distance(d2):
    """|x - z|²."""
    return d2


_DISTANCE = squared_distance()


class LocalRBF(ReferenceKernel):
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
        return self.side == "both"

    @property
    def widths(self) -> np.ndarray:
        """The distance from each sample of the reference set to its k-th neighbour."""
        return self.description

    def describe(self, X: Any, reference: Any) -> np.ndarray:
        """Return the distance from each sample to its k-th neighbour in the reference set."""
        # Squares of float32 samples may be beyond float32, and widths of a float32 reference serve float64 samples.
        R = _in_double(reference)
        return _DISTANCE.map_rows(R if X is reference else _in_double(X), R, _kth_distance, args=(self.n_neighbors,))

    def compare(self, X: Any, Z: Any, of_X: np.ndarray, of_Z: np.ndarray) -> np.ndarray:
        """Return the kernel matrix of samples of these widths."""
        if X.dtype == np.float32 and Z.dtype == np.float32:
            return self._compare_in_double(X, Z, of_X, of_Z)
        K = _DISTANCE(X, Z)
        rows, columns = self.factor * of_X[:, None], self.factor * of_Z
        # Divided twice: the square of a small width underflows.
        K /= columns if self.side == "column" else rows
        K /= rows if self.side == "row" else columns
        np.negative(K, out=K)
        return np.exp(K, out=K)

    def _compare_in_double(self, X: Any, Z: Any, of_X: np.ndarray, of_Z: np.ndarray) -> np.ndarray:
        """Return float32 values of float32 samples, some rows at a time: their squares need not fit into float32."""
        K = np.empty((X.shape[0], Z.shape[0]), dtype=np.float32)
        of_all = _in_double(Z)
        for start in range(0, len(K), _TOGETHER):
            some = slice(start, start + _TOGETHER)
            K[some] = self.compare(_in_double(X[some]), of_all, of_X[some], of_Z)
            if X is Z and self.symmetric:  # to the last bit
                K[:start, some] = K[some, :start].T
                square = K[some, some]
                K[some, some] = np.tril(square) + np.tril(square, -1).T
        return K

    def scalar(self, x: Any, z: Any) -> float:
        """Return k(x, z) of one pair by the plain formula in Python."""
        if self.reference is None:
            raise ParameterError(f"{self.name} finds neighbours in a reference set: use k.bind(Z).scalar(x, z)")
        reference = self.reference.toarray() if hasattr(self.reference, "toarray") else self.reference

        def width(sample: Any) -> float:
            apart = sorted(d for d in (math.dist(sample, other) for other in reference) if d > 0.0)
            return self.factor * (apart[min(self.n_neighbors, len(apart)) - 1] if apart else 1.0)

        size = {"column": lambda: width(z) ** 2, "row": lambda: width(x) ** 2, "both": lambda: width(x) * width(z)}
        return math.exp(-(math.dist(x, z) ** 2) / size[self.side]())


def _in_double(samples: Any) -> Any:
    """Return float32 samples in memory as float64, others as they are."""
    single = getattr(samples, "dtype", None) == np.float32 and hasattr(samples, "astype")
    return samples.astype(np.float64) if single else samples


def _kth_distance(rows: slice, block: np.ndarray, k: int) -> np.ndarray:
    """Return the k-th smallest distance of each row that is not zero; the largest where there are fewer, 1 for none."""
    found = np.empty(len(block))
    for start in range(0, len(block), _TOGETHER):  # what is sorted is a copy
        some = slice(start, start + _TOGETHER)
        found[some] = _kth_of_some(block[some], k)
    return found


def _kth_of_some(block: np.ndarray, k: int) -> np.ndarray:
    apart = np.where(block > 0.0, block, np.inf).astype(np.float64, copy=False)
    place = np.minimum(k, np.count_nonzero(np.isfinite(apart), axis=1)) - 1
    apart.sort(axis=1)
    squares = np.take_along_axis(apart, np.maximum(place, 0)[:, None], axis=1)[:, 0]
    return np.where(place < 0, 1.0, np.sqrt(np.where(place < 0, 1.0, squares)))


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
