"""The one refusal of asymmetric kernels, and the one dropping of zero weights."""

import numpy as np
import pytest

from kernreg import kernel as kernel_from
from kernreg import make_kernel, make_solver
from kernreg.errors import AsymmetryError
from kernreg.solvers.samples import without_zero_weights
from kernreg.solvers.symmetry import refuse_false_symmetry, require_symmetric, require_symmetric_on_some

X = np.random.default_rng(0).standard_normal((30, 2))


def test_the_message_names_what_refuses_and_what_to_use_instead():
    kernel = make_kernel("sne").bind(X)
    with pytest.raises(
        AsymmetryError, match=r"'sne' is asymmetric .* Some requires .* Use 'ksvd', which .* or say how"
    ):
        require_symmetric(kernel, kernel(X), who="Some", instead="ksvd")
    with pytest.raises(AsymmetryError, match=r"Some requires a symmetric one\. Say how .*symmetrize"):
        require_symmetric_on_some(kernel, X, who="Some")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rounding_is_no_asymmetry(dtype):
    kernel = make_kernel("sne").bind(X)
    tolerance = {np.float64: 1e-10, np.float32: 1e-5}[dtype]
    K = np.ones((30, 30), dtype=dtype)
    K[0, 1] += 0.5 * tolerance
    require_symmetric(kernel, K, who="Some")
    K[0, 1] += 2.0 * tolerance
    with pytest.raises(AsymmetryError):
        require_symmetric(kernel, K, who="Some")


def test_a_symmetric_kernel_is_believed():
    kernel = make_kernel("rbf")
    require_symmetric(kernel, np.triu(np.ones((3, 3))), who="Some")
    require_symmetric_on_some(kernel, X, who="Some")


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
        refuse_false_symmetry(kernel, np.abs(X))
    refuse_false_symmetry(only_compiled(), X)
    refuse_false_symmetry(falsely_symmetric(), X[:1])
    refuse_false_symmetry(falsely_symmetric(), X[:0])
    refuse_false_symmetry(falsely_symmetric(), (X, X))


def test_samples_of_zero_weight_are_left_out():
    y, weights = np.arange(30), np.ones(30)
    assert without_zero_weights(X, y, weights)[2] is None
    weights[3] = 0.0
    kept, targets, unit = without_zero_weights(X, y, weights)
    assert unit is None
    assert len(kept) == len(targets) == 29
    assert 3 not in targets
    weights[4] = 2.0
    (left, right), targets, rest = without_zero_weights((X, -X), y, weights)
    assert np.array_equal(left, -right)
    assert len(left) == 29
    assert rest[3] == 2.0
    kept, targets, rest = without_zero_weights(X, None, weights)
    assert targets is None
    assert len(kept) == len(rest) == 29
