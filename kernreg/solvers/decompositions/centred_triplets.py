"""Singular triplets of a centred kernel matrix between two sample sets, held in memory or given by products.

What kernel SVD decomposes, and, for comparison, the two methods it generalises: `linear_svd` and `two_kpca`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.exceptions import ConvergenceWarning

from kernreg.common.progress import residual_progress
from kernreg.engine.arrays import is_sparse
from kernreg.engine.dispatch import current_engine
from kernreg.engine.threads import configured_blas, single_threaded_blas
from kernreg.errors import DataError, MemoryBudgetWarning
from kernreg.factory import make_kernel
from kernreg.kernels import Kernel
from kernreg.linalg.randomness import generator
from kernreg.linalg.spectra.centred_pairs import TwoSidedOperator, centre_both_sides, without_mean
from kernreg.linalg.spectra.lanczos import Watch
from kernreg.linalg.spectra.partial import eigenpairs, singular_triplets
from kernreg.linalg.spectra.products import NotFiniteError, is_finite
from kernreg.linalg.spectra.report import PartialReport
from kernreg.solvers.advice import advise
from kernreg.solvers.decompositions.completeness import missed
from kernreg.solvers.decompositions.room import doubt_of_triplets
from kernreg.solvers.finiteness import not_finite_error
from kernreg.solvers.samples import count_samples, input_kind

SVD_SOLVERS = ("auto", "dense", "krylov", "arpack", "randomized", "operator")

#: Forms of an operator whose products cost what the data store, not what the kernel matrix holds.
_CHEAP = ("separable", "held")
_FEW = 100  # components up to which ARPACK, vector by vector, is the fastest with cheap products
_SMALL = 500  # samples up to which LAPACK is faster still
_MATRICES = 3  # copies of G that a decomposition in memory takes, about


@dataclass(frozen=True)
class SVDSettings:
    """How triplets are found: one of `SVD_SOLVERS`, and what `singular_triplets` takes."""

    solver: str = "auto"
    tol: float | None = None
    max_iter: int | None = None
    random_state: Any = 0

    def options(self, callback: Watch) -> dict[str, Any]:
        """Return what every method of `singular_triplets` takes."""
        return {"tol": self.tol, "max_iter": self.max_iter, "random_state": self.random_state, "callback": callback}


@dataclass(frozen=True)
class Decomposition:
    """G̃ ≈ U diag(σ) Vᵀ and the scores of the samples: those of the left side are G̃ V, of the right side G̃ᵀ U.

    The scores of a new sample x are k(x, Z) V - left_offset, and of a new sample z k(X, z)ᵀ U - right_offset. (V and U
    have no mean where G is centred, so of the four terms of a centred value only these two remain.)
    """

    left: np.ndarray
    values: np.ndarray
    right: np.ndarray
    left_scores: np.ndarray
    right_scores: np.ndarray
    left_offset: np.ndarray
    right_offset: np.ndarray
    report: PartialReport


@configured_blas()
def decompose(kernel: Kernel, X: Any, Z: Any, r: int, settings: SVDSettings, *, center: bool) -> Decomposition:
    """Return the r leading triplets of the kernel matrix between X and Z, centred on both sides or as it is."""
    operator, note = _operator(kernel, X, Z, settings.solver)
    if doubt := doubt_of_triplets((count_samples(X), count_samples(Z)), r, settings.solver, held=operator is None):
        advise(doubt, MemoryBudgetWarning, stacklevel=5)
    try:
        # What is not finite is an error that says where, below; numpy's warning about it would only say that.
        with residual_progress("kernel SVD") as callback, np.errstate(invalid="ignore", over="ignore"):
            options = settings.options(callback)
            if operator is not None:
                triplets, size = _by_products(operator, r, center, options)
            else:
                G = kernel(X, Z).astype(np.float64, copy=False)
                triplets, size = _in_memory(G, r, center, settings.solver, options)
    except NotFiniteError:
        raise not_finite_error(kernel, X, Z) from None
    shape = len(triplets.left), len(triplets.right)
    if not triplets.values[0] > 10.0 * np.finfo(kernel_dtype(X, Z)).eps * size * np.sqrt(shape[0] * shape[1]):
        raise DataError(_nothing_left(kernel, size, center))
    return replace(triplets, report=_explained(triplets.report, note, triplets.values, shape))


def _by_products(G: LinearOperator, r: int, center: bool, options: dict[str, Any]) -> tuple[Decomposition, float]:
    """Return the decomposition of a matrix that is not held, and the size of its values, about."""
    A = TwoSidedOperator(G) if center else G
    U, values, V, report = _from_products(A, r, _form(G) in _CHEAP, options)
    U, V = _oriented(U, V, center)
    left, right = np.asarray(G.matmat(V)), np.asarray(G.rmatmat(U))
    size = max(np.abs(G.matvec(np.ones(len(V)))).max() / len(V), np.abs(left).max())
    of_left, of_right = (left.mean(axis=0), right.mean(axis=0)) if center else (np.zeros(r), np.zeros(r))
    return Decomposition(U, values, V, left - of_left, right - of_right, of_left, of_right, report), float(size)


def _in_memory(
    G: np.ndarray, r: int, center: bool, method: str, options: dict[str, Any]
) -> tuple[Decomposition, float]:
    """Return the decomposition of a matrix, which is overwritten, and the size of its values."""
    if not is_finite(G):
        raise NotFiniteError
    size = max(G.max(), -G.min())
    rows = G.mean(axis=1)
    columns = centre_both_sides(G) if center else None
    U, values, V, report = singular_triplets(G, r, method=method, **options)
    U, V = _oriented(U, V, center)
    of_left, of_right = (np.zeros(r), np.zeros(r)) if columns is None else (columns @ V, rows @ U)
    return Decomposition(U, values, V, G @ V, G.T @ U, of_left, of_right, report), float(size)


def _from_products(
    A: LinearOperator, r: int, cheap: bool, options: dict[str, Any]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, PartialReport]:
    """Return the triplets of an operator: vector by vector where products are cheap, in blocks where they are not."""
    if not cheap or r > _FEW or min(A.shape) <= max(_SMALL, 2 * r):
        return singular_triplets(A, r, **options)
    # Single vectors are too little work to share: threads of BLAS would only wait for each other.
    with single_threaded_blas(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # blocks take over
        U, values, V, report = singular_triplets(A, r, method="arpack", **options)
        more = missed(A.matmat, A.rmatmat, V, float(values[-1]), generator(options["random_state"]))
    if more is None and report.converged:
        return U, values, V, report
    U, values, V, report = singular_triplets(A, r, method="krylov", **options)
    why = "it had not converged" if more is None else "it had missed copies of repeated singular values"
    return U, values, V, replace(report, note=f"krylov after arpack, because {why}")


def _operator(kernel: Kernel, X: Any, Z: Any, svd_solver: str) -> tuple[LinearOperator | None, str]:
    """Return products with G where that is the way to take, and why."""
    if svd_solver == "operator":
        return kernel.operator(_double(X), _double(Z)), ""
    if svd_solver != "auto":
        return None, ""
    if (is_sparse(X) and is_sparse(Z)) or input_kind(kernel) == "index":
        operator = kernel.operator(_double(X), _double(Z))
        if _form(operator) in _CHEAP:
            return operator, "products cost what the data store"
    if not current_engine().fits(_MATRICES * 8 * count_samples(X) * count_samples(Z)):
        return kernel.operator(X, Z), "the matrix is beyond the memory budget"
    return None, ""


def _form(operator: LinearOperator) -> str:
    return str(getattr(operator, "form", "blocks"))


def _double(samples: Any) -> Any:
    # Sparse samples are small next to G: in float64 their products cost what they store, and are exact.
    return samples.astype(np.float64) if is_sparse(samples) and samples.dtype == np.float32 else samples


def kernel_dtype(X: Any, Z: Any) -> np.dtype:
    """Return the type of results: float32 where both sides are."""
    single = all(getattr(side, "dtype", None) == np.float32 for side in (X, Z))
    return np.dtype(np.float32 if single else np.float64)


def _oriented(U: np.ndarray, V: np.ndarray, center: bool) -> tuple[np.ndarray, np.ndarray]:
    # Vectors of G̃ have no mean; those of a singular value zero may, and then they are not orthogonal to the offset.
    U, V = np.asarray(U, dtype=np.float64), np.asarray(V, dtype=np.float64)
    return (without_mean(U), without_mean(V)) if center else (U, V)


def _nothing_left(kernel: Kernel, size: float, center: bool) -> str:
    if center and size > 0.0:
        return (
            f"the kernel {kernel!r} takes the same value, about {size:.3g}, for every pair of these samples, but for "
            "rounding errors: once centred nothing is left to decompose. Check the kernel's parameters and the scale "
            "of the features, or use center=False"
        )
    return (
        f"the kernel {kernel!r} is zero for every pair of these samples: there is nothing to decompose. Check the "
        "kernel's parameters and the scale of the features"
    )


def _explained(report: PartialReport, note: str, values: np.ndarray, shape: tuple[int, int]) -> PartialReport:
    parts = [note, report.note]
    rank = int((values > max(shape) * np.finfo(np.float64).eps * values[0]).sum())
    if rank < len(values):
        parts.append(f"the matrix has rank {rank}: further singular values are zero, and their vectors arbitrary")
    return replace(report, note="; ".join(part for part in parts if part))


class Triplets(NamedTuple):
    """Left singular vectors (n, r), singular values (r,) and right singular vectors (m, r)."""

    left: np.ndarray
    values: np.ndarray
    right: np.ndarray


def linear_svd(A: Any, n_components: int = 2, *, center: bool = False) -> Triplets:
    """Return the leading singular triplets of a data matrix, sparse or dense, as it is or centred on both sides.

    The same as kernel SVD with the linear kernel, ``compatibility="a0"`` and ``scale=False``, because A A⁺ A = A; here
    no pseudo-inverse is formed, so large sparse matrices are fine.

    Examples
    --------
    >>> import numpy as np
    >>> linear_svd(np.diag([3.0, 5.0]), 1).values.tolist()
    [5.0]
    """
    matrix: Any = sp.csr_array(A, dtype=np.float64) if is_sparse(A) else np.asarray(A, dtype=np.float64)
    U, values, V, _ = singular_triplets(TwoSidedOperator(aslinearoperator(matrix)) if center else matrix, n_components)
    return Triplets(U, values, V)


def two_kpca(kernel: Any, X: Any, Z: Any = None, n_components: int = 2, *, center: bool = True) -> Triplets:
    """Return the eigenvectors of G̃G̃ᵀ and of G̃ᵀG̃, each by itself, and the square roots of the eigenvalues.

    Two kernel PCAs of the kernels that an asymmetric one is often replaced by. They span the same directions as kernel
    SVD, but each vector has a sign of its own, so G̃ cannot be put together from them; and where singular values are
    close to the rounding error of the largest one, squaring them has lost them.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel
    X, Z : array-like or CSR
        Both sample sets, in rows; X alone is compared with itself.
    n_components : int
    center : bool

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[4.0, 0.0], [3.0, -5.0]])
    >>> two_kpca("linear", A, np.eye(2), 2, center=False).values.round(6).tolist()
    [6.324555, 3.162278]
    """
    kernel = make_kernel(kernel)
    operator = kernel.operator(X, Z)
    A = TwoSidedOperator(operator) if center else operator
    left, U, _ = eigenpairs(A @ A.T, n_components, order="value")
    _, V, _ = eigenpairs(A.T @ A, n_components, order="value")
    return Triplets(U, np.sqrt(np.maximum(left, 0.0)), V)
