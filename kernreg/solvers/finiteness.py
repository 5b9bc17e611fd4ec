"""Saying at which pair of samples a kernel is not finite."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.errors import DataError
from kernreg.kernels import Kernel


def not_finite_error(kernel: Kernel, X: Any, Z: Any = None) -> DataError:
    """Return the error that names a pair of samples, of one set or of two, at which the kernel is not finite."""
    for rows, block in kernel.blocks(X, Z):
        bad = np.argwhere(~np.isfinite(block))
        if len(bad):
            i, j = int(bad[0, 0]), int(bad[0, 1])
            i += rows.start
            pair = f"samples {i} and {j}" if Z is None else f"sample {i} of the left and sample {j} of the right side"
            return DataError(
                f"the kernel {kernel.name!r} is {block[i - rows.start, j]} between {pair}; a kernel is finite on its "
                "training samples. Check its parameters and the range of the features"
            )
    return DataError(
        f"products with the matrix of kernel {kernel.name!r} are not finite, though its values are: they are too large "
        "to be added up"
    )
