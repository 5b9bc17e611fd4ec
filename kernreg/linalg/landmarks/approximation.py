"""One step of the asymmetric Nyström method: singular triplets of a kernel matrix from one set of landmarks.

The equations are those of `nystrom`, which chooses the landmarks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernreg.common.display import Display
from kernreg.engine.budget import chunks
from kernreg.engine.gram import gram
from kernreg.errors import DataError
from kernreg.linalg.landmarks.sampled_matrix import SectionedMatrix
from kernreg.linalg.landmarks.sections import Section, Swapped
from kernreg.linalg.spectra.basis import peak_signs
from kernreg.linalg.spectra.centred_pairs import centre_both_sides
from kernreg.linalg.spectra.memory import of_triplets
from kernreg.linalg.spectra.partial import many_for_iterations, singular_triplets
from kernreg.linalg.spectra.products import is_finite

_OVERSAMPLING = 4  # triplets of the block extended for each one asked for, where there are landmarks for them,
_ANYWAY = 30  # or this many more
_WORTHWHILE = 0.1  # of the r-th singular value of the block: smaller ones beyond it add noise, divided by themselves
_IN_FACTORS = 6  # arrays of rank × rank: two factors of Gram matrices, and what turns one into the other
_VANISHING = 1e-10  # relative to the largest: directions that are rounding errors


class Level(NamedTuple):
    """One subsample: its size, the estimated η of its result (NaN for the first), the kernel values looked at."""

    rows: int
    columns: int
    eta: float
    evaluations: int


@dataclass(frozen=True)
class NystromReport(Display):
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
        Triplets of the block that were extended: max(4 r, r + 30), or a third of the landmarks where that is less, at
        least r, and without those beyond r that are below a tenth of the r-th singular value.
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
    trace_error : float or None
        The share of the trace of G that the landmarks leave, where they are pivots of Cholesky; of kernels not known to
        be positive semi-definite that of squared norms of rows or columns in the others, the larger of both.
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
    trace_error: float | None = None


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


def of_block(sizes: tuple[int, int], rank: int, svd_method: str, quadrature: bool) -> int:
    """Return what the block and its triplets need, about: bytes held at once.

    Parameters
    ----------
    sizes : tuple of int
        Landmarks, (n, m).
    rank : int
        How many triplets of the block.
    svd_method : str
    quadrature : bool
        Whether normalisers are estimated.

    Examples
    --------
    >>> of_block((1000, 1000), 333, "auto", False) / 8e6
    8.0
    """
    block = sizes[0] * sizes[1]
    dense = svd_method == "dense" or (svd_method == "auto" and many_for_iterations(sizes, rank))
    made = 2 * block + (2 * max(sizes) ** 2 if quadrature else 0)
    in_place = block if dense else 0
    return max(8 * made, of_triplets(sizes, rank, held=True, dense=dense) - 8 * in_place)


def of_extension(samples: int, landmarks: int, rank: int, r: int, *, pieces: bool) -> int:
    """Return what the extension needs, about: bytes held at once, the vectors returned among them.

    Parameters
    ----------
    samples, landmarks : int
        Those of both sides, N + M and n + m.
    rank, r : int
        Triplets of the block that are extended, and those that are wanted.
    pieces : bool
        Whether products come in pieces, which stand beside the whole of it.

    Examples
    --------
    >>> of_extension(20_000, 200, 10, 5, pieces=False) / 8e4
    35.66
    """
    beside = max(samples * rank if pieces else 0, 3 * samples * r // 2)  # pieces; then what is wanted, and its signs
    return 8 * (samples * rank + beside + 3 * landmarks * rank + _IN_FACTORS * rank**2)


def approximate(
    matrix: SectionedMatrix,
    rows: np.ndarray,
    columns: np.ndarray,
    r: int,
    center: bool,
    orthogonalize: bool,
    svd_method: str,
    before: Callable[[int], None] | None = None,
) -> Approximation:
    """Return the r leading triplets that these rows and columns give; parameters as in `NystromSettings`.

    ``before`` is called with the bytes that the block will need, and, once the rank is known, with those of the rest.
    """
    sizes = len(rows), len(columns)
    count = _count(sizes, r) if orthogonalize else r
    if before is not None:
        before(of_block(sizes, count, svd_method, matrix.normalizers == "estimate"))
    section = matrix.section(rows, columns)
    block = section.block()
    _require_finite(block, rows, columns)
    scale = float(np.abs(block).max(initial=0.0)) * np.sqrt(block.size)
    if center:
        centre_both_sides(block)
    looked_at = block.size
    U, s, V, partial = singular_triplets(block, count, method=svd_method, overwrite=True)
    del block
    kept = s > 10.0 * np.finfo(np.float64).eps * scale
    kept[r:] &= s[r:] > _WORTHWHILE * s[r - 1]
    U, s, V = U[:, kept], s[kept], V[:, kept]
    if before is not None:
        pieces = any(next(chunks(side)).stop < side.shape[0] for side in (matrix.X, matrix.Z))
        before(of_extension(sum(matrix.shape), sum(sizes), len(s), r, pieces=pieces))
    factors = [V / s, U / s]
    extended = list(matrix.products(section, *factors)) if len(s) else [np.zeros((size, 0)) for size in matrix.shape]
    offsets = [side.mean(axis=0) if center else np.zeros(len(s)) for side in extended]
    for side, offset in zip(extended, offsets, strict=True):
        side -= offset
    if orthogonalize and len(s):
        values, turns = _orthogonal(extended[0], s, extended[1])
    else:
        values = s * np.sqrt(matrix.shape[0] * matrix.shape[1] / looked_at)
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
    return Approximation(left, np.pad(values, (0, missing)), right, section, *maps[0], *maps[1], rows, columns, report)


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
    values, vectors = np.linalg.eigh(gram(F.T) / np.outer(lengths, lengths))
    kept = values > _VANISHING * values.max(initial=0.0)
    root, vectors = np.sqrt(values[kept]), vectors[:, kept]
    return root[:, None] * vectors.T * lengths, vectors / root / lengths[:, None]


def _count(shape: tuple[int, int], r: int) -> int:
    """Return how many triplets of the block are extended: a few for each one asked for."""
    return min(*shape, max(r, min(max(_OVERSAMPLING * r, r + _ANYWAY), min(shape) // 3)))


def _padded(A: np.ndarray, missing: int) -> np.ndarray:
    return np.pad(A, ((0, 0), (0, missing))) if missing else A
