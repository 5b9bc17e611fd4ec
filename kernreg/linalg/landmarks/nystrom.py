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
from typing import Any, NamedTuple

import numpy as np

from kernreg.config import memory_budget
from kernreg.errors import DataError
from kernreg.linalg.landmarks.sampled_matrix import SectionedMatrix
from kernreg.linalg.landmarks.sections import Section, Swapped
from kernreg.linalg.spectra.basis import peak_signs
from kernreg.linalg.spectra.centred_pairs import centre_both_sides
from kernreg.linalg.spectra.partial import singular_triplets
from kernreg.linalg.spectra.products import is_finite

_OVERSAMPLING = 4  # triplets of the block extended for each one asked for, where there are landmarks for them,
_ANYWAY = 30  # or this many more
_WORTHWHILE = 0.1  # of the r-th singular value of the block: smaller ones beyond it add noise, divided by themselves
_VANISHING = 1e-10  # relative to the largest: directions that are rounding errors
_GROWTH = 2
_FIRST = 4.0  # how often the first change counts


class Level(NamedTuple):
    """One subsample: its size, the estimated η of its result (NaN for the first), the kernel values looked at."""

    rows: int
    columns: int
    eta: float
    evaluations: int


@dataclass(frozen=True)
class NystromReport:
    """What was done, and how well.

    Attributes
    ----------
    method : str
        ``"orthogonal"`` or ``"extension"`` (columns normalised, singular values scaled).
    shape : tuple of int
        Of the kernel matrix.
    rows, columns : int
        Landmarks of both sides.
    rank : int
        Triplets of the block that were extended.
    normalizers : str
        Of row-normalised kernels, ``"exact"`` or ``"estimate"``; else ``"none"``.
    normalizer_error : float
        Relative error of estimated ones, root mean square.
    block_method : str
        How the block was decomposed.
    note : str
    eta : float
        Estimated η, NaN where no tolerance was given; 0 where all rows and columns are landmarks.
    tolerance : float or None
    converged : bool
        Whether the tolerance was reached; without one, True.
    evaluations : int
        Kernel values looked at, all levels together; products with sparse samples may compute fewer.
    levels : tuple of Level
        The subsamples, in order.
    """

    method: str
    shape: tuple[int, int]
    rows: int
    columns: int
    rank: int
    normalizers: str
    normalizer_error: float
    block_method: str
    note: str = ""
    eta: float = float("nan")
    tolerance: float | None = None
    converged: bool = True
    evaluations: int = 0
    levels: tuple[Level, ...] = ()


@dataclass(frozen=True)
class Approximation:
    """G ≈ U diag(σ) Vᵀ, centred on both sides or as it is, and how it goes on beyond its samples.

    Attributes
    ----------
    left, right : ndarray of shape (N, r) and (M, r)
        Columns of length one; of length zero where the subsample has no more directions.
    values : ndarray of shape (r,)
    section : Section or Swapped
        The landmarks.
    left_coefficients, left_offset : ndarray of shape (m, r) and (r,)
        σ u(x) = k(x, column landmarks) coefficients - offset.
    right_coefficients, right_offset : ndarray of shape (n, r) and (r,)
        σ v(z) = k(row landmarks, z)ᵀ coefficients - offset.
    rows, columns : ndarray of int
        Indices of the landmarks.
    report : NystromReport
    """

    left: np.ndarray
    values: np.ndarray
    right: np.ndarray
    section: Section | Swapped
    left_coefficients: np.ndarray
    left_offset: np.ndarray
    right_coefficients: np.ndarray
    right_offset: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    report: NystromReport


