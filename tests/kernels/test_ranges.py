"""Where numbers leave the range in which a kernel is exact it says so, and inside it is exact."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg.errors import ParameterError, RangeWarning
from kernreg.kernels.ranges import warn_unless_finite

X = np.random.default_rng(0).normal(size=(6, 5))


def naive(name, X, size):
    """The kernel in long double, whose range is wider."""
    X, size = X.astype(np.longdouble), np.longdouble(size)
    gap = X[:, None] - X
    square, l1 = (gap**2).sum(-1), np.abs(gap).sum(-1)
    return {
        "linear": lambda: X @ X.T,
        "rbf": lambda: np.exp(-square / size**2),
        "cauchy": lambda: 1 / (1 + square / size**2),
        "laplacian": lambda: np.exp(-l1 / size),
        "tl1": lambda: np.maximum(size - l1, 0),
        "intersection": lambda: np.minimum(X[:, None], X).sum(-1),
    }[name]()


@pytest.mark.parametrize("name", ["linear", "rbf", "cauchy", "laplacian", "tl1", "intersection"])
@pytest.mark.parametrize("exponent", [-310, -250, -170, -135, 0, 135, 155, 200, 290, 303])
def test_a_kernel_is_exact_or_warns(name, exponent):
    size = float(np.longdouble(10) ** exponent)
    samples = (np.abs(X) if name == "intersection" else X) * size
    params = {"rbf": "sigma", "cauchy": "sigma", "laplacian": "sigma", "tl1": "rho"}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        if size < 1e-307 and name in params:
            with pytest.raises(ParameterError, match=f"{params[name]} is 1e-310.*at least 1e-307"):
                kr.make_kernel(name, **{params[name]: size})
            return
        K = kr.make_kernel(name, **({params[name]: size} if name in params else {}))(samples)
    expected = naive(name, samples, size)
    exact = np.isfinite(K).all() and bool(np.all(np.abs(K - expected) <= 1e-13 * np.abs(expected).max()))
    told = any(issubclass(warning.category, RangeWarning) for warning in heard)
    assert exact or told
    if abs(exponent) <= 135:
        assert exact
        assert not told
    assert not told or heard[0].filename == __file__


def test_the_message_says_what_and_how_far():
    with pytest.warns(RangeWarning, match=r"rbf: X holds values of size 3e\+200, and this kernel is exact .* 1e\+140"):
        kr.make_kernel("rbf(sigma=1.0)")([[3e200]])
    with pytest.warns(RangeWarning, match="size 1e-200"):
        kr.make_kernel("linear")(sp.csr_array([[1e-200, 0.0]]))


def test_zeros_a_few_tiny_values_and_float32_are_fine():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kr.make_kernel("linear")(np.zeros((3, 2)))
        kr.make_kernel("linear")([[1.0, 1e-200]])  # too small to matter beside the others
        kr.make_kernel("rbf(sigma=1.0)")(np.full((2, 2), 1e-30, dtype=np.float32))
        kr.make_kernel("precomputed", K=np.full((2, 2), 1e200))([0, 1])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", ["linear", "poly(c=0.0)", "poly", "poly(degree=0.5, c=0.0)", "tanh"])
@pytest.mark.parametrize("exponent", [-38, -30, -19, -13, -4, 0, 4, 7, 13, 19, 30, 37])
def test_values_beyond_float32_are_told(name, exponent, sparse):
    samples = np.abs(X[:, :2] * 10.0**exponent).astype(np.float32)
    k = kr.make_kernel(name)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        K = k(sp.csr_array(samples) if sparse else samples)
    assert K.dtype == np.float32
    expected = k(samples.astype(np.float64))
    with np.errstate(all="ignore"):
        exact = np.isfinite(K).all() and bool(np.all(np.abs(K - expected) <= 1e-5 * np.abs(expected).max()))
    told = any(issubclass(warning.category, RangeWarning) for warning in heard)
    assert exact or told
    assert not told or "float32" in str(heard[0].message)
    if abs(exponent) <= 4:
        assert not told


@pytest.mark.parametrize("name", ["rbf", "cauchy", "laplacian", "sne", "matern", "rational-quadratic"])
@pytest.mark.parametrize("size", [1e-34, 1e-22, 1e20, 1e34])
@pytest.mark.parametrize("sparse", [False, True])
def test_float32_samples_far_beyond_its_squares_have_the_values_of_float64(name, size, sparse):
    samples = (X * size).astype(np.float32)
    k = kr.make_kernel(name, sigma=size)
    K = k(sp.csr_array(samples) if sparse else samples)
    np.testing.assert_allclose(K, k(samples.astype(np.float64)), rtol=3e-6, atol=1e-7)


@pytest.mark.parametrize("degree", [2, 3, 5])
@pytest.mark.parametrize("c", [0.0, 1.0])
@pytest.mark.parametrize("exponent", [-100, -20, 20, 29, 60, 77, 100])
def test_powers_of_products_are_exact_or_told(degree, c, exponent):
    samples = X * 10.0**exponent
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        K = kr.make_kernel("poly", degree=degree, c=c)(samples)
    expected = (samples.astype(np.longdouble) @ samples.T.astype(np.longdouble) + np.longdouble(c)) ** degree
    assert heard or bool(np.all(np.abs(K - expected) <= 1e-13 * np.abs(expected).max()))
    assert abs(exponent) > 29 or not heard


def test_values_that_are_no_numbers_are_told_wherever_they_are_asked_for():
    X = np.array([[1.0, 2.0], [-2.0, -3.0], [0.5, 0.25]])
    k = kr.make_kernel("poly", degree=2.5, c=0.0)
    out = np.empty((3, 3))
    for ask in (
        lambda: k(X),
        lambda: k(X, out=out),
        lambda: k.rows(X, None, 1, 2),
        lambda: list(k.blocks(X)),
        lambda: k.blocks(X, X[::-1].copy(), block_rows=1).__next__(),
        lambda: (2.0 * k)(X),
    ):
        with pytest.warns(RangeWarning, match="nan"):
            ask()
    with pytest.warns(RangeWarning, match="cosh-gauss: a value is"):
        kr.make_kernel("cosh-gauss", sigma=1.0, tau=1e308)(X)


def test_finite_values_are_not_warned_of_even_where_their_sum_is_infinite():
    big = np.full((2, 1), 1e74)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_unless_finite(kr.make_kernel("tanh"), np.full((3, 3), 1e308))
        kr.make_kernel("poly", degree=2.5)(np.array([[1.0], [2.0]]))
        kr.make_kernel("poly", degree=2)(big)


def test_of_a_large_matrix_rows_are_looked_at_that_are_evenly_spaced():
    values = np.zeros((4, 1_000_000))
    values[2, 5] = np.nan
    with pytest.warns(RangeWarning, match="tanh: a value is nan"):
        warn_unless_finite(kr.make_kernel("tanh"), values[2:])
    taken = np.zeros((9, 500_000), dtype=np.float32)
    taken[8, 7] = np.inf  # every fourth row
    with pytest.warns(RangeWarning, match="tanh: a value is inf"):
        warn_unless_finite(kr.make_kernel("tanh"), taken)


@pytest.mark.parametrize(
    ("spec", "dtype", "size", "lost"),
    [
        ("power('linear', exponent=3)", np.float64, 1e-120, True),
        ("power('linear', exponent=3)", np.float64, 1e-40, False),
        ("power('linear', exponent=3)", np.float32, 1e-8, True),
        ("multiply('linear', 'linear')", np.float64, 1e-120, True),
        ("scale('linear', factor=1e-200)", np.float64, 1e-100, True),
        ("symmetrize('tl1(rho=1e-30)', how='left')", np.float32, 1e-30, True),
        ("centered(\"power('linear', exponent=3)\")", np.float64, 1e-120, True),
        ("power('rbf(sigma=1.0)', exponent=3)", np.float64, 1e-120, False),
    ],
)
@pytest.mark.parametrize("bound", [False, True])
def test_combinations_of_which_nothing_is_left_are_told(spec, dtype, size, lost, bound):
    samples = (np.abs(X) * size).astype(dtype)
    k = kr.make_kernel(spec)
    k = k.bind(samples) if bound else k
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        K = k(samples)
    assert any(issubclass(warning.category, RangeWarning) for warning in heard) == lost
    assert K.any() != lost


def test_mapped_and_packed_samples_of_which_nothing_is_left_are_told():
    series = [np.array([0.0, 1.0]), np.array([2.0, 2.0, 0.0])]
    with pytest.warns(RangeWarning, match="below"):
        kr.kernels.compose("power('linear', exponent=3)", np.tanh)(1e-120 * np.abs(X) + 1e-121)
    with pytest.warns(RangeWarning, match="below"):
        (1e-200 * (1e-200 * kr.make_kernel("gak", sigma=1.0)))(series)
    with pytest.warns(RangeWarning, match="below"):
        (1e-200 * (1e-200 * kr.make_kernel("precomputed", K=np.eye(2))))([0, 1])


def test_far_samples_are_no_loss():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not kr.make_kernel("multiply('rbf(sigma=0.1)', 'tl1(rho=1.0)')")(X, X + 1e3).any()
        assert not kr.make_kernel("centered('linear')")(X[:1]).any()
        assert not kr.make_kernel("power('linear', exponent=2)")(np.zeros((3, 2))).any()
