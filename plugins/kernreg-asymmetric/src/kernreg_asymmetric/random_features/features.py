"""Two feature maps whose inner product is an unbiased estimate of a shift-invariant kernel.

    κ(δ) = ∫ cos(⟨ω, δ⟩ + θ(ω)) |μ|(dω) ≈ Σ_j w_j cos(⟨ω_j, δ⟩ + θ_j)
    φ(x) = √w_j (cos(⟨ω_j, x⟩ + θ_j), sin(⟨ω_j, x⟩ + θ_j)),      ψ(z) = √w_j (cos⟨ω_j, z⟩, sin⟨ω_j, z⟩)

In polar form ω_j has the density |μ| / mass, θ_j is its phase, and w_j = mass / D. In four parts ω_j is drawn from
real⁺, real⁻, imag⁺ or imag⁻, whose phases are 0, π, π/2 and -π/2, and w_j is the mass of the part divided by its
number of frequencies. One map is the other, each pair of features rotated by θ_j.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernreg.errors import RangeWarning
from kernreg_asymmetric.shift_invariant.measures import PART_PHASES, SpectralMeasure

FORMS = ("polar", "parts")


@dataclass(frozen=True)
class FourierFeatures:
    """Frequencies, phases and weights.

    Attributes
    ----------
    frequencies : ndarray of shape (D, d)
    phases : ndarray of shape (D,)
    weights : ndarray of shape (D,)
        Not negative; their sum is the mass.
    """

    frequencies: np.ndarray
    phases: np.ndarray
    weights: np.ndarray

    @property
    def width(self) -> int:
        """The number of features of each side: two for each frequency, all cosines first."""
        return 2 * len(self.weights)

    def left(self, X: Any) -> np.ndarray:
        """Return φ of samples in rows."""
        return self._waves(X, self.phases)

    def right(self, Z: Any) -> np.ndarray:
        """Return ψ of samples in rows."""
        return self._waves(Z, None)

    def rotated(self, M: np.ndarray, *, back: bool = False) -> np.ndarray:
        """Return R M, or Rᵀ M with ``back``, where φ(x)ᵀ = ψ(x)ᵀ R.

        >>> features = FourierFeatures(np.array([[2.0]]), np.array([0.5]), np.array([4.0]))
        >>> x = np.array([[0.3]])
        >>> np.allclose(features.left(x), features.right(x) @ features.rotated(np.eye(2)))
        True
        """
        D = len(self.weights)
        c, s = np.cos(self.phases)[:, None], np.sin(self.phases)[:, None]
        s = -s if back else s
        return np.vstack([c * M[:D] + s * M[D:], c * M[D:] - s * M[:D]])

    def _waves(self, X: Any, phases: np.ndarray | None) -> np.ndarray:
        dtype = X.dtype
        angles = np.asarray(X @ self.frequencies.T.astype(dtype, copy=False))
        _warn_of_large(angles)
        if phases is not None:
            angles += phases.astype(dtype)
        D = len(self.weights)
        waves = np.empty((X.shape[0], 2 * D), dtype=dtype)
        np.cos(angles, out=waves[:, :D])
        np.sin(angles, out=waves[:, D:])
        root = np.sqrt(self.weights).astype(dtype)
        waves[:, :D] *= root
        waves[:, D:] *= root
        return waves


def _warn_of_large(angles: np.ndarray) -> None:
    """Warn where rounding an angle ⟨ω, x⟩ moves it by more than a thousandth of a radian: its wave is lost."""
    largest = float(np.abs(angles).max(initial=0.0))
    if not largest * np.finfo(angles.dtype).eps <= 1e-3:
        warnings.warn(
            f"ask-rff: an angle ⟨ω, x⟩ is {largest:.3g}, whose cosine rounding makes arbitrary in {angles.dtype}. "
            "Scale the samples, or move their mean to the origin: the kernel only sees differences of samples",
            RangeWarning,
            stacklevel=2,
        )


def draw_features(measure: SpectralMeasure, count: int, form: str, rng: np.random.Generator) -> FourierFeatures:
    """Return features of ``count`` random frequencies of a spectral measure, in polar form or in four parts."""
    if form == "polar":
        frequencies, phases = measure.draw(rng, count)
        return FourierFeatures(frequencies, phases, np.full(count, measure.mass / count))
    counts = measure.counts(count)
    drawn = [measure.draw_part(rng, part, many) for part, many in enumerate(counts) if many]
    present = np.flatnonzero(counts)
    phases = np.repeat(PART_PHASES[present], counts[present])
    weights = np.repeat(measure.parts[present] / counts[present], counts[present])
    return FourierFeatures(np.concatenate(drawn), phases, weights)
