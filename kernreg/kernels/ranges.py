"""The range of numbers in which a kernel is exact, and the warning beyond it.

A statistic multiplies: squares of numbers beyond 1e154 are infinite, and those below 1e-162 zero, so that a width of
the same size no longer helps. Inside the ranges below nothing is lost. Statistics of float32 samples are computed in
float64 where their squares are beyond float32, and so are always inside; kernel values that grow with the samples may
be beyond float32 nevertheless.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from kernreg.common.callers import PACKAGE, level_outside
from kernreg.engine import Handle
from kernreg.engine.arrays import in_double, is_sparse
from kernreg.errors import RangeWarning

#: Between these sizes, in magnitude, samples are safe: sums of products, and sums of differences.
PRODUCTS, SUMS = (1e-140, 1e140), (1e-300, 1e300)
SAFE: dict[str, tuple[float, float]] = {
    "dot": PRODUCTS,
    "sqeuclidean": PRODUCTS,
    "term": PRODUCTS,
    "rows": PRODUCTS,
    "l1": SUMS,
}

DISTANCES = ("sqeuclidean", "l1")
_LOOKED_AT = 1_000_000  # values of a matrix: it takes less than a millisecond
_DIAGONAL = 64  # samples that are compared with themselves where all values are zero


def warn_beyond(kernel: Any, X: Any, name: str) -> None:
    """Warn where samples are so large or so small that kernel values may be lost."""
    single = X.dtype == np.float32
    low, high = _safe_range(kernel, single)
    if high == np.inf:
        return
    beyond = _beyond(X.data if is_sparse(X) else X, low, high)
    if beyond:
        where, instead = (" in float32", ", or take float64") if single else ("", "")
        warnings.warn(
            f"{kernel.name}: {name} holds values of size {beyond:.3g}, and this kernel is exact for sizes from {low:g} "
            f"to {high:g}{where}; beyond, what it multiplies becomes 0 or infinite and kernel values may be wrong. "
            f"Scale the samples, and the widths with them{instead}",
            RangeWarning,
            stacklevel=level_outside(),
        )


def _safe_range(kernel: Any, single: bool) -> tuple[float, float]:
    family = kernel.family
    if family._range_of is not None:
        return family._range_of(single, **kernel.get_params(deep=False))
    return (0.0, np.inf) if single else family.safe_range


def warn_unless_finite(kernel: Any, values: np.ndarray) -> np.ndarray:
    """Return kernel values, after a warning where they are not all finite: parameters decide, not sizes alone.

    A power of a negative number is none, an exponent may be too large. A positive definite kernel is bounded by its
    diagonal, which is in range in float64 and for distances; of a large matrix of another one, rows of about a million
    values are looked at, evenly spaced.
    """
    inside = sys._getframe(2).f_code.co_filename.startswith(PACKAGE)  # solvers look themselves, and say where
    if inside or values.dtype.kind != "f" or not values.size:
        return values
    if kernel.definite is True and (values.dtype == np.float64 or kernel.family.of in DISTANCES):
        return values
    some = np.atleast_2d(values)[:: max(1, values.size // _LOOKED_AT)]
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(some.sum()):  # where the sum is not, all values may be finite nevertheless
            return values
    lost = next((row for row in some if not np.isfinite(row).all()), None)
    if lost is not None:
        warnings.warn(
            f"{kernel.name}: a value is {lost[~np.isfinite(lost)][0]}, and so may others be: with its parameters this "
            "kernel is no number of these samples. Change the parameters, or the samples",
            RangeWarning,
            stacklevel=level_outside(),
        )
    return values


def warn_if_vanished(kernel: Any, values: np.ndarray, X: Any, Z: Any) -> None:
    """Warn where products and powers of kernels, or float32, leave nothing of values: where not even k(x, x) remains.

    Kernels of one function have a range of samples instead. That samples are so far apart that nothing is left of their
    similarity is no loss.
    """
    inside = sys._getframe(2).f_code.co_filename.startswith(PACKAGE)
    if inside or not getattr(kernel, "parts", ()) or isinstance(X, Handle) or isinstance(Z, Handle) or not values.size:
        return
    tiny = np.finfo(values.dtype).tiny
    if _largest(values[0]) >= tiny or _largest(values[:: max(1, values.size // _LOOKED_AT)]) >= tiny:
        return
    with np.errstate(all="ignore"):
        some, kernel = in_double(X[:_DIAGONAL]), kernel._anchored(X, Z)
        own = _largest(kernel._diagonal(some))
        lost = 0.0 < own < tiny or (own == 0.0 and _lost(kernel, some))
    if lost:
        warnings.warn(
            f"{kernel.name}: kernel values of these samples are below {tiny:.3g}, and so beyond the range of "
            f"{values.dtype}: they are 0. Scale the samples, or multiply the kernel"
            f"{', or take float64' if values.dtype == np.float32 else ''}",
            RangeWarning,
            stacklevel=level_outside(),
        )


def _lost(kernel: Any, X: Any) -> bool:
    """Return whether k(x, x) is zero for kernels among the parts of a kernel that multiply others that are not."""
    parts = getattr(kernel, "parts", ())
    inner = kernel._seen_by_parts(X) if parts else ()
    if any(_lost(part, x) for part, x in zip(parts, inner, strict=True)):
        return True
    if not kernel.multiplies or _largest(kernel._diagonal(X)) > 0.0:
        return False
    return all(_largest(part._diagonal(x)) > 0.0 for part, x in zip(parts, inner, strict=True))


def _largest(values: np.ndarray) -> float:
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def _beyond(values: np.ndarray, low: float, high: float) -> float:
    """Return the largest size among the values where it is not between the bounds, else 0; zeros do not count."""
    if values.dtype.kind != "f" or not values.size:
        return 0.0
    with np.errstate(over="ignore", under="ignore"):
        # Not by BLAS, whose threads would still be spinning when the threads that evaluate the kernel begin.
        squares = float(np.einsum("i,i" if values.ndim == 1 else "ij,ij", values, values))
    inside = max(low, PRODUCTS[0]), min(high, PRODUCTS[1])  # what can be squared
    if inside[0] ** 2 * values.size < squares < inside[1] ** 2:  # one pass, for all but a few data sets
        return 0.0
    largest = max(float(values.max()), -float(values.min()))
    return 0.0 if largest == 0.0 or low <= largest <= high else largest


def of_powers(degree: float, single: bool = False) -> tuple[float, float]:
    """Return the range in which a power of a product is finite and not zero, in float32 where it is single.

    >>> of_powers(3), of_powers(3, single=True)
    ((1e-50, 1e+50), (1e-06, 1000000.0))
    """
    exponent = min(18.0, 18.0 / degree) if single else min(140.0, 150.0 / degree)
    return 10.0**-exponent, 10.0**exponent
