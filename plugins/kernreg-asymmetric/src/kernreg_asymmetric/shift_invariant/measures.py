"""Complex spectral measures in d dimensions: total mass, masses of the four parts, and samples with their phases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernreg_asymmetric.shift_invariant.lines import Line

#: Frequencies (count, d) and their phases (count,).
Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]

#: The four positive parts as phases: μ = real⁺ - real⁻ + i imag⁺ - i imag⁻.
PART_PHASES = np.array([0.0, np.pi, 0.5 * np.pi, -0.5 * np.pi])

_BATCH = 1 << 14
_NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class SpectralMeasure:
    """μ with κ(δ) = ∫ exp(i⟨ω, δ⟩) μ(dω) = ∫ cos(⟨ω, δ⟩ + θ(ω)) |μ|(dω).

    Attributes
    ----------
    mass : float
        The total mass of |μ|.
    parts : ndarray of shape (4,)
        The masses of real⁺, real⁻, imag⁺ and imag⁻; their sum is at least `mass`, and at most √2 times it.
    draw : callable
        ``draw(rng, count)`` returns frequencies drawn from |μ| / mass and their phases.

    Examples
    --------
    >>> import kernreg as kr
    >>> from kernreg_asymmetric import spectral_measure
    >>> measure = spectral_measure(kr.make_kernel("rbf(sigma=1.0)"), 2)
    >>> round(float(measure.mass), 12)  # κ(0) of a positive definite kernel
    1.0
    """

    mass: float
    parts: np.ndarray
    draw: Draw

    def draw_part(self, rng: np.random.Generator, part: int, count: int) -> np.ndarray:
        """Return frequencies drawn from one of the four parts: those of |μ|, thinned by cos⁺(θ - that of the part)."""
        kept: list[np.ndarray] = []
        missing = count
        while missing > 0:
            frequencies, phases = self.draw(rng, _BATCH)
            accepted = frequencies[rng.random(_BATCH) < np.cos(phases - PART_PHASES[part])][:missing]
            kept.append(accepted)
            missing -= len(accepted)
        return np.concatenate(kept)

    def counts(self, total: int) -> np.ndarray:
        """Return how many of ``total`` frequencies each part gets: in proportion to its mass, at least one.

        Parts below a millionth of the mass are left out.
        """
        shares = self.parts / self.parts.sum()
        present = shares > _NEGLIGIBLE
        counts = np.where(present, np.maximum(1, np.floor(shares * total)), 0).astype(int)
        counts[np.argmax(shares)] += total - counts.sum()
        return counts


def product_measure(line: Line, n_features: int) -> SpectralMeasure:
    """Return the measure of Π_j κ(δ_j): masses multiply, phases add."""
    mass = line.mass**n_features

    def draw(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        frequencies = line.draw(rng, (count, n_features))
        return frequencies, line.phase(frequencies).sum(axis=1)

    parts = line.parts if n_features == 1 else mass * part_shares(line.harmonics() ** n_features)
    return SpectralMeasure(mass, parts, draw)


def part_shares(harmonics: np.ndarray) -> np.ndarray:
    """Return E cos⁺θ, E cos⁻θ, E sin⁺θ, E sin⁻θ of a random phase from c_k = E exp(ikθ), k = 0, 1, 2, …

    By the Fourier series cos⁺θ = 1/π + cos θ/2 + (2/π) Σ_n (-1)^(n+1)/(4n² - 1) cos 2nθ, and that of sin⁺θ, the same at
    θ - π/2.

    >>> part_shares(np.exp(1j * 0.3 * np.arange(4000))).round(4).tolist()  # cos 0.3, 0, sin 0.3, 0
    [0.9553, 0.0, 0.2955, 0.0]
    """
    n = np.arange(1, (len(harmonics) - 1) // 2 + 1)
    series = (2.0 / np.pi) / (4.0 * n * n - 1.0)
    even = harmonics[2 * n]
    size_cos = 2.0 / np.pi + 2.0 * float(np.sum(series * (-1.0) ** (n + 1) * even.real))  # E |cos θ|
    size_sin = 2.0 / np.pi - 2.0 * float(np.sum(series * even.real))  # E |sin θ|
    mean = harmonics[1]
    shares = 0.5 * np.array([size_cos + mean.real, size_cos - mean.real, size_sin + mean.imag, size_sin - mean.imag])
    return np.maximum(shares, 0.0)


def directional_gaussian(line: Line, sigma: float, n_features: int) -> SpectralMeasure:
    """Return the measure of a Gaussian times a function of δ along the diagonal (1, …, 1)/√d.

    Along the diagonal frequencies have the measure ``line``, across it they are normal with variance 2/sigma².
    """

    def draw(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        along = line.draw(rng, count)
        across = rng.standard_normal((count, n_features)) * (np.sqrt(2.0) / sigma)
        across -= across.mean(axis=1, keepdims=True)
        return across + along[:, None] / np.sqrt(n_features), line.phase(along)

    return SpectralMeasure(line.mass, line.parts, draw)


def even_measure(draw: Callable[[np.random.Generator, int], np.ndarray]) -> SpectralMeasure:
    """Return the measure of a positive definite kernel with κ(0) = 1: a probability, without phases."""
    return SpectralMeasure(1.0, np.array([1.0, 0.0, 0.0, 0.0]), lambda rng, count: (draw(rng, count), np.zeros(count)))
