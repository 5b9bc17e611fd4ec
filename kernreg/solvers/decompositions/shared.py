"""What decompositions of a kernel matrix share: weights, refusing asymmetry, progress, saying where a kernel fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from kernreg.common.progress import progress
from kernreg.errors import AsymmetryError, DataError
from kernreg.kernels import Kernel
from kernreg.linalg.exact.centring import asymmetry
from kernreg.solvers.samples import check_weights, take

_LOOKED_AT = 500  # samples among which asymmetry is looked for where the matrix is never seen
_SYMMETRY_TOLERANCE = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}


def weighted(X: Any, sample_weight: Any) -> tuple[Any, np.ndarray | None]:
    """Return samples and weights: those of zero weight left out, unit weights None."""
    if sample_weight is None:
        return X, None
    weights = check_weights(sample_weight, X.shape[0])
    if np.any(weights == 0):
        kept = np.flatnonzero(weights)
        X, weights = take(X, kept), weights[kept]
    return X, None if np.all(weights == 1.0) else weights


def refuse_asymmetry(kernel: Kernel, K: np.ndarray, who: str) -> None:
    """Raise AsymmetryError where a kernel matrix is not symmetric, and name the solver to use instead."""
    gap = asymmetry(K)
    if gap > _SYMMETRY_TOLERANCE[K.dtype]:
        raise AsymmetryError(
            f"the kernel {kernel.name!r} is asymmetric on these samples (max |K - Kᵀ| is {gap:.3g} of max |K|), and "
            f"{who} requires a symmetric one. Use 'ksvd', which is made for asymmetric kernels, or say how to make it "
            "symmetric: kernreg.kernels.symmetrize(kernel, …)"
        )


def refuse_asymmetry_of_some(kernel: Kernel, X: Any, who: str) -> None:
    """The same among some of the samples, where the whole matrix is never seen."""
    if kernel.symmetric:
        return
    m = X.shape[0]
    some = take(X, np.sort(np.random.default_rng(0).choice(m, min(m, _LOOKED_AT), replace=False)))
    refuse_asymmetry(kernel, kernel(some, some), who)


@contextmanager
def shown(label: str) -> Iterator[Callable[[int, float], None]]:
    """Yield a callback ``(step, residual / tol)`` that shows how many digits of the residual are done."""
    first: list[float] = []
    with progress(label, 100) as show:

        def watch(step: int, ratio: float) -> None:
            digits = float(np.log10(max(ratio, 1.0)))
            first.append(max(digits, 1e-3))
            show(int(100 * (1.0 - min(1.0, digits / first[0]))))

        yield watch


def where_not_finite(kernel: Kernel, X: Any, Z: Any = None) -> DataError:
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
