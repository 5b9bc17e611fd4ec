"""A kernel of eigenvectors of a neighbourhood graph, extended to samples that are not in the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from kernreg.engine.arrays import as_samples, check_pair, in_double, is_sparse, result_dtype
from kernreg.engine.budget import rows_within
from kernreg.errors import DataError, ParameterError
from kernreg.kernels.base import Kernel
from kernreg.kernels.combinations.base import copied, with_form
from kernreg.kernels.combinations.learned import dense
from kernreg.kernels.domains import REQUIRED, Domain, Parameter, integer, matrix
from kernreg.kernels.family import KernelFamily
from kernreg.kernels.ownership import frozen
from kernreg.kernels.samples import identical_pairs, same_samples

#: Below this an eigenvalue of the graph says nothing about new samples: they would be divided by nothing.
_VANISHING = 1e-6
#: Of ‖x‖² + ‖z‖²: squared distances that differ by less are the same but for rounding.
_TIE = 1e-13


class NeighbourSpectrum(Kernel):
    """k(x, z) = Σ_i μ_i v_i(x) v_i(z), with eigenvectors v_i of a neighbourhood graph over fixed samples.

    The graph has weights w and degrees d, and the v_i are eigenvectors of D^(-1/2) w D^(-1/2) with eigenvalues a_i. A
    sample of the graph has the entry of the vector; any other its Nyström extension::

        v_i(x) = 1/a_i Σ_j w(x, s_j) / sqrt(d(x) d_j) v_i(s_j),      d(x) = Σ_j w(x, s_j)

    with w(x, s) = 1 where s is among the ``n_neighbors`` nearest samples of x (ties included), or x is not farther from
    s than ``radii[s]``, the distance of the neighbours of s; 0 elsewhere. With ``n_neighbors=0`` the graph has no rule
    for new samples, and they are refused. Samples that are in the graph several times have the mean of their entries.

    Examples
    --------
    >>> import numpy as np
    >>> import kernreg as kr
    >>> X, y = np.arange(12.0)[:, None], np.arange(12) // 6
    >>> learned = kr.make_solver("scg-osk", n_neighbors=2).fit(X, y).kernel_
    >>> learned.family.name, learned(X).shape
    ('neighbour-spectrum', (12, 12))
    """

    __slots__ = ("_held",)

    _held: Any

    def __init__(self, family: KernelFamily, values: Any):
        super().__init__(family, values)
        object.__setattr__(self, "_held", as_samples(values["samples"], "samples"))
        n, q = self._held.shape[0], values["vectors"].shape[1]
        for name, expected in (("weights", q), ("eigenvalues", q), ("degrees", n), ("radii", n)):
            if values[name].shape != (expected,):
                raise ParameterError(
                    f"neighbour-spectrum: {name} has shape {values[name].shape}, expected ({expected},): {n} samples, "
                    f"{q} vectors"
                )
        if len(values["vectors"]) != n:
            raise ParameterError(f"neighbour-spectrum: vectors has {len(values['vectors'])} rows for {n} samples")
        if values["weights"].min(initial=0.0) < 0.0:
            raise ParameterError(f"neighbour-spectrum: a weight is {values['weights'].min():g}; weights are >= 0")
        if values["n_neighbors"] > n:
            raise ParameterError(f"neighbour-spectrum: n_neighbors={values['n_neighbors']}, and there are {n} samples")

    def features(self, X: Any) -> np.ndarray:
        """Return √μ_i v_i(x) of each sample in rows: the kernel is their inner product."""
        return self._features(self._samples(X, "X"))

    def _samples(self, X: Any, name: str) -> Any:
        return as_samples(X, name)

    def _features(self, X: Any) -> np.ndarray:
        scaled = self.vectors * np.sqrt(self.weights)
        if same_samples(X, self._held):
            return scaled
        check_pair(X, self._held)
        if is_sparse(X) != is_sparse(self._held):  # rows are compared with those of the graph: in one form
            X = sp.csr_array(X) if is_sparse(self._held) else X.toarray()
        found, times = np.zeros((X.shape[0], scaled.shape[1])), np.zeros(X.shape[0])
        rows, columns = identical_pairs(X, self._held)
        np.add.at(found, rows, scaled[columns])
        np.add.at(times, rows, 1.0)
        found /= np.maximum(times, 1.0)[:, None]
        new = np.flatnonzero(times == 0.0)
        if len(new) and not self.n_neighbors:
            raise DataError(
                f"{len(new)} sample(s), the first at {int(new[0])}, are not in the graph this kernel was learned on, "
                "and that was given without a rule for new ones; learn it with n_neighbors instead of a graph, or give "
                "the graph of all samples and mark the new ones as unlabelled"
            )
        step = rows_within(3 * self._held.shape[0], 8)
        for start in range(0, len(new), step):
            part = new[start : start + step]
            found[part] = self._extended(X[part], scaled)
        return found

    def _extended(self, X: Any, scaled: np.ndarray) -> np.ndarray:
        squares, slack = _squared_distances(X, self._held)
        nearest = np.partition(squares, self.n_neighbors - 1, axis=1)[:, self.n_neighbors - 1]
        limit = np.maximum(nearest[:, None], self.radii * self.radii)
        w = (squares <= limit + slack).astype(np.float64)
        degree = w.sum(axis=1)
        w *= 1.0 / np.sqrt(self.degrees)
        a = self.eigenvalues
        inverse = np.divide(1.0, a, out=np.zeros_like(a), where=np.abs(a) > _VANISHING)
        return (w @ scaled) * inverse / np.sqrt(degree)[:, None]

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        left = self._features(X)
        # One factor twice where the samples are the same: the result is then symmetric to the last bit.
        right = left if Z is None or same_samples(X, Z) else self._features(Z)
        return copied((left @ right.T).astype(result_dtype(X, X if Z is None else Z), copy=False), out)

    def _diagonal(self, X: Any) -> np.ndarray:
        F = self._features(X)
        return np.einsum("ij,ij->i", F, F).astype(result_dtype(X, X), copy=False)

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        left = aslinearoperator(self._features(X))
        right = left if Z is None else aslinearoperator(self._features(Z))
        return with_form(left @ right.T)

    def scalar(self, x: Any, z: Any) -> float:
        """Return k(x, z) of one pair (through the features: there is no shorter formula)."""
        left, right = (self.features(np.asarray(side)[None])[0] for side in (x, z))
        return float(left @ right)


def _squared_distances(X: Any, Z: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return ‖x - z‖² in float64, and how far rounding may have moved them: as far as ties are ties."""
    from sklearn.metrics.pairwise import euclidean_distances

    X, Z = in_double(X), in_double(Z)
    if not is_sparse(Z):  # expanded squares of samples far from the origin say nothing about their distances
        centre = Z.mean(axis=0)
        X, Z = X - centre, Z - centre
    sizes = [
        np.asarray(abs(side).power(2).sum(axis=1) if is_sparse(side) else (side * side).sum(axis=1)) for side in (X, Z)
    ]
    return euclidean_distances(X, Z, squared=True), _TIE * np.add.outer(sizes[0].ravel(), sizes[1].ravel())


