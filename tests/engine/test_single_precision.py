"""float32 samples against long double: an error of at most 1e-5, wherever float32 would lose its digits.

Squared and l1 distances: relative to the distance of the pair. Inner products: relative to |x||z|, by which a change in
the last bits of the samples changes them, too.
"""

from __future__ import annotations

import naive
import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg import kernel
from kernreg.engine.tiles.blocks import BlockFiller
from kernreg.engine.tiles.precision import ACCURACY
from kernreg.jit import sqrt

FEATURES = (2, 16, 47, 48, 64, 130, 512)


@kernel(of="sqeuclidean", symmetric=True, definite=None)
def squared(d2):
    """The squared distance itself."""
    return d2


@kernel(of="l1", symmetric=True, definite=None)
def cityblock(l1):
    """The l1 distance itself."""
    return l1


def ordinary(rng, d):
    return rng.normal(size=(50, d))


def far_from_the_origin(rng, d):
    return rng.normal(size=(50, d)) + 1e5


def near_duplicates(rng, d):
    X = rng.normal(size=(50, d))
    X[10:20] = X[:10] * (1 + 1e-6)
    X[20:30] = X[:10] + 1e-4 * rng.normal(size=(10, d))
    X[30:35] = X[:5]
    return X


def clusters(rng, d):
    """Close pairs far from the common centre: what no centring helps."""
    return 100.0 * rng.normal(size=(5, d))[rng.integers(5, size=50)] + rng.normal(size=(50, d))


def constant_rows(rng, d):
    """All increments of a sum are equal, and so are their rounding errors: they add up."""
    return np.repeat(rng.normal(size=(50, 1)), d, axis=1)


def tiny(rng, d):
    return 1e-25 * rng.normal(size=(50, d))


def huge(rng, d):
    return 1e17 * rng.normal(size=(50, d))


def pixels(rng, d):
    return rng.integers(0, 256, size=(50, d)) * (rng.random((50, d)) < 0.3)


DATA = [ordinary, far_from_the_origin, near_duplicates, clusters, constant_rows, tiny, huge, pixels]
ids = pytest.mark.parametrize("make", DATA, ids=lambda make: make.__name__)


def samples(make, d):
    X = make(np.random.default_rng(d), d).astype(np.float32)
    return X, X[::-3].copy()


def largest_error(K, exact, sizes):
    error = np.abs(K.astype(np.longdouble) - exact)
    assert (error[sizes == 0] == 0).all()
    return float((error[sizes > 0] / sizes[sizes > 0]).max())


@ids
@pytest.mark.parametrize("d", FEATURES)
def test_distances_are_good_to_the_promised_accuracy(make, d):
    X, Z = samples(make, d)
    for k, term in ((squared(), naive.sqeuclidean), (cityblock(), naive.l1)):
        if k.name == "squared" and make is tiny:
            continue  # such squares are no float32 numbers: see the next test
        for pair in ((X,), (X, Z), (Z, X)):
            exact = naive.pairs(term, *pair)
            K = k(*pair)
            assert K.dtype == np.float32
            assert largest_error(K, exact, exact) <= ACCURACY


@ids
@pytest.mark.parametrize("d", FEATURES)
def test_kernels_of_distances_are_good_to_the_promised_accuracy(make, d):
    X, Z = samples(make, d)
    exact = naive.pairs(naive.sqeuclidean, X, Z)
    sigma = float(np.float32(np.sqrt(np.median(exact[exact > 0]))))
    for name in ("rbf", "cauchy", "matern", "t"):
        parameters = {"nu": 1.5} if name == "matern" else {}
        expected = getattr(naive, name)(X, Z, sigma=sigma, **parameters)
        assert naive.relative_error(kr.make_kernel(name, sigma=sigma, **parameters)(X, Z), expected) <= ACCURACY


@ids
@pytest.mark.parametrize("d", FEATURES)
def test_inner_products_are_good_to_the_promised_accuracy(make, d):
    X, Z = samples(make, d)
    if make is tiny:
        X, Z = X * np.float32(1e12), Z * np.float32(1e12)
    if make is huge:
        X, Z = X * np.float32(1e-2), Z * np.float32(1e-2)
    lengths = [np.sqrt((naive.rows_of(A) ** 2).sum(axis=1)) for A in (X, Z)]
    K = kr.make_kernel("linear")(X, Z)
    assert largest_error(K, naive.linear(X, Z), np.outer(*lengths)) <= ACCURACY


