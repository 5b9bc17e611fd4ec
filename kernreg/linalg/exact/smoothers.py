"""Dual machines as linear smoothers: what each training target adds to the prediction of any sample.

The solution is linear in the targets, and so is a prediction: f(x) = Σ_i H_i(x) y_i with H(x) = k(x, X) C + β, where C
holds the coefficients, and β the intercepts, that belong to the m targets e_1, …, e_m. One inverse gives all of them::

    LS-SVM   C = S R S                                   R = (K̃ + I/γ)⁻¹ on the space orthogonal to u = √w / ‖√w‖
    AsK-LS   source coefficients  S [G_ca, G_cc] S       G = [[I/γ, K̃], [K̃ᵀ, I/γ]]⁻¹ on the same space, twice
             target coefficients  S [G_aa, G_ac] S       the first block for source targets, the second for target ones

A machine without sample i is the machine whose target y_i was replaced by what it then predicts there: its residual
becomes zero. So with e_i = y_i - f⁽⁻ⁱ⁾(x_i), the residual left out,

    f⁽⁻ⁱ⁾(x) = f(x) - H_i(x) e_i

for every x, without a refit; for AsK-LS e_i and H_i have a part for each view.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from kernreg.engine.threads import configured_blas
from kernreg.linalg.exact.centring import CentredKernel, centre, induced_norms, mirror
from kernreg.linalg.exact.large_matrices import cholesky, inverse_from
from kernreg.linalg.exact.leave_one_out import BlockSpectrum, SymmetricSpectrum
from kernreg.linalg.exact.poles import pole_error

#: As in `symmetric_solve`: what an explicit inverse is trusted with.
_INVERTIBLE = 1e-7
_LARGEST_SHARE = 0.5


@dataclass(frozen=True)
class Smoother:
    """The coefficients and intercepts of unit targets, for one view that predicts.

    Attributes
    ----------
    coefficients : dict of str to ndarray of shape (m, m)
        By the view whose targets they answer to: column i belongs to the target of sample i there.
    intercepts : dict of str to ndarray of shape (m,)
    """

    coefficients: dict[str, np.ndarray]
    intercepts: dict[str, np.ndarray]

    @configured_blas()
    def weights(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return H (n, m) of samples whose kernel values with the training samples are given, (n, m)."""
        rows = np.asarray(rows, dtype=np.float64)
        return {name: rows @ C + self.intercepts[name] for name, C in self.coefficients.items()}


