"""Two feature maps whose inner product is an unbiased estimate of a shift-invariant kernel.

    κ(δ) = ∫ cos(⟨ω, δ⟩ + θ(ω)) |μ|(dω) ≈ Σ_j w_j cos(⟨ω_j, δ⟩ + θ_j)
    φ(x) = √w_j (cos(⟨ω_j, x⟩ + θ_j), sin(⟨ω_j, x⟩ + θ_j)),      ψ(z) = √w_j (cos⟨ω_j, z⟩, sin⟨ω_j, z⟩)

In polar form ω_j has the density |μ| / mass, θ_j is its phase, and w_j = mass / D. In four parts ω_j is drawn from
real⁺, real⁻, imag⁺ or imag⁻, whose phases are 0, π, π/2 and -π/2, and w_j is the mass of the part divided by its
number of frequencies. One map is the other, each pair of features rotated by θ_j.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernreg import get_config
from kernreg.errors import RangeWarning
from kernreg_asymmetric.shift_invariant.measures import PART_PHASES, SpectralMeasure

FORMS = ("polar", "parts")

_SHARE = 8  # a part of the memory budget that a piece of the work may take, one over this
_SMALL = 1 << 20  # bytes that are not worth asking how much memory there is


def pieces(n: int, nbytes: int, largest: int | None = None) -> Iterator[slice]:
    """Yield slices of n things of so many bytes each, as many together as an eighth of the memory budget holds.

    >>> from kernreg import config_context
    >>> with config_context(memory=8_000_000):
    ...     list(pieces(1500, 1000)), list(pieces(1500, 10, largest=800))
    ([slice(0, 1000, None), slice(1000, 1500, None)], [slice(0, 800, None), slice(800, 1500, None)])
    """
    step = max(1, n if largest is None else largest)
    if min(n, step) * nbytes > _SMALL:
        step = max(1, min(step, int(get_config().memory_budget()) // (_SHARE * nbytes)))
    for start in range(0, n, step):
        yield slice(start, min(n, start + step))


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

    def some(self, frequencies: slice) -> FourierFeatures:
        """Return the features of some of the frequencies: kernels of all of them are the sum of those of parts."""
        return FourierFeatures(self.frequencies[frequencies], self.phases[frequencies], self.weights[frequencies])

    def _waves(self, X: Any, phases: np.ndarray | None) -> np.ndarray:
        dtype, D = X.dtype, len(self.weights)
        frequencies, root = self.frequencies.T.astype(dtype, copy=False), np.sqrt(self.weights).astype(dtype)
        waves = np.empty((X.shape[0], 2 * D), dtype=dtype)
        largest = 0.0
        for rows in pieces(X.shape[0], D * dtype.itemsize):
            angles = np.asarray(X[rows] @ frequencies)
            ends = angles.min(initial=0.0), angles.max(initial=0.0)
            largest = float(np.maximum(largest, np.maximum(-ends[0], ends[1])))  # keeps what is not a number
            if phases is not None:
                angles += phases.astype(dtype)
            np.cos(angles, out=waves[rows, :D])
            np.sin(angles, out=waves[rows, D:])
            waves[rows, :D] *= root
            waves[rows, D:] *= root
        _warn_of_large(largest, dtype)
        return waves


def _warn_of_large(largest: float, dtype: np.dtype) -> None:
    """Warn where rounding an angle ⟨ω, x⟩ moves it by more than a thousandth of a radian: its wave is lost."""
    if not largest * np.finfo(dtype).eps <= 1e-3:
        warnings.warn(
            f"ask-rff: an angle ⟨ω, x⟩ is {largest:.3g}, whose cosine rounding makes arbitrary in {dtype}. "
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
