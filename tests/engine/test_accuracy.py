"""The accuracy bars: max |error| / max |K| against long double, on data where formulas lose digits.

At most 1e-13 in float64 and 5e-6 in float32, with duplicates, large common offsets and tiny scales, for numbers of
features on both sides of where the drivers change.
"""

from __future__ import annotations

import naive
import numpy as np
import pytest

import kernreg as kr

BAR = {np.float64: 1e-13, np.float32: 5e-6}
FEATURES = (1, 3, 16, 47, 48, 64, 200)

DISTANCE = {
    "rbf": ("rbf", {}),
    "cauchy": ("cauchy", {}),
    "matern": ("matern", {"nu": 2.5}),
    "rational-quadratic": ("rational_quadratic", {"alpha": 0.8}),
    "laplacian": ("laplacian", {}),
    "sne": ("sne", {}),
    "t": ("t", {}),
}


def data(d, offset, scale, dtype, seed=0):
    """Samples with exact duplicates, near duplicates and a wide range of distances, and a typical distance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, d))
    X[5] = X[4]
    X[7] = X[6] * (1 + 1e-9)
    X[9] = X[8] + 1e-3
    X[10:12] *= 1e-2
    Z = np.vstack([X[3:9], rng.normal(size=(9, d))])
    X, Z = ((scale * A + offset).astype(dtype) for A in (X, Z))
    return X, Z, scale * np.sqrt(2.0 * d)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("offset", "scale"), [(0.0, 1.0), (1e6, 1.0), (-1e6, 30.0), (0.0, 1e-3), (0.0, 1e-8), (1.0, 1e-6), (0.0, 1e4)]
)
@pytest.mark.parametrize("name", DISTANCE)
def test_distance_kernels_meet_the_bar(name, offset, scale, dtype):
    oracle, parameters = DISTANCE[name]
    for d in FEATURES:
        X, Z, typical = data(d, offset, scale, dtype)
        sigma = float(np.float32(typical * (d if name == "laplacian" else 1.0) ** 0.5))
        k = kr.make_kernel(name, sigma=sigma, **parameters)
        for samples in ((X,), (X, Z)):
            exact = getattr(naive, oracle)(*samples, sigma=sigma, **parameters)
            K = k(*samples)
            assert K.dtype == dtype
            assert naive.relative_error(K, exact) <= BAR[dtype], (d, len(samples))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("offset", "scale"), [(0.0, 1.0), (1e6, 1.0), (0.0, 1e-8), (3.0, 1e-3)])
def test_inner_product_kernels_meet_the_bar(offset, scale, dtype):
    for d in FEATURES:
        X, Z, _ = data(d, offset, scale, dtype)
        size = float(np.abs(X).max()) ** 2 * d
        c = float(np.float32(1.0 / size))
        cases = [
            ("linear", naive.linear(X, Z)),
            ("poly(degree=2, c=0.5)", naive.poly(X, Z, degree=2, c=0.5)),
            (f"tanh(c={c!r}, t=-0.25)", naive.tanh(X, Z, c=c, t=-0.25)),
        ]
        if dtype == np.float64:  # cubes of these inner products are beyond the range of float32
            cases.append(("poly(degree=3, c=0.0)", naive.poly(X, Z, degree=3, c=0.0)))
        for spec, exact in cases:
            assert naive.relative_error(kr.make_kernel(spec)(X, Z), exact) <= BAR[dtype], (d, spec)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("offset", "scale"), [(0.0, 1.0), (1e6, 1.0), (0.0, 1e-8)])
def test_kernels_of_feature_sums_meet_the_bar(offset, scale, dtype):
    for d in FEATURES:
        X, Z, typical = data(d, 0.0, scale, np.float64)
        X, Z = ((np.abs(A) + offset).astype(dtype) for A in (X, Z))
        rho = float(np.float32(typical * d**0.5))
        distances = naive.pairs(lambda x, z: ((x - z) ** 2 / (x + z)).sum(), X, Z)
        sigma = float(np.float32(np.median(distances)))
        for k, exact in (
            (kr.make_kernel("intersection"), naive.intersection(X, Z)),
            (kr.make_kernel("chi2", sigma=sigma), naive.chi2(X, Z, sigma=sigma)),
            (kr.make_kernel("tl1", rho=rho), naive.tl1(X, Z, rho=rho)),
        ):
            assert naive.relative_error(k(X, Z), exact) <= BAR[dtype], (d, k)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", FEATURES)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_duplicates_are_at_distance_exactly_zero(d, offset, dtype):
    X, _, typical = data(d, offset, 1.0, dtype)
    for name in ("rbf", "laplacian", "cauchy", "matern", "rational-quadratic"):
        K = kr.make_kernel(name, sigma=typical)(X)
        assert np.array_equal(np.diag(K), np.ones(len(X)))
        assert K[4, 5] == K[5, 4] == 1.0
        assert kr.make_kernel(name, sigma=typical)(X[:5], X[5:])[4, 0] == 1.0


@pytest.mark.parametrize("d", [3, 64])
def test_a_block_far_from_the_mean_of_the_others_is_accurate(d, rng):
    # Two distant clusters: no common centre makes the products of both small.
    X = np.vstack([rng.normal(size=(15, d)) - 1e4, rng.normal(size=(15, d)) + 1e4])
    sigma = np.sqrt(2.0 * d)
    assert naive.relative_error(kr.make_kernel("rbf", sigma=sigma)(X), naive.rbf(X, sigma=sigma)) <= 1e-13


@pytest.mark.filterwarnings("ignore::kernreg.errors.RangeWarning")
@pytest.mark.parametrize("d", [3, 64])
@pytest.mark.parametrize("size", [1e160, 1e300])
def test_distances_that_overflow_are_infinite_and_not_nan(d, size, rng):
    X = rng.normal(size=(12, d)) * size
    X[1] = X[0]
    for name in ("rbf", "cauchy", "matern", "sne"):
        K = kr.make_kernel(name, sigma=1.0)(X)
        expected = np.eye(12)
        expected[0, 1] = expected[1, 0] = 1.0
        if name == "sne":
            expected /= expected.sum(axis=1, keepdims=True)
        assert np.array_equal(K, expected)


@pytest.mark.parametrize("d", [16, 64])
@pytest.mark.parametrize("name", ["rbf", "laplacian", "poly", "chi2"])
def test_every_place_of_a_matrix_of_many_blocks_is_right(name, d, rng):
    X, Z = rng.random((530, d)), rng.random((270, d))
    X[300], X[520] = Z[3], Z[260]
    rows, columns = [0, 3, 254, 255, 256, 257, 300, 511, 512, 520, 529], [0, 3, 255, 256, 257, 260, 269]
    k = kr.make_kernel(name) if name == "poly" else kr.make_kernel(name, sigma=1.0)
    exact = getattr(naive, name)(X[rows], Z[columns])
    assert naive.relative_error(k(X, Z)[np.ix_(rows, columns)], exact) <= 1e-13
    square = getattr(naive, name)(X[rows])
    assert naive.relative_error(k(X)[np.ix_(rows, rows)], square) <= 1e-13