@pytest.mark.parametrize("d", FEATURES)
def test_duplicates_are_at_distance_zero_and_near_duplicates_are_not(d):
    X, _ = samples(near_duplicates, d)
    D = squared()(X)
    assert (np.diag(D) == 0).all()
    assert (D[30:35, :5].diagonal() == 0).all()
    apart = (X[20:30] != X[:10]).any(axis=1)
    assert (D[20:30, :10].diagonal()[apart] > 0).all()


@pytest.mark.parametrize(
    ("make", "d", "expected"),
    [
        (ordinary, 512, np.float32),
        (ordinary, 16, np.float32),
        (pixels, 512, np.float32),
        (constant_rows, 512, np.float64),
        (tiny, 512, np.float64),
        (huge, 16, np.float64),
    ],
)
def test_float32_is_used_where_its_error_is_small_and_float64_elsewhere(make, d, expected):
    X, _ = samples(make, d)
    filler = BlockFiller(kr.make_kernel("rbf", sigma=1.0).program, X, X)
    assert filler.dtype == np.float32
    assert filler._statistic.dtype == expected


def same(block, rows, d):
    """To the bit, but for float32 products: there BLAS may add in another order at another place of a block."""
    if block.dtype == np.float64 or d < 48:
        return np.array_equal(block, rows)
    return np.abs(block - rows).max() <= ACCURACY


@ids
@pytest.mark.parametrize("d", [16, 64])
def test_row_blocks_are_the_rows_of_the_matrix(make, d):
    X = np.vstack([samples(make, d)[0] for _ in range(6)])
    k = kr.make_kernel("rbf").resolve_widths(X.astype(np.float64))
    K = k(X, X[40:200].copy())
    for rows, block in k.blocks(X, X[40:200].copy(), block_rows=37):
        assert same(block, K[rows], d)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [64, 256])
def test_the_larger_blocks_of_many_samples_are_right(d, dtype):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(1100, d)).astype(dtype), rng.normal(size=(2300, d)).astype(dtype)
    X[1050], X[3] = Z[2200], Z[100]
    k = kr.make_kernel("rbf", sigma=float(np.sqrt(d)))
    K = k(X, Z)
    for rows, block in k.blocks(X, Z, block_rows=300):
        assert same(block, K[rows], d)
    some, others = [0, 3, 511, 512, 1023, 1024, 1050, 1099], [0, 100, 511, 512, 1023, 1024, 2047, 2200, 2299]
    exact = naive.rbf(X[some], Z[others], sigma=np.sqrt(d))
    assert naive.relative_error(K[np.ix_(some, others)], exact) <= (ACCURACY if dtype == np.float32 else 1e-13)
    square = k(Z)
    assert np.array_equal(square, square.T)
    assert same(square[2100:2200], k(Z[2100:2200], Z), d)
    v = rng.normal(size=2300).astype(dtype)
    np.testing.assert_allclose(k.operator(X, Z) @ v, K @ v, rtol=2e-4 if dtype == np.float32 else 1e-10, atol=1e-4)


def gap_of_roots(x, z):
    return sqrt(x) - sqrt(z)


@kernel(of=gap_of_roots)
def gaps_of_roots(total):
    """A sum of terms each of which computes of one sample before it compares."""
    return total


@pytest.mark.parametrize("sparse", [False, True])
def test_terms_of_float32_samples_are_computed_in_float64(sparse):
    samples = np.abs(np.random.default_rng(0).normal(size=(50, 5))).astype(np.float32)
    samples[:, 3] = 0.0
    K = gaps_of_roots()(sp.csr_array(samples) if sparse else samples)
    roots = np.sqrt(samples.astype(np.float64)).sum(axis=1)
    assert not np.diagonal(K).any()
    np.testing.assert_allclose(K, roots[:, None] - roots, rtol=1e-6, atol=1e-14)


@pytest.mark.parametrize("size", [1.0, 1e6, 1e12, 1e30])
def test_a_sample_has_no_distance_from_itself_whatever_its_size(size):
    samples = (np.abs(np.random.default_rng(0).normal(size=(40, 5))) * size).astype(np.float32)
    for name in ("hellinger", "chi2", "jensen-shannon"):
        assert (np.diagonal(kr.make_kernel(name)(samples)) == 1.0).all()


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_sparse_samples_beside_zeros_are_compared_in_the_precision_that_they_need(size):
    samples = sp.csr_array(np.array([[1.0, 0.0, 2.0], [0.5, 1.0, 0.0]], dtype=np.float32) * np.float32(size))
    zeros = sp.csr_array((3, 3), dtype=np.float32)
    for name in ("matern", "rbf", "cauchy", "rational-quadratic"):
        k = kr.make_kernel(name, sigma=2 * size)
        np.testing.assert_allclose(k(samples, zeros), k(samples.toarray().astype(float), np.zeros((3, 3))), rtol=1e-6)
