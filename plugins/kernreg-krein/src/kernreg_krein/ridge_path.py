"""Ridge regression in the associated Hilbert space for every γ₊ and γ₋ from one decomposition, and their choice.

The centred matrix K̃ = P S K S P (`kernreg.linalg.centre`) is U Λ Uᵀ. With Z = UᵀSY and κ = 1/γ₊ or 1/γ₋ by the sign of
λ, fitted values are S⁻¹U diag(|λ|/(|λ| + κ)) Z plus the mean of the targets: a sum of a part for positive and one for
negative eigenvalues. So are leverages, h_i = v_i/Σv + v_i Σ_k u_ik² |λ_k|/(|λ_k| + κ). A grid of γ₊ and γ₋ costs what
two paths cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from kernreg.linalg import centre
from kernreg_krein.spaces import distinct_from_zero


class RidgeSpectrum:
    """K̃ = U Λ Uᵀ and the targets.

    Parameters
    ----------
    K : ndarray of shape (m, m)
    Y : ndarray of shape (m, C)
    weights : ndarray of shape (m,), optional
    intercept : bool
        Whether there is a bias; without one K is not centred.
    """

    def __init__(self, K: np.ndarray, Y: np.ndarray, weights: np.ndarray | None, *, intercept: bool):
        self.root = np.ones(len(K)) if weights is None else np.sqrt(weights)
        if intercept:
            centred = centre(K, weights)
            M, T, self._left = centred.matrix, centred.targets(Y), centred.left / centred.norm
            self.mean, self.share = centred.mean(Y), centred.border**2
        else:
            M = np.array(K, dtype=np.float64) * self.root * self.root[:, None]
            T, self._left = self.root[:, None] * Y, np.zeros(len(K))
            self.mean, self.share = np.zeros(Y.shape[1]), np.zeros(len(K))
        values, vectors = linalg.eigh(M, overwrite_a=True, check_finite=False, driver="evd")
        kept = distinct_from_zero(values, K.dtype, len(K))
        self.values, self.vectors = values[kept], vectors if kept.all() else vectors[:, kept]
        if intercept:
            # K̃ has the eigenvalue zero for the border, and rounding mixes that into eigenvectors of small eigenvalues:
            # unseen in K̃, but K itself is large there, and so would be the errors at new samples.
            self.vectors = centred.project(self.vectors)
        self.products = self.vectors.T @ T

    @property
    def signature(self) -> tuple[int, int]:
        """The numbers of positive and negative eigenvalues of K̃."""
        return int((self.values > 0.0).sum()), int((self.values < 0.0).sum())

    def machine(self, gamma: float, gamma_negative: float) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients (m, C) and intercepts (C,)."""
        divided = np.sign(self.values) / (np.abs(self.values) + kappas(self.values, gamma, gamma_negative))
        inner = self.vectors @ (divided[:, None] * self.products)
        return self.root[:, None] * inner, self.mean - self._left @ inner

    def machines(self, gammas: np.ndarray, sign: float) -> tuple[np.ndarray, np.ndarray]:
        """Return what the eigenvalues of one sign add to coefficients (m, G, C) and intercepts (G, C), for every γ."""
        side = self.values * sign > 0.0
        divided = sign / (np.abs(self.values[side])[:, None] + 1.0 / gammas)
        shape = len(gammas), self.products.shape[1]
        turned = (divided[:, :, None] * self.products[side, None, :]).reshape(len(divided), shape[0] * shape[1])
        inner = self.vectors[:, side] @ turned
        return (self.root[:, None] * inner).reshape(-1, *shape), -(self._left @ inner).reshape(shape)


def kappas(values: np.ndarray, gamma: float, gamma_negative: float) -> np.ndarray:
    """Return κ = 1/γ of each eigenvalue, by its sign."""
    return np.where(values > 0.0, 1.0 / gamma, 1.0 / gamma_negative)


@dataclass(frozen=True)
class Candidates:
    """Decision values of samples by machines that have not seen their targets, for every γ₊ and γ₋.

    Attributes
    ----------
    base : ndarray of shape (n, C)
        Of the mean alone.
    parts : tuple of ndarray of shape (n, G, C)
        What positive and negative eigenvalues add.
    leverages : tuple of ndarray of shape (n, G) or None
        Where the values are those of all samples, and leaving one out is still to be done.
    Y, share : ndarray
        Targets (n, C) and the leverage of the mean (n,), for that.
    """

    base: np.ndarray
    parts: tuple[np.ndarray, np.ndarray]
    leverages: tuple[np.ndarray, np.ndarray] | None = None
    Y: np.ndarray | None = None
    share: np.ndarray | None = None

    def decision(self, g: int, h: int) -> np.ndarray:
        """Return decision values (n, C) with the g-th γ₊ and the h-th γ₋."""
        fitted = self.base + self.parts[0][:, g] + self.parts[1][:, h]
        if self.leverages is None or self.Y is None or self.share is None:
            return fitted
        rest = 1.0 - self.share - self.leverages[0][:, g] - self.leverages[1][:, h]
        return self.Y - (self.Y - fitted) / np.maximum(rest, np.finfo(np.float64).eps)[:, None]


