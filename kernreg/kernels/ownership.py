"""Arrays that belong to a kernel: what the caller does to his own afterwards changes neither values nor the hash.

Parameters (a held matrix, samples of a learned kernel) are kept read-only. An array that nobody can write to any more,
read-only down to the memory it is a view of, is taken as it is; any other is copied. Reference sets are copied and stay
writable, because Numba types read-only arrays differently.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg.engine.arrays import is_sparse
from kernreg.kernels.samples import SampleParts


def unwritable(array: Any) -> bool:
    """Return whether nobody can write to an array: neither it nor what it is a view of is writable.

    >>> K = np.eye(2)
    >>> view = K.view()
    >>> view.flags.writeable = False
    >>> unwritable(view)
    False
    >>> K.flags.writeable = False
    >>> unwritable(view)
    True
    """
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    if array is None:
        return True
    try:
        return memoryview(array).readonly  # a file mapped into memory, bytes
    except TypeError:
        return False


def frozen(value: Any) -> Any:
    """Return an array or CSR that belongs to the one who asks: read-only, and copied where the caller could write.

    >>> K = np.eye(2)
    >>> held = frozen(K)
    >>> K[:] = 0.0
    >>> held.tolist(), frozen(held) is held
    ([[1.0, 0.0], [0.0, 1.0]], True)
    """
    if is_sparse(value):
        table = sp.csr_array(value)
        parts = [frozen(part) for part in (table.data, table.indices, table.indptr)]
        if any(new is not old for new, old in zip(parts, (table.data, table.indices, table.indptr), strict=True)):
            table = sp.csr_array((parts[0], parts[1], parts[2]), shape=table.shape, copy=False)
        return table
    if isinstance(value, np.ndarray) and unwritable(value):
        return value
    own = np.array(value)
    own.flags.writeable = False
    return own


def own_samples(X: Any) -> Any:
    """Return checked samples in memory of their own."""
    return SampleParts(tuple(map(own_samples, X.parts))) if isinstance(X, SampleParts) else X.copy()
