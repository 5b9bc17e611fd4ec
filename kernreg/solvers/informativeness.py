"""Telling of a kernel that says nothing about the samples: its matrix is a multiple of the identity, or a constant."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.config import get_config
from kernreg.errors import UninformativeKernelWarning
from kernreg.kernels import Kernel
from kernreg.solvers.advice import advise

_SAMPLES = 200  # that are looked at
_FEWEST = 10  # of fewer samples nothing is said
_ALONE, _ALIKE = 1e-3, 1e-6  # values between different samples relative to those of equal ones; spread of values


def warn_if_uninformative(kernel: Kernel, K: np.ndarray, X: Any, *, stacklevel: int) -> None:
    """Warn where the kernel matrix of training samples is about a multiple of the identity, or about constant.

    Of a kernel with a width the warning names one that would not be: the median statistic of the samples. The setting
    ``advice=False`` turns it off.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import kernreg as kr
    >>> X, k = np.arange(20.0)[:, None], kr.make_kernel("rbf(sigma=0.01)")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_if_uninformative(k, k(X), X, stacklevel=1)
    >>> caught[0].category.__name__
    'UninformativeKernelWarning'
    """
    problem = _problem(K)
    if problem and get_config().advice:
        message = f"the kernel {kernel!r} {problem}{_remedy(kernel, X)}"
        advise(message, UninformativeKernelWarning, stacklevel=stacklevel + 1)


def _problem(K: np.ndarray) -> str:
    m = len(K)
    if m < _FEWEST:
        return ""
    some = np.arange(m) if m <= _SAMPLES else np.linspace(0, m - 1, _SAMPLES).astype(np.intp)
    part = K[np.ix_(some, some)]
    between = part[~np.eye(len(some), dtype=bool)]
    own, largest = float(np.median(np.abs(part.diagonal()))), float(np.abs(between).max())
    if largest <= _ALONE * own:
        return (
            f"is at most {largest:.2g} between different training samples and {own:.2g} of a sample with itself: it "
            "says that no two are alike, and nothing can be learned from it."
        )
    if np.ptp(part) <= _ALIKE * np.abs(part).max():
        return f"is about {part.mean():.3g} for every pair of training samples: it cannot tell them apart."
    return ""


def _remedy(kernel: Kernel, X: Any) -> str:
    widths = kernel.family.widths
    if not widths or not isinstance(kernel.get_params(deep=False).get(widths[0]), float):
        return " Check its parameters and the scale of the features"
    suggested = kernel.family(**{**kernel.get_params(deep=False), widths[0]: "median"}).bind(X)
    value = suggested.get_params(deep=False)[widths[0]]
    return f" The median distance of the samples would be {widths[0]}={value:.3g}; 'scale' is the default"