def fixed_metric(
    features: np.ndarray,
    values: np.ndarray,
    products: np.ndarray,
    Y: np.ndarray,
    mean: np.ndarray,
    weights: np.ndarray | None,
    share: np.ndarray,
    grids: tuple[np.ndarray, np.ndarray],
) -> Candidates:
    """Return leave-one-out values with the metric |K̃| held fixed: (y - f)/(1 - h), which are exact for that metric.

    Parameters
    ----------
    features : ndarray of shape (n, r)
        Rows of S⁻¹U.
    values, products : ndarray of shape (r,) and (r, C)
        Λ and Z.
    Y, mean, weights, share
        Of the samples.
    grids : tuple of ndarray
        γ₊ and γ₋.
    """
    parts, leverages = [], []
    for sign, gammas in zip((1.0, -1.0), grids, strict=True):
        side = values * sign > 0.0
        sizes, E = np.abs(values[side])[:, None], features[:, side]
        kept = sizes / (sizes + 1.0 / gammas)
        shape = len(gammas), products.shape[1]
        turned = (kept[:, :, None] * products[side, None, :]).reshape(len(sizes), shape[0] * shape[1])
        parts.append((E @ turned).reshape(len(E), *shape))
        leverage = (E * E) @ kept
        leverages.append(leverage if weights is None else weights[:, None] * leverage)
    base = np.broadcast_to(mean, Y.shape)
    return Candidates(base, (parts[0], parts[1]), (leverages[0], leverages[1]), Y, share)


def held_out(
    K: np.ndarray,
    Y: np.ndarray,
    weights: np.ndarray | None,
    fold: np.ndarray,
    grids: tuple[np.ndarray, np.ndarray],
    *,
    intercept: bool,
) -> tuple[Candidates, np.ndarray]:
    """Return values of samples by machines fitted without their fold, metric included, and which samples they are."""
    bases, parts, rows = [], ([], []), []  # type: tuple[list, tuple[list, list], list]
    for number in np.unique(fold[fold >= 0]):
        seen, unseen = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        inner = None if weights is None else weights[seen]
        spectrum = RidgeSpectrum(K[np.ix_(seen, seen)], Y[seen], inner, intercept=intercept)
        cross = np.asarray(K[np.ix_(unseen, seen)], dtype=np.float64)
        for side, sign, gammas in zip(parts, (1.0, -1.0), grids, strict=True):
            coefficients, intercepts = spectrum.machines(gammas, sign)
            side.append((cross @ coefficients.reshape(len(seen), -1)).reshape(-1, *intercepts.shape) + intercepts)
        bases.append(np.broadcast_to(spectrum.mean, (len(unseen), Y.shape[1])))
        rows.append(unseen)
    found = Candidates(np.concatenate(bases), (np.concatenate(parts[0]), np.concatenate(parts[1])))
    return found, np.concatenate(rows)


@dataclass(frozen=True)
class Choice:
    """The best γ₊ and γ₋, and how each pair tried did."""

    gamma: float
    gamma_negative: float
    path: dict[str, np.ndarray]


def choose(
    candidates: Candidates,
    Y: np.ndarray,
    weights: np.ndarray | None,
    grids: tuple[np.ndarray, np.ndarray],
    *,
    tied: bool,
) -> Choice:
    """Return the γ₊ and γ₋, equal ones where ``tied``, of the least squared error; of equals the first.

    Parameters
    ----------
    candidates : Candidates
    Y : ndarray of shape (n, C)
        Targets of their samples.
    weights : ndarray of shape (n,), optional
    grids : tuple of ndarray
    tied : bool
    """
    pairs = [(g, h) for g in range(len(grids[0])) for h in ((g,) if tied else range(len(grids[1])))]
    squares = [((Y - candidates.decision(g, h)) ** 2).mean(axis=1) for g, h in pairs]
    errors = np.average(squares, axis=1, weights=weights)
    g, h = pairs[int(np.argmin(errors))]
    path = {
        "gamma": np.array([grids[0][g] for g, _ in pairs]),
        "gamma_negative": np.array([grids[1][h] for _, h in pairs]),
        "squared_error": errors,
    }
    return Choice(float(grids[0][g]), float(grids[1][h]), path)
