"""The one refusal of asymmetric kernels, and the one dropping of zero weights."""

import numpy as np
import pytest

from kernreg import make_kernel
from kernreg.errors import AsymmetryError
from kernreg.solvers.samples import without_zero_weights
from kernreg.solvers.symmetry import require_symmetric, require_symmetric_on_some

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
