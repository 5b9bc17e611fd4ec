"""From a shift-invariant kernel to its spectral measure.

shift-gauss    N(0, 2/σ²) with the phase -Σ_j ω_j shift
sinh-gauss     along the diagonal N(0, 2/σ²) times 1 - i β exp(τ²/4) sin(τσt/2), t the frequency along it
cosh-gauss     the same times cos(τσt/2) - i β sin(τσt/2)
skew-laplace   Π_j (a + b) / (2π (a + iω_j)(b - iω_j)), a = 1/above, b = 1/below
even kernels   rbf, laplacian, matern, cauchy: probabilities, as for ordinary random Fourier features
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernreg.errors import ParameterError
from kernreg.kernels import Kernel
from kernreg_asymmetric.shift_invariant.lines import line_of_density
from kernreg_asymmetric.shift_invariant.measures import (
    SpectralMeasure,
    directional_gaussian,
    even_measure,
    product_measure,
)
from kernreg_asymmetric.shift_invariant.profiles import profile_line


def spectral_measure(kernel: Kernel, n_features: int) -> SpectralMeasure:
    """Return the complex spectral measure of a shift-invariant kernel, its widths being numbers.

    Parameters
    ----------
    kernel : Kernel
        One of `SPECTRA`, its transpose, or a multiple of one.
    n_features : int

    Examples
    --------
    >>> from kernreg import make_kernel
    >>> measure = spectral_measure(make_kernel("shift-gauss(sigma=1.0, shift=0.5)"), 2)
    >>> round(measure.mass, 6), bool(measure.parts.sum() > 1.0)
    (1.0, True)
    """
    params = kernel.get_params(deep=False)
    if kernel.name == "transpose":
        return _mirrored(spectral_measure(params["kernel"], n_features))
    if kernel.name == "scale" and params["factor"] > 0.0:
        inner = spectral_measure(params["kernel"], n_features)
        return SpectralMeasure(params["factor"] * inner.mass, params["factor"] * inner.parts, inner.draw)
    found = SPECTRA.get(kernel.name)
    if found is None:
        raise ParameterError(
            f"the spectral measure of the kernel {kernel.name!r} is not known; accepted are {', '.join(SPECTRA)}, "
            "their transposes and positive multiples. A kernel that is a product over features of one function "
            "κ(x - z) can be tabulated: kernreg_asymmetric.tabulated(κ, radius=…)"
        )
    return found(params, n_features)


def _mirrored(measure: SpectralMeasure) -> SpectralMeasure:
    """Return the measure of κ(-δ): the conjugate."""

    def draw(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        frequencies, phases = measure.draw(rng, count)
        return frequencies, -phases

    return SpectralMeasure(measure.mass, measure.parts[[0, 1, 3, 2]], draw)


def _normal(t: np.ndarray, sigma: float) -> np.ndarray:
    """Return the density of N(0, 2/σ²), the spectral density of exp(-δ²/σ²)."""
    return sigma / (2.0 * np.sqrt(np.pi)) * np.exp(-0.25 * (sigma * t) ** 2)


def _shift_gauss(params: dict[str, Any], d: int) -> SpectralMeasure:
    # ⟨ω, shift⟩ is √d shift times the frequency along the diagonal.
    sigma, shift = params["sigma"], params["shift"] * np.sqrt(d)
    line = line_of_density(lambda t: _normal(t, sigma) * np.exp(-1j * shift * t), 1.0 / sigma)
    return directional_gaussian(line, sigma, d)


def _sinh_gauss(params: dict[str, Any], d: int) -> SpectralMeasure:
    sigma, beta, tau = params["sigma"], params["beta"], params["tau"]
    odd = beta * np.exp(0.25 * tau * tau)
    line = line_of_density(lambda t: _normal(t, sigma) * (1.0 - 1j * odd * np.sin(0.5 * tau * sigma * t)), 1.0 / sigma)
    return directional_gaussian(line, sigma, d)


def _cosh_gauss(params: dict[str, Any], d: int) -> SpectralMeasure:
    sigma, beta, tau = params["sigma"], params["beta"], params["tau"]

    def density(t: np.ndarray) -> np.ndarray:
        angle = 0.5 * tau * sigma * t
        return _normal(t, sigma) * (np.cos(angle) - 1j * beta * np.sin(angle))

    return directional_gaussian(line_of_density(density, 1.0 / sigma), sigma, d)


def _skew_laplace(params: dict[str, Any], d: int) -> SpectralMeasure:
    a, b = 1.0 / params["above"], 1.0 / params["below"]
    line = line_of_density(lambda w: (a + b) / (2.0 * np.pi * (a + 1j * w) * (b - 1j * w)), float(np.sqrt(a * b)))
    return product_measure(line, d)


def _profile_product(params: dict[str, Any], d: int) -> SpectralMeasure:
    return product_measure(profile_line(params["values"][0], params["radius"]), d)


def _rbf(params: dict[str, Any], d: int) -> SpectralMeasure:
    scale = np.sqrt(2.0) / params["sigma"]
    return even_measure(lambda rng, count: scale * rng.standard_normal((count, d)))


def _laplacian(params: dict[str, Any], d: int) -> SpectralMeasure:
    return even_measure(lambda rng, count: rng.standard_cauchy((count, d)) / params["sigma"])


def _matern(params: dict[str, Any], d: int) -> SpectralMeasure:
    freedom = 2.0 * params["nu"]

    def draw(rng: np.random.Generator, count: int) -> np.ndarray:
        width = np.sqrt(freedom / rng.chisquare(freedom, (count, 1))) / params["sigma"]
        return width * rng.standard_normal((count, d))

    return even_measure(draw)


def _cauchy(params: dict[str, Any], d: int) -> SpectralMeasure:
    def draw(rng: np.random.Generator, count: int) -> np.ndarray:
        width = np.sqrt(2.0 * rng.standard_exponential((count, 1))) / params["sigma"]
        return width * rng.standard_normal((count, d))

    return even_measure(draw)


#: From the name of a kernel to the function of its parameters and the number of features that gives its measure.
SPECTRA: dict[str, Callable[[dict[str, Any], int], SpectralMeasure]] = {
    "shift-gauss": _shift_gauss,
    "sinh-gauss": _sinh_gauss,
    "cosh-gauss": _cosh_gauss,
    "skew-laplace": _skew_laplace,
    "profile-product": _profile_product,
    "rbf": _rbf,
    "laplacian": _laplacian,
    "matern": _matern,
    "cauchy": _cauchy,
}
