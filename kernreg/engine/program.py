"""What the engine is asked to run: one small record per kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

STATISTICS = ("dot", "sqeuclidean", "l1", "term", "rows", "blocks")


@dataclass(frozen=True, eq=False)
class Split:
    """How a kernel factorises where the inner product is zero.

    The kernel value is ``exp(log_left(|x|²) + log_right(|z|²)) * (1 + excess(<x, z>))`` for programs of
    ``sqeuclidean``, and ``f(0) + (f(<x, z>) - f(0))`` for programs of ``dot`` (which need no Split).
    All three functions take the statistic and the kernel parameters, and work on numpy arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.kernels.builtin import rbf
    >>> norms = (Split(lambda n, s: -n / s**2, lambda n, s: -n / s**2, lambda dot, s: np.expm1(2 * dot / s**2)))
    >>> value = np.exp(norms.log_left(1.0, 2.0) + norms.log_right(4.0, 2.0)) * (1 + norms.excess(2.0, 2.0))
    >>> bool(np.isclose(value, rbf(sigma=2.0)([[1.0]], [[2.0]])[0, 0]))
    True
    """

    log_left: Callable[..., Any]
    log_right: Callable[..., Any]
    excess: Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Program:
    """A statistic of a pair of samples, a function of it, its parameters and what is declared about it.

    Attributes
    ----------
    name : str
        For messages and for the directory of the disk cache.
    statistic : str
        One of `STATISTICS`: what the function sees of a pair.
    function : callable
        ``function(statistic, *parameters)``, or ``function(x, z, *parameters)`` for ``rows`` and ``blocks``.
    parameters : tuple
        Numbers, in the order of the function's signature (anything for ``blocks``).
    term : callable, optional
        ``term(x_d, z_d)``, summed over features, for the statistic ``"term"``.
    symmetric : bool
        Declared k(x, z) = k(z, x): half of k(X) is computed, the other half mirrored.
    normalize : bool
        Divide each row by its sum over the reference set.
    log : bool
        The function returns the logarithm of the weight (only with ``normalize``).
    self_term : bool
        Whether pairs of identical samples count. If not (distances only) they are taken as infinitely far apart.
    split : Split, optional
        The factorisation used for products with sparse data.
    side : int, optional
        The side of the blocks in which a matrix is filled, where a function of blocks wants smaller ones.
    fills : bool
        Whether a function of blocks takes ``out``: the array in which it may leave its values.
    blas : bool
        Whether a function of blocks may call BLAS, which is held to one thread meanwhile.

    Examples
    --------
    >>> def halved(dot):
    ...     return 0.5 * dot
    >>> Program("halved", "dot", halved, symmetric=True).statistic
    'dot'
    """

    name: str
    statistic: str
    function: Callable[..., Any]
    parameters: tuple[Any, ...] = ()
    term: Callable[..., Any] | None = None
    symmetric: bool = False
    normalize: bool = False
    log: bool = False
    self_term: bool = True
    split: Split | None = field(default=None)
    side: int | None = None
    fills: bool = False
    blas: bool = True

    @property
    def two_spaces(self) -> bool:
        """Whether its two arguments may have different features: only a Python function of whole blocks can tell."""
        return self.statistic == "blocks" and not self.symmetric
