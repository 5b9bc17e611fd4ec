"""What rounding errors do to leave-one-out residuals.

Centring and decomposing leave an error E of about δ = ε (‖K̃‖ + what centring subtracted) in K̃, as large as that of the
entries of K themselves. A residual left out solves G_SS e = z_S (see `leave_one_out`), where G is the inverse of the
matrix that K̃ is a part of. To first order E changes z by -G E z and G by -G E G, hence e by
G_SS⁻¹ (G_S E z - G_S E G_Sᵀ e): at most

    ‖G_SS⁻¹‖ δ ‖G_S‖ (‖z‖ + ‖G_S‖ ‖e‖)

with the rows G_S of the inverse that belong to the sample. Their norms are diagonals of G², so the estimate costs as
much as the residuals. A small residual of the solution does not stand in its place: where γ is large, G_SS is made of
what is left of the small eigenvalues of K̃, and a solution that does not need them says nothing of them.
"""

from __future__ import annotations

import numpy as np

from kernreg.linalg.exact.centring import CentredKernel

EPS = float(np.finfo(np.float64).eps)


def matrix_error(kernel: CentredKernel, scale: float) -> float:
    """Return δ, the size of rounding errors in a K̃ whose largest singular value is ``scale``."""
    means = max(float(np.linalg.norm(kernel.left)), float(np.linalg.norm(kernel.right)))
    return EPS * (scale + 2.0 * means / float(np.sqrt(kernel.size)))


def residual_errors(
    error: float, inverse: np.ndarray, rows: np.ndarray, solution: np.ndarray, residuals: np.ndarray
) -> np.ndarray:
    """Return how far residuals left out may be from the true ones, (G, m, C) for G values of γ.

    Parameters
    ----------
    error : float
        δ, as `matrix_error` returns it.
    inverse : ndarray of shape (G, m, 1)
        ‖G_SS⁻¹‖ of each sample.
    rows : ndarray of shape (G, m, 1)
        ‖G_S‖² of each sample.
    solution : ndarray of shape (G, 1, C)
        ‖z‖ of each right-hand side.
    residuals : ndarray of shape (G, m, C)
        ‖e‖ of each sample and right-hand side.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # where the system without a sample has a pole
        return error * inverse * (np.sqrt(rows) * solution + rows * residuals)
