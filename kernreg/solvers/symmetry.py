"""Refusing asymmetric kernels, for solvers that require symmetric ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.errors import AsymmetryError
from kernreg.kernels import Kernel
from kernreg.linalg.exact.centring import SYMMETRY_TOLERANCE, asymmetry
from kernreg.solvers.samples import count_samples, take

_SAMPLES = 500  # among which asymmetry is looked for where the matrix is never seen


def require_symmetric(kernel: Kernel, K: np.ndarray, *, who: str, instead: str = "") -> None:
    """Raise AsymmetryError where K, the matrix of a kernel not known to be symmetric, is not so but for rounding.

    Parameters
    ----------
    kernel : Kernel
    K : ndarray of shape (m, m)
    who : str
        What requires symmetry, in the words of the message.
    instead : str, optional
        The name of a solver that takes asymmetric kernels.

    Examples
    --------
    >>> import numpy as np
    >>> import kernreg as kr
    >>> K = np.array([[0.0, 1.0], [0.0, 0.0]])
    >>> require_symmetric(kr.make_kernel("precomputed", K=K), K, who="this solver", instead="ask-ls")
    Traceback (most recent call last):
    kernreg.errors.AsymmetryError: the kernel 'precomputed' is asymmetric on these samples ...
    """
    gap = 0.0 if kernel.symmetric else asymmetry(K)
    if gap > SYMMETRY_TOLERANCE[K.dtype]:
        advice = f"Use '{instead}', which is made for asymmetric kernels, or say" if instead else "Say"
        raise AsymmetryError(
            f"the kernel {kernel.name!r} is asymmetric on these samples (max |K - Kᵀ| is {gap:.3g} of max |K|), and "
            f"{who} requires a symmetric one. {advice} how to make it symmetric: kernreg.kernels.symmetrize(kernel, …)"
        )


def require_symmetric_on_some(kernel: Kernel, X: Any, *, who: str, instead: str = "") -> None:
    """Do the same with at most 500 of the samples, where the whole matrix is never seen.

    Examples
    --------
    >>> import kernreg as kr
    >>> require_symmetric_on_some(kr.make_kernel("rbf(sigma=1.0)"), [[0.0], [1.0]], who="this solver")
    """
    if kernel.symmetric:
        return
    m = count_samples(X)
    some = take(X, np.sort(np.random.default_rng(0).choice(m, min(m, _SAMPLES), replace=False)))
    require_symmetric(kernel, kernel(some, some), who=who, instead=instead)
