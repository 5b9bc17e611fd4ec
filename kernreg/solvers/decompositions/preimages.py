"""The way back from scores to samples, learned by ridge regression with an intercept.

Bakır, Weston & Schölkopf, Learning to find pre-images, NeurIPS 16 (2003).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import pdist

from kernreg.common.checks import as_number
from kernreg.errors import ParameterError, shown
from kernreg.kernels import Kernel
from kernreg.solvers.dual.ls_svm import LSSVR
from kernreg.solvers.samples import input_kind


def require_invertible(X: Any, kernel: Kernel, alpha: Any) -> None:
    """Raise ParameterError unless samples are a dense table, and the ridge is a positive number or ``"loo"``."""
    if sp.issparse(X) or input_kind(kernel) != "table":
        raise ParameterError(
            "fit_inverse_transform=True learns dense samples from scores, and the samples given are "
            f"{'sparse' if sp.issparse(X) else 'not a table of features'}; give a dense table, or set it to False"
        )
    chosen = isinstance(alpha, str) and alpha == "loo"
    if not chosen and not 0.0 < as_number(alpha) < np.inf:
        raise ParameterError(f"alpha={shown(alpha)} is not accepted; give a positive number, or 'loo'")


def learn_inverse(kernel: Any, scores: np.ndarray, X: np.ndarray, alpha: Any, weights: np.ndarray | None) -> LSSVR:
    """Return the regression from scores to samples.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel
        Between scores.
    scores, X : ndarray of shape (m, r) and (m, d)
    alpha : float or "loo"
        Ridge; of ``"loo"`` the best by leave-one-out.
    weights : ndarray of shape (m,), optional

    Examples
    --------
    >>> X = np.linspace(0.0, 1.0, 9)[:, None]
    >>> inverse = learn_inverse("linear", 3.0 * X, X, 1e-9, None)
    >>> inverse.predict([[1.5]]).round(6).tolist()
    [[0.5]]
    """
    gamma = "loo" if alpha == "loo" else 1.0 / float(alpha)
    return LSSVR(kernel=kernel, gamma=gamma).fit(scores, X, sample_weight=weights)


def default_kernel(kernel: Kernel, scores: np.ndarray) -> Any:
    """Return the kernel itself where it is positive semi-definite, else ``rbf`` as wide as scores are apart."""
    return kernel if kernel.definite is True else f"rbf(sigma={_median_distance(scores)!r})"


def _median_distance(scores: np.ndarray, most: int = 1000) -> float:
    """Return the median distance between some of the scores, or 1 where all are the same."""
    some = scores[:: max(1, -(-len(scores) // most))]
    distances = pdist(some.astype(np.float64))
    median = float(np.median(distances)) if distances.size else 0.0
    return median if median > 0.0 else 1.0
