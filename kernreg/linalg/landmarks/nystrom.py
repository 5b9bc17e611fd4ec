"""The asymmetric Nyström method: leading singular triplets of a large kernel matrix from some rows and columns.

From n rows and m columns of G = K(X, Z), N × M, with the singular triplets of their block, G_nm = U Λ Vᵀ::

    ũ = G_Nm v / λ,   ṽ = G_nMᵀ u / λ,     columns normalised,     λ̃ = λ √(NM / (nm))

Only G_Nm and G_nM are looked at, as products, so nothing of size N × M or N × m is held. For a symmetric matrix and the
same rows as columns it is the classic Nyström method; with all rows and columns it is exact.

How often a region of the data was drawn enters these ũ, ṽ and λ̃, so they converge slowly. The approximation
G ≈ G_Nm (G_nm)⁺ G_nM does not depend on it. So (``orthogonalize``, the default) q ≥ r triplets of the block are
extended and made orthonormal, Ũ = Q_l T_l and Ṽ = Q_r T_r, and the singular triplets of Q_l (T_l Λ T_rᵀ) Q_rᵀ are
returned: those of the rank-q approximation. The kernel values looked at are the same, and the error is often ten times
smaller.

With a tolerance the subsample doubles until the result stands still. Where the rows and columns of a size contain those
of the size before, the change between the two, measured as η, is about the error of the larger one: for averages over a
growing sample the two are equal on average, and errors that fall faster than that are overestimated. A single small
change may be luck. So the estimate is never less than half of the change before, and the first change, which has none
before it, counts four times.

References
----------
Williams & Seeger, Using the Nyström method to speed up kernel machines, NeurIPS 2000. Tao, Tonin, Lambert, Chen,
Patrinos & Suykens, Learning in feature spaces via coupled covariances: asymmetric kernel SVD and Nyström method, ICML
2024, section 3. (Its equation 9 scales vectors rightly only if n/N = m/M; here columns are normalised.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernreg.engine.threads import configured_blas
from kernreg.errors import DataError
from kernreg.linalg.landmarks.approximation import Approximation, Level, approximate
from kernreg.linalg.landmarks.sampled_matrix import SectionedMatrix

_GROWTH = 2
_LARGEST = 5000  # landmarks of a side, by default: a block of 200 MB. Not by memory: the result would depend on it
_FIRST = 4.0  # how often the first change counts


@dataclass(frozen=True)
class NystromSettings:
    """How triplets are found from landmarks.

    Attributes
    ----------
    methods : tuple
        How the landmarks of rows and columns are chosen, or their indices.
    center : bool
        Whether G is centred on both sides (means over the subsample in the block, over all samples in the result).
    orthogonalize : bool
        See the module.
    tol : float, optional
        Double the subsample until η is estimated to be at most this.
    largest : tuple of int, optional
        Bounds on the landmarks; 5000 by default.
    svd_method : str
        How the block is decomposed, as `singular_triplets` takes it.
    seed : int
    """

    methods: tuple[Any, Any] = ("uniform", "uniform")
    center: bool = True
    orthogonalize: bool = True
    tol: float | None = None
    largest: tuple[int, int] | None = None
    svd_method: str = "auto"
    seed: int = 0


_DEFAULTS = NystromSettings()


@configured_blas()
def nystrom_triplets(
    matrix: SectionedMatrix,
    r: int,
    sizes: tuple[int, int],
    settings: NystromSettings = _DEFAULTS,
    *,
    callback: Callable[[int, float], None] | None = None,
    before: Callable[[int], None] | None = None,
) -> Approximation:
    """Return the r leading triplets of a kernel matrix from a subsample of its rows and columns.

    Parameters
    ----------
    matrix : SectionedMatrix
    r : int
        How many triplets; at most as many as landmarks on either side.
    sizes : tuple of int
        Landmarks of rows and columns, (n, m); with a tolerance those to begin with.
    settings : NystromSettings
    callback : callable, optional
        Called as ``callback(landmarks, eta)`` after each level.
    before : callable, optional
        Called as ``before(needed)`` before each step of a level, with the bytes that it will hold at once, about.

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.kernels.builtin import sne
    >>> X = np.random.default_rng(0).standard_normal((400, 2))
    >>> matrix = SectionedMatrix(sne(sigma=2.0), X)
    >>> triplets = nystrom_triplets(matrix, 3, (40, 40), NystromSettings(tol=1e-4))
    >>> exact = np.linalg.svd(sne(sigma=2.0)(X) - sne(sigma=2.0)(X).mean(axis=0))[1][:3]
    >>> triplets.report.converged, bool(np.abs(triplets.values - exact).max() < 1e-3)
    (True, True)
    """
    center, tol = settings.center, settings.tol
    bounds = _bounds(matrix, settings.largest, sizes)
    levels: list[Level] = []
    changes: list[float] = []
    earlier: Approximation | None = None
    while True:
        rows, columns = matrix.landmarks(sizes, settings.methods, r, settings.seed)
        triplets = approximate(matrix, rows, columns, r, center, settings.orthogonalize, settings.svd_method, before)
        whole = (len(rows), len(columns)) == matrix.shape
        if earlier is not None:
            changes.append(change(earlier, triplets))
        eta = 0.0 if whole else _estimate(changes)
        evaluations = matrix.evaluations(len(rows), len(columns)) + (0 if levels else matrix.evaluations_before)
        levels.append(Level(len(rows), len(columns), eta, evaluations))
        if callback is not None:
            callback(len(rows), eta)
        reached = tol is None or eta <= tol
        grown = (min(_GROWTH * sizes[0], bounds[0]), min(_GROWTH * sizes[1], bounds[1]))
        if reached or grown == sizes:
            break
        sizes, earlier = grown, triplets
    if triplets.values.max(initial=0.0) <= 0.0:
        raise DataError(_nothing_left(matrix, triplets, center))
    report = replace(
        triplets.report,
        eta=eta,
        tolerance=tol,
        converged=reached,
        evaluations=sum(level.evaluations for level in levels),
        levels=tuple(levels),
        trace_error=matrix.trace_error,
    )
    return replace(triplets, report=report)


def change(before: Approximation, after: Approximation) -> float:
    """Return η between two approximations, weighted by the singular values of the second.

    η = (1/r) Σ_i λ_i (1 - |u_iᵀũ_i|) + the same for v: 0 where nothing moved, at most (2/r) Σ_i λ_i. A direction that
    the first did not have counts in full; where the second has none at all, there is nothing to rely on.
    """
    if not after.values.any():
        return float("inf")
    aligned = [
        np.minimum(np.abs(np.einsum("ij,ij->j", old, new)), 1.0)
        for old, new in ((before.left, after.left), (before.right, after.right))
    ]
    return float(np.mean(after.values * (2.0 - aligned[0] - aligned[1])))


def _estimate(changes: list[float]) -> float:
    """Return η of the last size from the changes so far, NaN where there is none."""
    if len(changes) < 2:
        return _FIRST * changes[0] if changes else float("nan")
    return max(changes[-1], changes[-2] / 2.0)


def _bounds(matrix: SectionedMatrix, largest: tuple[int, int] | None, sizes: tuple[int, int]) -> tuple[int, int]:
    N, M = matrix.shape
    n, m = (_LARGEST, _LARGEST) if largest is None else largest
    return min(N, max(n, sizes[0])), min(M, max(m, sizes[1]))


def _nothing_left(matrix: SectionedMatrix, triplets: Approximation, center: bool) -> str:
    all_of_it = (len(triplets.rows), len(triplets.columns)) == matrix.shape
    what = "its value is the same" if center else "it is zero"
    where = "" if all_of_it else f" of the {len(triplets.rows)} × {len(triplets.columns)} that were looked at"
    advice = "" if all_of_it else "; or take more landmarks, or landmarks='leverage'"
    return (
        f"the kernel {matrix.kernel!r} leaves nothing to decompose: {what} for every pair of samples{where}. Check the "
        f"kernel's parameters and the scale of the features{advice}"
    )
