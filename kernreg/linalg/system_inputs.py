"""What a system of LS-SVM or AsK-LS takes beside the kernel: γ, targets and weights, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.errors import DataError, ParameterError, shown


def require_positive(gamma: float) -> None:
    """Raise ParameterError unless γ is a finite number above zero."""
    if not (np.isfinite(gamma) and gamma > 0):
        raise ParameterError(f"gamma={shown(gamma)}; a finite number above zero is accepted")


def targets_and_weights(m: int, Y: Any, weights: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the targets of m samples as columns, and their weights as an array, checked."""
    Y = np.asarray(Y, dtype=np.float64)
    if Y.ndim not in (1, 2) or len(Y) != m:
        raise DataError(f"targets have shape {Y.shape}; with {m} samples ({m},) or ({m}, outputs) is accepted")
    if not np.isfinite(Y).all():
        raise DataError("targets contain NaN or infinity")
    if weights is not None:
        weights = np.asarray(weights, dtype=np.float64)
        if weights.shape != (m,) or not (np.isfinite(weights).all() and (weights > 0).all()):
            raise DataError(f"weights must be {m} positive finite numbers; leave samples of weight zero out")
    return Y.reshape(m, -1), weights
