"""Asymmetric shift-invariant kernels: k(x, z) = κ(x - z), κ real and not even.

Write δ = x - z with d features. Samples are best standardised: widths are numbers in the units of the features.
"""

from __future__ import annotations

from kernreg import kernel
from kernreg.jit import exp, sqrt
from kernreg.kernels import positive, real


@kernel(of="rows", parameters={"sigma": positive, "shift": real})
def shift_gauss(x, z, sigma=1.0, shift=0.5):
    """exp(-|δ - shift|² / sigma²), δ = x - z: largest where every feature of x is that of z plus ``shift``.

    Asymmetric for ``shift`` ≠ 0. The shift-Gaussian of He, He, Liu & Huang, Random Fourier features for asymmetric
    kernels, arXiv:2209.08461 (2022).

    >>> shift_gauss(sigma=1.0, shift=0.5)([[0.5]], [[0.0], [1.0]]).round(4).tolist()
    [[1.0, 0.3679]]
    """
    total = 0.0
    for j in range(len(x)):
        gap = (x[j] - z[j] - shift) / sigma
        total += gap * gap
    return exp(-total)


@kernel(of="rows", parameters={"sigma": positive, "beta": real, "tau": real})
def sinh_gauss(x, z, sigma=1.0, beta=0.5, tau=1.0):
    """exp(-|δ|² / sigma²) (1 + beta sinh(tau u)), u = Σ_j δ_j / (sigma √d), δ = x - z.

    A Gaussian with an odd part along the diagonal: asymmetric for ``beta`` ≠ 0. Its symmetric part (K + Kᵀ)/2 is the
    Gaussian, whatever ``beta`` is.

    >>> K = sinh_gauss(sigma=1.0, beta=0.5, tau=1.0)([[0.0], [1.0]])
    >>> K.round(4).tolist(), float((K[0, 1] + K[1, 0]) / 2 == K[0, 0] * 0.36787944117144233)
    ([[1.0, 0.1517], [0.584, 1.0]], 1.0)
    """
    total, along = 0.0, 0.0
    for j in range(len(x)):
        gap = (x[j] - z[j]) / sigma
        total += gap * gap
        along += gap
    u = tau * along / sqrt(float(len(x)))
    # Each exponential alone may overflow where the Gaussian underflows; their sum of exponents does not.
    return exp(-total) + 0.5 * beta * (exp(u - total) - exp(-u - total))


@kernel(of="rows", parameters={"sigma": positive, "beta": real, "tau": real})
def cosh_gauss(x, z, sigma=1.0, beta=0.5, tau=2.0):
    """exp(-|δ|² / sigma² - tau²/4) (cosh(tau u) + beta sinh(tau u)), u = Σ_j δ_j / (sigma √d), δ = x - z.

    Two Gaussians at ± a, a = tau sigma / (2 √d) in every feature, with weights (1 ± beta) / 2: asymmetric for
    ``beta`` ≠ 0, and never negative for |beta| ≤ 1.

    >>> cosh_gauss(sigma=1.0, beta=1.0, tau=2.0)([[1.0]], [[0.0], [2.0]]).round(4).tolist()
    [[1.0, 0.0183]]
    """
    total, along = 0.0, 0.0
    for j in range(len(x)):
        gap = (x[j] - z[j]) / sigma
        total += gap * gap
        along += gap
    u, total = tau * along / sqrt(float(len(x))), total + 0.25 * tau * tau
    return 0.5 * ((1.0 + beta) * exp(u - total) + (1.0 - beta) * exp(-u - total))


@kernel(of="rows", parameters={"above": positive, "below": positive})
def skew_laplace(x, z, above=1.0, below=0.5):
    """Π_j exp(-δ_j / above) for δ_j > 0, exp(δ_j / below) otherwise, δ = x - z.

    Falls at another rate where x is above z than where it is below. Asymmetric unless the two are equal, and then the
    Laplacian kernel.

    >>> skew_laplace(above=1.0, below=0.5)([[1.0]], [[0.0], [2.0]]).round(4).tolist()
    [[0.3679, 0.1353]]
    """
    total = 0.0
    for j in range(len(x)):
        gap = x[j] - z[j]
        total += max(gap, 0.0) / above + max(-gap, 0.0) / below
    return exp(-total)
