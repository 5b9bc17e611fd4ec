"""Scores of new samples: products with coefficients, less what centring takes from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernreg.common.callers import level_outside
from kernreg.solvers.advice import warn_beyond_budget
from kernreg.solvers.samples import count_samples


def centred_scores(samples: Any, products: Callable[[], np.ndarray], offset: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return products less an offset, in the precision of a fit; warn before if they are more than the memory budget.

    Parameters
    ----------
    samples : checked samples
    products : callable
        Returns an array with a row for each of them, which nobody else holds.
    offset : ndarray of shape (components,)
    dtype : numpy.dtype

    Examples
    --------
    >>> mean, dtype = np.array([0.25]), np.dtype("float64")
    >>> centred_scores([[1], [2]], lambda: np.ones((2, 1)), mean, dtype).tolist()
    [[0.75], [0.75]]
    """
    n = count_samples(samples)
    needed = n * len(offset) * (8 if dtype == np.float64 else 8 + dtype.itemsize)
    what = f"the {n} × {len(offset)} array of scores"
    warn_beyond_budget(needed, what, "transform fewer samples at once", stacklevel=level_outside())
    scores = np.asarray(products())
    in_place = scores.flags.writeable and np.result_type(scores, offset) == scores.dtype
    return np.subtract(scores, offset, out=scores if in_place else None).astype(dtype, copy=False)
