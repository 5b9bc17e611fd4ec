"""Cross-validation in folds from one decomposition of the kernel matrix, every γ at once, no refits.

The identity behind exact leave-one-out holds for any set S of samples: with G the inverse of the bordered system and z
its solution, G_SS e = z_S gives e, the residuals of S in the solution of the system without S. For m samples in k folds
that is k systems of m/k unknowns for each γ, instead of k decompositions of the rest.

As in leave-one-out, what a kernel learns from its reference set (the normaliser of ``sne`` and ``t``) is held fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import lapack
from sklearn.model_selection import StratifiedKFold

from kernreg.linalg import BlockSpectrum, SymmetricSpectrum, centre

Folds = Sequence[np.ndarray]

#: A reciprocal condition below this leaves hardly any digit of residuals: rounding makes such of an exact pole.
_SINGULAR = 1e-12


def make_folds(y: Any, count: int, seed: int) -> list[np.ndarray]:
    """Return the samples of each fold, every class spread over all of them; fewer folds where a class is small."""
    y = np.asarray(y)
    count = max(2, min(count, int(np.unique(y, return_counts=True)[1].min())))
    cutter = StratifiedKFold(count, shuffle=True, random_state=seed)
    return [fold for _, fold in cutter.split(np.zeros((len(y), 1)), y)]


def out_of_fold(
    K: np.ndarray, Y: np.ndarray, gammas: np.ndarray, folds: Folds, *, symmetric: bool, definite: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return decisions of each sample by the model that was fitted without its fold, and which γ are left out.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        The kernel matrix; it is not changed.
    Y : ndarray of shape (m, C)
        Targets.
    gammas : ndarray of shape (G,)
    folds : sequence of ndarray
        The samples of each fold.
    symmetric : bool
        LS-SVM where true; otherwise AsK-LS, and the decision is the mean of its two views.
    definite : bool
        Of LS-SVM with an indefinite kernel: leave out not only γ at a pole but all beyond the first pole, so that the
        system is positive definite. Between poles the solution turns over with every eigenvalue that 1/γ passes.

    Returns
    -------
    decisions : ndarray of shape (G, m, C)
        Not a number where γ is left out, and for a fold whose rest has a pole at this γ.
    excluded : ndarray of shape (G,)

    Examples
    --------
    >>> X = np.array([0.0, 0.1, 1.0, 1.1])
    >>> K, Y = np.exp(-np.subtract.outer(X, X) ** 2), np.array([[-1.0], [-1.0], [1.0], [1.0]])
    >>> found, _ = out_of_fold(K, Y, np.array([10.0]), [np.array([0, 2]), np.array([1, 3])], symmetric=True)
    >>> np.sign(found[0, :, 0])
    array([-1., -1.,  1.,  1.])
    """
    centred = centre(K)
    T = centred.targets(Y)
    decisions = np.full((len(gammas), *Y.shape), np.nan)
    if symmetric:
        spectrum = SymmetricSpectrum(centred)
        beyond = 1.0 / gammas + spectrum.values.min(initial=0.0) <= 0.0
        excluded = spectrum.poles(gammas) | (beyond & definite)
        z = spectrum.solve(T, gammas)
        for g in np.flatnonzero(~excluded):
            f = 1.0 / (spectrum.values + 1.0 / gammas[g])
            for fold in folds:
                V = spectrum.vectors[fold]
                decisions[g, fold] = Y[fold] - _residuals((V * f) @ V.T, z[g, fold])
        return decisions, excluded
    block = BlockSpectrum(centred)
    excluded = block.poles(gammas)
    a, c = block.solve(T, gammas)
    for g in np.flatnonzero(~excluded):
        plus, minus = 1.0 / (1.0 / gammas[g] + block.values), 1.0 / (1.0 / gammas[g] - block.values)
        same, cross = 0.5 * (plus + minus), 0.5 * (plus - minus)
        for fold in folds:
            U, V = block.left[fold], block.right[fold]
            across = (U * cross) @ V.T
            G = np.block([[(U * same) @ U.T, across], [across.T, (V * same) @ V.T]])
            e = _residuals(G, np.concatenate([a[g, fold], c[g, fold]]))
            decisions[g, fold] = Y[fold] - 0.5 * (e[: len(fold)] + e[len(fold) :])
    return decisions, excluded


def _residuals(G: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Solve G e = z; not a number where G may as well be singular: the system without the fold has a pole.

    `scipy.linalg.solve` raises, warns or returns noise there, as the last bits will have it, which differ among CPUs.
    """
    factor, pivots, _ = lapack.dsytrf(G, lower=1, lwork=64 * len(G))  # in blocks of 64 columns
    reciprocal, _ = lapack.dsycon(factor, pivots, np.linalg.norm(G, 1), lower=1)  # 0 where a pivot vanishes
    if not reciprocal > _SINGULAR:
        return np.full_like(z, np.nan)
    return np.asarray(lapack.dsytrs(factor, pivots, z, lower=1)[0])


def targets(y: Any) -> np.ndarray:
    """Return ±1 targets, one column for two classes, else a column for each class."""
    classes, codes = np.unique(y, return_inverse=True)
    Y = np.where(codes[:, None] == np.arange(len(classes)), 1.0, -1.0)
    return Y[:, 1:] if len(classes) == 2 else Y


def quality(decisions: np.ndarray, Y: np.ndarray) -> tuple[float, float]:
    """Return accuracy and minus the squared error of decisions, the larger the better."""
    if not np.isfinite(decisions).all():
        return -np.inf, -np.inf
    if Y.shape[1] == 1:
        right = (decisions > 0.0) == (Y > 0.0)
    else:
        right = decisions.argmax(axis=1) == Y.argmax(axis=1)
    return float(right.mean()), -float(((Y - decisions) ** 2).mean())
