"""The systems of LS-SVM and AsK-LS on many landmarks, by iterations with a sketched preconditioner (KRILL).

The problems are those of `lowrank_systems`. With C̃ the centred, weighted columns of k landmarks, W = K[landmarks,
landmarks], α = Tw in the coordinates of `whitening` and κ = 1/γ, LS-SVM is

    (TᵀC̃ᵀC̃T + κ diag(s)) w = TᵀC̃ᵀD^½Y,      f(x) = k(x, landmarks) α + b

and AsK-LS, with the columns C of the source and those of the target side,

    [[T_sᵀC̃_sᵀC̃_sT_s, κI], [κI, T_tᵀC̃_tᵀC̃_tT_t]] (p, q) = (T_sᵀC̃_sᵀD^½Y, T_tᵀC̃_tᵀD^½Y)

The matrix of normal equations costs m k² operations and is never made. A sparse sign sketch ΨC̃ of 4k rows has nearly
the same Gram matrix. With that in place of C̃ᵀC̃ the system is factorised, and the true one is solved in the coordinates
of the factor: by conjugate gradients where it is positive definite (its condition is then about 9, whatever m, k and
γ), else by MINRES, in coordinates in which the sketched matrix is ±1. An iteration is one pass over the samples for all
right-hand sides: a block of rows is evaluated, multiplied twice, and forgotten.

Residuals are those in these coordinates, relative to the right-hand side: errors of fitted values, about.

References
----------
Díaz, Epperly, Frangella, Tropp & Webber, Robust, randomized preconditioning for kernel ridge regression, 2023 (KRILL).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernreg.engine.threads import configured_blas
from kernreg.errors import DataError
from kernreg.kernels.base import Kernel
from kernreg.linalg.exact.report import unit_if_zero
from kernreg.linalg.krylov.cg_and_minres import (
    CentredSystem,
    Watch,
    conjugate_gradients,
    minimal_residuals,
    rounding,
    solve_checked,
)
from kernreg.linalg.landmarks.landmark_columns import LandmarkColumns
from kernreg.linalg.landmarks.lowrank_systems import LowRankView
from kernreg.linalg.landmarks.selection import choose_landmarks, default_landmarks
from kernreg.linalg.landmarks.sketched_roots import CholeskyRoot, Root, SketchedGram, SpectralRoot
from kernreg.linalg.landmarks.sketching import SignSketch
from kernreg.linalg.landmarks.small_systems import LowRankReport
from kernreg.linalg.landmarks.whitening import (
    Whitening,
    symmetric_whitening,
    triangular_whitening,
    two_sided_whitening,
)
from kernreg.linalg.randomness import generator
from kernreg.linalg.system_inputs import require_positive, targets_and_weights

OVERSAMPLING = 4  # rows of the sketch for each landmark
_NEAR = 1e-2  # a pole nearer than that, relative to 1/γ, is reported
_HELD_OUT, _STEPS = 0.05, 50  # how well what changes without some samples is known, and iterations for that
_ROWS = 1024  # of the matrix of landmarks that are evaluated together
_CONSTANT = 1e-14  # relative: targets that vary less are constant but for rounding


@dataclass(frozen=True)
class SketchedReport(LowRankReport):
    """A `LowRankReport` of an iteration; the residual is that in the coordinates of the preconditioner.

    The condition is not estimated (NaN).

    Attributes
    ----------
    iterations : int
        Passes over the samples that the iteration took, for all right-hand sides together.
    converged : bool
        Whether the residual is within the tolerance.
    sketch : int
        Rows of the sketch.
    """

    iterations: int = 0
    converged: bool = True
    sketch: int = 0


@dataclass(frozen=True)
class SketchSettings:
    """How a system on landmarks is solved by iterations.

    Attributes
    ----------
    tol : float
        Relative residual to reach in every column.
    max_iter : int
        Bound on the iterations; reaching it gives a ConvergenceWarning.
    watch : callable, optional
        Called as ``watch(iteration, worst residual / tolerance)``.
    """

    tol: float = 1e-6
    max_iter: int = 500
    watch: Watch | None = None


_DEFAULTS = SketchSettings()


class SketchedProblem:
    """Landmarks and sketches, made once and good for every γ.

    Parameters
    ----------
    kernel, X, Y, Z, weights, n_landmarks, landmarks, random_state
        As in `LowRankProblem`; the random state decides of the sketch, too.

    Attributes
    ----------
    indices : ndarray of shape (k,)
        The landmarks among the samples.
    """

    _sides: tuple[LandmarkColumns, ...]
    _whitenings: tuple[Whitening, ...]

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        Y: np.ndarray,
        *,
        Z: Any = None,
        weights: np.ndarray | None = None,
        n_landmarks: int | None = None,
        landmarks: Any = "uniform",
        random_state: Any = 0,
    ):
        Y, self._weights = targets_and_weights(X.shape[0], Y, weights)
        self._size, self._offset = len(Y), np.average(Y, axis=0, weights=self._weights)
        self._E = Y - self._offset
        constant = np.abs(self._E).max(axis=0) <= _CONSTANT * np.sqrt(len(Y)) * np.abs(Y).max(axis=0)
        self._E[:, constant] = 0.0
        if n_landmarks is None and isinstance(landmarks, str):
            n_landmarks = default_landmarks(X.shape[0])
        self.indices = choose_landmarks(kernel, X, n_landmarks, landmarks, Z=Z, random_state=random_state)
        self._sketch = SignSketch.of(len(self.indices), OVERSAMPLING, int(generator(random_state).integers(2**63)))
        self._solved: tuple[float, Root] | None = None

    def _columns(self, kernel: Kernel, samples: Any, landmarks: Any) -> LandmarkColumns:
        return LandmarkColumns(kernel, samples, landmarks, self._E, self._weights)

    def _make_root(self, kappa: float) -> Root:
        """Return the root of the sketched system."""
        raise NotImplementedError

    def _penalty(self, w: np.ndarray) -> np.ndarray:
        """Return the penalty's part of the system times w, for κ = 1."""
        raise NotImplementedError

    def _root(self, gamma: float) -> Root:
        require_positive(gamma)
        if self._solved is None or self._solved[0] != gamma:
            self._solved = None  # the next one takes its memory
            self._solved = gamma, self._make_root(1.0 / gamma)
        return self._solved[1]

    @configured_blas()
    def at(self, gamma: float, settings: SketchSettings = _DEFAULTS) -> tuple[tuple[LowRankView, ...], SketchedReport]:
        """Solve for one γ; warn where the tolerance was not reached."""
        root = self._root(gamma)
        system = self._system(root, self._sides, gamma)
        sizes = np.linalg.norm(system.targets, axis=0)
        result = solve_checked(root.method, system, _itself, settings.tol * sizes, settings.max_iter, settings.watch)
        norms = np.maximum(np.linalg.norm(result.rest, axis=0), rounding(1.0, result.solution))
        residual = float((norms / unit_if_zero(sizes)).max(initial=0.0))
        converged, note = residual <= settings.tol, result.note
        if not converged:
            note = (
                f"{result.method} stopped after {result.iterations} iterations at relative residual {residual:.1e}, "
                f"tol={settings.tol:.1e}; raise max_iter or tol, or lower gamma"
            )
            if root.distance_to_pole < _NEAR:
                note += f". 1/gamma = {1 / gamma:g} is close to a pole of the system: change gamma"
            warnings.warn(note, ConvergenceWarning, stacklevel=4)  # past the gate of BLAS
        report = SketchedReport(
            "sketched",
            result.method,
            self._size,
            gamma,
            residual,
            float("nan"),
            note=note,
            landmarks=len(self.indices),
            rank=self._whitenings[0].rank,
            iterations=result.iterations,
            converged=converged,
            sketch=self._sketch.rows,
        )
        return self._views(self._sides, root.apply(result.solution), self._offset), report

    @configured_blas()
    def held_out(self, gamma: float, views: tuple[LowRankView, ...], some: np.ndarray) -> list[np.ndarray]:
        """Return decision values of some samples in each view, by the machine that is fitted to the others.

        Landmarks and sketch stay. From the solution ``views`` with all samples it is some iterations there: until what
        changes is known to a twentieth.
        """
        root, sides = self._root(gamma), tuple(side.without(some) for side in self._sides)
        system = self._system(root, sides, gamma)
        whitened = [T.inverse(view.coefficients) for T, view in zip(self._whitenings, views, strict=True)]
        start = root.inverse(np.vstack(whitened))
        rest = system.remainder(start)
        solve = conjugate_gradients if root.method == "cg" else minimal_residuals
        step = solve(system.multiply, rest, _itself, _HELD_OUT * np.linalg.norm(rest, axis=0), _STEPS)
        offset = self._offset + sides[0].sums / sides[0].mass
        fitted = self._views(sides, root.apply(start + step.solution), offset)
        return [side.values(some, view.coefficients) + view.intercept for side, view in zip(sides, fitted, strict=True)]

    def _system(self, root: Root, sides: tuple[LandmarkColumns, ...], gamma: float) -> CentredSystem:
        """Return the system in the coordinates of the root."""
        ranks = [whitening.rank for whitening in self._whitenings]
        borders, parts = np.cumsum(ranks)[:-1], list(zip(self._whitenings, sides, strict=True))

        def product(v: np.ndarray) -> np.ndarray:
            w = root.apply(v)
            pieces = zip(parts, np.split(w, borders), strict=True)
            normal = np.vstack([T.adjoint(C.normal(T.coefficients(piece))) for (T, C), piece in pieces])
            return root.adjoint(normal + self._penalty(w) / gamma)

        targets = root.adjoint(np.vstack([T.adjoint(C.targets) for T, C in parts]))
        return CentredSystem(product, targets, lambda v: targets - product(v), _itself, 1.0)

    def _views(self, sides: tuple[LandmarkColumns, ...], w: np.ndarray, offset: np.ndarray) -> tuple[LowRankView, ...]:
        borders = np.cumsum([whitening.rank for whitening in self._whitenings])[:-1]
        views = []
        for T, C, piece in zip(self._whitenings, sides, np.split(w, borders), strict=True):
            coefficients = T.coefficients(piece)
            # f(x) = (k(x, landmarks) - mean) α + offset.
            views.append(LowRankView(coefficients, offset - C.mean @ coefficients))
        return tuple(views)


