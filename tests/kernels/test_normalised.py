"""Row-normalised kernels: whose sums are taken, and what happens at the ends of the floating-point range."""

from __future__ import annotations

import pickle

import naive
import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg import kernel
from kernreg.errors import ParameterError
from kernreg.kernels.builtin import sne, t

ORACLE = {"sne": naive.sne, "t": naive.t}


@pytest.fixture
def Z(rng):
    return rng.normal(size=(29, 4))


@pytest.fixture
def new(rng):
    return rng.normal(size=(11, 4))


@pytest.mark.parametrize("name", ORACLE)
@pytest.mark.parametrize("self_term", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bound_kernel_takes_all_sums_over_its_reference_set(name, self_term, dtype, Z, new):
    Z, new = Z.astype(dtype), new.astype(dtype)
    bar = 1e-14 if dtype == np.float64 else 5e-6
    parameters = {"sigma": 1.5, "self_term": self_term}
    k = kr.make_kernel(name, **parameters).bind(Z)
    for X, W in ((Z, Z), (new, Z), (Z, new), (new, new), (new, Z[:7])):
        assert naive.relative_error(k(X, W), ORACLE[name](X, W, reference=Z, **parameters)) <= bar


@pytest.mark.parametrize("name", ORACLE)
def test_rows_over_the_reference_sum_to_one(name, Z, new):
    k = kr.make_kernel(name).bind(Z)
    np.testing.assert_allclose(k(new, Z).sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(k(Z, Z).sum(axis=1), 1.0, rtol=1e-14)


@pytest.mark.parametrize("name", ORACLE)
def test_without_self_term_the_training_diagonal_is_zero_and_rows_sum_to_one(name, Z):
    for K in (kr.make_kernel(name, self_term=False)(Z), kr.make_kernel(name, self_term=False)(Z, Z.copy())):
        assert np.array_equal(np.diag(K), np.zeros(len(Z)))
        np.testing.assert_allclose(K.sum(axis=1), 1.0, rtol=1e-14)


def test_without_self_term_identical_samples_do_not_count_wherever_they_stand(Z):
    Z[3] = Z[5]
    k = sne(sigma=1.0, self_term=False).bind(Z)
    K = k(Z)
    assert naive.relative_error(K, naive.sne(Z, self_term=False)) <= 1e-14
    assert K[3, 5] == K[5, 3] == 0.0
    np.testing.assert_array_equal(k(Z[::-1], Z)[::-1], K)
    np.testing.assert_array_equal(k(Z[2:7], Z), K[2:7])
    np.testing.assert_allclose(k(Z, Z[4:9]), K[:, 4:9], rtol=1e-13)


def test_a_lone_sample_without_self_term_has_a_row_of_zero():
    assert sne(sigma=1.0, self_term=False)([[1.0, 2.0]]).tolist() == [[0.0]]
    assert t(sigma=1.0, self_term=False)([[1.0, 2.0]]).tolist() == [[0.0]]


@pytest.mark.parametrize("name", ORACLE)
@pytest.mark.parametrize("self_term", [True, False])
@pytest.mark.parametrize("block_rows", [1, 4, 29])
def test_blocks_are_normalised_as_the_whole_matrix(name, self_term, block_rows, Z, new):
    k = kr.make_kernel(name, self_term=self_term)
    for kernel_, X, W in (
        (k, Z, None),
        (k, new, Z),
        (k.bind(Z), Z, Z.copy()),
        (k.bind(Z), Z, new),
        (k.bind(Z), new, Z),
    ):
        blocks = np.vstack([block for _, block in kernel_.blocks(X, W, block_rows=block_rows)])
        assert np.array_equal(blocks, kernel_(X, W))


@pytest.mark.parametrize("name", ORACLE)
@pytest.mark.parametrize("self_term", [True, False])
def test_operators_are_normalised_as_the_matrix(name, self_term, Z, new, rng):
    k = kr.make_kernel(name, self_term=self_term)
    for kernel_, X, W in ((k, Z, None), (k, Z, Z.copy()), (k, new, Z), (k.bind(Z), Z, Z), (k.bind(Z), Z, new)):
        K = kernel_(X, W)
        v, w = rng.normal(size=(K.shape[1], 3)), rng.normal(size=K.shape[0])
        operator = kernel_.operator(X, W)
        np.testing.assert_allclose(operator @ v, K @ v, rtol=0, atol=1e-13)
        np.testing.assert_allclose(operator.T @ w, K.T @ w, rtol=0, atol=1e-13)


def test_results_do_not_depend_on_what_was_asked_before(Z, new):
    k = sne(sigma=0.9).bind(Z)
    before = k(new, Z)
    k(Z, new)  # computes and keeps the normalisers
    assert np.array_equal(k(new, Z), before)


# log-sum-exp ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sigma", [1e-3, 1e-6, 1e-100])
def test_tiny_sigma_gives_the_nearest_neighbour_and_never_zero_over_zero(sigma, Z, new):
    K = sne(sigma=sigma)(new, Z)
    nearest = ((new[:, None] - Z) ** 2).sum(axis=2).argmin(axis=1)
    assert np.array_equal(K, np.eye(len(Z))[nearest])


@pytest.mark.parametrize(("dtype", "sigma"), [(np.float64, 1e-170), (np.float64, 1e-250), (np.float32, 1e-30)])
@pytest.mark.parametrize("name", ["rbf", "sne", "t", "cauchy", "matern", "rational-quadratic", "laplacian"])
def test_a_sigma_whose_square_underflows_gives_the_identity(name, dtype, sigma, Z):
    np.testing.assert_allclose(kr.make_kernel(name, sigma=sigma)(Z.astype(dtype)), np.eye(29), atol=1e-25)


def test_a_parameter_beyond_the_range_of_float32_is_refused_for_float32_samples(Z):
    for sigma in (1e-60, 1e-40, 1e60):
        with pytest.raises(ParameterError, match=r"beyond the range of float32.*astype\('float64'\)"):
            kr.make_kernel("rbf", sigma=sigma)(Z.astype(np.float32))
        assert np.isfinite(kr.make_kernel("rbf", sigma=sigma)(Z)).all()


def test_huge_distances_keep_their_differences(Z):
    far = Z + 1e3  # every weight underflows; their ratios do not
    K = sne(sigma=1.0)(far, Z)
    assert naive.relative_error(K, naive.sne(far, Z)) <= 1e-8  # squared distances of 4e6 carry errors of 1e-9
    np.testing.assert_allclose(K.sum(axis=1), 1.0, rtol=1e-14)


def test_huge_distances_in_float32_keep_their_differences(rng):
    Z = rng.normal(size=(20, 3)).astype(np.float32)
    far = (Z[:6] + np.float32(100.0)).astype(np.float32)
    K = sne(sigma=1.0)(far, Z)
    assert K.dtype == np.float32
    assert naive.relative_error(K, naive.sne(far, Z)) <= 5e-6


@pytest.mark.parametrize("name", ORACLE)
def test_large_sigma_gives_equal_weights(name, Z):
    np.testing.assert_allclose(kr.make_kernel(name, sigma=1e100)(Z), 1 / 29, rtol=1e-14)


# what a bound kernel is ----------------------------------------------------------------------------------------


def test_bound_kernels_know_their_reference_and_compare_by_it(Z, new):
    k = sne(sigma=2.0)
    assert np.array_equal(k.bind(Z).reference, Z)
    assert k.bind(Z) == k.bind(Z.copy()) != k.bind(new)
    assert k.bind(Z) != k
    assert k.bind(new).bind(Z) == k.bind(Z)
    assert k.bind(Z).set_params(sigma=1.0) == sne(sigma=1.0).bind(Z)
    assert pickle.loads(pickle.dumps(k.bind(Z))) == k.bind(Z)


def test_scalar_needs_a_reference_set(Z):
    with pytest.raises(ParameterError, match=r"k\.bind\(Z\)\.scalar"):
        sne(sigma=1.0).scalar(Z[0], Z[1])


def test_a_third_party_normalised_kernel(Z, new):
    @kernel(of="dot", normalize="rows")
    def share(dot, c=10.0):
        """⟨x, y⟩ + c over its row sum."""
        return dot + c

    weights = new @ Z.T + 20.0
    np.testing.assert_allclose(share(c=20.0)(new, Z), weights / weights.sum(axis=1, keepdims=True), rtol=1e-13)
    assert "self_term" not in share().get_params()  # an inner product does not tell identical samples


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [3, 60])
def test_a_third_party_normalised_kernel_of_a_distance_has_a_self_term(form, dtype, d, rng):
    @kernel(of="l1", normalize="rows", log=True)
    def soft(l1, sigma=1.0):
        """exp(-|x - y|₁ / sigma) over its row sum."""
        return -l1 / sigma

    Z = (rng.random((300, d)) * (rng.random((300, d)) < 0.5)).astype(dtype)
    Z[:, 0] += 1.0
    log_weights = -np.abs(Z[:, None].astype(float) - Z).sum(axis=2) / 2
    for self_term in (True, False):
        if not self_term:
            log_weights[log_weights == 0] = -np.inf  # duplicates too: with few features there are some
        weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
        K = soft(sigma=2.0, self_term=self_term)(form(Z))
        assert K.dtype == dtype
        expected = weights / weights.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(K, expected, rtol=0, atol=(1e-13 if dtype == np.float64 else 1e-6))
        product = soft(sigma=2.0, self_term=self_term).operator(form(Z)) @ np.ones(300)
        np.testing.assert_allclose(product, 1.0, rtol=1e-12 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize("offset", [10.0, 100.0, 1000.0])
@pytest.mark.parametrize("sparse", [False, True])
def test_float32_samples_far_from_their_reference_are_normalised_by_differences_in_float64(offset, sparse, rng):
    new = (0.1 * rng.normal(size=(8, 3))).astype(np.float32)
    far = (rng.normal(size=(9, 3)) / offset / 2 + offset).astype(np.float32)  # logarithms of -offset², a few apart
    exact = naive.sne(new, far, sigma=1.0)
    given, reference = (sp.csr_array(side) if sparse else side for side in (new, far))
    k, bound = sne(sigma=1.0), sne(sigma=1.0).bind(reference)
    eye = np.eye(9, dtype=np.float32)
    for K in (k(given, reference), k.operator(given, reference) @ eye):
        assert naive.relative_error(K, exact) <= 1e-6
    assert naive.relative_error(bound(given, reference[:4]), exact[:, :4]) <= 1e-6
    assert naive.relative_error(bound.operator(given, reference[:4]) @ eye[:4, :4], exact[:, :4]) <= 1e-6
    own = naive.sne(new, new, sigma=1.0, reference=np.vstack([far, new]))
    both = sp.csr_array(np.vstack([far, new])) if sparse else np.vstack([far, new])
    assert naive.relative_error(sne(sigma=1.0).bind(both).diagonal(given), own.diagonal()) <= 1e-6


@pytest.mark.parametrize("name", ORACLE)
@pytest.mark.parametrize("transposed", [False, True])
def test_float64_samples_beside_a_float32_reference_have_values_good_to_float64(name, transposed, Z, new):
    Z, new = Z.astype(np.float32), new.astype(np.float32)
    k = kr.make_kernel(name, sigma=1.5).bind(Z)
    for X, W in ((Z, new.astype(float)), (new, new.astype(float)), (new.astype(float), Z), (Z.astype(float), new)):
        exact = ORACLE[name](X, W, reference=Z, sigma=1.5)
        K = np.vstack([b for _, b in k.T.blocks(W, X, block_rows=5)]).T if transposed else k(X, W)
        assert K.dtype == np.float64
        assert naive.relative_error(K, exact) <= 1e-13
        assert naive.relative_error(k.operator(X, W) @ np.eye(len(W)), exact) <= 1e-13
