"""Every built-in kernel against its formula, one pair at a time in long double."""

from __future__ import annotations

import naive
import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr

CASES = {
    "linear()": ("linear", {}, "real"),
    "poly(degree=2, c=0.5)": ("poly", {"degree": 2, "c": 0.5}, "real"),
    "poly(degree=5, c=0.0)": ("poly", {"degree": 5, "c": 0.0}, "real"),
    "tanh(c=0.3, t=-0.2)": ("tanh", {"c": 0.3, "t": -0.2}, "real"),
    "rbf(sigma=1.7)": ("rbf", {"sigma": 1.7}, "real"),
    "laplacian(sigma=2.5)": ("laplacian", {"sigma": 2.5}, "real"),
    "tl1(rho=4.0)": ("tl1", {"rho": 4.0}, "real"),
    "sne(sigma=1.3)": ("sne", {"sigma": 1.3}, "real"),
    "sne(sigma=1.3, self_term=False)": ("sne", {"sigma": 1.3, "self_term": False}, "real"),
    "t(sigma=0.8)": ("t", {"sigma": 0.8}, "real"),
    "t(sigma=0.8, self_term=False)": ("t", {"sigma": 0.8, "self_term": False}, "real"),
    "cauchy(sigma=1.2)": ("cauchy", {"sigma": 1.2}, "real"),
    "matern(sigma=1.5, nu=0.5)": ("matern", {"sigma": 1.5, "nu": 0.5}, "real"),
    "matern(sigma=1.5, nu=1.5)": ("matern", {"sigma": 1.5, "nu": 1.5}, "real"),
    "matern(sigma=1.5, nu=2.5)": ("matern", {"sigma": 1.5, "nu": 2.5}, "real"),
    "rational-quadratic(sigma=1.1, alpha=0.7)": ("rational_quadratic", {"sigma": 1.1, "alpha": 0.7}, "real"),
    "chi2(sigma=0.9)": ("chi2", {"sigma": 0.9}, "nonnegative"),
    "intersection()": ("intersection", {}, "nonnegative"),
    "kl(a=1.4)": ("kl", {"a": 1.4}, "distribution"),
    "kl-gaussian(a=0.2)": ("kl_gaussian", {"a": 0.2}, "gaussians"),
}


@pytest.mark.parametrize("spec", CASES)
def test_matrix_of_a_built_in_kernel_equals_its_formula(spec, samples):
    name, parameters, kind = CASES[spec]
    X = samples(kind, 37)
    K = kr.make_kernel(spec)(X)
    assert K.dtype == np.float64
    assert naive.relative_error(K, getattr(naive, name)(X, **parameters)) <= 1e-14


@pytest.mark.parametrize("spec", CASES)
def test_rectangular_matrix_has_the_first_argument_in_rows(spec, samples):
    name, parameters, kind = CASES[spec]
    X, Z = samples(kind, 23, seed=1), samples(kind, 41, seed=2)
    K = kr.make_kernel(spec)(X, Z)
    assert K.shape == (23, 41)
    assert naive.relative_error(K, getattr(naive, name)(X, Z, **parameters)) <= 1e-14


@pytest.mark.parametrize("spec", CASES)
def test_float32_samples_give_float32_values(spec, samples):
    name, parameters, kind = CASES[spec]
    X = samples(kind, 19, seed=3).astype(np.float32)
    if kind == "distribution":
        X /= X.sum(axis=1, keepdims=True)
    K = kr.make_kernel(spec)(X)
    assert K.dtype == np.float32
    assert naive.relative_error(K, getattr(naive, name)(X, **parameters)) <= 5e-6


@pytest.mark.parametrize("spec", CASES)
def test_scalar_of_a_pair_equals_the_matrix_entry(spec, samples):
    _, _, kind = CASES[spec]
    X, Z = samples(kind, 4, seed=4), samples(kind, 6, seed=5)
    k = kr.make_kernel(spec).bind(Z)
    expected = [[k.scalar(x, z) for z in Z] for x in X]
    np.testing.assert_allclose(k(X, Z), expected, rtol=1e-13, atol=0)


def test_every_built_in_kernel_of_a_function_is_covered_here():
    combined = {"add", "multiply", "scale", "power", "transpose", "symmetrize", "compose", "centered", "spectrum"}
    held = {"precomputed", "adjacency"}
    learned = {"corrected", "projected", "neighbour-spectrum"}
    built_in = {entry.name for entry in kr.available("kernel") if entry.distribution == "kernreg"}
    assert built_in - combined - held - learned == {spec.split("(")[0] for spec in CASES}


def test_kl_is_zero_where_the_second_gives_no_weight_to_what_the_first_contains():
    X = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
    K = kr.make_kernel("kl")(X)
    assert K[0, 1] == 0.0  # half of row 0 lies where row 1 has nothing
    assert K[2, 0] == 0.0
    np.testing.assert_allclose(K[1, 0], 0.5, rtol=1e-15)  # KL = log 2
    assert np.array_equal(np.diag(K), np.ones(3))


def test_kl_of_a_pair_and_its_exchange_differ():
    X = np.array([[0.5, 0.5], [0.9, 0.1]])
    K = kr.make_kernel("kl")(X)
    assert abs(K[0, 1] - K[1, 0]) > 0.05


def test_kl_gaussian_agrees_with_the_closed_form_of_one_dimension():
    (m, v), (n, w) = (0.3, 0.8), (-0.4, 1.7)
    divergence = np.log(np.sqrt(w) / np.sqrt(v)) + (v + (m - n) ** 2) / (2 * w) - 0.5
    K = kr.make_kernel("kl-gaussian(a=0.5)")([[m, v]], [[n, w]])
    np.testing.assert_allclose(K, np.exp(-0.5 * divergence), rtol=1e-15)


def test_chi2_counts_features_missing_in_both_as_equal():
    K = kr.make_kernel("chi2")([[0.0, 1.0]], [[0.0, 3.0]])
    np.testing.assert_allclose(K, np.exp(-1.0), rtol=1e-15)


def test_polynomials_have_real_degrees_where_the_base_is_positive():
    P = np.random.default_rng(0).random((20, 3))
    k = kr.make_kernel("poly(degree=2.5, c=0.5)")
    np.testing.assert_allclose(k(P), (P @ P.T + 0.5) ** 2.5, rtol=1e-13)
    np.testing.assert_allclose(k(sp.csr_array(P)), k(P), rtol=1e-13)
    assert (k.definite, kr.make_kernel("poly(degree=2)").definite) == (None, True)
    assert kr.make_kernel(repr(k)) == k
    with pytest.raises(kr.errors.DataError, match="finite"):  # a negative base has no such power
        kr.make_solver("ls-svm", kernel=k).fit(P - 2.0 * np.arange(20)[:, None] % 4 + 1.0, np.arange(20) % 2)