class SymmetricSketched(SketchedProblem):
    """LS-SVM on landmarks, for every γ.

    The kernel is symmetric by the caller's word, and positive semi-definite by its own unless ``definite`` says so.

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.kernels.builtin import rbf
    >>> X = np.linspace(-3.0, 3.0, 2000)[:, None]
    >>> k = rbf(sigma=1.0)
    >>> problem = SymmetricSketched(k, X, np.sin(X), n_landmarks=30)
    >>> (view,), report = problem.at(100.0)
    >>> error = k(X, X[problem.indices]) @ view.coefficients + view.intercept - np.sin(X)
    >>> report.method, report.converged, bool(np.abs(error).max() < 0.01)
    ('cg', True, True)
    """

    @configured_blas()
    def __init__(self, kernel: Kernel, X: Any, Y: np.ndarray, *, definite: bool | None = None, **settings: Any):
        super().__init__(kernel, X, Y, **settings)
        kernel, L = kernel.anchored(X), X[self.indices]
        W = _matrix(kernel, L, None)
        triangular = triangular_whitening(W) if (kernel.definite if definite is None else definite) else None
        self._definite = triangular is not None
        self._whitenings = (symmetric_whitening(W) if triangular is None else triangular,)
        del W
        self._sides = (self._columns(kernel, X, L),)
        self._gram = SketchedGram(self._sides[0].sketched_gram(self._sketch, self._whitenings[0]))

    def _make_root(self, kappa: float) -> Root:
        if self._definite:
            return CholeskyRoot(self._gram, kappa)
        return SpectralRoot(self._gram.whole() + np.diag(kappa * self._whitenings[0].signs), kappa)

    def _penalty(self, w: np.ndarray) -> np.ndarray:
        return self._whitenings[0].signs[:, None] * w


