"""Kernels that are declared symmetric or positive definite and are not: fits refuse them."""

import numpy as np
import pytest
import scipy.sparse as sp

from kernreg import kernel as kernel_from
from kernreg import make_kernel, make_solver
from kernreg.errors import AsymmetryError, DataError
from kernreg.solvers.declarations import refuse_false_declarations

X = np.random.default_rng(0).standard_normal((30, 2))
Y = np.where(X[:, 0] > 0, 1, 0)


@kernel_from(of="rows", symmetric=True)
def falsely_symmetric(x, z):
    """x_1 - z_2."""
    return x[0] - z[1]


@kernel_from(of=lambda a, b: a - b, symmetric=True, name="false-term")
def falsely_symmetric_term(total):
    """Σ_d x_d - z_d."""
    return total


@pytest.mark.parametrize("solver", ["ls-svm", "ls-svr", "ask-ls", "ask-lsr", "kpca", "ksvd", "scg-ldk", "cells"])
@pytest.mark.parametrize(
    "kernel", [falsely_symmetric(), falsely_symmetric_term(), 2.0 * falsely_symmetric() + make_kernel("rbf")]
)
def test_a_kernel_that_is_falsely_declared_symmetric_is_refused(solver, kernel):
    # Half of its matrix would be mirrored: the fit would be to another kernel than that of the predictions.
    y = np.where(X[:, 0] > 0, 1, 0)
    with pytest.raises(AsymmetryError, match=r"is declared symmetric, but k\(x, z\) = .* Declare symmetric=False"):
        make_solver(solver, kernel=kernel).fit(X, y)


def test_declarations_that_hold_or_cannot_be_tried_are_believed():
    @kernel_from(of="rows", symmetric=True)
    def only_compiled(x, z):
        return float("nan") if len(x) > 10**9 else 1.0 / (x[0] * z[0] - x[0] * z[0] + 1.0)

    for kernel in (
        make_kernel("intersection"),
        make_kernel("compose", kernel=falsely_symmetric(), feature_map=np.tanh),
    ):
        refuse_false_declarations(kernel, np.abs(X))
    refuse_false_declarations(only_compiled(), X)
    refuse_false_declarations(falsely_symmetric(), X[:1])
    refuse_false_declarations(falsely_symmetric(), X[:0])
    refuse_false_declarations(falsely_symmetric(), (X, X))


@kernel_from(of="rows", symmetric=True, definite=True)
def falsely_definite(x, z):
    """x_1 z_1 - x_2 z_2."""
    return x[0] * z[0] - x[1] * z[1]


@kernel_from(of="sqeuclidean", symmetric=True, definite=True)
def minus_distance(d2):
    """-|x - z|²."""
    return -d2


@kernel_from(of="sqeuclidean", symmetric=True, definite=True)
def truly_definite(d2):
    """1 / (1 + |x - z|²)."""
    return 1.0 / (1.0 + d2)


@pytest.mark.parametrize("strategy", ["exact", "iterative", "lowrank", "sketched", "blocks"])
@pytest.mark.parametrize("kernel", [falsely_definite(), minus_distance(), make_kernel("rbf") + falsely_definite()])
def test_a_kernel_that_is_falsely_declared_definite_is_refused(strategy, kernel):
    # Landmarks would leave out its negative eigenvalues, and solve another problem without a word.
    with pytest.raises(DataError, match=r"declared positive definite, but its matrix of 30 .* Declare definite=False"):
        make_solver("ls-svm", kernel=kernel, strategy=strategy).fit(X, Y)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("samples", [X, np.repeat(X[:1], 9, axis=0), 1e-3 * X + 1e3, X[:1], X[:0], sp.csr_array(X)])
def test_rounding_makes_no_kernel_indefinite(dtype, samples):
    refuse_false_declarations(truly_definite(), samples.astype(dtype))
    refuse_false_declarations(3.0 * truly_definite() + make_kernel("linear"), samples.astype(dtype))
