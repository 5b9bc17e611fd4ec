"""Neighbourhood graphs and their smoothest eigenvectors.

With the weights w of a graph and its degrees D, the normalised Laplacian is L = I - D^(-1/2) w D^(-1/2). Each connected
component has one trivial eigenvector, D^(1/2) times its indicator, with eigenvalue 0. The eigenvectors that follow are
the smoothest functions on the graph that say something.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import null_space
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, splu

from kernreg.common.checks import is_whole
from kernreg.config import memory_budget
from kernreg.engine.arrays import in_double, is_sparse
from kernreg.engine.budget import warn_beyond_budget
from kernreg.engine.threads import single_threaded_blas
from kernreg.errors import AsymmetryError, DataError, ParameterError, shown
from kernreg.kernels import Kernel
from kernreg.kernels.combinations.neighbour_spectrum import neighbour_spectrum
from kernreg.linalg.spectra.memory import of_pairs
from kernreg.linalg.spectra.partial import Hints, eigenpairs
from kernreg.linalg.spectra.report import PartialReport

EIGEN_SOLVERS = ("auto", "dense", "krylov", "arpack", "lobpcg", "shift-invert")

_LARGEST = 1e150  # of the entries whose distances have a square
_SPARSE = 0.02  # share of entries above which sparse samples are no cheaper to compare than dense ones
_SHIFT = 1e-3  # of L, which is singular
_DENSE = 1500  # up to this size LAPACK on the dense matrix is the fastest
_BLOCK = 16  # columns of a block: enough for products of matrices, few enough not to waste products with the graph
_WIDEST = 96
_AWAY = 3.0  # moves the trivial eigenvalues of a dense D^(-1/2) w D^(-1/2) from 1 to -2, below all others


@dataclass(frozen=True)
class NeighbourGraph:
    """A graph over samples.

    Attributes
    ----------
    weights : csr_array of shape (n, n)
        Symmetric, without self loops where it was made of neighbours.
    degrees : ndarray of shape (n,)
    radii : ndarray of shape (n,)
        Distance of each sample's farthest neighbour, 0 where the graph was given.
    component : ndarray of int of shape (n,)
        To which connected component each sample belongs.
    n_neighbors : int
        0 where the graph was given.

    Examples
    --------
    >>> import numpy as np
    >>> graph = neighbour_graph(np.array([[0.0], [1.0], [5.0], [6.0]]), 1)
    >>> graph.n_connected, graph.component.tolist()
    (2, [0, 0, 1, 1])
    """

    weights: Any
    degrees: np.ndarray
    radii: np.ndarray
    component: np.ndarray
    n_neighbors: int

    @property
    def n_connected(self) -> int:
        """Number of connected components."""
        return int(self.component.max()) + 1

    @property
    def note(self) -> str:
        """What a report says about it: nothing where it is connected."""
        if self.n_connected == 1:
            return ""
        return f"the graph has {self.n_connected} connected components"

    def normalised(self) -> Any:
        """Return D^(-1/2) w D^(-1/2), sparse; rows of isolated samples are zero."""
        root = np.sqrt(self.degrees)
        inverse = sp.diags_array(np.divide(1.0, root, out=np.zeros_like(root), where=root > 0.0))
        return sp.csr_array(inverse @ self.weights @ inverse)

    def trivial(self) -> Any:
        """Return the trivial eigenvectors, one column for each component, sparse and orthonormal."""
        n = len(self.degrees)
        size = np.sqrt(np.where(self.degrees > 0.0, self.degrees, 1.0))
        norms = np.sqrt(np.bincount(self.component, size * size))
        return sp.csr_array((size / norms[self.component], (np.arange(n), self.component)))

    def contrasts(self) -> np.ndarray:
        """Return what the eigenvalue 0 has beside the constant direction D^(1/2) 1: differences of components.

        Returns
        -------
        ndarray of shape (n, c - 1)
            Orthonormal, for c components with edges; those of isolated samples have the eigenvalue 1.
        """
        volumes = np.bincount(self.component, self.degrees)
        joined = volumes > 0.0
        return self.trivial()[:, joined] @ null_space(np.sqrt(volumes[joined])[None])

    def count(self, n_components: Any, default: int = 200) -> int:
        """Return how many eigenvectors to take: as asked for, or the default, or as many as are not trivial.

        Raises
        ------
        ParameterError
            If there are not that many.
        DataError
            If there is none.
        """
        n = len(self.degrees)
        most = n - self.n_connected
        if most < 1:
            raise DataError(
                f"the graph has {self.n_connected} connected components of {n} samples, and no eigenvector beside the "
                "trivial ones; join more samples"
            )
        if n_components is None:
            return min(default, most)
        count = int(n_components) if is_whole(n_components) else 0
        if not 1 <= count <= most:
            raise ParameterError(
                f"n_components={shown(n_components)} is not accepted; {n} samples in {self.n_connected} connected "
                f"component(s) have 1 to {most} eigenvectors that are not trivial"
            )
        return count

    def kernel(self, X: Any, vectors: np.ndarray, weights: np.ndarray, eigenvalues: np.ndarray) -> Kernel:
        """Return k(x, z) = Σ_i μ_i v_i(x) v_i(z), for new samples by Nyström extension of the vectors.

        Parameters
        ----------
        X : array or CSR of shape (n, d)
            The samples of the graph.
        vectors : ndarray of shape (n, r)
        weights : ndarray of shape (r,)
            μ, not negative; vectors of weight zero are left out.
        eigenvalues : ndarray of shape (r,)
            Of D^(-1/2) w D^(-1/2): one minus those of L.
        """
        used = weights > 0.0
        return neighbour_spectrum(
            samples=X,
            vectors=vectors[:, used],
            weights=weights[used],
            eigenvalues=eigenvalues[used],
            degrees=np.where(self.degrees > 0.0, self.degrees, 1.0),
            radii=self.radii,
            n_neighbors=self.n_neighbors,
        )


def neighbour_graph(X: Any, n_neighbors: Any) -> NeighbourGraph:
    """Return the graph that joins each sample with its nearest ones, weights 0 and 1.

    Two samples are joined where one is among the ``n_neighbors`` nearest of the other (Euclidean distance).

    Examples
    --------
    >>> import numpy as np
    >>> neighbour_graph(np.array([[0.0], [1.0], [3.0], [3.5]]), 1).weights.toarray().astype(int)
    array([[0, 1, 0, 0],
           [1, 0, 0, 0],
           [0, 0, 0, 1],
           [0, 0, 1, 0]])
    """
    from sklearn.neighbors import NearestNeighbors

    n = X.shape[0]
    k = int(n_neighbors) if is_whole(n_neighbors) else 0
    if k < 1:
        raise ParameterError(f"n_neighbors={shown(n_neighbors)} is not accepted; give a positive integer")
    if k >= n:
        raise ParameterError(
            f"n_neighbors={shown(k)}, and there are {n} samples; a sample has {n - 1} others, so at most {n - 1} is "
            "accepted"
        )
    largest = float(np.abs(X.data if is_sparse(X) else X).max(initial=0.0))
    if 0.0 < largest < 1.0 / _LARGEST:
        raise DataError(
            f"X holds no values larger than {largest:.3g}, and the squares of distances below {1.0 / _LARGEST:g} are "
            "zero; scale the features"
        )
    if not largest < _LARGEST:
        raise DataError(
            f"X holds values as large as {largest:.3g}, and the squares of distances above {_LARGEST:g} overflow; "
            "scale the features"
        )
    if is_sparse(X) and X.nnz > _SPARSE * n * X.shape[1] and 16 * 8 * n * X.shape[1] <= memory_budget():
        X = X.toarray()  # distances of dense rows are products of matrices
    X = in_double(X)  # radii in full precision
    if not is_sparse(X):  # expanded squares of samples far from the origin say nothing about their distances
        X = X - X.mean(axis=0)
    distances, indices = NearestNeighbors(n_neighbors=k).fit(X).kneighbors()
    rows = np.repeat(np.arange(n), k)
    near = sp.csr_array((np.ones(len(rows)), (rows, indices.ravel())), shape=(n, n))
    weights = sp.csr_array(near.maximum(near.T))
    return _graph(weights, distances[:, -1].astype(np.float64), k)


def given_graph(graph: Any, n: int) -> NeighbourGraph:
    """Return a graph given as a symmetric matrix of non-negative weights, sparse or dense, checked.

    Examples
    --------
    >>> given_graph([[0, 1], [1, 0]], 2).degrees.tolist()
    [1.0, 1.0]
    """
    try:
        table: Any = sp.csr_array(graph) if is_sparse(graph) else np.asarray(graph)
    except ValueError:  # rows of different lengths
        raise DataError(f"graph={shown(graph)} is no table; with {n} samples give {n} × {n} numbers") from None
    if table.shape != (n, n) or table.dtype.kind not in "fiub":
        raise DataError(
            f"graph has shape {table.shape} and type {table.dtype}; with {n} samples give {n} × {n} numbers, the "
            "weights of edges"
        )
    weights: Any = sp.csr_array(table).astype(np.float64)
    weights.eliminate_zeros()
    if not np.isfinite(weights.data).all() or weights.data.min(initial=0.0) < 0.0:
        raise DataError("graph has negative or infinite weights or NaN; weights are finite and not negative")
    gap = abs(weights - weights.T).max() if weights.nnz else 0.0
    if gap > 0.0:
        raise AsymmetryError(
            f"graph is not symmetric, the largest |w - wᵀ| is {gap:g}; its Laplacian is that of an undirected graph. "
            "Say how directions are dropped, for example graph.maximum(graph.T)"
        )
    if not weights.nnz:
        raise DataError("graph has no edges, so that nothing is smooth or rough on it; give one that has")
    return _graph(weights, np.zeros(n), 0)


def smoothest(
    graph: NeighbourGraph,
    count: int,
    *,
    eigen_solver: str = "auto",
    tol: float = 1e-9,
    max_iter: int | None = None,
    random_state: Any = 0,
) -> tuple[np.ndarray, np.ndarray, PartialReport]:
    """Return the eigenvectors of L with the smallest eigenvalues, the trivial ones left out.

    Parameters
    ----------
    graph : NeighbourGraph
    count : int
        How many, at most n minus the number of components.
    eigen_solver : {"auto", "dense", "krylov", "arpack", "lobpcg", "shift-invert"}
        ``shift-invert`` factorises L + 0.001 I, sparse, and runs ARPACK on its inverse: for graphs that are nearly
        lines or grids, whose smallest eigenvalues are close together (the factors of other graphs fill up: of
        neighbours in many dimensions they are dense). The others work on D^(-1/2) w D^(-1/2), whose
        largest eigenvalues are the smallest of L; ``auto`` is ``dense`` for small graphs, else ``krylov``.
    tol, max_iter, random_state
        As in `eigenpairs`.

    Returns
    -------
    values : ndarray of shape (count,)
        Eigenvalues of L, ascending.
    vectors : ndarray of shape (n, count)
    report : PartialReport

    Examples
    --------
    >>> import numpy as np
    >>> graph = neighbour_graph(np.arange(12.0)[:, None], 2)
    >>> values, vectors = smoothest(graph, 3)[:2]
    >>> vectors.shape
    (12, 3)
    """
    A, trivial = graph.normalised(), graph.trivial()
    n = A.shape[0]
    settings: dict[str, Any] = {"order": "value", "max_iter": max_iter, "random_state": random_state}
    if eigen_solver == "dense" or (eigen_solver == "auto" and n <= _DENSE):
        needed = of_pairs(n, count, held=True, dense=True) + 8 * n * n
        warn_beyond_budget(
            needed, f"the spectrum of {n} samples and their neighbours", "take eigen_solver='shift-invert'"
        )
        table = A.toarray() - _AWAY * (trivial @ trivial.T).toarray()
        values, vectors, report = eigenpairs(table, count, method="dense", **settings)
    elif eigen_solver == "shift-invert":
        solve = splu(sp.csc_array((1.0 + _SHIFT) * sp.eye_array(n) - A)).solve

        def inverse(V: np.ndarray) -> np.ndarray:
            V = V - trivial @ (trivial.T @ V)
            return solve(np.ascontiguousarray(V))

        operator = LinearOperator((n, n), matvec=inverse, matmat=inverse, rmatvec=inverse, rmatmat=inverse, dtype=float)
        with single_threaded_blas():
            values, vectors, report = eigenpairs(operator, count, method="arpack", tol=tol, **settings)
        values = 1.0 + _SHIFT - 1.0 / values
    else:

        def product(V: np.ndarray) -> np.ndarray:  # (I + A)/2 without the trivial part: eigenvalues from 0 to 1
            return 0.5 * (A @ V + V) - trivial @ (trivial.T @ V)

        operator = LinearOperator((n, n), matvec=product, matmat=product, rmatvec=product, rmatmat=product, dtype=float)
        method = "krylov" if eigen_solver == "auto" else eigen_solver
        # Components that are alike repeat each other's eigenvalues, and a block finds as many copies as it has columns.
        block = max(_BLOCK, min(2 * graph.n_connected + 4, _WIDEST))
        # Thousands of products with few columns: threads of BLAS gain little on them, and on a machine with other work
        # each waits for the other to be scheduled: Adult a6a under load took 9 s with one thread, 47 and 86 s with two.
        with single_threaded_blas():
            hints = Hints(definite=True, block=block)
            values, vectors, report = eigenpairs(operator, count, method=method, tol=tol, hints=hints, **settings)
        values = 2.0 * values - 1.0
    return 1.0 - values, vectors, report


def _graph(weights: Any, radii: np.ndarray, n_neighbors: int) -> NeighbourGraph:
    _, component = connected_components(weights, directed=False)
    return NeighbourGraph(weights, np.asarray(weights.sum(axis=1)).ravel(), radii, component, n_neighbors)
