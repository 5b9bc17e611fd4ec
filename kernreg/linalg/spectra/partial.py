"""A few eigenpairs or singular triplets of a matrix in any form: array, sparse array or operator.

    eigenpairs         A = V diag(λ) Vᵀ, the k largest in magnitude (signs kept) or in value
    singular_triplets  A = U diag(σ) Vᵀ, the k largest

Methods, each reachable by name::

    dense       LAPACK on the matrix in memory                     lapack.py
    krylov      block Lanczos or Golub-Kahan, thick restarts       lanczos.py
    arpack      implicitly restarted Lanczos, vector by vector     arpack.py (may miss copies of repeated values)
    lobpcg      block conjugate gradients (eigenpairs only)        arpack.py
    randomized  subspace iteration: approximate, few passes        randomized.py
    auto        dense for small matrices or many pairs, else krylov, which takes the matrix in memory or as products

All are exact to rounding error but ``randomized`` without a tolerance, which does a fixed number of passes and reports
the residual it ended with.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from kernreg.common.checks import as_number, check_choice, is_whole
from kernreg.config import memory_budget
from kernreg.engine.threads import configured_blas
from kernreg.errors import DataError, ParameterError, shown
from kernreg.linalg.randomness import generator
from kernreg.linalg.spectra.arpack import arpack_eigenpairs, arpack_triplets, lobpcg_eigenpairs
from kernreg.linalg.spectra.basis import peak_signs, relative_residual
from kernreg.linalg.spectra.lanczos import (
    PartialSpectrum,
    Settings,
    Watch,
    block_golub_kahan,
    block_lanczos,
    require_symmetry,
)
from kernreg.linalg.spectra.lapack import dense_eigenpairs
from kernreg.linalg.spectra.memory import basis_sizes, of_pairs, of_triplets
from kernreg.linalg.spectra.products import Products
from kernreg.linalg.spectra.randomized import POWER_ITERATIONS, randomized_eigenpairs, randomized_triplets
from kernreg.linalg.spectra.report import PartialReport

EIGEN_METHODS = ("auto", "dense", "krylov", "arpack", "lobpcg", "randomized")
SINGULAR_METHODS = ("auto", "dense", "krylov", "arpack", "randomized")
ORDERS = ("magnitude", "value")

_TOLERANCE, _FLOOR, _ROUNDINGS = 1e-12, 4.0, 20.0
_TOLERANCE_LOBPCG = 1e-9  # about what it reaches
_SMALL = 500  # up to this size LAPACK takes milliseconds
_FEW = 0.1  # up to this share of all pairs Krylov methods pay for a matrix in memory


@dataclass(frozen=True)
class Hints:
    """What a caller knows about a matrix, or allows, when its eigenpairs are wanted.

    Attributes
    ----------
    definite : bool
        Whether A is known to be positive semi-definite; spares ``"lobpcg"`` the lower end of the spectrum.
    overwrite : bool
        Whether a float64 array may be used as working memory.
    block : int, optional
        Columns that ``"krylov"`` multiplies at once; some more than k by default.
    callback : callable, optional
        Called as ``callback(step, residual / tol)`` by our own iterations.
    """

    definite: bool = False
    overwrite: bool = False
    block: int | None = None
    callback: Watch | None = None


_NO_HINTS = Hints()


@configured_blas()
def eigenpairs(
    A: Any,
    k: int,
    *,
    order: str = "magnitude",
    method: str = "auto",
    tol: float | None = None,
    max_iter: int | None = None,
    random_state: Any = 0,
    hints: Hints = _NO_HINTS,
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
    hints : Hints

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
    check_choice("method", method, EIGEN_METHODS)
    check_choice("order", order, ORDERS)
    _require_count(k, n)
    settings, fixed = _settings(matrix, k, method, tol, max_iter, random_state, hints)
    room = of_pairs(n, k, held=True, dense=True) <= memory_budget()
    chosen, note = _choose(matrix, method, k, room)
    if chosen in ("arpack", "lobpcg") and (n < 5 * k or k >= n - 1):
        chosen, note = "dense", f"{method} needs more samples for each pair (n = {n}, k = {k}); dense was taken"
    spectrum = None
    if chosen == "krylov":
        bound = _worthwhile(matrix, method, settings, room)
        spectrum = block_lanczos(matrix.product, n, k, order, bound)
        if not spectrum.converged and bound.max_iter < settings.max_iter:
            chosen, note, spectrum = "dense", "krylov was slow on this spectrum; dense took over", None
    elif chosen == "arpack":
        spectrum = arpack_eigenpairs(matrix, k, order, settings)
    elif chosen == "lobpcg":
        spectrum = lobpcg_eigenpairs(matrix, k, order, settings, hints.definite)
    elif chosen == "randomized":
        spectrum = randomized_eigenpairs(matrix.product, n, k, order, settings, fixed)
    if spectrum is None:
        spectrum = _dense(matrix, k, order, settings, hints.overwrite)
    report = _report(chosen, matrix, k, spectrum, fixed, settings, note)
    signs = peak_signs(spectrum.vectors)
    kept = matrix.dtype
    return (spectrum.values / matrix.factor).astype(kept), (spectrum.vectors * signs).astype(kept, copy=False), report


@configured_blas()
def singular_triplets(
    A: Any,
    k: int,
    *,
    method: str = "auto",
    tol: float | None = None,
    max_iter: int | None = None,
    random_state: Any = 0,
    callback: Watch | None = None,
    overwrite: bool = False,
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
    tol, max_iter, random_state
        As in `eigenpairs`.
    callback : callable, optional
        Called as ``callback(step, residual / tol)`` by our own iterations.
    overwrite : bool
        Whether a float64 array may be used as working memory.

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
    check_choice("method", method, SINGULAR_METHODS)
    _require_count(k, min(rows, columns))
    settings, fixed = _settings(matrix, k, method, tol, max_iter, random_state, Hints(callback=callback))
    room = of_triplets(matrix.shape, k, held=True, dense=True) <= memory_budget()
    chosen, note = _choose(matrix, method, k, room)
    if chosen == "arpack" and k >= min(rows, columns) - 1:
        chosen, note = "dense", f"arpack finds fewer than all triplets (k = {k}); dense was used"
    spectrum = None
    if chosen == "krylov":
        bound = _worthwhile(matrix, method, settings, room)
        if rows >= columns:
            spectrum = block_golub_kahan(matrix.product, matrix.adjoint, (rows, columns), k, bound)
        else:
            spectrum = _swapped(block_golub_kahan(matrix.adjoint, matrix.product, (columns, rows), k, bound))
        if not spectrum.converged and bound.max_iter < settings.max_iter:
            chosen, note, spectrum = "dense", "krylov was slow on this spectrum; dense took over", None
    elif chosen == "arpack":
        spectrum = arpack_triplets(matrix, k, settings)
    elif chosen == "randomized":
        spectrum = randomized_triplets(matrix.product, matrix.adjoint, matrix.shape, k, settings, fixed)
    if spectrum is None:
        spectrum = _dense_triplets(matrix, k, overwrite)
    assert spectrum.left is not None
    report = _report(chosen, matrix, k, spectrum, fixed, settings, note)
    signs = peak_signs(spectrum.left)
    U, V = spectrum.left * signs, spectrum.vectors * signs
    kept = matrix.dtype
    values = (spectrum.values / matrix.factor).astype(kept)
    return U.astype(kept, copy=False), values, V.astype(kept, copy=False), report


def _require_count(k: Any, largest: int) -> None:
    if not is_whole(k) or not 1 <= int(k) <= largest:
        raise ParameterError(f"k={shown(k)} is not accepted; a matrix of this shape has 1 to {largest} of them")


def _settings(
    A: Products, k: int, method: str, tol: Any, max_iter: Any, random_state: Any, hints: Hints
) -> tuple[Settings, int | None]:
    """Return how iterations run, and the fixed number of passes of a randomised one that was given no tolerance."""
    if tol is not None and not 0.0 < as_number(tol) < 1.0:
        raise ParameterError(f"tol={shown(tol)} is not accepted; give a number between 0 and 1, or None")
    if max_iter is not None and (not is_whole(max_iter) or max_iter < 1):
        raise ParameterError(f"max_iter={shown(max_iter)} is not accepted; give a positive integer, or None")
    fixed = None
    if method == "randomized" and tol is None:
        fixed = POWER_ITERATIONS if max_iter is None else int(max_iter)
    usual = _TOLERANCE_LOBPCG if method == "lobpcg" else _TOLERANCE
    goal = max(usual, _ROUNDINGS * A.eps) if tol is None else max(float(tol), _FLOOR * A.eps)
    block, columns = basis_sizes(A.shape, k, hints.block)
    if max_iter is None:
        max_iter = 10 * max(A.shape) if method == "arpack" else 300
    return Settings(
        goal,
        int(max_iter),
        generator(random_state),
        asymmetry=1e-8 if A.dtype == np.float64 else 1e-4,
        noise=A.noise,
        block=block,
        columns=columns,
        watch=hints.callback,
    ), fixed


def many_for_iterations(shape: tuple[int, int], k: int) -> bool:
    """Return whether LAPACK is faster than iterations on a matrix in memory: a small one, or many pairs of it."""
    return min(shape) <= _SMALL or k > _FEW * min(shape)


def _choose(A: Products, method: str, k: int, room: bool) -> tuple[str, str]:
    """Return the method to take and why; ``room`` says whether LAPACK keeps the memory budget."""
    if method != "auto":
        return method, ""
    if A.held:
        if many_for_iterations(A.shape, k):
            return "dense", "small, or many components"
        return "krylov", "few components of a matrix in memory"
    if room and (max(A.shape) <= _SMALL or 4 * k > min(A.shape)):
        return "dense", "small, or many components: the operator was made an array"
    return "krylov", "products only"


def _worthwhile(A: Products, method: str, settings: Settings, room: bool) -> Settings:
    """Return settings for a Krylov method that gives up once LAPACK would have been faster, if LAPACK is an option."""
    if method != "auto" or not (A.held and room):
        return settings
    return replace(settings, max_iter=min(settings.max_iter - 1, max(20, min(A.shape) // 20)))


def _dense(A: Products, k: int, order: str, settings: Settings, overwrite: bool) -> PartialSpectrum:
    D, itself = A.dense(overwrite=overwrite)
    require_symmetry(D, max(float(D.max()), -float(D.min())), settings)
    values, vectors = dense_eigenpairs(D, k, order, overwrite=True)
    # The matrix may be gone by now; backward stability of LAPACK is what is left to say then.
    residual = A.eps if itself else relative_residual(A.product(vectors) - vectors * values, values)
    return PartialSpectrum(values, vectors, 0, residual, True)


def _dense_triplets(A: Products, k: int, overwrite: bool) -> PartialSpectrum:
    D, itself = A.dense(overwrite=overwrite)
    # The transpose is in the order of LAPACK, which works in its memory; the matrix itself would be copied once more.
    V, values, U = linalg.svd(D.T, full_matrices=False, overwrite_a=True, check_finite=False)
    del D
    left, right = U[:k].T, V[:, :k]
    residual = A.eps if itself else relative_residual(A.adjoint(left) - right * values[:k], values)
    return PartialSpectrum(values[:k], right, 0, residual, True, left)


def _swapped(spectrum: PartialSpectrum) -> PartialSpectrum:
    assert spectrum.left is not None
    return PartialSpectrum(
        spectrum.values, spectrum.left, spectrum.iterations, spectrum.residual, spectrum.converged, spectrum.vectors
    )


def _report(
    method: str, A: Products, k: int, spectrum: PartialSpectrum, fixed: int | None, settings: Settings, note: str
) -> PartialReport:
    converged = spectrum.converged or fixed is not None
    if not converged:
        found = f"a relative residual of {spectrum.residual:.2g}, and tol={settings.tol:.2g} was asked for"
        if spectrum.residual <= settings.tol:
            found = "all residuals in order, but unsure whether a repeated value has more copies than it found"
        warnings.warn(
            f"{method} stopped after {spectrum.iterations} iterations with {found}. Raise max_iter or tol, or use "
            "'dense' where memory allows",
            ConvergenceWarning,
            stacklevel=4,  # past the gate of BLAS
        )
    steps, residual = spectrum.iterations, spectrum.residual
    return PartialReport(method, A.shape, int(k), steps, A.count, A.passes, residual, converged, A.form, note)