class BlockSketched(SketchedProblem):
    """AsK-LS on landmarks, for every γ; the source view, then the target view, as in `BlockLowRank`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.kernels.builtin import sne
    >>> X = np.linspace(-3.0, 3.0, 400)[:, None]
    >>> k = sne(sigma=1.0)
    >>> problem = BlockSketched(k, X, np.sin(X), n_landmarks=40)
    >>> (source, target), report = problem.at(10.0)
    >>> f = k.bind(X)(X, X[problem.indices]) @ source.coefficients + source.intercept
    >>> report.method, bool(np.corrcoef(f.ravel(), np.sin(X).ravel())[0, 1] > 0.99)
    ('minres', True)
    """

    @configured_blas()
    def __init__(self, kernel: Kernel, X: Any, Y: np.ndarray, *, Z: Any = None, **settings: Any):
        super().__init__(kernel, X, Y, Z=Z, **settings)
        kernel, Z = kernel.anchored(X, Z), X if Z is None else Z
        rows, columns = X[self.indices], Z[self.indices]
        self._whitenings = two_sided_whitening(_matrix(kernel, rows, columns))
        self._sides = self._columns(kernel, X, columns), self._columns(kernel.T, Z, rows)
        self._grams = [
            SketchedGram(side.sketched_gram(self._sketch, whitening))
            for side, whitening in zip(self._sides, self._whitenings, strict=True)
        ]

    def _make_root(self, kappa: float) -> Root:
        s, t = (gram.whole() for gram in self._grams)
        coupling = kappa * np.eye(len(s))
        return SpectralRoot(np.block([[s, coupling], [coupling, t]]), kappa)

    def _penalty(self, w: np.ndarray) -> np.ndarray:
        q = self._whitenings[0].rank
        return np.vstack([w[q:], w[:q]])


def _matrix(kernel: Kernel, rows: Any, columns: Any) -> np.ndarray:
    """Return the values between landmarks in memory of their own, which engines do not keep, checked."""
    W = np.empty((rows.shape[0], (rows if columns is None else columns).shape[0]))
    for some, block in kernel.blocks(rows, columns, block_rows=_ROWS):
        W[some] = block
    if not np.isfinite(np.linalg.norm(W)):
        raise DataError(
            f"the kernel {kernel.name!r} is not finite between landmarks, or its squares are not. Check its parameters "
            "and the range of the features"
        )
    return W


def _itself(V: np.ndarray) -> np.ndarray:
    return V
