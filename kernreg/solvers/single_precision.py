"""Telling of float32 samples whose machine needs kernel values that are more than float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import LinAlgWarning

from kernreg.engine import Handle
from kernreg.kernels import Kernel
from kernreg.solvers.advice import advise

_ROWS = 50  # samples at which rounding is estimated
_WORTH_A_WARNING = 1e-3


def warn_if_single_is_coarse(
    kernel: Kernel,
    X: Any,
    coefficients: np.ndarray,
    targets: np.ndarray,
    *,
    stacklevel: int,
    gamma: float | None = None,
) -> None:
    """Warn where kernel values rounded to float32 leave decision values Σ_i a_i k(x, x_i) with few right digits.

    Coefficients a_i that a large γ makes large cancel in the sum. Rounding leaves about ε sqrt(Σ_i a_i² k(x, x_i)²) of
    it, with the ε of float32, which is compared with the largest target at some of the samples.

    Parameters
    ----------
    kernel : Kernel
        Bound to the samples.
    X : samples of shape (m, d)
        Those that coefficients belong to; nothing is said of any but float32 arrays.
    coefficients : ndarray of shape (m, columns)
    targets : ndarray of shape (n, columns)
    stacklevel : int
        As of `warnings.warn`.
    gamma : float, optional
        Named in the warning.

    Examples
    --------
    >>> import warnings
    >>> import kernreg as kr
    >>> X, k = np.arange(4.0, dtype=np.float32)[:, None], kr.make_kernel("rbf(sigma=9.0)")
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always")
    ...     warn_if_single_is_coarse(k, X, np.array([[1e5], [-1e5], [-1e5], [1e5]]), np.ones((4, 1)), stacklevel=1)
    >>> str(heard[0].message).partition(":")[0]
    'the samples are float32, and so are kernel values'
    """
    if isinstance(X, tuple | Handle) or getattr(X, "dtype", None) != np.float32:
        return
    m, size = X.shape[0], float(np.abs(targets).max(initial=0.0))
    if not (m and size > 0.0):
        return
    rows = np.arange(m) if m <= _ROWS else np.linspace(0, m - 1, _ROWS).astype(np.intp)
    K = np.asarray(kernel(X[rows], X), dtype=np.float64)
    with np.errstate(over="ignore"):
        error = np.sqrt((K * K) @ coefficients.astype(np.float64) ** 2).max(initial=0.0)
    error = float(error) * float(np.finfo(np.float32).eps) / size
    if error > _WORTH_A_WARNING:
        at = "" if gamma is None else f" at gamma={gamma:g}"
        advise(
            f"the samples are float32, and so are kernel values: coefficients{at} cancel in every decision value, "
            f"which leaves a relative error of about {error:.2g}. Give float64 samples, or regularise more",
            LinAlgWarning,
            stacklevel=stacklevel + 1,
        )
