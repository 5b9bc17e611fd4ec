"""Kernels are values: immutable, compared by what they are, written as specs, and picklable."""

from __future__ import annotations

import copy
import pickle

import cloudpickle
import numpy as np
import pytest
from sklearn.base import clone

import kernreg as kr
from kernreg import kernel
from kernreg.errors import ParameterError, SpecError
from kernreg.factory import make_kernel
from kernreg.kernels import Kernel, centered, compose, spectrum, symmetrize
from kernreg.kernels.builtin import cauchy, linear, matern, poly, rbf, sne, tanh_, tl1
from kernreg.kernels.indexed import precomputed
from kernreg.registry import get_registry

BUILT_IN = sorted(entry.name for entry in kr.available("kernel") if entry.distribution == "kernreg")

COMBINED = {
    "sum": lambda: rbf(sigma=2.0) + linear(),
    "product": lambda: rbf(sigma=2.0) * poly(degree=2),
    "multiple": lambda: 2.5 * rbf(sigma=1.0),
    "power": lambda: rbf(sigma=1.0) ** 2,
    "transposed": lambda: sne(sigma=0.5, self_term=False).T,
    "symmetrized": lambda: symmetrize(sne(sigma=1.0), "left"),
    "centered": lambda: centered(tl1(rho=0.1)),
    "spectrum": lambda: spectrum(tanh_(c=0.5, t=-1.0), "flip"),
    "nested": lambda: 0.1 * centered(rbf(sigma=1e-3) + symmetrize(sne(sigma=1.0) * linear())) ** 3 + linear(),
}


@pytest.mark.parametrize(
    "make",
    [*COMBINED.values(), rbf, sne, poly, matern, linear],
    ids=[*COMBINED, "rbf", "sne", "poly", "matern", "linear"],
)
def test_repr_is_a_spec_that_makes_the_same_kernel(make):
    k = make()
    again = kr.make_kernel(repr(k))
    assert again == k
    assert hash(again) == hash(k)
    assert repr(again) == repr(k)
    X = np.random.default_rng(0).normal(size=(9, 3))
    assert np.array_equal(again(X), k(X))


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_family_survives_pickling_by_name(name):
    family = get_registry("kernel").get(name)
    assert pickle.loads(pickle.dumps(family)) is family
    k, X = family.example(np.random.default_rng(0), 8)
    again = pickle.loads(pickle.dumps(k))
    assert again == k
    assert again.family is k.family
    np.testing.assert_array_equal(again(X), k(X))
    assert len(pickle.dumps(k)) < 5000  # names and parameters, not code


@pytest.mark.parametrize("make", COMBINED.values(), ids=COMBINED)
def test_combinations_survive_pickle_and_copy(make):
    k = make()
    for again in (
        pickle.loads(pickle.dumps(k)),
        cloudpickle.loads(cloudpickle.dumps(k)),
        copy.deepcopy(k),
        copy.copy(k),
    ):
        assert again == k
        assert hash(again) == hash(k)


def test_kernels_are_equal_when_family_and_parameters_are():
    assert rbf(sigma=2) == rbf(2.0) == kr.make_kernel("rbf(sigma=2.0)")
    assert rbf(sigma=2.0) != rbf(sigma=2.5)
    assert rbf(sigma=1.0) != cauchy(sigma=1.0)
    assert rbf(sigma=1.0) != "rbf(sigma=1.0)"
    assert len({rbf(sigma=1.0), rbf(sigma=1.0), rbf(sigma=np.float32(1.0)), cauchy(sigma=1.0)}) == 2
    assert rbf(sigma=1.0) + linear() != linear() + rbf(sigma=1.0)  # the same values, another kernel
    assert (rbf(sigma=1.0) + linear()) != (rbf(sigma=1.0) + poly())
    assert centered(rbf(sigma=1.0) + linear()) != centered(rbf(sigma=1.0) * linear())


def test_numpy_parameters_become_plain_numbers():
    k = poly(degree=np.int64(2), c=np.float32(0.5))
    assert repr(k) == "poly(degree=2, c=0.5)"
    assert type(k.degree) is int
    assert type(k.c) is float
    assert poly(degree=2.0).degree == 2


def test_parameters_are_attributes_and_cannot_be_set():
    k = rbf(sigma=2.0)
    assert k.sigma == 2.0
    assert "sigma" in dir(k)
    with pytest.raises(AttributeError, match="set_params"):
        k.sigma = 3.0
    with pytest.raises(AttributeError, match="no attribute or parameter 'gamma'"):
        k.gamma  # noqa: B018 - the access itself is what is tested
    with pytest.raises(AttributeError):
        del k.sigma


