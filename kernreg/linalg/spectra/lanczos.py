"""Block Lanczos and block Golub-Kahan processes with thick restarts: a few eigenpairs or singular triplets, exactly.

One step multiplies a whole block by the matrix, so a matrix in memory is read once for many columns, and a kernel
matrix that is not held is evaluated once for them. The new block is made orthogonal to the basis V of everything
seen, and the projected matrix is decomposed::

    A V = V T + Q R Eᵀ          T = VᵀAV symmetric, E the last block of unit vectors
    T s = θ s   ⇒   ‖A (V s) - θ (V s)‖ = ‖R s_last‖

so residuals cost no product. When the basis is full it is replaced by its best Ritz vectors; the process goes on from
the same remainder Q, and the projected matrix stays exact because new columns of it are always computed against the
whole basis. For singular triplets two bases grow in turn, A V = U B and AᵀU = V Bᵀ + Q R Eᵀ.

The Krylov space of a block of b columns holds b copies of a value that is repeated more often. So where b copies are
found of a value larger than the last one wanted, the process goes on from new random directions, beside what was
found, until these show that there are no more.

References
----------
Golub & Underwood, The block Lanczos method for computing eigenvalues, Mathematical Software III, 1977. Wu & Simon,
Thick-restart Lanczos method for large symmetric eigenvalue problems, SIAM J. Matrix Anal. Appl. 22 (2000). Baglama &
Reichel, Augmented implicitly restarted Lanczos bidiagonalization methods, SIAM J. Sci. Comput. 27 (2005).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kernreg.errors import AsymmetryError
from kernreg.linalg.exact.centring import asymmetric_part
from kernreg.linalg.spectra.basis import extend, largest_norm, random_block

Map: TypeAlias = Callable[[np.ndarray], np.ndarray]
Watch: TypeAlias = Callable[[int, float], None]

_WIDEST = 96  # columns of a block
_SAME = 1e-8  # of the largest value: values this close count as copies of one
_TRACE = 0.01  # of what a random direction usually has of a vector: how little of it an answer may hold


@dataclass(frozen=True)
class Settings:
    """How an iteration runs.

    Attributes
    ----------
    tol : float
        Residual to reach, relative to the largest eigenvalue or singular value in magnitude.
    max_iter : int
        Bound on the steps, each one block product (two for singular triplets).
    rng : Generator
        Of the starting block.
    asymmetry : float
        How far T may be from symmetric, relative to its largest entry, before A is refused.
    noise : callable, optional
        Returns the rounding error of products, which adds to that; known after the first one.
    block, columns : int, optional
        Columns of a block and of the basis; chosen by the number of pairs wanted by default.
    watch : callable, optional
        Called as ``watch(step, residual / tol)``.
    """

    tol: float
    max_iter: int
    rng: np.random.Generator
    asymmetry: float = 1e-8
    noise: Callable[[], float] = float
    block: int | None = None
    columns: int | None = None
    watch: Watch | None = None

    def sizes(self, n: int, k: int) -> tuple[int, int]:
        """Return the columns of a block and of the basis for k pairs of n."""
        block = self.block or min(k + max(6, k // 4), _WIDEST)
        block = max(1, min(block, n))
        columns = self.columns or max(k + 8 * block, 2 * k + 2 * block)
        return block, max(min(columns, n), min(n, k + 2 * block))


@dataclass(frozen=True)
class PartialSpectrum:
    """Values and vectors in the order wanted, and how they were reached; ``left`` is None for eigenpairs."""

    values: np.ndarray
    vectors: np.ndarray
    iterations: int
    residual: float
    converged: bool
    left: np.ndarray | None = None


def ordered(values: np.ndarray, order: str) -> np.ndarray:
    """Return the positions of eigenvalues, those wanted first: by magnitude (equal ones by value) or by value."""
    if order == "value":
        return np.argsort(-values, kind="stable")
    return np.lexsort((-values, -np.abs(values)))


class _Copies:
    """Decides whether a block of fewer columns than values are wanted may have missed copies of a repeated value.

    Parameters
    ----------
    n, k, block : int
        Size of the matrix, how many values are wanted, and the columns of a block.
    tol : float
        As in `Settings`.
    by_value : bool
        Whether the largest values are wanted; else the largest in magnitude, at both ends.
    """

    def __init__(self, n: int, k: int, block: int, tol: float, by_value: bool) -> None:
        self.k, self.block, self.tol, self.by_value = k, block, tol, by_value
        self.same = max(_SAME, 100.0 * tol)
        self.trace = _TRACE / np.sqrt(n)
        self.before: np.ndarray | None = None
        self.suspects = np.empty(0)

    def verdict(self, values: np.ndarray, order: np.ndarray, rest: np.ndarray, scale: float) -> str:
        """Return what k values that have converged call for: nothing more, new directions, or further steps.

        Parameters
        ----------
        values, rest : ndarray
            Of the projected matrix, with the residual of each.
        order : ndarray
            Their positions, those wanted first.
        scale : float
            The largest magnitude.

        Returns
        -------
        verdict : {"enough", "elsewhere", "further"}
        """
        found = values[order[: self.k]]
        self.suspects = self._filling(found, self.same * scale)
        if not self.suspects.size:
            return "enough"
        same = self.before is not None and np.abs(found - self.before).max() <= self.same * scale
        self.before = found
        if not same:
            return "elsewhere"
        return "enough" if self._settled(values, order[self.k :], rest, scale) else "further"

    def first(self, values: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Return the order in which vectors are kept: those wanted, then those nearest to what is suspected."""
        others = order[self.k :]
        distances = np.abs(values[others, None] - self.suspects).min(axis=1, initial=np.inf)
        return np.concatenate([order[: self.k], others[np.argsort(distances, kind="stable")]])

    def _filling(self, found: np.ndarray, gap: float) -> np.ndarray:
        """Return values that were found once for each column of a block, but for those as good as the last one."""
        if self.block >= self.k:
            return found[:0]
        ascending, span = np.sort(found), self.k - self.block + 1
        low, high = ascending[:span], ascending[-span:]
        full = low[high - low <= gap]
        last = found[-1] if self.by_value else abs(found[-1])
        return full[(full if self.by_value else np.abs(full)) > last + 2.0 * gap]

    def _settled(self, values: np.ndarray, others: np.ndarray, rest: np.ndarray, scale: float) -> bool:
        """Return whether the outermost of the other values leave no room for a copy.

        A part c of their vectors in the direction of a missed copy leaves a residual of c times the distance of the two
        values. A process that starts at random has far more of it than is allowed here.
        """
        if not others.size:
            return False
        up, down = self.suspects > 0.0, self.suspects < 0.0
        for end, here in [(1.0, up | self.by_value), (-1.0, down & (not self.by_value))]:
            if here.any():
                outermost = others[np.argmax(end * values[others])]
                distance = float(np.abs(self.suspects[here] - values[outermost]).min())
                if rest[outermost] > max(self.tol * scale, self.trace * distance):
                    return False
        return True


