"""The range of numbers in which a kernel is exact, and the warning beyond it.

A statistic multiplies: squares of numbers beyond 1e154 are infinite, and those below 1e-162 zero, so that a width of
the same size no longer helps. Inside the ranges below nothing is lost. float32 samples, whose statistics are computed
in float64 where their squares are beyond float32, are always inside.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from kernreg.engine.arrays import is_sparse
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

_PACKAGE = str(Path(__file__).parent.parent)


def warn_beyond(kernel: Any, X: Any, name: str) -> None:
    """Warn where samples are so large or so small that kernel values may be lost."""
    family = kernel.family
    low, high = family.safe_range if family._range_of is None else family._range_of(**kernel.get_params(deep=False))
    if high == np.inf:
        return
    beyond = _beyond(X.data if is_sparse(X) else X, low, high)
    if beyond:
        warnings.warn(
            f"{kernel.name}: {name} holds values of size {beyond:.3g}, and this kernel is exact for sizes from {low:g} "
            f"to {high:g}; beyond, what it multiplies becomes 0 or infinite and kernel values may be wrong. Scale the "
            "samples, and the widths with them",
            RangeWarning,
            stacklevel=_outside(),
        )


def _beyond(values: np.ndarray, low: float, high: float) -> float:
    """Return the largest size among the values where it is not between the bounds, else 0; zeros do not count."""
    if values.dtype != np.float64 or not values.size:
        return 0.0
    with np.errstate(over="ignore", under="ignore"):
        # Not by BLAS, whose threads would still be spinning when the threads that evaluate the kernel begin.
        squares = float(np.einsum("i,i" if values.ndim == 1 else "ij,ij", values, values))
    inside = max(low, PRODUCTS[0]), min(high, PRODUCTS[1])  # what can be squared
    if inside[0] ** 2 * values.size < squares < inside[1] ** 2:  # one pass, for all but a few data sets
        return 0.0
    largest = max(float(values.max()), -float(values.min()))
    return 0.0 if largest == 0.0 or low <= largest <= high else largest


def of_powers(degree: float) -> tuple[float, float]:
    """Return the range in which a power of a product is finite and not zero.

    >>> of_powers(3)
    (1e-50, 1e+50)
    """
    exponent = min(140.0, 150.0 / degree)
    return 10.0**-exponent, 10.0**exponent


def _outside() -> int:
    """Return the stack level of the first caller that is not part of kernreg."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level