def nystrom_triplets(
    matrix: SectionedMatrix,
    r: int,
    sizes: tuple[int, int],
    *,
    methods: tuple[Any, Any] = ("uniform", "uniform"),
    center: bool = True,
    orthogonalize: bool = True,
    tol: float | None = None,
    largest: tuple[int, int] | None = None,
    svd_method: str = "auto",
    seed: int = 0,
    callback: Callable[[int, float], None] | None = None,
) -> Approximation:
    """Return the r leading triplets of a kernel matrix from a subsample of its rows and columns.

    Parameters
    ----------
    matrix : SectionedMatrix
    r : int
        How many triplets; at most as many as landmarks on either side.
    sizes : tuple of int
        Landmarks of rows and columns, (n, m); with a tolerance those to begin with.
    methods : tuple
        How they are chosen, or their indices.
    center : bool
        Whether G is centred on both sides (means over the subsample in the block, over all samples in the result).
    orthogonalize : bool
        See the module.
    tol : float, optional
        Double the subsample until η is estimated to be at most this.
    largest : tuple of int, optional
        Bounds on the landmarks; by default what the memory budget holds of the block.
    svd_method : str
        How the block is decomposed, as `singular_triplets` takes it.
    seed : int
    callback : callable, optional
        Called as ``callback(landmarks, eta)`` after each level.

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.kernels.builtin import sne
    >>> X = np.random.default_rng(0).standard_normal((400, 2))
    >>> found = nystrom_triplets(SectionedMatrix(sne(sigma=2.0), X), 3, (40, 40), tol=1e-4)
    >>> exact = np.linalg.svd(sne(sigma=2.0)(X) - sne(sigma=2.0)(X).mean(axis=0))[1][:3]
    >>> found.report.converged, bool(np.abs(found.values - exact).max() < 1e-3)
    (True, True)
    """
    bounds = _bounds(matrix, largest, sizes)
    levels: list[Level] = []
    changes: list[float] = []
    before: Approximation | None = None
    while True:
        rows, columns = matrix.landmarks(sizes, methods, r, seed)
        found = _from_section(matrix, rows, columns, r, center, orthogonalize, svd_method)
        whole = (len(rows), len(columns)) == matrix.shape
        if before is not None:
            changes.append(change(before, found))
        eta = 0.0 if whole else _estimate(changes)
        evaluations = matrix.evaluations(len(rows), len(columns)) + (0 if levels else matrix.evaluations_before)
        levels.append(Level(len(rows), len(columns), eta, evaluations))
        if callback is not None:
            callback(len(rows), eta)
        reached = tol is None or eta <= tol
        grown = (min(_GROWTH * sizes[0], bounds[0]), min(_GROWTH * sizes[1], bounds[1]))
        if reached or grown == sizes:
            break
        sizes, before = grown, found
    if found.values.max(initial=0.0) <= 0.0:
        raise DataError(_nothing(matrix, found, center))
    report = replace(
        found.report,
        eta=eta,
        tolerance=tol,
        converged=reached,
        evaluations=sum(level.evaluations for level in levels),
        levels=tuple(levels),
    )
    return replace(found, report=report)


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


def _from_section(
    matrix: SectionedMatrix,
    rows: np.ndarray,
    columns: np.ndarray,
    r: int,
    center: bool,
    orthogonalize: bool,
    svd_method: str,
) -> Approximation:
    section = matrix.section(rows, columns)
    block = section.block()
    _require_finite(block, rows, columns)
    scale = float(np.abs(block).max(initial=0.0)) * np.sqrt(block.size)
    if center:
        centre_both_sides(block)
    count = _count(matrix, block.shape, r) if orthogonalize else r
    U, s, V, partial = singular_triplets(block, count, method=svd_method)
    kept = s > 10.0 * np.finfo(np.float64).eps * scale
    kept[r:] &= s[r:] > _WORTHWHILE * s[r - 1]
    U, s, V = U[:, kept], s[kept], V[:, kept]
    factors = [V / s, U / s]
    extended = list(matrix.products(section, *factors)) if len(s) else [np.zeros((size, 0)) for size in matrix.shape]
    offsets = [side.mean(axis=0) if center else np.zeros(len(s)) for side in extended]
    for side, offset in zip(extended, offsets, strict=True):
        side -= offset
    if orthogonalize and len(s):
        values, turns = _orthogonal(extended[0], s, extended[1])
    else:
        values = s * np.sqrt(matrix.shape[0] * matrix.shape[1] / block.size)
        turns = [np.diag(1.0 / np.linalg.norm(side, axis=0)) for side in extended]
    values, turns = values[:r], [turn[:, :r] for turn in turns]
    vectors = [side @ turn for side, turn in zip(extended, turns, strict=True)]
    del extended
    signs = peak_signs(vectors[0])
    for side in vectors:
        side *= signs
    missing = r - len(values)
    maps = [
        (_padded(factor @ turn * (values * signs), missing), np.pad(offset @ turn * (values * signs), (0, missing)))
        for factor, turn, offset in zip(factors, turns, offsets, strict=True)
    ]
    report = NystromReport(
        method="orthogonal" if orthogonalize else "extension",
        shape=matrix.shape,
        rows=len(rows),
        columns=len(columns),
        rank=len(s),
        normalizers=matrix.normalizers,
        normalizer_error=matrix.normalizer_error,
        block_method=partial.method,
        note=f"{len(values)} of {r} directions were found; the others are zero" if missing else "",
    )
    left, right = (_padded(side, missing) for side in vectors)
    found = np.pad(values, (0, missing))
    return Approximation(left, found, right, section, *maps[0], *maps[1], rows, columns, report)


