"""AsK-LS on explicit features, for every γ at once: moments in one pass, then matrices of the size of the features.

With ψ(x) in the rows of F, φ(x) in those of F R, and weights v of the samples, the kernel matrix is K = F R Fᵀ, and
what the dual system sees is K̃ = F̃ R F̃ᵀ, F̃ = √v (F - weighted mean). From F̃ᵀF̃ = W Λ Wᵀ, U = F̃ W Λ^(-1/2) is
orthonormal, and

    K̃ = U (Λ^½ Wᵀ R W Λ^½) Uᵀ = (U P) Σ (U Q)ᵀ

are its singular triplets. With t = √v (y - weighted mean), α = (UP)ᵀt, β = (UQ)ᵀt and κ = 1/γ the duals of AsK-LS are

    â = UP (κα - Σβ)/(κ² - Σ²) + γ (t - UUᵀt),      ĉ = UQ (κβ - Σα)/(κ² - Σ²) + γ (t - UUᵀt)

and the decision functions f_s(x) = φ(x)ᵀ F̃ᵀĉ + b₁, f_t(x) = ψ(x)ᵀ Rᵀ F̃ᵀâ + b₂. Leave-one-out residuals e of one
sample solve a system of two unknowns made of the diagonals of the inverse, (A⁻¹)_SS e = (â_i, ĉ_i), as in the dual of
all samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from kernreg import get_config
from kernreg.errors import ParameterError
from kernreg.solvers import warn_beyond_budget
from kernreg_asymmetric.random_features.features import FourierFeatures, pieces

_CUT = 1e-12  # of eigenvalues of the features' second moments, relative to the largest
_SAME = 1e-3  # of the size of features that do not vary but for rounding, times the cut above
_POLE = 1e-10  # of |κ - σ|, relative to κ
_ROWS = 4096
_BEFORE = 3.5  # matrices of features by features that are held before their rank is known,
_SQUARES = 6  # and of the rank by the rank afterwards
_HELD = 9  # arrays of rows by features, of those that are left out: waves, coordinates, and products of these


def row_blocks(n: int, width: int) -> Iterator[slice]:
    """Yield slices of at most 4096 rows of so many features, whose waves are held one and a half times and weighted."""
    return pieces(n, 20 * width, _ROWS)


def warn_of_matrices(p: int, rank: int, *, before: bool) -> None:
    """Warn where matrices of p features of some rank are more than the memory budget.

    ``before`` anything is made the rank is at most that; the word comes then if what is needed to know it is too much,
    else as soon as it is known.
    """
    too_much = 8 * _BEFORE * p * p > get_config().memory_budget()
    if before == too_much:
        needed = 8 * (2 * p * p + 2 * p * rank + _SQUARES * rank * rank)
        what = f"AsK-LS on {p // 2} random frequencies"
        warn_beyond_budget(needed, what, "take fewer (n_frequencies)", stacklevel=5 if before else 6)


@dataclass(frozen=True)
class Moments:
    """Weighted mean, F̃ᵀF̃ and F̃ᵀt of right features, and the mean of the targets."""

    mean: np.ndarray
    gram: np.ndarray
    targets: np.ndarray
    target_mean: np.ndarray
    total: float


def moments(features: FourierFeatures, X: Any, Y: np.ndarray, weights: np.ndarray | None) -> Moments:
    """Return the moments of all samples in one pass, a block of rows at a time."""
    p = features.width
    total = float(len(Y) if weights is None else weights.sum())
    target_mean = np.average(Y, axis=0, weights=weights)
    gram, sums, products = np.zeros((p, p)), np.zeros(p), np.zeros((p, Y.shape[1]))
    for rows in row_blocks(len(Y), p):
        F = features.right(X[rows]).astype(np.float64, copy=False)
        weighted = F if weights is None else F * weights[rows, None]
        gram += weighted.T @ F  # of one array a symmetric product, at half the price
        sums += weighted.sum(axis=0)
        products += weighted.T @ (Y[rows] - target_mean)
    mean = sums / total
    gram -= total * np.outer(mean, mean)
    return Moments(mean, 0.5 * (gram + gram.T), products, target_mean, total)


@dataclass(frozen=True)
class Solution:
    """Weights and intercepts of both views at one γ: f_s(x) = φ(x)ᵀ source + b₁, f_t(x) = ψ(x)ᵀ target + b₂."""

    gamma: float
    source: np.ndarray
    target: np.ndarray
    source_intercept: np.ndarray
    target_intercept: np.ndarray


class DualSpectrum:
    """The singular triplets of K̃ through features, good for every γ.

    Attributes
    ----------
    values : ndarray
        Singular values of K̃.
    """

    def __init__(self, features: FourierFeatures, sums: Moments):
        self._features, self._sums = features, sums
        values, vectors = linalg.eigh(sums.gram)
        size = sums.total * float(features.weights.sum())  # what the eigenvalues of features that vary add up to
        kept = values > _CUT * max(values[-1], _SAME * size)
        if not kept.any():
            raise ParameterError(
                "the features of all samples are the same: the kernel tells nothing apart. Give samples that differ, "
                "or another width"
            )
        warn_of_matrices(features.width, int(kept.sum()), before=False)
        root, W = np.sqrt(values[kept]), vectors[:, kept]
        del vectors
        self._whiten, unwhiten = W / root, W * root  # F̃ whiten = U, and F̃ᵀU = unwhiten
        core = np.asfortranarray((unwhiten.T @ features.rotated(W)) * root)
        del W
        P, self.values, Qt = linalg.svd(core, overwrite_a=True)
        self._P, self._Q = P, Qt.T
        self._from_P, self._from_Q = unwhiten @ P, unwhiten @ Qt.T
        on_U = self._whiten.T @ sums.targets
        self._alpha, self._beta = P.T @ on_U, Qt @ on_U

    @property
    def width(self) -> int:
        """The number of features of each side."""
        return self._features.width

    def is_pole(self, gamma: float) -> bool:
        """Whether 1/γ is a singular value of K̃ but for rounding."""
        kappa = 1.0 / gamma
        return bool(np.abs(self.values - kappa).min() <= _POLE * kappa)

    def ratios(self, gamma: float) -> tuple[np.ndarray, np.ndarray]:
        """Return κ²/(κ² - σ²) and κσ/(κ² - σ²), in factors: squares of the least γ would be beyond all numbers."""
        kappa, s = 1.0 / gamma, self.values
        small = kappa / (kappa + s)
        return small * (kappa / (kappa - s)), small * (s / (kappa - s))

    def scaled_duals(self, gamma: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the duals in the coordinates of the singular vectors, times κ."""
        p, q = (ratio[:, None] for ratio in self.ratios(gamma))
        return p * self._alpha - q * self._beta, p * self._beta - q * self._alpha

    def at(self, gamma: float) -> Solution:
        """Solve for one γ; raise ParameterError at a pole."""
        if self.is_pole(gamma):
            raise ParameterError(
                f"gamma={gamma:g} is at a pole: 1/gamma = {1 / gamma:g} is a singular value of the centred kernel "
                "matrix, and AsK-LS has no unique solution there. Change gamma by a few percent, or take gamma='loo'"
            )
        a, c = (gamma * dual for dual in self.scaled_duals(gamma))
        features, sums = self._features, self._sums
        source, target = self._from_Q @ c, features.rotated(self._from_P @ a, back=True)
        left_mean = features.rotated(sums.mean[:, None], back=True)[:, 0]  # the mean of φ
        return Solution(
            gamma, source, target, sums.target_mean - left_mean @ source, sums.target_mean - sums.mean @ target
        )

    def left_out(self, X: Any, Y: np.ndarray, weights: np.ndarray | None) -> LeftOut:
        """Return what gives leave-one-out residuals of some of the samples, for every γ."""
        return LeftOut(self, X, Y, np.ones(len(Y)) if weights is None else weights)

    def coordinates(self, X: Any, Y: np.ndarray, weights: np.ndarray) -> Coordinates:
        """Return samples in the coordinates of the singular vectors."""
        root = np.sqrt(np.minimum(weights, 1.0))  # one unit of weight is left out, as if it were one of several copies
        F = self._features.right(X).astype(np.float64, copy=False)
        U = (root[:, None] * (F - self._sums.mean)) @ self._whiten
        t = root[:, None] * (Y - self._sums.target_mean)
        return Coordinates(self, U @ self._P, U @ self._Q, t, root, root * root / self._sums.total)


