"""Whether compiled code computes what the Python function says: a look at a few pairs, once for a function.

Both read the same line, but not alike: integers of compiled code have 64 bits and stay integers, so that 2 ** -n is 0
and n ** 40 wraps around, without a word; and an index beyond the end of a sample reads other memory. The functions of
kernreg itself are compared by tests, and not here.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from kernreg.common.callers import level_outside
from kernreg.engine.arrays import is_sparse
from kernreg.errors import DataError, FormulaWarning

#: How far values may be apart, relative to the larger of them: cancellation in a formula is not what is looked for.
TOLERANCE = {np.dtype(np.float64): 1e-4, np.dtype(np.float32): 1e-1}
#: So many samples are compared with each other, and so many features of all pairs are looked at.
SAMPLES, FEATURES = 3, 50_000


def warn_if_compiled_differs(kernel: Any, X: Any) -> None:
    """Warn where a kernel of somebody else's function has other values than the function, called as plain Python.

    Integers that are parameters decide, so each function is looked at once for any of their values; one of two rows for
    any number of features, too. DataError where such a function reads beyond the end of them.
    """
    seen = kernel.family._compared
    if seen is None:
        return
    integers = tuple(value for value in kernel._values.values() if isinstance(value, int))
    looked_at = integers, X.shape[1] if kernel.family.of == "rows" and X.ndim == 2 else 0
    if looked_at in seen or X.ndim != 2 or not X.shape[0] or not 0 < X.shape[1] <= FEATURES:
        return
    count = min(SAMPLES, X.shape[0], max(1, math.isqrt(FEATURES // X.shape[1])))
    some = X[np.unique(np.linspace(0, X.shape[0] - 1, count, dtype=int))]
    differing = _differing(kernel, some)
    if X.shape[0] > 1:  # one sample shows little: its distance from itself is zero
        seen.add(looked_at)
    if differing is not None:
        compiled, plain = differing
        warnings.warn(
            f"{kernel.name}: compiled, k(x, z) of a pair of these samples is {compiled:.6g}, and the Python function "
            f"gives {plain:.6g}. Integers in compiled code have 64 bits and stay integers: 2 ** -n is 0 there, and "
            "large powers and products wrap around. Compute with floats, 2.0 ** -n or float(n), or write the kernel "
            "with of='blocks', which is called as plain Python",
            FormulaWarning,
            stacklevel=level_outside(),
        )


def _differing(kernel: Any, some: Any) -> tuple[float, float] | None:
    """Return a compiled value and the one that Python gives, if most pairs of these samples have such."""
    rows = some.toarray() if is_sparse(some) else some
    try:
        anchored = kernel._anchored(some, None)
        plain = np.array([[anchored.scalar(x, z) for z in rows] for x in rows])
        compiled = anchored._evaluate(some, None, None, None)
    except IndexError as error:
        raise DataError(
            f"{kernel.name}: the function reads what samples of {some.shape[1]} features do not have ({error}). "
            "Compiled code does not check this, and would read other memory. Loop over range(len(x)), or give "
            "samples with the features that the function needs"
        ) from error
    except Exception:  # of anybody's function: what keeps it from being compiled is said where the matrix is asked for
        return None
    limits = np.finfo(compiled.dtype)
    size = np.maximum(np.where(np.isfinite(compiled), np.abs(compiled), 0.0), np.abs(plain))
    with np.errstate(all="ignore"):
        told = np.isfinite(plain) & (np.abs(plain) < limits.max) & (size > 1e3 * limits.tiny)
        apart = told & ~(np.abs(compiled - plain) <= TOLERANCE[compiled.dtype] * size)
        if kernel.symmetric:  # half is mirrored: where that is declared wrongly, the formula is not to blame
            apart &= ~(np.abs(compiled - plain.T) <= TOLERANCE[compiled.dtype] * size)
    if not apart.any() or 2 * int(apart.sum()) <= int(told.sum()):
        return None
    i, j = np.argwhere(apart)[0]
    return float(compiled[i, j]), float(plain[i, j])