def _require_finite(block: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> None:
    if is_finite(block):
        return
    i, j = (int(number) for number in np.argwhere(~np.isfinite(block))[0])
    raise DataError(
        f"the kernel is {block[i, j]} between sample {int(rows[i])} of the left and sample {int(columns[j])} of the "
        "right side; a kernel is finite on its training samples. Check its parameters and the range of the features"
    )


def _orthogonal(left: np.ndarray, s: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the singular values of left diag(s) rightᵀ, and what turns left and right into its singular vectors."""
    (T_l, back_l), (T_r, back_r) = _triangular(left), _triangular(right)
    P, values, Qt = np.linalg.svd((T_l * s) @ T_r.T, full_matrices=False)
    kept = values > _VANISHING * values.max(initial=0.0)
    return values[kept], [back_l @ P[:, kept], back_r @ Qt[kept].T]


def _triangular(F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return T and T⁺ with F T⁺ orthonormal and F = (F T⁺) T, from FᵀF: F itself is only read."""
    lengths = np.linalg.norm(F, axis=0)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    values, vectors = np.linalg.eigh((F.T @ F) / np.outer(lengths, lengths))
    kept = values > _VANISHING * values.max(initial=0.0)
    root, vectors = np.sqrt(values[kept]), vectors[:, kept]
    return root[:, None] * vectors.T * lengths, vectors / root / lengths[:, None]


def _count(matrix: SectionedMatrix, shape: tuple[int, int], r: int) -> int:
    """Return how many triplets of the block are extended: a few for each one asked for, as memory allows."""
    fitting = int(0.1 * memory_budget()) // (8 * sum(matrix.shape))
    return min(*shape, max(r, min(max(_OVERSAMPLING * r, r + _ANYWAY), min(shape) // 3, fitting)))


def _bounds(matrix: SectionedMatrix, largest: tuple[int, int] | None, sizes: tuple[int, int]) -> tuple[int, int]:
    side = max(*sizes, int(np.sqrt(memory_budget() / 64)))  # the block, and room to work on it
    N, M = matrix.shape
    n, m = (side, side) if largest is None else largest
    return min(N, max(n, sizes[0])), min(M, max(m, sizes[1]))


def _padded(A: np.ndarray, missing: int) -> np.ndarray:
    return np.pad(A, ((0, 0), (0, missing))) if missing else A


def _nothing(matrix: SectionedMatrix, found: Approximation, center: bool) -> str:
    all_of_it = (len(found.rows), len(found.columns)) == matrix.shape
    what = "its value is the same" if center else "it is zero"
    where = "" if all_of_it else f" of the {len(found.rows)} × {len(found.columns)} that were looked at"
    advice = "" if all_of_it else "; or take more landmarks, or landmarks='leverage'"
    return (
        f"the kernel {matrix.kernel!r} leaves nothing to decompose: {what} for every pair of samples{where}. Check the "
        f"kernel's parameters and the scale of the features{advice}"
    )
