"""An asymmetric kernel to try solvers with."""

from __future__ import annotations

import numpy as np

from kernreg import kernel


@kernel(of="blocks", symmetric=False, definite=None)
def lopsided(X, Z):
    """exp(-|x - z|² / d) (2 + tanh(z_1)), which weighs its second argument."""
    squared = ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)
    return np.exp(-squared / X.shape[1]) * (2.0 + np.tanh(Z[:, 0]))[None, :]
