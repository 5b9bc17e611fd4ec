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
from scipy import linalg
from sklearn.model_selection import StratifiedKFold

from kernreg.linalg import BlockSpectrum, SymmetricSpectrum, centre

Folds = Sequence[np.ndarray]


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
    decisions = np.empty((len(gammas), *Y.shape))
    if symmetric:
        spectrum = SymmetricSpectrum(centred)
        z = spectrum.solve(T, gammas)
        for g, f in enumerate((1.0 / (spectrum.values[:, None] + 1.0 / gammas)).T):
            for fold in folds:
                V = spectrum.vectors[fold]
                decisions[g, fold] = Y[fold] - _solve((V * f) @ V.T, z[g, fold])
        beyond = 1.0 / gammas + spectrum.values.min(initial=0.0) <= 0.0
        return decisions, spectrum.poles(gammas) | (beyond & definite)
    block = BlockSpectrum(centred)
    a, c = block.solve(T, gammas)
    for g, kappa in enumerate(1.0 / gammas):
        with np.errstate(divide="ignore", invalid="ignore"):  # a pole, which is left out below
            plus, minus = 1.0 / (kappa + block.values), 1.0 / (kappa - block.values)
            same, cross = 0.5 * (plus + minus), 0.5 * (plus - minus)
        for fold in folds:
            U, V = block.left[fold], block.right[fold]
            across = (U * cross) @ V.T
            G = np.block([[(U * same) @ U.T, across], [across.T, (V * same) @ V.T]])
            e = _solve(G, np.concatenate([a[g, fold], c[g, fold]]))
            decisions[g, fold] = Y[fold] - 0.5 * (e[: len(fold)] + e[len(fold) :])
    return decisions, block.poles(gammas)


def _solve(G: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Solve for residuals; not a number where the system without the fold has a pole."""
    try:
        return np.asarray(linalg.solve(G, z, assume_a="sym", check_finite=True))
    except (np.linalg.LinAlgError, ValueError):
        return np.full_like(z, np.nan)


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
