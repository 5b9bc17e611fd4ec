"""gak: how well two time series can be aligned, summed over all alignments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from kernreg import kernel
from kernreg.errors import DataError
from kernreg.kernels import PackedSamples, Ragged, integer, width
from kernreg_structured.recursion import log_alignments, own_log_alignments

VECTORS = 1000  # among which the typical distance is looked for: always the same ones
LARGEST = 709.0  # the logarithm of a float64

series = Ragged("ragged", "time series: a list of arrays of shape (length,) or (length, features), without NaN")


def _typical_scale(samples: PackedSamples, weights: np.ndarray | None, parameters: Mapping[str, Any]) -> float:
    """Return the number that a word for sigma stands for: a typical distance of two vectors times √(median length)."""
    factor, _, word = parameters["sigma"].rpartition("*")
    counts = np.ones(len(samples)) if weights is None else weights
    per_vector, vectors = np.repeat(counts, samples.lengths), samples.values
    unit = unit_of(vectors)
    vectors = vectors / unit
    if word == "scale":
        apart = vectors - vectors[np.argmax(per_vector > 0.0)]  # exactly 0 where all are the same
        apart -= np.average(apart, axis=0, weights=per_vector)
        typical = float(np.sqrt(np.average((apart**2).sum(axis=1), weights=per_vector)))
    else:
        if len(vectors) > VECTORS:
            chosen = np.sort(np.random.default_rng(0).choice(len(vectors), VECTORS, replace=False))
            vectors, per_vector = vectors[chosen], per_vector[chosen]
        distances = pdist(vectors)
        first, second = np.triu_indices(len(vectors), 1)
        apart = distances > 0.0
        typical = weighted_median(distances[apart], (per_vector[first] * per_vector[second])[apart])
    size = unit * typical * float(np.sqrt(weighted_median(samples.lengths.astype(np.float64), counts)))
    return float(factor or 1.0) * (size if size > 0.0 else 1.0)


def unit_of(values: np.ndarray) -> float:
    """Return the size of values whose squares would be 0 or infinite, else 1.

    >>> unit_of(np.array([[1e-200, -3e-200]])), unit_of(np.array([[2.0]]))
    (3e-200, 1.0)
    """
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    return 1.0 if largest == 0.0 or 1e-100 < largest < 1e100 else largest


def weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """Return the median of values that count so many times each, 0 of none.

    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 4.0]))
    2.0
    """
    if not len(values) or weights.sum() <= 0.0:
        return 0.0
    order = np.argsort(values, kind="stable")
    values, sums = values[order], np.cumsum(weights[order])
    low, high = np.searchsorted(sums, 0.5 * sums[-1], "left"), np.searchsorted(sums, 0.5 * sums[-1], "right")
    return float(0.5 * (values[low] + values[min(high, len(values) - 1)]))


def band_weights(band: int) -> np.ndarray:
    """Return the weights 1 - |i - j| / band of local similarities, for i - j from -band to band; none without a band.

    >>> band_weights(2).tolist()
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    return 1.0 - np.abs(np.arange(-band, band + 1)) / band if band else np.empty(0)


def _laid_out(samples: PackedSamples, sigma: float, band: int, normalize: bool, log: bool) -> tuple[Any, ...]:
    """Return the series feature by feature, and the logarithm of the kernel of each with itself."""
    features = samples.values.shape[1]
    values = np.concatenate([x.T.ravel() for x in samples]) if len(samples) else np.empty(0)
    assert samples.offsets is not None
    laid_out = PackedSamples("feature by feature", values[:, None], samples.offsets * features)
    own = np.zeros(len(samples))
    if normalize:
        own_log_alignments((values, laid_out.offsets), features, sigma, band, band_weights(band), own)
    return laid_out, own, np.full(len(samples), features)


def _example(rng: np.random.Generator, n: int) -> tuple[Any, list[np.ndarray]]:
    return gak(sigma=2.0), [rng.normal(size=(rng.integers(1, 12), 2)) for _ in range(n)]


@kernel(
    of="blocks",
    inputs=series,
    symmetric=True,
    definite=lambda sigma, band, normalize, log: None if log else True,
    represent=_laid_out,
    learn={"sigma": _typical_scale},
    parameters={"sigma": width, "band": integer(0, 1_000_000)},
    block=16,
    example=_example,
)
def gak(X, Z, sigma="median", band=0, normalize=True, log=False):
    """Σ over alignments π of Π_{(i, j) in π} κ(x_i, z_j) / (2 - κ(x_i, z_j)), κ = exp(-|x_i - z_j|² / (2 sigma²)).

    The global alignment kernel of time series, of any lengths, with one or several features: a list of arrays of shape
    (length,) or (length, features). An alignment leads from the first pair of vectors to the last one, in steps of one
    along x, along z or along both. Positive definite. ``normalize=True`` divides by √(k(x, x) k(z, z)): values are at
    most 1. The sum is computed with an exponent beside every number, and is exact where it is far beyond float64,
    at length 10⁴ and more; ``normalize=False`` gives it as it is where float64 can hold it. ``log=True`` gives the
    logarithm of either, which is always finite, is indefinite, and does not vanish between long series.

    ``band=T`` multiplies κ by max(0, 1 - |i - j| / T): alignments stay within a band, and cost T times the length.
    Series whose lengths differ by T or more then have the kernel 0.

    ``sigma`` is a number, or a word that the training samples give a value to: ``"median"`` of the distances between
    their vectors, or ``"scale"``, the root of their variance, each times the root of the median length.

    Cuturi, Vert, Birkenes & Matsui, A kernel for time series based on global alignments, ICASSP 2007; Cuturi, Fast
    global alignment kernels, ICML 2011.

    >>> k = gak(sigma=1.0)
    >>> k([[0.0, 1.0, 2.0, 1.0], [0.0, 0.0, 1.0, 2.0, 1.0], [5.0, 5.0]]).round(3).tolist()
    [[1.0, 0.715, 0.0], [0.715, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    (x, x_own, width_of_all), (z, z_own, _) = X, Z
    K = np.empty((len(x), len(z)))
    if not K.size:
        return K
    features = int(width_of_all[0])
    left, right = (x.values[:, 0], x.offsets), (z.values[:, 0], z.offsets)
    same = left[0].ctypes.data == right[0].ctypes.data and len(x) == len(z)  # a block on the diagonal of k(X)
    log_alignments(left, right, features, sigma, band, band_weights(band), same, K)
    if normalize:
        K -= 0.5 * (x_own[:, None] + z_own)
    if log:
        if np.isneginf(K).any():
            raise DataError(
                f"gak: the lengths of two series differ by band={band} or more, their kernel is 0, and log=True has no "
                "value for that; take a larger band, or band=0 for none"
            )
        return K
    if K.max() > LARGEST:
        raise DataError(
            f"gak: a sum over alignments is e^{K.max():.6g}, beyond float64; use normalize=True, or log=True for its "
            "logarithm"
        )
    return np.exp(K)


def log_gak(X: Any, Z: Any = None, *, sigma: Any = "median", band: int = 0) -> np.ndarray:
    """Return the logarithm of the sum over alignments, without normalisation: finite for series of any length.

    Parameters
    ----------
    X, Z : list of arrays
        Time series; ``Z=None`` stands for X.
    sigma : float or str
    band : int

    Examples
    --------
    >>> x = np.zeros(10_000)
    >>> round(float(log_gak([x], sigma=1.0)[0, 0]))  # the number of alignments grows as (3 + 2√2)^length
    17621
    """
    return gak(sigma=sigma, band=band, normalize=False, log=True)(X, Z)
