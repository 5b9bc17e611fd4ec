"""Centres and their widths chosen together: forward selection from all samples at several widths.

The dictionary holds, for every sample c and every factor f, the Gaussian at c whose bandwidths are f times those of the
features. Its columns, centred, are added one at a time, that one next which explains most of the residuals r that are
left, beyond what the columns before it explain (orthogonal least squares):

    gain = (φᵀVr)² / (φᵀVφ + μ),      φ a column without its part in the span of those chosen, V the weights of samples

Residuals are so seen through the Gaussian that would take them away: a single noisy sample counts for little, many bad
ones side by side for much. μ > 0 prefers columns that many samples share. A step costs one product of a vector and the
dictionary. Selection knows the targets, so errors that leave samples out of the solve alone are too small after it; the
ridge is chosen on samples that were held out from the selection, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from kernreg_asymmetric.bandwidths.adaptation import Expansion, Sample, kernel_values, overlaps
from kernreg_asymmetric.bandwidths.per_centre import exponents

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of the bandwidths θ, from wide to narrow
_CANDIDATES = 3  # samples in the dictionary for each centre that is wanted
_FEW = 500  # samples that are candidates in any case
_NEW = 1e-8  # least part of a column that is outside of the span of those chosen, squared


@dataclass(frozen=True)
class Dictionary:
    """What a selection is made from: bandwidths η of features, which all centres share but for a factor, and μ."""

    log_squares: np.ndarray
    penalty: float


def select(data: Sample, dictionary: Dictionary, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return samples that are centres, at most ``size``, and their bandwidths η.

    >>> x = np.linspace(0.0, 1.0, 200)[:, None]
    >>> y = np.exp(-((x - x[20]) ** 2) / 0.001) + np.exp(-((x - x[150]) ** 2) / 0.016)
    >>> data = Sample(x, y, np.full(200, 1 / 200))
    >>> supports, log_squares = select(data, Dictionary(-np.log([0.004]), 1e-9), 2)
    >>> sorted(supports.tolist()), np.exp(-log_squares[np.argsort(supports), 0]).round(4).tolist()
    ([20, 150], [0.001, 0.016])
    """
    candidates = _spread(len(data.X), max(_FEW, _CANDIDATES * size))
    root = np.sqrt(data.share)
    columns = _columns(data, candidates, dictionary.log_squares, root)
    count = len(candidates)
    norms = np.einsum("ij,ij->j", columns, columns, dtype=np.float64)
    least = np.maximum(_NEW * norms, np.finfo(float).tiny)
    residuals = (data.Y - data.share @ data.Y) * root[:, None]
    products = residuals.T @ columns  # of residuals and what is left of each column
    basis = np.empty((len(data.X), size))
    chosen: list[int] = []
    free = norms > least
    for step in range(size):
        gains = np.where(free, np.square(products).sum(axis=0) / (np.maximum(norms, least) + dictionary.penalty), -1.0)
        best = int(np.argmax(gains))
        if not gains[best] > 0.0:
            break
        chosen.append(best)
        free[best % count :: count] = False  # one width for a centre
        column = columns[:, best].astype(np.float64)
        for _ in range(2):  # twice is enough to be orthogonal to rounding
            column -= basis[:, :step] @ (basis[:, :step].T @ column)
        direction = column / max(float(np.linalg.norm(column)), np.finfo(float).tiny)
        basis[:, step] = direction
        along = direction.astype(columns.dtype) @ columns
        norms -= np.square(along, dtype=np.float64)
        free &= norms > least
        products = products - np.outer(direction @ residuals, along)
    places = np.array(chosen, dtype=np.intp)
    shifts = 2.0 * np.log(np.array(FACTORS))[places // count]
    return candidates[places % count], dictionary.log_squares + shifts[:, None]


def _spread(n: int, most: int) -> np.ndarray:
    """Return numbers of samples, all or about as many as are asked for, drawn always alike."""
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(0).permutation(n)[:most])


def _columns(data: Sample, candidates: np.ndarray, log_squares: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Return Gaussians at candidates, factor by factor, centred and weighted; single precision is enough to choose."""
    centres = data.X[candidates]
    apart = exponents(data.X, centres, np.broadcast_to(np.exp(log_squares), centres.shape))
    columns = np.empty((len(data.X), len(FACTORS) * len(candidates)), dtype=np.float32)
    for number, factor in enumerate(FACTORS):
        K = np.exp(-factor * factor * apart)
        K -= data.share @ K
        K *= root[:, None]
        columns[:, number * len(candidates) : (number + 1) * len(candidates)] = K
    return columns


def ridge_path(
    data: Sample, held_out: Sample, supports: np.ndarray, log_squares: np.ndarray, log_ridges: np.ndarray
) -> np.ndarray:
    """Return squared errors of the samples held out, a row for each ridge: all from one decomposition."""
    centres, v = data.X[supports], data.share
    K = kernel_values(data.X, centres, log_squares)
    means, target = v @ K, v @ data.Y
    K -= means
    S = overlaps(centres, log_squares)
    S[np.diag_indices_from(S)] += 1e-9
    values, vectors = linalg.eigh((K * v[:, None]).T @ K, S, check_finite=False)
    products = (K @ vectors).T @ (v[:, None] * (data.Y - target))
    found = np.empty((len(log_ridges), len(held_out.X)))
    for number, log_ridge in enumerate(log_ridges):
        alpha = vectors @ (products / (np.maximum(values, 0.0) + np.exp(log_ridge))[:, None])
        expansion = Expansion(centres, log_squares, alpha, target - means @ alpha)
        found[number] = np.square(expansion(held_out.X) - held_out.Y).sum(axis=1)
    return found
