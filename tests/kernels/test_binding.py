"""What files hold of a bound kernel: the unbound one and what it learnt, from which it is made again."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from kernreg.errors import ParameterError
from kernreg.kernels import Kernel, centered, compose, spectrum, symmetrize
from kernreg.kernels.builtin import linear, rbf, sne, tanh_, tl1

BOUND = {
    "sne": lambda: sne(sigma=0.7),
    "centered": lambda: centered(tl1(rho=2.0)),
    "centered asymmetric": lambda: centered(sne()),
    "centered composed": lambda: centered(rbf() + compose(linear(), np.tanh)),
    "clip": lambda: spectrum(tanh_(c=0.5, t=-1.0), "clip"),
    "shift": lambda: spectrum(tanh_(c=0.5, t=-1.0), "shift"),
    "mean": lambda: symmetrize(sne(), "mean"),
    "left": lambda: symmetrize(sne(), "left"),
    "nested": lambda: centered(symmetrize(sne() * linear(), "right")),
}
SAMPLES = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "sparse": lambda X: sp.csr_array(np.where(X > 0, X, 0.0)),
}


def samples(kind: str, n: int = 12):
    return SAMPLES[kind](np.random.default_rng(0).normal(size=(n, 4)))


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("name", BOUND)
def test_a_bound_kernel_is_made_again_of_what_it_learnt(name, kind):
    if kind == "sparse" and "composed" in name:
        pytest.skip("the feature map takes arrays")
    X = samples(kind)
    k = BOUND[name]().bind(X[:9])
    expected = k(X, X[:9])
    unbound, learnt = k.__kernreg_bound__()
    assert unbound.__kernreg_bound__() is None
    again = unbound.__kernreg_rebind__(learnt)
    assert again == k
    assert hash(again) == hash(k)
    assert type(again) is type(k)
    for X_new, Z in ((X, X[:9]), (X[:9], X), (X[:9], None), (X[9:], None)):
        np.testing.assert_array_equal(again(X_new, Z), k(X_new, Z))
    np.testing.assert_array_equal(again(X, X[:9]), expected)


def test_normalizers_are_kept_where_they_were_computed():
    X = samples("float64")
    k = sne().bind(X)
    assert k.__kernreg_bound__()[1]["normalizers"] is None
    k(X, X[:3])
    learnt = k.__kernreg_bound__()[1]
    assert learnt["normalizers"] is k.normalizers
    again = sne().__kernreg_rebind__(learnt)
    assert again.normalizers is k.normalizers
    assert again.reference is k.reference  # no copy of the samples


@pytest.mark.parametrize("name", ["rbf", "sum"])
def test_a_kernel_that_is_its_parameters_is_bound_to_nothing(name):
    k: Kernel = rbf() if name == "rbf" else rbf() + linear()
    assert k.bind(samples("float64")).__kernreg_bound__() is None
    with pytest.raises(ParameterError, match="not bound to samples"):
        k.__kernreg_rebind__({"reference": samples("float64")})


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("sne", "normalizers", np.ones(8)),
        ("sne", "normalizers", np.ones(9, dtype=np.float32)),
        ("sne", "normalizers", [1.0] * 9),
        ("sne", "reference", np.full((9, 4), np.nan)),
        ("centered", "state", (np.ones(9), np.ones(8), 0.0)),
        ("centered", "state", (np.ones(9), np.ones((9, 1)), 0.0)),
        ("centered", "kernel", "no such kernel"),
        ("clip", "state", (np.ones((9, 2)), np.ones((9, 9)), np.ones((9, 8)))),
        ("clip", "state", (np.ones((8, 2)), np.ones((9, 9)), np.ones((9, 9)))),
    ],
)
def test_what_does_not_fit_together_is_refused(name, field, value):
    unbound, learnt = BOUND[name]().bind(samples("float64", 9)).__kernreg_bound__()
    with pytest.raises((ParameterError, ValueError, LookupError)):
        unbound.__kernreg_rebind__({**learnt, field: value})


@pytest.mark.parametrize("bound", [False, True])
def test_an_empty_kernel_that_is_given_a_state_is_the_kernel(bound):
    """Formats other than pickle make an empty object and fill it."""
    X = np.random.default_rng(0).normal(size=(8, 3))
    k = centered(rbf(sigma=2.0)).bind(X) if bound else rbf(sigma=2.0)
    made = object.__new__(type(k))
    made.__setstate__(k.__getstate__())
    assert made == k
    assert np.array_equal(made(X[:3], X), k(X[:3], X))
