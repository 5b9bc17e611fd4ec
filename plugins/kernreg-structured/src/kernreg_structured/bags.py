"""gmm-kl: bags of vectors, compared as the distributions that they were drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kernreg import kernel
from kernreg.errors import DataError
from kernreg.kernels import Domain, PackedSamples, Ragged, choice, integer, positive
from kernreg_structured.divergences import by_draws, log_densities, overlaps
from kernreg_structured.mixtures import Mixture, fitted

bags = Ragged("ragged", "bags of vectors: a list of arrays of shape (number of vectors, features)", vectors=False)


def _variances(value: Any) -> Any:
    if isinstance(value, str):
        if value != "data":
            raise ValueError
        return value
    return tuple(positive.check(number) for number in value)


variances = Domain("'data', or a sequence of numbers > 0, one for each feature", _variances)


def _variances_of_features(samples: PackedSamples, weights: np.ndarray | None, parameters: Mapping[str, Any]) -> Any:
    """Return the variances of the features over all vectors; of one that is constant the mean of them, or 1."""
    counts = np.repeat(np.ones(len(samples)) if weights is None else weights, samples.lengths)
    apart = samples.values - samples.values[np.argmax(counts > 0.0)]  # exactly 0 of a feature that is constant
    apart -= np.average(apart, axis=0, weights=counts)
    with np.errstate(over="ignore", under="ignore"):
        found = np.average(apart**2, axis=0, weights=counts)
    sizes = np.abs(apart).max(axis=0, initial=0.0)
    if not (np.isfinite(found).all() and (found[sizes > 0.0] > 1e-280).all()):
        raise DataError(
            f"gmm-kl: vectors differ by {sizes[sizes > 0.0].min():.3g} to {sizes.max():.3g} in their features, and the "
            "squares of that are beyond the range of numbers; scale the features"
        )
    usual = float(found.mean())
    return tuple(np.where(found > 0.0, found, usual if usual > 0.0 else 1.0).tolist())


class _Fits(NamedTuple):
    """Mixtures of bags as arrays, a row for each bag; matrices are flat, or their diagonals."""

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    precisions: np.ndarray
    determinants: np.ndarray
    own: np.ndarray  # variational: log Σ_a' π_a' exp(-KL(f_a ‖ f_a')); by draws: log f at each of them
    draws: np.ndarray


def _as_arrays(mixtures: list[Mixture], diagonal: bool) -> _Fits:
    weights = np.array([mixture.log_weights for mixture in mixtures])
    means = np.array([mixture.means for mixture in mixtures])
    covariances = np.array([mixture.covariances for mixture in mixtures])
    n, c, d = means.shape
    try:
        factors = np.linalg.cholesky(covariances)
        precisions = np.linalg.inv(covariances)
    except np.linalg.LinAlgError:
        raise DataError(
            "gmm-kl: the covariance of a bag is singular in float64; raise prior=, or bring the features to one scale"
        ) from None
    determinants = 2.0 * np.log(np.diagonal(factors, axis1=2, axis2=3)).sum(axis=2)
    if diagonal:
        covariances, precisions = (np.diagonal(table, axis1=2, axis2=3) for table in (covariances, precisions))
    covariances, precisions = (np.ascontiguousarray(table).reshape(n, c, -1) for table in (covariances, precisions))
    return _Fits(weights, means, covariances, precisions, determinants, np.empty((n, 0)), np.empty((n, 0, d)))


def _distributions(samples: PackedSamples, **parameters: Any) -> _Fits:
    """Return the mixture of each bag, with what divergences from it need of it alone."""
    diagonal, target = parameters["covariance"] == "diagonal", np.array(parameters["variances"])
    components, prior, seed = parameters["components"], parameters["prior"], parameters["seed"]
    features = samples.values.shape[1]
    if len(target) != features:
        raise DataError(
            f"gmm-kl: variances has {len(target)} numbers, and the vectors {features} each; give one for each feature"
        )
    fits = _as_arrays([fitted(bag, components, prior, target, diagonal, seed) for bag in samples], diagonal)
    if parameters["divergence"] == "variational":
        return fits._replace(own=_own_overlaps(fits, diagonal))
    points = _drawn(fits, diagonal, parameters["draws"], seed)
    own, right = np.empty(points.shape[:2]), _right(fits)
    for i in range(len(points)):
        log_densities(points[i], tuple(table[i] for table in right), diagonal, own[i])
    return fits._replace(own=own, draws=points)


def _own_overlaps(fits: _Fits, diagonal: bool) -> np.ndarray:
    own, found = np.empty(fits.weights.shape), np.empty((1, 1, fits.weights.shape[1]))
    for i in range(len(own)):
        left, right = (tuple(table[i : i + 1] for table in side) for side in (_left(fits), _right(fits)))
        overlaps(left, right, diagonal, found)
        own[i] = found[0, 0]
    return own


def _left(fits: _Fits) -> tuple[np.ndarray, ...]:
    return fits.weights, fits.means, fits.covariances, fits.determinants


def _right(fits: _Fits) -> tuple[np.ndarray, ...]:
    return fits.weights, fits.means, fits.precisions, fits.determinants


def _drawn(fits: _Fits, diagonal: bool, draws: int, seed: int) -> np.ndarray:
    """Return vectors from each mixture: the same random numbers for all, components in proportion to their weights."""
    n, c, d = fits.means.shape
    normal = np.random.default_rng([seed, draws, d]).standard_normal((draws, d))
    places = (np.arange(draws) + 0.5) / draws
    found = np.empty((n, draws, d))
    for i in range(n):
        component = np.minimum(np.searchsorted(np.cumsum(np.exp(fits.weights[i])), places), c - 1)
        table = fits.covariances[i]
        roots = np.sqrt(table)[:, :, None] * np.eye(d) if diagonal else np.linalg.cholesky(table.reshape(c, d, d))
        found[i] = fits.means[i][component] + np.einsum("skm,sm->sk", roots[component], normal)
    return found


def _divergences(x: _Fits, z: _Fits, divergence: str, diagonal: bool) -> np.ndarray:
    """Return KL(f_i ‖ g_j) of all pairs."""
    found = np.empty((len(x.means), len(z.means)))
    if divergence == "monte-carlo":
        by_draws(x.draws, x.own, _right(z), diagonal, found)
        return found
    shared = np.empty((*found.shape, x.means.shape[1]))
    overlaps(_left(x), _right(z), diagonal, shared)
    return np.einsum("ia,ija->ij", np.exp(x.weights), x.own[:, None] - shared)


def _example(rng: np.random.Generator, n: int) -> tuple[Any, list[np.ndarray]]:
    sizes = rng.integers(1, 9, n)
    return gmm_kl(a=0.2, variances=(1.0, 2.0)), [rng.normal(size=(size, 2)) * [1.0, 1.4] for size in sizes]


@kernel(
    of="blocks",
    inputs=bags,
    definite=None,
    represent=_distributions,
    learn={"variances": _variances_of_features},
    parameters={
        "a": positive,
        "components": integer(1, 10_000),
        "covariance": choice("full", "diagonal"),
        "divergence": choice("variational", "monte-carlo"),
        "draws": integer(1, 10_000_000),
        "prior": positive,
        "variances": variances,
        "seed": integer(0),
    },
    block=16,
    example=_example,
)
def gmm_kl(  # noqa: PLR0913 -- the parameters of a kernel are those of its function
    X,
    Z,
    a=1.0,
    components=1,
    covariance="full",
    divergence="variational",
    draws=1000,
    prior=1.0,
    variances="data",
    seed=0,
):
    """exp(-a KL(P_x ‖ P_z)), P a Gaussian or a mixture of Gaussians fitted to each bag of vectors.

    Asymmetric. A sample is a bag: an array of shape (number of vectors, features). ``components=1`` fits one Gaussian
    to it, and the divergence is exact; with more, a mixture by expectation maximisation, ``covariance="full"`` or
    ``"diagonal"``, and the divergence is that of ``divergence``:

    ``"variational"``: Σ_a π_a log(Σ_a' π_a' e^{-KL(f_a ‖ f_a')} / Σ_b ω_b e^{-KL(f_a ‖ g_b)}), without draws, exact
    for single Gaussians, and close where components lie far apart. ``"monte-carlo"``: the mean of log f - log g over
    ``draws`` vectors from f, always the same for a ``seed``; `kl_divergence` gives its standard error. Both may fall
    below 0, where no divergence is, and are then taken as 0.

    Covariances of small bags are not singular: each is (S + ν diag(t)) / (n + ν) for n vectors with the scatter S, as
    if ν = ``prior`` vectors with the variances t = ``variances`` had been seen, too. These are the variances of the
    features over all training vectors unless they are given.

    The kernel of He, He, Shi, Huang & Suykens, Learning with asymmetric kernels: least squares and feature
    interpretation, TPAMI 45 (2023), Table I, who take 256 diagonal components and draws; a is their bandwidth.
    Hershey & Olsen, Approximating the Kullback Leibler divergence between Gaussian mixture models, ICASSP 2007.

    >>> narrow, wide = np.array([[0.0], [1.0], [2.0]]), np.array([[-3.0], [1.0], [5.0]])
    >>> gmm_kl(variances=(1.0,))([narrow, wide]).round(3).tolist()
    [[1.0, 0.475], [0.022, 1.0]]
    """
    found = _divergences(_Fits(*X), _Fits(*Z), divergence, covariance == "diagonal")
    return np.exp(-a * np.maximum(found, 0.0))


class Divergence(NamedTuple):
    """A divergence, and the standard error of it: 0 where it is exact, NaN where it is not known.

    Examples
    --------
    >>> Divergence(0.5, 0.0).standard_error  # of a closed form
    0.0
    """

    value: float
    standard_error: float


def kl_divergence(x: Any, z: Any, **parameters: Any) -> Divergence:
    """Return the divergence KL(P_x ‖ P_z) of two bags as ``gmm-kl`` has it, and its standard error.

    Parameters
    ----------
    x, z : array-like of shape (number of vectors, features)
    **parameters
        Those of ``gmm-kl``. The variances of the prior are by default those of both bags together.

    Examples
    --------
    >>> x, z = np.array([[0.0], [1.0], [2.0]]), np.array([[-3.0], [1.0], [5.0]])
    >>> found = kl_divergence(x, z, variances=(1.0,))
    >>> round(found.value, 6), found.standard_error
    (0.744402, 0.0)
    """
    k: Any = gmm_kl(**parameters).bind([x, z])
    values = {**k.get_params(), "a": 1.0}
    f, g = (_distributions(k.check_samples([bag]), **values) for bag in (x, z))
    diagonal = values["covariance"] == "diagonal"
    value = float(_divergences(f, g, values["divergence"], diagonal)[0, 0])
    if values["divergence"] == "variational":
        return Divergence(value, 0.0 if values["components"] == 1 else float("nan"))
    other = np.empty(values["draws"])
    log_densities(f.draws[0], tuple(table[0] for table in _right(g)), diagonal, other)
    spread = float(np.std(f.own[0] - other, ddof=1)) if len(other) > 1 else float("nan")
    return Divergence(value, float(spread / np.sqrt(len(other))))
