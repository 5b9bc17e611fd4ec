"""Two sample sets as they enter a solver: a tuple of them, or the rows and columns of one matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from kernreg.errors import DataError
from kernreg.kernels import Kernel
from kernreg.solvers.samples import input_kind


def as_pair(X: Any, kernel: Kernel) -> tuple[Any, Any] | None:
    """Return two sample sets where a tuple of them was given (a tuple of two rows is a table, as in scikit-learn)."""
    if not isinstance(X, tuple) or len(X) != 2:
        if isinstance(X, list | tuple) and X and all(len(getattr(side, "shape", ())) == 2 for side in X):
            raise DataError(
                f"X is a {type(X).__name__} of {len(X)} tables; two sample sets are given as a tuple of two, (X, Z), "
                "and one as a table"
            )
        return None
    least = 2 if input_kind(kernel) == "table" else 1
    return X if all(len(getattr(side, "shape", None) or np.shape(side)) >= least for side in X) else None


def right_samples(Z: Any, kernel: Kernel, name: str) -> Any:
    """Return samples of the right side, checked: validated as scikit-learn does where they are rows of features."""
    kind = input_kind(kernel)
    if kind == "any":
        return Z
    if kind == "index":
        index = np.asarray(Z)
        return index[:, None] if index.ndim == 1 else index
    return check_array(Z, accept_sparse="csr", dtype=[np.float64, np.float32], input_name=name)


def transposed(A: Any) -> Any:
    """Return the columns of a matrix as samples in rows."""
    return A.T.tocsr() if hasattr(A, "tocsr") else np.ascontiguousarray(A.T)
