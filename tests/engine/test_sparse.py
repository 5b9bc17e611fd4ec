"""Sparse samples give what dense ones give, for every statistic, and are never made dense."""

from __future__ import annotations

import tracemalloc

import naive
import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg import kernel
from kernreg.errors import DataError
from kernreg.kernels.builtin import intersection, laplacian, linear, rbf


def unlike(x, z):
    return (x - 0.5) * (z + 0.25) * (z + 0.25)


@kernel(of=unlike)
def shifted(total):
    """Σ (x - ½)(z + ¼)², whose term is neither symmetric nor zero at zero."""
    return total


def table(n, d, density, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, d)) * (rng.random((n, d)) < density)


SPECS = ("linear", "poly(c=0.5)", "tanh", "rbf(sigma=1.5)", "laplacian(sigma=2.0)", "tl1(rho=6.0)", "sne", "t",
         "cauchy", "matern", "rational-quadratic", "chi2", "intersection", "t(self_term=False)")  # fmt: skip
FORMATS = (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.lil_array, sp.bsr_array)


@pytest.mark.parametrize("density", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("spec", [*SPECS, "shifted"])
def test_sparse_samples_give_the_matrix_of_the_dense_ones(spec, density):
    k = shifted() if spec == "shifted" else kr.make_kernel(spec)
    X, Z = table(60, 31, density), table(45, 31, density, 1)
    x, z = sp.csr_array(X), sp.csr_array(Z)
    expected, square = k(X, Z), k(X)
    bar = 1e-13 * np.abs(expected).max()
    for samples in ((x, z), (x, Z), (X, z)):
        np.testing.assert_allclose(k(*samples), expected, rtol=0, atol=bar)
    np.testing.assert_allclose(k(x), square, rtol=0, atol=1e-13 * np.abs(square).max())
    if k.symmetric:
        assert np.array_equal(k(x), k(x).T)


@pytest.mark.parametrize("form", FORMATS)
def test_every_sparse_format_is_read(form):
    X = table(30, 20, 0.2)
    assert np.array_equal(rbf()(form(X)), rbf()(sp.csr_array(X)))


def test_matrices_of_several_blocks():
    X, Z = table(530, 40, 0.1), table(300, 40, 0.1, 1)
    for k in (rbf(), laplacian(), linear()):
        np.testing.assert_allclose(k(sp.csr_array(X), sp.csr_array(Z)), k(X, Z), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_both_widths_of_indices(index):
    x = sp.csr_array(table(20, 10, 0.3))
    x.indices, x.indptr = x.indices.astype(index), x.indptr.astype(index)
    assert np.array_equal(rbf()(x), rbf()(sp.csr_array(table(20, 10, 0.3))))


def test_read_only_sparse_samples():
    x = sp.csr_array(table(20, 10, 0.3))
    expected = rbf()(x)
    for part in (x.data, x.indices, x.indptr):
        part.flags.writeable = False
    assert np.array_equal(rbf()(x), expected)


def test_entries_given_twice_are_added_and_stored_zeros_count_as_zeros():
    twice = sp.coo_array(([1.0, 2.0, 4.0, 0.0], ([0, 0, 1, 1], [1, 1, 0, 2])), shape=(2, 3))
    dense = np.array([[0.0, 3.0, 0.0], [4.0, 0.0, 0.0]])
    for k in (linear(), rbf(sigma=3.0), laplacian(sigma=3.0), intersection()):
        np.testing.assert_allclose(k(twice), k(dense), rtol=1e-15)
        np.testing.assert_allclose(k(sp.csr_array(twice), dense), k(dense), rtol=1e-15)
    unsorted = sp.csr_array((np.array([1.0, 2.0]), np.array([2, 0]), np.array([0, 2])), shape=(1, 3))
    before = unsorted.indices.copy()
    assert linear()(unsorted, dense).tolist() == [[0.0, 8.0]]
    assert np.array_equal(unsorted.indices, before)  # the samples given are left as they are


@pytest.mark.parametrize("spec", ["rbf", "laplacian", "cauchy", "sne"])
def test_nearby_sparse_samples_lose_no_digits(spec):
    X = table(12, 30, 0.3) * 1e3
    X[1] = X[0]
    X[2] = X[0] * (1 + 1e-7)  # |x|² + |z|² - 2⟨x,z⟩ would keep two digits of this distance
    X[3] = X[0] + 1e-3 * (X[0] > 0)
    exact = getattr(naive, spec)(X, sigma=1e-3)
    K = kr.make_kernel(spec, sigma=1e-3)(sp.csr_array(X))
    assert naive.relative_error(K, exact) <= 1e-13
    if spec != "sne":
        assert np.array_equal(np.diag(K), np.ones(12))
        assert K[0, 1] == 1.0


def test_float32_sparse_samples_meet_the_bar():
    X = table(40, 30, 0.2).astype(np.float32)
    for spec in ("rbf", "laplacian", "linear", "sne", "chi2"):
        K = kr.make_kernel(spec if spec == "linear" else f"{spec}(sigma=1.0)")(sp.csr_array(X))
        assert K.dtype == np.float32
        assert naive.relative_error(K, getattr(naive, spec)(X)) <= 5e-6


def test_kl_of_sparse_distributions():
    P = np.array([[0.5, 0.5, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25], [0.0, 0.0, 0.4, 0.6]])
    K = kr.make_kernel("kl(a=0.7)")(sp.csr_array(P))
    assert naive.relative_error(K, naive.kl(P, a=0.7)) <= 1e-14
    stored = sp.csr_array((P.ravel(), np.tile(np.arange(4), 4), np.arange(0, 17, 4)), shape=(4, 4))  # zeros stored
    assert np.array_equal(kr.make_kernel("kl(a=0.7)")(stored), K)


def test_row_functions_refuse_sparse_samples():
    @kernel(of="rows")
    def pair(x, z):
        return x[0] + z[0]

    for samples in ((sp.csr_array(table(3, 2, 0.5)),), (table(3, 2, 0.5), sp.csr_array(table(3, 2, 0.5)))):
        with pytest.raises(DataError, match="function of two dense rows"):
            pair()(*samples)


def test_block_functions_get_the_sparse_samples():
    @kernel(of="blocks", symmetric=True)
    def product(X, Z):
        return (X @ Z.T).toarray()

    X = table(300, 20, 0.1)
    np.testing.assert_allclose(product()(sp.csr_array(X)), X @ X.T, rtol=1e-13, atol=1e-15)


def test_wide_samples_are_not_made_dense():
    rng = np.random.default_rng(0)
    x = sp.random_array((300, 2_000_000), density=1e-5, rng=rng, format="csr")
    k = laplacian(sigma=10.0)
    k(x[:2])  # compiled before memory is watched
    tracemalloc.start()
    K = k(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80e6  # a dense copy would be 4.8 GB; two vectors with an entry per feature are 32 MB
    l1 = np.abs((x[[5]] - x[[200]]).toarray()).sum()
    np.testing.assert_allclose(K[5, 200], np.exp(-l1 / 10.0), rtol=1e-13)
