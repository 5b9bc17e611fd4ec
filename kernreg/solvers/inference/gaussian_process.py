"""LS-SVM regression as a Gaussian process, where the kernel is positive definite.

The targets are y_i = b + f(x_i) + ε_i, with f a Gaussian process of covariance k, ε_i of variance 1/(γ v_i) for sample
weights v, and a free mean b (``mean="flat"``: of infinite prior variance) as in LS-SVM, or none (``"zero"``: as in most
libraries). Of the bordered matrix A = [[K + D, 1], [1ᵀ, 0]], D = diag(1/(γ v)), and g(x) = (k(x, X), 1)::

    E f(x) = g(x)ᵀ A⁻¹ (y, 0)                 the prediction of LS-SVM
    V f(x) = k(x, x) - g(x)ᵀ A⁻¹ g(x)         of the function, without the noise of a new target
    log p(y) = -½ yᵀP y - ½ log |K + D| - ½ log 1ᵀ(K + D)⁻¹1 - ½ (m - 1) log 2π

with P the m × m part of A⁻¹; with D and K alone in its place for a mean of zero. Several outputs are independent given
the kernel. Rasmussen & Williams, Gaussian processes for machine learning (2006), sections 2.7 and 5.4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from kernreg.engine.threads import configured_blas
from kernreg.errors import ParameterError
from kernreg.kernels import Kernel
from kernreg.linalg import SymmetricSpectrum, centre
from kernreg.linalg.exact.centring import CentredKernel
from kernreg.solvers.parameters import check_choice
from kernreg.solvers.samples import check_fitted, check_samples

MEANS = ("flat", "zero")
_STEP = 2e-3  # of logarithms of parameters, in differences of fourth order
_ROWS = 2048


class GaussianProcess:
    """The Gaussian process whose mean is a fitted `LSSVR`.

    Parameters
    ----------
    machine : fitted LSSVR
        With a positive definite kernel, by strategy ``exact``.
    mean : {"flat", "zero"}
        Whether a constant is free, as in LS-SVM, or zero; then the predictions are not those of the machine.

    Attributes
    ----------
    log_marginal_likelihood : float
        Summed over outputs.

    Examples
    --------
    >>> from kernreg.solvers import LSSVR
    >>> x = np.linspace(0, 6, 20)[:, None]
    >>> process = LSSVR(kernel="rbf(sigma=2.0)", gamma=100.0).fit(x, np.sin(x[:, 0])).gaussian_process()
    >>> mean, std = process.predict([[3.0], [30.0]], return_std=True)
    >>> bool(std[0] < 0.1), bool(std[1] > 1.0)
    (True, True)
    """

    @configured_blas()
    def __init__(self, machine: Any, mean: str = "flat"):
        check_choice("mean", mean, MEANS)
        check_fitted(machine)
        require_definite(machine)
        self._machine = machine
        K = np.asarray(machine._training_matrix(), dtype=np.float64)
        self._Y = machine._targets.problems(machine._y)[0].Y
        weights = np.ones(len(K)) if machine._weights is None else machine._weights
        self._noise = 1.0 / (machine.gamma_ * weights)
        K[np.diag_indices(len(K))] += self._noise
        factor = linalg.cholesky(K, lower=True, overwrite_a=True, check_finite=False)
        inverse = linalg.cho_solve((factor, True), np.eye(len(K)), check_finite=False)
        m, logdet = len(K), 2.0 * float(np.log(factor.diagonal()).sum())
        self._border, self._corner = np.zeros(m), 0.0
        if mean == "flat":
            sums = inverse.sum(axis=1)
            total = float(sums.sum())
            inverse -= np.multiply.outer(sums / total, sums)
            self._border, self._corner = sums / total, -1.0 / total
            m, logdet = m - 1, logdet + float(np.log(total))
        self._inverse = inverse
        self._coefficients, self._intercept = inverse @ self._Y, self._border @ self._Y
        fit = float(np.einsum("ic,ic->", self._Y, self._coefficients))
        self.log_marginal_likelihood = -0.5 * (fit + self._Y.shape[1] * (logdet + m * np.log(2.0 * np.pi)))

    @configured_blas()
    def predict(self, X: Any, *, return_std: bool = False, return_cov: bool = False) -> Any:
        """Return the mean of f at new samples, and its standard deviation or covariance where asked.

        Parameters
        ----------
        X : array-like or CSR of shape (n, d)
        return_std, return_cov : bool
            They are those of the function; the variance of a new target is 1/γ more.

        Returns
        -------
        mean : ndarray of shape (n,) or (n, outputs)
        std, cov : ndarray of shape (n,) or (n, n)
            Of every output alike.
        """
        machine = self._machine
        new = check_samples(machine, X, machine.kernel_, reset=False)
        rows = np.asarray(machine.kernel_(new, machine.X_fit_), dtype=np.float64)
        mean = machine._targets.shaped(rows @ self._coefficients + self._intercept)
        if return_cov:
            between = rows @ self._border
            covariance = np.asarray(machine.kernel_(new), dtype=np.float64) - rows @ self._inverse @ rows.T
            return mean, covariance - between[:, None] - between - self._corner
        if not return_std:
            return mean
        variance = np.asarray(machine.kernel_.diagonal(new), dtype=np.float64)
        for start in range(0, len(rows), _ROWS):
            block = rows[start : start + _ROWS]
            explained = np.einsum("ij,ij->i", block @ self._inverse, block) + 2.0 * (block @ self._border)
            variance[start : start + _ROWS] -= explained + self._corner
        return mean, np.sqrt(np.maximum(variance, 0.0))

    def gradient(self) -> dict[str, float]:
        """Return the derivatives of the log marginal likelihood by the logarithms of γ and of the kernel's numbers.

        Those of kernel matrices are taken by differences of fourth order, which leave about ten digits.
        """
        found = {"gamma": self._along(-self._noise)}
        for name, value in continuous_parameters(self._machine.kernel_).items():
            found[f"kernel__{name}"] = self._along(self._difference(name, value))
        return found

    def _along(self, change: np.ndarray) -> float:
        """Return the derivative along a change of K + D, a matrix or a diagonal."""
        A, outputs = self._coefficients, self._Y.shape[1]
        if change.ndim == 1:
            return 0.5 * float(((A * A).sum(axis=1) - outputs * self._inverse.diagonal()) @ change)
        return 0.5 * float(np.einsum("ic,ic->", A, change @ A) - outputs * np.einsum("ij,ij->", self._inverse, change))

    def _difference(self, name: str, value: float) -> np.ndarray:
        machine = self._machine

        def at(step: float) -> np.ndarray:
            kernel = machine.kernel_.set_params(**{name: value * float(np.exp(step))})
            return np.asarray(kernel(machine.X_fit_), dtype=np.float64)

        near, far = at(_STEP) - at(-_STEP), at(2.0 * _STEP) - at(-2.0 * _STEP)
        return (8.0 * near - far) / (12.0 * _STEP)


def continuous_parameters(kernel: Kernel) -> dict[str, float]:
    """Return the parameters of a kernel that are positive real numbers: not degrees, and not the ν of ``matern``.

    >>> from kernreg.kernels.builtin import matern
    >>> continuous_parameters(matern(sigma=2.0))
    {'sigma': 2.0}
    """
    found = {}
    for name, value in kernel.get_params().items():
        if isinstance(value, float) and value > 0.0:
            try:
                kernel.set_params(**{name: value * 1.0009765625})
            except ParameterError:  # a choice of a few numbers
                continue
            found[name] = value
    return found


def require_definite(machine: Any) -> None:
    """Raise ParameterError unless a fitted machine is the mean of a Gaussian process that can be computed."""
    kernel, strategy = machine.kernel_, machine.solver_report_.strategy
    if kernel.definite is not True:
        known = "is known not to be positive definite" if kernel.definite is False else "is not known to be so"
        raise ParameterError(
            f"a Gaussian process needs a positive definite kernel as its covariance, and {kernel.name!r} {known}: "
            "there is no standard deviation or evidence. predict_interval gives intervals for any kernel"
        )
    if strategy != "exact":
        raise ParameterError(f"a Gaussian process needs the kernel matrix, and strategy={strategy!r} does without it")


def evidence(spectrum: SymmetricSpectrum, centred: CentredKernel, T: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """Return the log marginal likelihood for every γ, the mean being flat, from one decomposition of K̃.

    Parameters
    ----------
    spectrum : SymmetricSpectrum
    centred : CentredKernel
        What it is the spectrum of.
    T : ndarray of shape (m, outputs)
        As `CentredKernel.targets` returns it.
    gammas : ndarray of shape (G,)
    """
    m, outputs = T.shape
    squares = ((spectrum.vectors.T @ T) ** 2).sum(axis=1)
    shifted = np.maximum(spectrum.values, 0.0)[:, None] + 1.0 / gammas  # negative ones are rounding errors
    weights = 0.0 if centred.root is None else 2.0 * float(np.log(centred.root).sum())
    constants = 2.0 * np.log(centred.norm) - weights + (m - 1) * np.log(2.0 * np.pi)
    return -0.5 * (squares @ (1.0 / shifted) + outputs * (np.log(shifted).sum(axis=0) + constants))


def evidence_path(machine: Any, gammas: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Return γ and the log marginal likelihood there, of a fitted `LSSVR`; a grid fitted to the spectrum by default."""
    check_fitted(machine)
    require_definite(machine)
    centred = centre(machine._training_matrix(), machine._weights, overwrite=True)
    T = centred.targets(machine._targets.problems(machine._y)[0].Y)
    scale = float(np.linalg.norm(centred.matrix) / np.sqrt(centred.size))
    spectrum = SymmetricSpectrum(centred)
    if gammas is None:
        gammas = np.logspace(-4.0, 8.0, 61) / (scale if scale > 0.0 else 1.0)
    return {"gamma": gammas, "score": evidence(spectrum, centred, T, gammas)}
