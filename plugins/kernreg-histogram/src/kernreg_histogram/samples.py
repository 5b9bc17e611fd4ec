"""What several kernels need to know about their samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp


def row_sums(X: Any) -> np.ndarray:
    """Return the sum of each row of a dense or CSR array, in double precision.

    >>> row_sums(sp.csr_array([[1.0, 2.0], [0.0, 0.0]])).tolist()
    [3.0, 0.0]
    """
    return np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()


def on_values(function: Callable[[np.ndarray], np.ndarray], X: Any) -> Any:
    """Return a function with f(0) = 0 of every entry; a CSR array stays as sparse as it is.

    >>> on_values(np.sqrt, sp.csr_array([[4.0, 0.0]])).toarray().tolist()
    [[2.0, 0.0]]
    """
    if isinstance(X, np.ndarray):
        return function(X)
    return sp.csr_array((function(X.data), X.indices, X.indptr), shape=X.shape)


def within_range(X: Any) -> Any:
    """Return rows multiplied by powers of two where their sums, or inverses of these, are beyond the range of numbers.

    >>> within_range(np.array([[1e-320, 2e-320], [1.0, 3.0]])).tolist()[1]
    [1.0, 3.0]
    """
    dense = isinstance(X, np.ndarray)
    largest = (X.max(axis=1, initial=0.0) if dense else X.max(axis=1).toarray()).ravel().astype(np.float64)
    if not ((largest > 1e290) | ((largest > 0.0) & (largest < 1e-290))).any():
        return X
    factors = np.where(largest > 1.0, 2.0**-1000, 2.0**1000)
    factors[(largest <= 1e290) & ((largest == 0.0) | (largest >= 1e-290))] = 1.0
    return X * factors[:, None] if dense else X.multiply(factors[:, None]).tocsr()


def products(X: Any, Z: Any) -> np.ndarray:
    """Return the inner products of the rows of X and Z as a dense array, whichever of them is sparse."""
    found = X @ Z.T
    return found if isinstance(found, np.ndarray) else found.toarray()


def counts(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return n random histograms of counts, with empty bins: what the test kit tries these kernels on."""
    return rng.poisson(1.2, (n, 8)).astype(np.float64)