def block_lanczos(product: Map, n: int, k: int, order: str, settings: Settings) -> PartialSpectrum:
    """Return k eigenpairs of a symmetric operator.

    Parameters
    ----------
    product : callable
        Returns A V, a new array, for V of any number of columns.
    n, k : int
        Size of A, and how many pairs.
    order : {"magnitude", "value"}
        Whether the largest in magnitude or the largest are wanted.
    settings : Settings

    Examples
    --------
    >>> diagonal = np.arange(50.0)
    >>> settings = Settings(1e-12, 100, np.random.default_rng(0))
    >>> spectrum = block_lanczos(lambda V: diagonal[:, None] * V, 50, 2, "value", settings)
    >>> [round(float(value), 9) for value in spectrum.values], spectrum.converged
    ([49.0, 48.0], True)
    """
    block, columns = settings.sizes(n, k)
    V = np.empty((n, columns + block), order="F")
    T = np.zeros((columns + block, columns + block))
    m, width = 0, block
    V[:, :width] = random_block(n, width, settings.rng)
    scale = floor = residual = 0.0
    copies = _Copies(n, k, block, settings.tol, by_value=order == "value")
    for step in range(1, settings.max_iter + 1):
        end = m + width
        W = np.asfortranarray(product(V[:, m:end]), dtype=np.float64)
        scale = max(scale, largest_norm(W))
        Q, H, R = extend(W, V[:, :end], min(block, n - end), scale, settings.rng, recent=2 * block)
        require_symmetry(H[m:], scale, settings)
        T[:end, m:end], T[m:end, :m] = H, H[:m].T
        T[m:end, m:end] = 0.5 * (H[m:] + H[m:].T)
        values, S = np.linalg.eigh(T[:end, :end])
        wanted = ordered(values, order)
        top = wanted[:k]
        scale = max(scale, float(np.abs(values).max()))
        rest = np.linalg.norm(R @ S[m:end], axis=0)
        residual = max(_relative(rest[top], scale), floor)
        done, verdict = (end >= min(n, k) and residual <= settings.tol) or end == n, ""
        if done and end < n:
            verdict = copies.verdict(values, wanted, rest, scale)
            done = verdict == "enough"
        if settings.watch is not None:
            settings.watch(step, residual / settings.tol)
        if done or step == settings.max_iter:
            return PartialSpectrum(values[top], V[:, :end] @ S[:, top], step, residual, done)
        if verdict == "elsewhere":
            m, Q, floor = _restart(V, T, values, S, top), random_block(n, block, settings.rng), residual
            Q = extend(Q, V[:, :m], min(block, n - m), 1.0, settings.rng)[0]
        elif end + Q.shape[1] > columns:
            m = _restart(V, T, values, S, copies.first(values, wanted)[: _kept(k, end, columns, block)])
        else:
            m = end
        width = min(Q.shape[1], n - m)
        V[:, m : m + width] = Q[:, :width]
    raise AssertionError("unreachable")