@dataclass(frozen=True)
class LeftOut:
    """Some samples, their targets and weights, for leave-one-out residuals: as many together as memory holds."""

    spectrum: DualSpectrum
    X: Any
    Y: np.ndarray
    weights: np.ndarray

    def residuals(self, gamma: float) -> tuple[np.ndarray, np.ndarray]:
        """Return y_i - f⁽⁻ⁱ⁾(x_i) of the source and of the target view."""
        return next(self.path([gamma]))

    def path(self, gammas: Sequence[float]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield residuals for one γ after the other, all of them in as few passes over the samples as memory allows."""
        n = len(self.Y)
        blocks = list(pieces(n, 8 * _HELD * self.spectrum.width))
        if len(blocks) == 1:
            yield from map(self._of(blocks[0]).residuals, gammas)
            return
        for some in pieces(len(gammas), 2 * self.Y.nbytes):
            found = np.empty((some.stop - some.start, 2, *self.Y.shape))
            for rows in blocks:
                coordinates = self._of(rows)
                for pair, gamma in zip(found, gammas[some], strict=True):
                    pair[0, rows], pair[1, rows] = coordinates.residuals(gamma)
            yield from ((source, target) for source, target in found)

    def _of(self, rows: slice) -> Coordinates:
        return self.spectrum.coordinates(self.X[rows], self.Y[rows], self.weights[rows])


@dataclass(frozen=True)
class Coordinates:
    """Some samples in the coordinates of the singular vectors, for leave-one-out residuals."""

    spectrum: DualSpectrum
    U: np.ndarray
    V: np.ndarray
    t: np.ndarray
    root: np.ndarray
    share: np.ndarray

    def residuals(self, gamma: float) -> tuple[np.ndarray, np.ndarray]:
        """Return y_i - f⁽⁻ⁱ⁾(x_i) of the source and of the target view."""
        a, c = self.spectrum.scaled_duals(gamma)
        p, q = self.spectrum.ratios(gamma)
        UU, VV = self.U * self.U, self.V * self.V
        rest = self.t - self.U @ self.spectrum._alpha  # what the features do not reach; the same with V and β
        a_i, c_i = self.U @ a + rest, self.V @ c + rest  # times κ, as all that follows; the residuals have none
        outside = 1.0 - self.share - UU.sum(axis=1)
        aa, cc = UU @ p + outside, VV @ p + outside
        ac = -(self.U * self.V) @ q
        with np.errstate(divide="ignore", invalid="ignore"):  # where the system without i has a pole
            determinant = ((aa * cc - ac * ac) * self.root)[:, None]
            return (
                (cc[:, None] * a_i - ac[:, None] * c_i) / determinant,
                (aa[:, None] * c_i - ac[:, None] * a_i) / determinant,
            )