def _vector(value: Any) -> np.ndarray:
    found = np.asarray(value)
    if found.ndim != 1 or found.dtype.kind not in "fiu" or not np.isfinite(found).all():
        raise ValueError
    return frozen(np.ascontiguousarray(found, dtype=np.float64))


vector = Domain("a finite 1-D numeric array", _vector)


def _example(rng: np.random.Generator, n: int) -> tuple[Kernel, Any]:
    S = rng.normal(size=(11, 4))
    V = np.linalg.qr(rng.normal(size=(11, 3)))[0]
    kernel = neighbour_spectrum(
        S, V, [0.5, 0.3, 0.2], [0.9, 0.6, -0.4], np.full(11, 4.0), np.full(11, 1.0), n_neighbors=3
    )
    return kernel, rng.normal(size=(n, 4))


neighbour_spectrum = KernelFamily(
    "neighbour-spectrum",
    NeighbourSpectrum,
    (
        Parameter("samples", REQUIRED, matrix),
        Parameter("vectors", REQUIRED, dense),
        Parameter("weights", REQUIRED, vector),
        Parameter("eigenvalues", REQUIRED, vector),
        Parameter("degrees", REQUIRED, vector),
        Parameter("radii", REQUIRED, vector),
        Parameter("n_neighbors", 0, integer(0)),
    ),
    symmetric=True,
    definite=True,
    example=_example,
)