def block_golub_kahan(
    product: Map, adjoint: Map, shape: tuple[int, int], k: int, settings: Settings
) -> PartialSpectrum:
    """Return k singular triplets of an operator with at least as many rows as columns.

    Parameters
    ----------
    product, adjoint : callable
        Return A V and AᵀU, new arrays.
    shape : tuple of int
        Rows and columns of A.
    k : int
        How many triplets.
    settings : Settings
    """
    n, small = shape
    block, columns = settings.sizes(small, k)
    V, U = np.empty((small, columns + block), order="F"), np.empty((n, columns + block), order="F")
    B = np.zeros((columns + block, columns + block))
    m, width = 0, block
    V[:, :width] = random_block(small, width, settings.rng)
    scale = floor = residual = 0.0
    copies = _Copies(small, k, block, settings.tol, by_value=True)
    for step in range(1, settings.max_iter + 1):
        end = m + width
        W = np.asfortranarray(product(V[:, m:end]), dtype=np.float64)
        scale = max(scale, largest_norm(W))
        U[:, m:end], B[:m, m:end], B[m:end, m:end] = extend(W, U[:, :m], width, scale, settings.rng, recent=block)
        B[m:end, :m] = 0.0
        W = np.asfortranarray(adjoint(U[:, m:end]), dtype=np.float64)
        Q, _, R = extend(W, V[:, :end], min(block, small - end), scale, settings.rng, recent=block)
        P, values, S = np.linalg.svd(B[:end, :end])
        scale = max(scale, float(values[0]))
        rest = np.linalg.norm(R @ P[m:end], axis=0)
        residual = max(_relative(rest[:k], scale), floor)
        done, verdict = (end >= min(small, k) and residual <= settings.tol) or end == small, ""
        if done and end < small:
            verdict = copies.verdict(values, np.arange(end), rest, scale)
            done = verdict == "enough"
        if settings.watch is not None:
            settings.watch(step, residual / settings.tol)
        if done or step == settings.max_iter:
            return PartialSpectrum(values[:k], V[:, :end] @ S[:k].T, step, residual, done, U[:, :end] @ P[:, :k])
        if verdict == "elsewhere" or end + Q.shape[1] > columns:
            kept = k if verdict == "elsewhere" else _kept(k, end, columns, block)
            V[:, :kept], U[:, :kept] = V[:, :end] @ S[:kept].T, U[:, :end] @ P[:, :kept]
            B[:] = 0.0
            B[np.arange(kept), np.arange(kept)] = values[:kept]
            m = kept
        else:
            m = end
        if verdict == "elsewhere":
            floor = residual
            Q = extend(random_block(small, block, settings.rng), V[:, :m], min(block, small - m), 1.0, settings.rng)[0]
        width = min(Q.shape[1], small - m)
        V[:, m : m + width] = Q[:, :width]
    raise AssertionError("unreachable")


def _relative(rest: np.ndarray, scale: float) -> float:
    """Return the largest residual relative to the largest value; a space that is full leaves none."""
    return float(rest.max(initial=0.0)) / scale if scale > 0.0 else 0.0


def _kept(k: int, end: int, columns: int, block: int) -> int:
    """Return how many Ritz vectors survive a restart: those wanted and as many more as leave room for some steps."""
    return max(min(end, k), min(end, (columns + k) // 2, columns - 2 * block))


def _restart(V: np.ndarray, T: np.ndarray, values: np.ndarray, S: np.ndarray, kept: np.ndarray) -> int:
    """Replace the basis by Ritz vectors and T by their values."""
    V[:, : len(kept)] = V[:, : len(S)] @ S[:, kept]
    T[:] = 0.0
    T[np.arange(len(kept)), np.arange(len(kept))] = values[kept]
    return len(kept)


def require_symmetry(H: np.ndarray, scale: float, settings: Settings) -> None:
    """Raise AsymmetryError unless H = VᵀAV, or A itself, is symmetric but for rounding."""
    gap, _ = asymmetric_part(H)
    if gap > settings.asymmetry * scale + settings.noise():
        raise AsymmetryError(
            f"the matrix is asymmetric (xᵀAy and yᵀAx differ by {gap / scale:.2g} of its largest values); eigenpairs "
            "are those of a symmetric one. Use singular_triplets"
        )
