"""Products over features of one function κ, which is known by its values on a grid; their spectrum by FFT.

Between the points of the grid κ is linear, beyond them zero. The Fourier transform of that is the discrete one times
sinc², without aliasing in what it is multiplied with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernreg import kernel
from kernreg.errors import DataError, ParameterError
from kernreg.kernels import Kernel, matrix, positive
from kernreg_asymmetric.shift_invariant.lines import Line, line_of_grid

_PADDING = 32  # frequencies for each point of the grid: κ is then right to its edge
_ROUGH = 0.02


def _grid(values: Any, radius: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    row = np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)
    if row.shape[0] != 1 or row.shape[1] < 3 or row.shape[1] % 2 == 0:
        raise ParameterError(
            f"profile-product: values have shape {row.shape}; give one row of an odd number of values, the middle one "
            "that of κ(0), for example by kernreg_asymmetric.tabulated"
        )
    return np.linspace(-radius, radius, row.shape[1]), row[0]


def _example(rng: np.random.Generator, n: int) -> tuple[Kernel, np.ndarray]:
    return tabulated(lambda gap: np.exp(-gap * gap) * (1.0 + np.tanh(gap)), 4.0, 801), rng.normal(size=(n, 3))


@kernel(of="blocks", prepare=_grid, parameters={"values": matrix, "radius": positive}, example=_example)
def profile_product(A, B, profile):
    """Π_j κ(x_j - z_j), κ given by ``values`` at equal steps from -radius to radius, linear between, zero beyond.

    ``values`` is one row of an odd number of values; `tabulated` makes it from a function.

    >>> profile_product(values=[[0.0, 1.0, 0.5]], radius=1.0)([[0.0]], [[0.0], [-0.5], [0.5]]).tolist()
    [[1.0, 0.75, 0.5]]
    """
    grid, values = profile
    A, B = (side.toarray() if hasattr(side, "toarray") else side for side in (A, B))
    if A.shape[1] != B.shape[1]:
        raise DataError(f"X has {A.shape[1]} features and Z {B.shape[1]}; a kernel compares rows of equal length")
    K = np.ones((A.shape[0], B.shape[0]))
    for j in range(A.shape[1]):
        K *= np.interp(np.subtract.outer(A[:, j], B[:, j]), grid, values, left=0.0, right=0.0)
    return K


def tabulated(profile: Callable[[np.ndarray], np.ndarray], radius: float, points: int = 2049) -> Kernel:
    """Return the kernel Π_j κ(x_j - z_j) of a function κ of one gap, from its values on a grid.

    Parameters
    ----------
    profile : callable
        κ: takes an array of gaps x_j - z_j and returns as many numbers. Continuous, and zero but for a trifle beyond
        the radius.
    radius : float
        κ is taken as zero beyond it.
    points : int
        Odd. Between them κ is taken as linear.

    Examples
    --------
    >>> k = tabulated(lambda gap: np.exp(-abs(gap)) * (1.0 + np.tanh(gap)), radius=20.0)
    >>> k([[1.0]], [[0.0], [2.0]]).round(3).tolist()
    [[0.648, 0.088]]
    """
    grid = np.linspace(-radius, radius, points)
    values = np.asarray(profile(grid), dtype=np.float64)
    if values.shape != grid.shape:
        raise ParameterError(f"the profile of {points} gaps has shape {values.shape}; it must return as many numbers")
    return profile_product(values=values[None, :], radius=radius)


def profile_line(values: np.ndarray, radius: float) -> Line:
    """Return the complex spectral measure of κ on the line; raise ParameterError where the grid is too coarse for it.

    >>> line = profile_line(np.exp(-np.linspace(-6.0, 6.0, 601) ** 2), 6.0)
    >>> round(line.mass, 3), line.parts.round(3).tolist()
    (1.0, [1.0, 0.0, 0.0, 0.0])
    """
    count, step = len(values), 2.0 * radius / (len(values) - 1)
    size = _PADDING * count
    half = (count - 1) // 2
    wrapped = np.zeros(size)
    wrapped[: half + 1], wrapped[-half:] = values[half:], values[:half]
    frequencies = np.fft.fftshift(2.0 * np.pi * np.fft.fftfreq(size, step))
    masses = np.fft.fftshift(np.fft.fft(wrapped)) / size * np.sinc(0.5 * step * frequencies / np.pi) ** 2
    masses[np.abs(masses) < 1e-16 * np.abs(masses).max()] = 0.0
    total, outer = np.abs(masses).sum(), np.abs(masses[np.abs(frequencies) > 0.5 * np.pi / step]).sum()
    if outer > _ROUGH * total:
        raise ParameterError(
            f"profile-product: {outer / total:.1%} of the spectrum lie at frequencies that {count} values of κ hardly "
            "resolve. Give more values (points=…) of a continuous κ that has fallen to zero at the radius; one that "
            "jumps has no spectral measure of finite mass"
        )
    return line_of_grid(frequencies, masses)
