"""What two histograms have in common: sums over the bins, without an exponential."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from kernreg import kernel, make_kernel
from kernreg.errors import RangeWarning
from kernreg.jit import sqrt
from kernreg.kernels import positive
from kernreg_histogram.samples import counts, on_values, row_sums


def _harmonic_term(x, y):
    total = x + y
    return 2.0 * x * y / (total if total > 0.0 else 1.0)


@kernel(
    of=_harmonic_term,
    symmetric=True,
    definite=True,
    inputs="nonnegative",
    example=lambda rng, n: (additive_chi2(), counts(rng, n)),
)
def additive_chi2(overlap):
    """Σ_d 2 x_d y_d / (x_d + y_d).

    k(x, y) = 1 - χ² between distributions, χ² as in ``histogram-chi2``. Positive definite, because 1/(x + y) =
    ∫₀^∞ exp(-tx) exp(-ty) dt. Vedaldi & Zisserman, Efficient additive kernels via explicit feature maps, TPAMI 34
    (2012).

    It is the kernel that scikit-learn's ``AdditiveChi2Sampler`` approximates. ``additive_chi2_kernel`` there is another
    one, -Σ_d (x_d - y_d)² / (x_d + y_d), which is only conditionally definite: it equals 2 k(x, y) - Σ_d (x_d + y_d).
    Centred, the two differ by the factor 2 alone.

    >>> additive_chi2()([[1.0, 3.0]], [[1.0, 1.0]]).tolist()
    [[2.5]]
    """
    return overlap


def _geometric_term(x, y):
    return sqrt(x) * sqrt(y)


@kernel(
    of=_geometric_term,
    symmetric=True,
    definite=True,
    inputs="nonnegative",
    example=lambda rng, n: (bhattacharyya(), counts(rng, n)),
)
def bhattacharyya(overlap):
    """Σ_d √(x_d y_d).

    k(x, x) = 1 for distributions. Positive definite: the linear kernel of the square roots. Jebara, Kondor &
    Howard, Probability product kernels, JMLR 5 (2004).

    >>> bhattacharyya()([[1.0, 4.0]], [[4.0, 9.0]]).tolist()
    [[8.0]]
    """
    return overlap


def _powers(b: float = 1.0) -> tuple[float, Any]:
    return b, make_kernel("kernreg:intersection")


@kernel(
    of="blocks",
    symmetric=True,
    definite=True,
    inputs="nonnegative",
    prepare=_powers,
    parameters={"b": positive},
    example=lambda rng, n: (histogram_intersection(b=0.5), counts(rng, n)),
)
def histogram_intersection(X, Z, state):
    """Σ_d min(x_d^b, y_d^b).

    b < 1 lets large bins weigh less; rows of any sums may be compared. Positive definite for every b > 0, because
    min(u, v) is for non-negative u and v. It is kernreg's ``intersection`` of the powers, and computed so. Boughorbel,
    Tarel & Boujemaa, Generalized histogram intersection kernel for image recognition, ICIP 2005.

    >>> histogram_intersection(b=0.5)([[1.0, 9.0]], [[4.0, 4.0]]).tolist()
    [[3.0]]
    """
    b, intersection = state
    return intersection(*(on_values(lambda values: _power(values, b), side) for side in (X, Z)))


def _power(values: np.ndarray, b: float) -> np.ndarray:
    """Return values^b, with a warning where that is beyond the range of numbers."""
    with np.errstate(over="ignore", under="ignore"):
        powers = np.power(values, b)
    largest = float(values.max(initial=0.0))
    if largest > 0.0 and not np.finfo(powers.dtype).tiny <= float(powers.max()) < np.inf:
        warnings.warn(
            f"histogram-intersection: bins of size {largest:.3g} to the power {b:g} are beyond the range of numbers, "
            "and kernel values are wrong. Scale the histograms",
            RangeWarning,
            stacklevel=2,
        )
    return powers


def _intersection() -> Any:
    return make_kernel("kernreg:intersection")


@kernel(
    of="blocks",
    inputs="nonnegative",
    definite=None,
    prepare=_intersection,
    example=lambda rng, n: (containment(), counts(rng, n)),
)
def containment(X, Z, intersection):
    """Σ_d min(x_d, y_d) / Σ_d x_d: how much of x is in y.

    Asymmetric: 1 where y has at least as much as x in every bin, however much more it has. Between distributions
    it is ``intersection``; give counts, where the sums differ and mean something. A row of zeros is contained in
    nothing (0). Swain & Ballard, Color indexing, IJCV 7 (1991), divide by the sum of the model; for sets this
    is the containment of Broder, On the resemblance and containment of documents, SEQUENCES 1997.

    >>> containment()([[1, 1, 0], [2, 2, 4]]).tolist()
    [[1.0, 1.0], [0.25, 1.0]]
    """
    totals = row_sums(X)
    return intersection(X, Z) / np.where(totals > 0.0, totals, 1.0)[:, None]