@dataclass(frozen=True)
class SmoothedSystem:
    """The smoothers of a fitted system, by view, and the inverse diagonals that leave-one-out rests on.

    Attributes
    ----------
    smoothers : dict of str to Smoother
    inverse : ndarray of shape (m, views, views)
        For sample i the part of the inverse of the bordered matrix that belongs to its own unknowns: with them, z_i,
        the residuals left out e_i solve ``inverse[i] e_i = z_i``.
    unknowns : tuple of str
        The view whose coefficients are the first, second … unknown of a sample. The unknown that goes with an equation
        of the source view is the coefficient a of the target view, and the other way round.
    """

    smoothers: dict[str, Smoother]
    inverse: np.ndarray
    unknowns: tuple[str, ...]

    def residuals(self, coefficients: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return y_i - f⁽⁻ⁱ⁾(x_i), (m, C) of each view, for a solution with these coefficients."""
        z = np.stack([np.asarray(coefficients[name], dtype=np.float64) for name in self.unknowns], axis=1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # where the system without i has a pole
            if len(self.unknowns) == 1:
                e = z / self.inverse
            else:
                (aa, ac), (_, cc) = (self.inverse[:, i, :].T for i in (0, 1))
                determinant = (aa * cc - ac * ac)[:, None]
                first = (cc[:, None] * z[:, 0] - ac[:, None] * z[:, 1]) / determinant
                second = (aa[:, None] * z[:, 1] - ac[:, None] * z[:, 0]) / determinant
                e = np.stack([first, second], axis=1)
        return {name: e[:, number] for number, name in enumerate(self.smoothers)}


@configured_blas()
def symmetric_smoother(K: np.ndarray, weights: np.ndarray | None, gamma: float) -> SmoothedSystem:
    """Return the smoother of the LS-SVM, whose view is called ``"decision"``.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Overwritten where it can be.
    weights : ndarray of shape (m,) or None
    gamma : float

    Examples
    --------
    Without a kernel that tells samples apart, a prediction is the mean of the targets:

    >>> import numpy as np
    >>> system = symmetric_smoother(np.ones((4, 4)), None, 1.0)
    >>> system.smoothers["decision"].weights(np.ones((1, 4)))["decision"].round(12).tolist()
    [[0.25, 0.25, 0.25, 0.25]]
    """
    centred = centre(K, weights, overwrite=True)
    R = _symmetric_inverse(centred, gamma)
    if R is None:
        spectrum = SymmetricSpectrum(centred)
        if spectrum.poles(np.array([gamma]))[0]:
            raise pole_error(gamma, -spectrum.values, "eigen", " A positive semi-definite kernel has no poles.")
        R = (spectrum.vectors / (spectrum.values + 1.0 / gamma)) @ spectrum.vectors.T
    scaled = R if centred.root is None else R * centred.root
    intercepts = _mean_weights(centred) - (centred.left @ scaled) / centred.norm
    C = scaled if centred.root is None else centred.root[:, None] * scaled
    smoother = Smoother({"decision": C}, {"decision": intercepts})
    return SmoothedSystem({"decision": smoother}, C.diagonal()[:, None, None].copy(), ("decision",))


def _symmetric_inverse(kernel: CentredKernel, gamma: float) -> np.ndarray | None:
    """Return (K̃ + I/γ)⁻¹ without its part along u, in K̃'s memory; None, and K̃ unchanged, where that is not safe."""
    W, u, kappa = kernel.matrix.T, kernel.border, 1.0 / gamma
    if float((u * u).max()) > _LARGEST_SHARE:
        return None
    diagonal = W.diagonal().copy()
    norm = induced_norms(kernel.matrix)[0]
    level = 2.0 * min(norm, float(np.linalg.norm(W))) + kappa
    blas.dsyr(level, u, a=W, lower=0, overwrite_a=1)
    W[np.diag_indices(len(u))] += kappa
    factor, failed = cholesky(W, lower=False)  # in the upper triangle
    if failed or lapack.dpocon(factor, norm + kappa + level, uplo="U")[0] <= _INVERTIBLE:
        mirror(W, from_lower=True)
        W[np.diag_indices(len(u))] = diagonal
        return None
    inverse = inverse_from(factor)
    mirror(inverse, from_lower=False)
    inverse -= np.multiply.outer(u / (kappa + level), u)
    return inverse


@configured_blas()
def block_smoother(K: np.ndarray, weights: np.ndarray | None, gamma: float) -> SmoothedSystem:
    """Return the smoothers of AsK-LS, of its views ``"source"`` and ``"target"``.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Overwritten where it can be.
    weights : ndarray of shape (m,) or None
    gamma : float
    """
    centred = centre(K, weights, overwrite=True)
    spectrum = BlockSpectrum(centred)
    if spectrum.poles(np.array([gamma]))[0]:
        raise pole_error(gamma, spectrum.values, "singular", "")
    kappa, U, V = 1.0 / gamma, spectrum.left, spectrum.right
    plus, minus = 1.0 / (kappa + spectrum.values), 1.0 / (kappa - spectrum.values)
    same, cross = 0.5 * (plus + minus), 0.5 * (plus - minus)
    aa, ac, cc = (U * same) @ U.T, (U * cross) @ V.T, (V * same) @ V.T
    mean, zero = _mean_weights(centred), np.zeros(centred.size)
    source = _view(centred, {"source": ac.T, "target": cc}, centred.left, {"source": mean, "target": zero})
    target = _view(centred, {"source": aa, "target": ac}, centred.right, {"source": zero, "target": mean})
    diagonals = [target.coefficients["source"], target.coefficients["target"], source.coefficients["target"]]
    first, between, last = (matrix.diagonal() for matrix in diagonals)
    inverse = np.stack([np.stack([first, between], axis=1), np.stack([between, last], axis=1)], axis=1)
    return SmoothedSystem({"source": source, "target": target}, inverse, ("target", "source"))


def _view(
    kernel: CentredKernel, inverses: dict[str, np.ndarray], along: np.ndarray, means: dict[str, np.ndarray]
) -> Smoother:
    coefficients, intercepts = {}, {}
    for name, G in inverses.items():
        scaled = G if kernel.root is None else G * kernel.root
        intercepts[name] = means[name] - (along @ scaled) / kernel.norm
        coefficients[name] = scaled if kernel.root is None else kernel.root[:, None] * scaled
    return Smoother(coefficients, intercepts)


def _mean_weights(kernel: CentredKernel) -> np.ndarray:
    """Return what each target adds to the weighted mean of all."""
    return (kernel.border if kernel.root is None else kernel.border * kernel.root) / kernel.norm