def test_get_params_and_set_params_reach_kernels_inside():
    k = 2.0 * (rbf(sigma=2.0) + poly(degree=2))
    params = k.get_params()
    assert params["factor"] == 2.0
    assert params["kernel__left__sigma"] == 2.0
    assert params["kernel__right__degree"] == 2
    assert set(k.get_params(deep=False)) == {"kernel", "factor"}
    changed = k.set_params(kernel__left__sigma=5.0, factor=3.0)
    assert changed == 3.0 * (rbf(sigma=5.0) + poly(degree=2))
    assert k == 2.0 * (rbf(sigma=2.0) + poly(degree=2))  # itself unchanged
    assert k.set_params(kernel="linear") == 2.0 * linear()
    assert k.set_params(kernel=linear) == 2.0 * linear()
    assert k.set_params() == k


@pytest.mark.parametrize("wrong", ["gamma", "sigma__x", "kernel__gamma", "kernel__left__gamma"])
def test_unknown_parameters_are_named_with_the_accepted_ones(wrong):
    k = rbf(sigma=1.0) if "kernel" not in wrong else 2.0 * (rbf(sigma=1.0) + linear())
    with pytest.raises(ParameterError, match=r"no parameter '\w+'; its parameters are"):
        k.set_params(**{wrong: 1.0})


def test_clone_gives_an_equal_kernel():
    k = 2.0 * rbf(sigma=3.0)
    assert clone(k) == k


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: rbf(sigma=0.0), "rbf: sigma=0.0; accepted is a finite number > 0"),
        (lambda: rbf(sigma=-1), "sigma=-1; accepted is a finite number > 0"),
        (lambda: rbf(sigma=np.nan), "sigma=nan"),
        (lambda: rbf(sigma=np.inf), "sigma=inf"),
        (lambda: rbf(sigma="2"), "sigma='2'"),
        (lambda: rbf(sigma=None), "sigma=None"),
        (lambda: rbf(sigma=True), "sigma=True"),
        (lambda: rbf(sigma=[1.0, 2.0]), r"sigma=\[1.0, 2.0\]"),
        (lambda: rbf(sigma=1j), "sigma=1j"),
        (lambda: poly(degree=0), "an integer >= 1"),
        (lambda: poly(degree=-1.5), "an integer >= 1"),
        (lambda: poly(c=-1.0), "a finite number >= 0"),
        (lambda: matern(nu=1.0), "one of 0.5, 1.5, 2.5"),
        (lambda: sne(self_term=1), "one of True, False"),
        (lambda: sne(self_term="yes"), "one of True, False"),
        (lambda: rbf(2.0, sigma=1.0), "given twice"),
        (lambda: rbf(1.0, 2.0), r"takes 1 parameter\(s\) \(sigma\), got 2"),
        (lambda: rbf(gamma=1.0), "no parameter 'gamma'; its parameters are: sigma"),
        (lambda: linear(1.0), "got 1"),
        (lambda: centered(), "needs kernel="),
        (lambda: centered(3.0), "accepted is a kernel"),
        (lambda: compose(rbf(sigma=1.0), "f"), "a function of the sample array"),
        (lambda: rbf(sigma=1.0).set_params(sigma=-1.0), "finite number > 0"),
        (lambda: kr.make_kernel("rbf(sigma=-1.0)"), "finite number > 0"),
    ],
)
def test_parameters_outside_their_domain_are_refused(make, said):
    with pytest.raises(ParameterError, match=said):
        make()


def test_what_make_kernel_takes():
    assert make_kernel("rbf(sigma=2.0)") == make_kernel(rbf(sigma=2.0)) == rbf(sigma=2.0)
    assert make_kernel(rbf) == rbf()
    assert isinstance(make_kernel("sne"), Kernel)
    with pytest.raises(SpecError, match="not a kernel; give a spec"):
        make_kernel(3)


def test_held_arrays_are_summarised_in_the_repr():
    assert repr(precomputed(K=np.eye(3))) == "precomputed(K=<3x3 float64 array>)"


# functions that no other process finds by name -----------------------------------------------------------------


def plain_function(d2, a=1.0):
    return a / (1.0 + d2)


renamed = kernel(plain_function, of="sqeuclidean")


def test_a_family_bound_to_another_name_than_its_function_travels_by_value():
    k = renamed(a=3.0)
    again = pickle.loads(pickle.dumps(k))
    X = np.arange(4.0)[:, None]
    assert again == k
    assert np.array_equal(again(X), k(X))


def test_local_kernels_travel_by_value_and_stay_equal():
    offset = 0.25

    @kernel(of="l1", symmetric=True, definite=None)
    def local(l1, sigma=1.0):
        """1 / (sigma + |x - y|₁ + offset)."""
        return 1.0 / (sigma + l1 + offset)

    k = local(sigma=2.0) + rbf(sigma=1.0)
    again = pickle.loads(pickle.dumps(k))
    X = np.random.default_rng(0).normal(size=(6, 2))
    assert again == k
    assert hash(again) == hash(k)
    assert np.array_equal(again(X), k(X))
    family = pickle.loads(pickle.dumps(local))
    assert (family.name, family.of, family.symmetric, family.formula) == ("local", "l1", True, local.formula)
