"""A kernel family: the product of one function's values at the two samples, by which another kernel is multiplied."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg import kernel, make_kernel
from kernreg.errors import ParameterError
from kernreg.kernels import Domain, Kernel, matrix

_kernel = Domain("a kernel: a spec such as 'rbf(sigma=2.0)', a Kernel or a family", make_kernel)


def _coefficients(value: Any) -> np.ndarray:
    found = np.asarray(value)
    if found.ndim != 1 or found.dtype.kind not in "fiu" or not np.isfinite(found).all():
        raise ValueError
    return found.astype(np.float64)


def _function(basis: Any, cores: Any, coefficients: Any) -> tuple[Kernel, Any, np.ndarray]:
    if len(coefficients) != cores.shape[0] + 1:
        raise ParameterError(
            f"conformal: there are {len(coefficients)} coefficients and {cores.shape[0]} cores; give one for each, and "
            "a constant before them"
        )
    return basis.bind(cores), cores, coefficients


def _example(rng: np.random.Generator, n: int) -> tuple[Kernel, np.ndarray]:
    return conformal("rbf(sigma=2.0)", rng.normal(size=(5, 4)), rng.normal(size=6)), rng.normal(size=(n, 4))


@kernel(
    of="blocks",
    symmetric=True,
    definite=True,
    prepare=_function,
    parameters={"basis": _kernel, "cores": matrix, "coefficients": Domain("a finite 1-D numeric array", _coefficients)},
    example=_example,
)
def conformal(X, Z, state):
    """q(x) q(z) with q(x) = α_0 + Σ_i α_i k_1(x, a_i), for cores a_i and a kernel k_1.

    ``k * conformal(…)`` changes angles in the feature space of k nowhere and lengths by q: a conformal transformation.
    Positive semi-definite, of rank one. Amari & Wu, Improving support vector machine classifiers by modifying kernel
    functions, Neural Networks 12 (1999).

    >>> k = conformal("linear", cores=[[1.0, 0.0]], coefficients=[2.0, 3.0])  # q(x) = 2 + 3 x_1
    >>> k([[1.0, 5.0]], [[0.0, 1.0]]).tolist()
    [[10.0]]
    """
    left = conformal_values(X, state)
    right = left if Z is X else conformal_values(Z, state)
    return np.outer(left, right)


def conformal_values(X: Any, state: tuple[Kernel, Any, np.ndarray]) -> np.ndarray:
    """Return q(x) of each sample."""
    basis, cores, coefficients = state
    return coefficients[0] + basis(X, cores) @ coefficients[1:]


def conformal_kernel(kernel: Kernel, basis: Kernel, cores: Any, coefficients: np.ndarray) -> Kernel:
    """Return q(x) q(z) k(x, z)."""
    return kernel * make_kernel("conformal", basis=basis, cores=cores, coefficients=coefficients)
