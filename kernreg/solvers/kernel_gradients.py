"""Derivatives of kernel matrices with respect to the samples, for kernels that are learned through.

For L a function of K = k(A, B) with W = ∂L/∂K, the chain rule goes through the statistic s_ij of each pair::

    kernels of a pair      P = W ∘ k'(s)
    row-normalised         P = K ∘ (W - (W ∘ K) 1 1ᵀ) ∘ (log w)'(s),        K = w / Σ_j w
    s = ⟨a, b⟩             ∂L/∂A = P B                   ∂L/∂B = Pᵀ A
    s = ‖a - b‖²           ∂L/∂A = 2 (diag(P1) A - P B)  ∂L/∂B = 2 (diag(Pᵀ1) B - Pᵀ A)

There is one line for each kernel: the derivative of its function, or of the logarithm of its weight. Those that are not
differentiable everywhere (laplacian, tl1, matern with nu = 0.5) and combinations of kernels are not here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from kernreg.errors import ParameterError
from kernreg.kernels import Kernel, builtin

Derivative: TypeAlias = Callable[[Kernel, np.ndarray, np.ndarray, np.ndarray], "np.ndarray | float"]

_LARGEST_WIDTH = 1e150


def _poly(kernel: Kernel, A: np.ndarray, B: np.ndarray, K: np.ndarray) -> np.ndarray:
    return kernel.degree * (A @ B.T + kernel.c) ** (kernel.degree - 1)


def _t(kernel: Kernel, A: np.ndarray, B: np.ndarray, K: np.ndarray) -> np.ndarray:
    squared = np.maximum((A * A).sum(axis=1)[:, None] - 2.0 * (A @ B.T) + (B * B).sum(axis=1), 0.0)
    return -1.0 / (kernel.sigma**2 + squared)


#: k'(s) by family, or (log w)'(s) where rows are normalised; each gets the kernel, both sample sets and K.
_DERIVATIVES: dict[object, Derivative] = {
    builtin.linear: lambda kernel, A, B, K: 1.0,
    builtin.poly: _poly,
    builtin.tanh_: lambda kernel, A, B, K: kernel.c * (1.0 - K * K),
    builtin.rbf: lambda kernel, A, B, K: K / -(kernel.sigma**2),
    builtin.cauchy: lambda kernel, A, B, K: K * K / -(kernel.sigma**2),
    builtin.rational_quadratic: lambda kernel, A, B, K: K ** (1.0 + 1.0 / kernel.alpha) / (-2.0 * kernel.sigma**2),
    builtin.sne: lambda kernel, A, B, K: -1.0 / kernel.sigma**2,
    builtin.t: _t,
}


def differentiable(kernel: Kernel) -> bool:
    """Whether the derivative with respect to samples is known."""
    return kernel.family in _DERIVATIVES and bool(kernel.get_params().get("self_term", True))


def check_differentiable(kernel: Kernel) -> None:
    """Raise ParameterError unless the derivative with respect to samples is known."""
    if differentiable(kernel):
        return
    accepted = ", ".join(sorted(family.name for family in _DERIVATIVES))  # type: ignore[attr-defined]  # families
    raise ParameterError(
        f"compatibility='a3' learns through the kernel, and the derivative of {kernel!r} with respect to samples is "
        f"not known here; accepted are {accepted} (with their self terms, and not combined). Use one of these, or "
        "compatibility 'a0', 'a1' or 'a2', which take any kernel"
    )


def sample_gradients(
    kernel: Kernel, A: np.ndarray, B: np.ndarray, K: np.ndarray, W: np.ndarray, *, fixed: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return ∂L/∂A and ∂L/∂B for L with ∂L/∂K = W at K = k(A, B).

    Parameters
    ----------
    kernel : Kernel
        One that `check_differentiable` accepts; unbound, so that rows are normalised over B.
    A, B : ndarray of shape (n, d) and (m, d)
    K, W : ndarray of shape (n, m)
    fixed : bool
        Whether the normalisers of rows are constants, as those of training samples are for new columns.

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.kernels.builtin import rbf
    >>> A, B, k = np.array([[0.5]]), np.array([[0.0]]), rbf(sigma=1.0)
    >>> slope, _ = sample_gradients(k, A, B, k(A, B), np.ones((1, 1)))
    >>> bool(np.isclose(slope[0, 0], -2 * 0.5 * np.exp(-0.25)))
    True
    """
    width = kernel.get_params().get("sigma")
    if isinstance(width, float) and not 1.0 / _LARGEST_WIDTH <= width <= _LARGEST_WIDTH:
        raise ParameterError(
            f"the kernel {kernel!r} has a width whose square is infinite or zero, and so are its slopes; scale the "
            "features, and the width with them"
        )
    derivative = _DERIVATIVES[kernel.family](kernel, A, B, K)
    if kernel.normalize:
        W = K * W if fixed else K * (W - (W * K).sum(axis=1, keepdims=True))
    P = W * derivative
    if kernel.family.of == "dot":
        return P @ B, P.T @ A
    return 2.0 * (P.sum(axis=1)[:, None] * A - P @ B), 2.0 * (P.sum(axis=0)[:, None] * B - P.T @ A)
