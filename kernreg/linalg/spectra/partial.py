"""A few eigenpairs or singular triplets of a matrix in any form: array, sparse array or operator.

    eigenpairs         A = V diag(λ) Vᵀ, the k largest in magnitude (signs kept) or in value
    singular_triplets  A = U diag(σ) Vᵀ, the k largest

Methods, each reachable by name::

    dense       LAPACK on the matrix in memory                     extremes.py
    krylov      block Lanczos or Golub-Kahan, thick restarts       lanczos.py
    arpack      implicitly restarted Lanczos, vector by vector     external.py (may miss copies of repeated values)
    lobpcg      block conjugate gradients (eigenpairs only)        external.py
    randomized  subspace iteration: approximate, few passes        randomized.py
    auto        dense for small matrices or many pairs, else krylov, which takes the matrix in memory or as products

All are exact to rounding error but ``randomized`` without a tolerance, which does a fixed number of passes and reports
the residual it ended with.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from kernreg.config import memory_budget
from kernreg.errors import AsymmetryError, DataError, ParameterError
from kernreg.linalg.exact.centring import asymmetry
from kernreg.linalg.randomness import generator
from kernreg.linalg.spectra.arpack import arpack_eigenpairs, arpack_triplets, lobpcg_eigenpairs
from kernreg.linalg.spectra.basis import peak_signs
from kernreg.linalg.spectra.lanczos import Found, Settings, Watch, block_golub_kahan, block_lanczos
from kernreg.linalg.spectra.lapack import dense_eigenpairs
from kernreg.linalg.spectra.products import Products
from kernreg.linalg.spectra.randomized import POWER_ITERATIONS, randomized_eigenpairs, randomized_triplets

EIGEN_METHODS = ("auto", "dense", "krylov", "arpack", "lobpcg", "randomized")
SINGULAR_METHODS = ("auto", "dense", "krylov", "arpack", "randomized")
ORDERS = ("magnitude", "value")

_TOLERANCE, _FLOOR, _ROUNDINGS = 1e-12, 4.0, 20.0
_TOLERANCE_LOBPCG = 1e-9  # about what it reaches
_SMALL = 500  # up to this size LAPACK takes milliseconds
_FEW = 0.1  # up to this share of all pairs Krylov methods pay for a matrix in memory


@dataclass(frozen=True)
class PartialReport:
    """How a partial decomposition was found, and how well.

    Attributes
    ----------
    method : str
        What ran: ``"dense"``, ``"krylov"``, ``"arpack"``, ``"lobpcg"`` or ``"randomized"``.
    shape : tuple of int
    components : int
        Pairs or triplets asked for.
    iterations : int
        Steps of the iteration, 0 for a direct one.
    products : int
        Columns multiplied by the matrix or its transpose.
    passes : int
        Products of whole blocks: how often the matrix was gone through.
    residual : float
        Largest ‖A v - λ v‖ (or ‖Aᵀu - σ v‖, ‖A v - σ u‖), relative to the largest |λ| (σ).
    converged : bool
        Whether that is within the tolerance asked for; with no tolerance, True.
    form : str
        How products were made: ``"array"``, ``"sparse"``, ``"products"``, or what an operator says of itself.
    note : str
        Why the method was taken, or was left for another.
    """

    method: str
    shape: tuple[int, int]
    components: int
    iterations: int
    products: int
    passes: int
    residual: float
    converged: bool = True
    form: str = "array"
    note: str = ""


def eigenpairs(
    A: Any,
    k: int,
    *,
    order: str = "magnitude",
    method: str = "auto",
    tol: float | None = None,
    max_iter: int | None = None,
    random_state: Any = 0,
    definite: bool = False,
    overwrite: bool = False,
    start: np.ndarray | None = None,
    block: int | None = None,
    callback: Watch | None = None,
) -> tuple[np.ndarray, np.ndarray, PartialReport]:
    """Return k eigenpairs of a symmetric matrix, A v = λ v.

    Parameters
    ----------
    A : ndarray, sparse array or LinearOperator of shape (n, n)
        Symmetric; where an asymmetry shows, it is refused.
    k : int
        How many pairs, from 1 to n.
    order : {"magnitude", "value"}
        The largest |λ| or the largest λ, in that order.
    method : {"auto", "dense", "krylov", "arpack", "lobpcg", "randomized"}
        See the module.
    tol : float, optional
        Residual to reach, relative to the largest |λ|. Default: 1e-12 (2e-6 for float32, 1e-9 for ``"lobpcg"``); for
        ``"randomized"`` none, but a fixed number of passes.
    max_iter : int, optional
        Bound on the iterations, 300 by default (the own bound of ARPACK for ``"arpack"``); reaching it gives a
        ConvergenceWarning.
    random_state : int, Generator or None
        Of starting vectors.
    definite : bool
        Whether A is known to be positive semi-definite; spares ``"lobpcg"`` the lower end of the spectrum.
    overwrite : bool
        Whether a float64 array may be used as working memory.
    start : ndarray of shape (n, any), optional
        Directions near the eigenvectors wanted, to start ``"krylov"`` from.
    block : int, optional
        Columns that ``"krylov"`` multiplies at once; some more than k by default.
    callback : callable, optional
        Called as ``callback(step, residual / tol)`` by our own iterations.

    Returns
    -------
    values : ndarray of shape (k,)
    vectors : ndarray of shape (n, k)
        Orthonormal columns, the largest entry of each positive.
    report : PartialReport

    Examples
    --------
    >>> import numpy as np
    >>> values, vectors, report = eigenpairs(np.diag([3.0, -5.0, 1.0]), 2)
    >>> values.tolist(), report.method
    ([-5.0, 3.0], 'dense')
    """
    matrix = A if isinstance(A, Products) else Products(A, symmetric=True)
    n = matrix.shape[0]
    if matrix.shape[1] != n:
        raise DataError(f"the matrix has shape {matrix.shape}; eigenpairs need a square one. Use singular_triplets")
    _require_choice("method", method, EIGEN_METHODS)
    _require_choice("order", order, ORDERS)
    _require_count(k, n)
    settings, fixed = _settings(matrix, k, method, tol, max_iter, random_state, start, block, callback)
    chosen, note = _choose(matrix, method, k, vectors=1)
    if chosen in ("arpack", "lobpcg") and (n < 5 * k or k >= n - 1):
        chosen, note = "dense", f"{method} needs more samples for each pair (n = {n}, k = {k}); dense was taken"
    found = None
    if chosen == "krylov":
        bound = _worthwhile(matrix, method, settings)
        found = block_lanczos(matrix.product, n, k, order, bound)
        if not found.converged and bound.max_iter < settings.max_iter:
            chosen, note, found = "dense", "krylov was slow on this spectrum; dense took over", None
    elif chosen == "arpack":
        found = arpack_eigenpairs(matrix, k, order, settings)
    elif chosen == "lobpcg":
        found = lobpcg_eigenpairs(matrix, k, order, settings, definite)
    elif chosen == "randomized":
        found = randomized_eigenpairs(matrix.product, n, k, order, settings, fixed)
    if found is None:
        found = _dense(matrix, k, order, overwrite)
    report = _report(chosen, matrix, k, found, fixed, settings, note)
    signs = peak_signs(found.vectors)
    kept = matrix.dtype
    return (found.values / matrix.factor).astype(kept), (found.vectors * signs).astype(kept), report


def singular_triplets(
    A: Any,
    k: int,
    *,
    method: str = "auto",
    tol: float | None = None,
    max_iter: int | None = None,
    random_state: Any = 0,
    start: np.ndarray | None = None,
    block: int | None = None,
    callback: Watch | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, PartialReport]:
    """Return the k largest singular triplets of a matrix, A v = σ u and Aᵀu = σ v.

    Parameters
    ----------
    A : ndarray, sparse array or LinearOperator of shape (n, m)
        An operator needs products with its transpose, too.
    k : int
        How many triplets, from 1 to min(n, m).
    method : {"auto", "dense", "krylov", "arpack", "randomized"}
        See the module.
    tol, max_iter, random_state, block, callback
        As in `eigenpairs`.
    start : ndarray of shape (m, any), optional
        Directions near the right singular vectors wanted (left ones, of shape (n, any), where n < m).

    Returns
    -------
    U : ndarray of shape (n, k)
        Orthonormal columns, the largest entry of each positive.
    s : ndarray of shape (k,)
        Descending.
    V : ndarray of shape (m, k)
    report : PartialReport

    Examples
    --------
    >>> import numpy as np
    >>> U, s, V, report = singular_triplets(np.array([[0.0, 2.0], [1.0, 0.0]]), 1)
    >>> s.tolist(), abs(U).ravel().tolist(), abs(V).ravel().tolist()
    ([2.0], [1.0, 0.0], [0.0, 1.0])
    """
    matrix = Products(A)
    rows, columns = matrix.shape
    _require_choice("method", method, SINGULAR_METHODS)
    _require_count(k, min(rows, columns))
    settings, fixed = _settings(matrix, k, method, tol, max_iter, random_state, start, block, callback)
    chosen, note = _choose(matrix, method, k, vectors=2)
    if chosen == "arpack" and k >= min(rows, columns) - 1:
        chosen, note = "dense", f"arpack finds fewer than all triplets (k = {k}); dense was taken"
    found = None
    if chosen == "krylov":
        bound = _worthwhile(matrix, method, settings)
        if rows >= columns:
            found = block_golub_kahan(matrix.product, matrix.adjoint, (rows, columns), k, bound)
        else:
            found = _swapped(block_golub_kahan(matrix.adjoint, matrix.product, (columns, rows), k, bound))
        if not found.converged and bound.max_iter < settings.max_iter:
            chosen, note, found = "dense", "krylov was slow on this spectrum; dense took over", None
    elif chosen == "arpack":
        found = arpack_triplets(matrix, k, settings)
    elif chosen == "randomized":
        found = randomized_triplets(matrix.product, matrix.adjoint, matrix.shape, k, settings, fixed)
    if found is None:
        found = _dense_triplets(matrix, k)
    assert found.left is not None
    report = _report(chosen, matrix, k, found, fixed, settings, note)
    signs = peak_signs(found.left)
    U, V = found.left * signs, found.vectors * signs
    kept = matrix.dtype
    return U.astype(kept), (found.values / matrix.factor).astype(kept), V.astype(kept), report


def _require_choice(name: str, value: Any, accepted: tuple[str, ...]) -> None:
    if value not in accepted:
        raise ParameterError(f"{name}={value!r} is not accepted; give {' or '.join(map(repr, accepted))}")


def _require_count(k: Any, largest: int) -> None:
    if isinstance(k, bool) or not isinstance(k, Integral) or not 1 <= int(k) <= largest:
        raise ParameterError(f"k={k!r} is not accepted; a matrix of this shape has 1 to {largest} of them")


def _settings(
    A: Products,
    k: int,
    method: str,
    tol: Any,
    max_iter: Any,
    random_state: Any,
    start: Any,
    block: int | None,
    watch: Watch | None,
) -> tuple[Settings, int | None]:
    """Return how iterations run, and the fixed number of passes of a randomised one that was given no tolerance."""
    if tol is not None and (not isinstance(tol, Real) or not 0.0 < float(tol) < 1.0):
        raise ParameterError(f"tol={tol!r} is not accepted; give a number between 0 and 1, or None")
    if max_iter is not None and (not isinstance(max_iter, Integral) or max_iter < 1):
        raise ParameterError(f"max_iter={max_iter!r} is not accepted; give a positive integer, or None")
    fixed = None
    if method == "randomized" and tol is None:
        fixed = POWER_ITERATIONS if max_iter is None else int(max_iter)
    usual = _TOLERANCE_LOBPCG if method == "lobpcg" else _TOLERANCE
    goal = max(usual, _ROUNDINGS * A.eps) if tol is None else max(float(tol), _FLOOR * A.eps)
    # The basis may take a quarter of the memory budget.
    fitting = max(1, memory_budget() // (4 * 8 * sum(A.shape)))
    plain = Settings(goal, 1, generator(random_state), block=block)
    block, columns = plain.sizes(min(A.shape), k)
    if max_iter is None:
        max_iter = 10 * max(A.shape) if method == "arpack" else 300
    return Settings(
        goal,
        int(max_iter),
        plain.rng,
        asymmetry=1e-8 if A.dtype == np.float64 else 1e-4,
        noise=A.noise,
        block=block,
        columns=max(min(columns, fitting), min(min(A.shape), k + 2 * block)),
        start=start,
        watch=watch,
    ), fixed


def _choose(A: Products, method: str, k: int, vectors: int) -> tuple[str, str]:
    """Return the method to take and why."""
    if method != "auto":
        return method, ""
    size, small = max(A.shape), min(A.shape)
    if A.held:
        if small <= _SMALL or k > _FEW * small:
            return "dense", "small, or many components"
        return "krylov", "few components of a matrix in memory"
    fits = 8 * A.shape[0] * A.shape[1] <= memory_budget() // (4 * vectors)
    if fits and (size <= _SMALL or 4 * k > small):
        return "dense", "small, or many components: the operator was made an array"
    return "krylov", "products only"


def _worthwhile(A: Products, method: str, settings: Settings) -> Settings:
    """Return settings for a Krylov method that gives up once LAPACK would have been faster, if LAPACK is an option."""
    if method != "auto" or not A.held:
        return settings
    return replace(settings, max_iter=min(settings.max_iter - 1, max(20, min(A.shape) // 20)))


def _dense(A: Products, k: int, order: str, overwrite: bool) -> Found:
    D, itself = A.dense(overwrite=overwrite)
    gap, largest = asymmetry(D), max(float(D.max()), -float(D.min()))
    if gap * largest > (1e-8 if A.dtype == np.float64 else 1e-4) * largest + A.noise():
        raise AsymmetryError(
            f"the matrix is asymmetric (max |A - Aᵀ| is {gap:.3g} of max |A|); eigenpairs are those of a symmetric "
            "one. Use singular_triplets"
        )
    values, vectors = dense_eigenpairs(D, k, order, overwrite=True)
    # The matrix may be gone by now; backward stability of LAPACK is what is left to say then.
    residual = A.eps if itself else _relative(A.product(vectors) - vectors * values, values)
    return Found(values, vectors, 0, residual, True)


def _dense_triplets(A: Products, k: int) -> Found:
    U, values, V = linalg.svd(A.dense()[0], full_matrices=False, overwrite_a=True, check_finite=False)
    left, right = U[:, :k], V[:k].T
    rest = A.adjoint(left) - right * values[:k]
    return Found(values[:k], right, 0, _relative(rest, values), True, left)


def _swapped(found: Found) -> Found:
    assert found.left is not None
    return Found(found.values, found.left, found.iterations, found.residual, found.converged, found.vectors)


def _relative(rest: np.ndarray, values: np.ndarray) -> float:
    scale = float(np.abs(values).max(initial=0.0))
    return float(np.linalg.norm(rest, axis=0).max(initial=0.0)) / scale if scale > 0.0 else 0.0


def _report(
    method: str, A: Products, k: int, found: Found, fixed: int | None, settings: Settings, note: str
) -> PartialReport:
    converged = found.converged or fixed is not None
    if not converged:
        warnings.warn(
            f"{method} stopped after {found.iterations} iterations with a relative residual of {found.residual:.2g}, "
            f"and tol={settings.tol:.2g} was asked for. Raise max_iter or tol, or use 'dense' where memory allows",
            ConvergenceWarning,
            stacklevel=3,
        )
    steps, residual = found.iterations, found.residual
    return PartialReport(method, A.shape, int(k), steps, A.count, A.passes, residual, converged, A.form, note)
