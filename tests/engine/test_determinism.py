"""The same bits for any number of threads and any size of blocks; mirrored only where declared symmetric."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

import kernreg as kr
from kernreg import kernel
from kernreg.kernels.builtin import rbf

SPECS = (
    "rbf(sigma=2.0)",
    "laplacian(sigma=3.0)",
    "poly(degree=3)",
    "tanh(c=0.1)",
    "chi2",
    "sne(sigma=1.5)",
    "t(self_term=False)",
    "matern",
    "kl-gaussian(a=0.1)",
)
FEATURES = (6, 64)  # sums over features, and BLAS


def table(n, d, dtype, seed=0):
    return (np.random.default_rng(seed).random((n, d)) + 0.1).astype(dtype)


def with_threads(count, function):
    with kr.config_context(threads=count):
        return function()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", FEATURES)
@pytest.mark.parametrize("spec", SPECS)
def test_matrices_have_the_same_bits_for_one_two_and_three_threads(spec, d, dtype):
    k, X, Z = kr.make_kernel(spec), table(601, d, dtype), table(517, d, dtype, 1)
    for samples in ((X,), (X, Z)):
        one, two, three = (with_threads(count, lambda pair=samples: k(*pair)) for count in (1, 2, 3))
        assert np.array_equal(one, two)
        assert np.array_equal(one, three)


@pytest.mark.parametrize("d", FEATURES)
@pytest.mark.parametrize("spec", SPECS)
def test_blocks_have_the_bits_of_the_whole_matrix_for_any_number_of_rows(spec, d):
    k, X, Z = kr.make_kernel(spec), table(530, d, np.float64), table(301, d, np.float64, 1)
    for samples in ((X,), (X, Z)):
        K = k(*samples)
        for block_rows in (37, 255, 257, 1000) if len(samples) == 2 else (37, 256):
            for rows, block in k.blocks(*samples, block_rows=block_rows):
                assert np.array_equal(block, K[rows]), block_rows


@pytest.mark.parametrize("spec", SPECS)
def test_a_pair_has_the_same_bits_wherever_it_stands(spec):
    k = kr.make_kernel(spec)
    if k.normalize:
        k = k.bind(table(20, 64, np.float64, 2))
    X, Z = table(400, 64, np.float64), table(300, 64, np.float64, 1)
    K = k(X, Z)
    permutation, other = np.random.default_rng(0).permutation(400), np.random.default_rng(1).permutation(300)
    moved = k(X[permutation], Z[other])
    if k.family.of == "sqeuclidean":  # the rows are moved by the mean of Z, whose last bit depends on the order
        np.testing.assert_allclose(moved, K[np.ix_(permutation, other)], rtol=1e-12)
    else:
        assert np.array_equal(moved, K[np.ix_(permutation, other)])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", FEATURES)
@pytest.mark.parametrize("spec", SPECS)
def test_products_have_the_same_bits_for_one_and_two_threads(spec, d, dtype, rng):
    k, X, Z = kr.make_kernel(spec), table(601, d, dtype), table(517, d, dtype, 1)
    v, V = rng.normal(size=517), rng.normal(size=(601, 3))
    for product in (
        lambda: k.operator(X, Z) @ v,
        lambda: k.operator(X, Z).T @ V,
        lambda: k.operator(X) @ V,
    ):
        assert np.array_equal(with_threads(1, product), with_threads(2, product))


@pytest.mark.parametrize("d", FEATURES)
@pytest.mark.parametrize("spec", [s for s in SPECS if kr.make_kernel(s).symmetric])
def test_symmetric_kernels_give_exactly_symmetric_matrices(spec, d):
    X, Z = table(530, d, np.float64), table(290, d, np.float64, 1)
    k = kr.make_kernel(spec).resolve_widths(X)
    K = k(X)
    assert np.array_equal(K, K.T)
    np.testing.assert_allclose(k(X, Z), k(Z, X).T, rtol=1e-13)
    # The other way round, without mirroring, the values are the same.
    whole = np.vstack([block for _, block in k.blocks(X, block_rows=530)])
    assert np.array_equal(whole, K)


def test_asymmetric_kernels_are_never_mirrored():
    @kernel(of="rows")
    def first_over_second(x, z):
        return x[0] / z[0]

    @kernel(of=lambda x, z: x * x * z)
    def squared_first(total):
        return total

    @kernel(of="blocks")
    def difference(X, Z):
        return X[:, :1] - Z[:, 0]

    X = table(300, 3, np.float64)
    np.testing.assert_allclose(first_over_second()(X), X[:, :1] / X[:, 0], rtol=1e-15)
    np.testing.assert_allclose(squared_first()(X), X**2 @ X.T, rtol=1e-14)
    assert np.array_equal(difference()(X), X[:, :1] - X[:, 0])


def test_a_declared_symmetry_is_trusted_and_the_lower_half_is_computed():
    @kernel(of="rows", symmetric=True)
    def not_symmetric(x, z):
        return x[0] - z[0]

    X = np.arange(600.0)[:, None]
    K = not_symmetric()(X)
    assert np.array_equal(np.tril(K), np.tril(X - X.T))
    assert np.array_equal(K, K.T)


def test_results_have_the_same_bits_in_a_recycled_and_in_a_given_array():
    X = table(1500, 8, np.float64)  # 18 MB: streamed past the cache
    k = rbf(sigma=2.0)
    first = k(X).copy()
    assert np.array_equal(k(X), first)
    for out in (np.empty((1500, 1500)), np.empty((1500, 1501))[:, 1:], np.empty((1500, 1500), order="F")):
        assert np.array_equal(k(X, out=out), first)


# laws ----------------------------------------------------------------------------------------------------------

sizes = st.integers(1, 40)
law = settings(max_examples=25)


def draw(seed, n, d):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)) * 4) / 4 + 5.0
    return X * (rng.random((n, d)) < 0.7)


@law
@given(seed=st.integers(0, 2**32), n=sizes, m=sizes, d=st.sampled_from([1, 5, 50]), spec=st.sampled_from(SPECS[:5]))
def test_law_a_symmetric_kernel_of_exchanged_samples_is_the_transpose(seed, n, m, d, spec):
    X, Z = draw(seed, n, d), draw(seed + 1, m, d)
    k = kr.make_kernel(spec).resolve_widths(X)
    np.testing.assert_allclose(k(X, Z), k(Z, X).T, rtol=1e-12, atol=1e-300)


@law
@given(seed=st.integers(0, 2**32), n=sizes, d=st.sampled_from([1, 5, 50]), spec=st.sampled_from(SPECS[:8]))
def test_law_permuted_samples_give_the_permuted_matrix(seed, n, d, spec):
    X, k = draw(seed, n, d), kr.make_kernel(spec)
    permutation = np.random.default_rng(seed).permutation(n)
    np.testing.assert_allclose(k(X[permutation]), k(X)[np.ix_(permutation, permutation)], rtol=1e-11, atol=1e-300)


@law
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(1, 90),
    m=sizes,
    d=st.sampled_from([1, 5, 50]),
    spec=st.sampled_from(SPECS[:8]),
    block_rows=st.integers(1, 100),
    sparse=st.booleans(),
)
def test_law_blocks_of_any_size_are_the_rows_of_the_matrix(seed, n, m, d, spec, block_rows, sparse):
    X, Z, k = draw(seed, n, d), draw(seed + 1, m, d), kr.make_kernel(spec)
    if sparse:
        X, Z = sp.csr_array(X), sp.csr_array(Z)
    K = k(X, Z)
    covered = 0
    for rows, block in k.blocks(X, Z, block_rows=block_rows):
        assert rows.start == covered
        covered = rows.stop
        assert np.array_equal(block, K[rows])
    assert covered == n
