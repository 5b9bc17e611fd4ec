"""A complex measure on the line, by the complex masses of small cells.

κ(δ) = ∫ exp(iωδ) μ(dω) is real where μ(-ω) is the conjugate of μ(ω). In polar form μ(dω) = |μ|(dω) exp(iθ(ω)), and in
four positive parts μ = (real⁺ - real⁻) + i (imag⁺ - imag⁻).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_CELLS = 1 << 13
_HARMONICS = 400


@dataclass(frozen=True)
class Line:
    """A complex measure on the line, tabulated.

    Attributes
    ----------
    edges : ndarray of shape (c + 1,)
        Borders of the cells, increasing.
    masses : ndarray of complex of shape (c,)
        Of the cells. Within a cell |μ| is taken as uniform in ``unfold``'s coordinate.
    phase : callable
        θ(ω) of an array of frequencies.
    unfold : callable
        From the coordinate of the edges to frequencies.
    """

    edges: np.ndarray
    masses: np.ndarray
    phase: Callable[[np.ndarray], np.ndarray]
    unfold: Callable[[np.ndarray], np.ndarray]

    @property
    def _cumulative(self) -> np.ndarray:
        return np.concatenate([[0.0], np.cumsum(np.abs(self.masses))])

    @property
    def mass(self) -> float:
        """The total mass of |μ|."""
        return float(self._cumulative[-1])

    @property
    def parts(self) -> np.ndarray:
        """The masses of real⁺, real⁻, imag⁺ and imag⁻."""
        real, imaginary = self.masses.real, self.masses.imag
        return np.array([np.maximum(part, 0.0).sum() for part in (real, -real, imaginary, -imaginary)])

    def draw(self, rng: np.random.Generator, shape: int | tuple[int, ...]) -> np.ndarray:
        """Return frequencies drawn with density |μ| / mass."""
        level = self._cumulative[-1] * rng.random(shape)
        return self.unfold(np.interp(level, self._cumulative, self.edges))

    def harmonics(self) -> np.ndarray:
        """Return E exp(ikθ) under |μ| / mass for k = 0, 1, 2, …: what sums of independent phases need."""
        size, angles = np.abs(self.masses) / self.mass, np.angle(self.masses)
        step, power = np.exp(1j * angles), size.astype(complex)
        found = np.empty(_HARMONICS, dtype=complex)
        for k in range(_HARMONICS):
            found[k] = power.sum()
            power *= step
        return found


def line_of_density(density: Callable[[np.ndarray], np.ndarray], scale: float, cells: int = _CELLS) -> Line:
    """Return the measure with a complex density on the line that falls as fast as 1/ω² at least.

    Cells are equal in u, ω = scale tan(u): the heavy tail of a Cauchy density is one finite interval.

    >>> cauchy = line_of_density(lambda w: 1.0 / (np.pi * (1.0 + w * w)), 1.0)
    >>> round(cauchy.mass, 12), cauchy.parts.round(12).tolist()
    (1.0, [1.0, 0.0, 0.0, 0.0])
    """
    edges = np.linspace(-0.5 * np.pi, 0.5 * np.pi, cells + 1)
    middle = 0.5 * (edges[1:] + edges[:-1])
    values = np.asarray(density(scale * np.tan(middle)), dtype=complex)
    masses = values * scale / np.cos(middle) ** 2 * (np.pi / cells)
    return Line(
        edges,
        masses,
        lambda frequencies: np.angle(np.asarray(density(frequencies), dtype=complex)),
        lambda coordinate: scale * np.tan(coordinate),
    )


def line_of_grid(frequencies: np.ndarray, masses: np.ndarray) -> Line:
    """Return the measure of complex masses at equally spaced frequencies, each spread over its cell.

    >>> line = line_of_grid(np.array([-1.0, 0.0, 1.0]), np.array([0.5j, 1.0, -0.5j]))
    >>> line.mass, line.parts.tolist()
    (2.0, [1.0, 0.0, 0.5, 0.5])
    """
    step = frequencies[1] - frequencies[0]
    edges = np.append(frequencies - 0.5 * step, frequencies[-1] + 0.5 * step)

    def phase(at: np.ndarray) -> np.ndarray:
        real, imaginary = (np.interp(at, frequencies, part) for part in (masses.real, masses.imag))
        return np.arctan2(imaginary, real)

    return Line(edges, masses, phase, lambda coordinate: coordinate)
