"""inf, nan, zeros, subnormal numbers and the ends of the range: the tables of the docstrings."""

import numpy as np
import pytest
from numba import njit

import kernreg.jit

DTYPES = (np.float64, np.float32)
INF, NAN = np.inf, np.nan

UNARY = {
    "exp": [(-INF, 0.0), (INF, INF), (NAN, NAN), (0.0, 1.0), (-0.0, 1.0), (1e4, INF), (-1e4, 0.0)],
    "expm1": [(-INF, -1.0), (INF, INF), (NAN, NAN), (0.0, 0.0), (-0.0, -0.0), (1e4, INF), (-1e4, -1.0)],
    "log": [(-INF, NAN), (-1.0, NAN), (0.0, -INF), (-0.0, -INF), (1.0, 0.0), (INF, INF), (NAN, NAN)],
    "log1p": [(-INF, NAN), (-2.0, NAN), (-1.0, -INF), (0.0, 0.0), (-0.0, -0.0), (INF, INF), (NAN, NAN)],
    "tanh": [(-INF, -1.0), (INF, 1.0), (0.0, 0.0), (-0.0, -0.0), (30.0, 1.0), (-30.0, -1.0), (NAN, NAN)],
    "sqrt": [(-INF, NAN), (-1.0, NAN), (0.0, 0.0), (-0.0, -0.0), (4.0, 2.0), (INF, INF), (NAN, NAN)],
    "fabs": [(-INF, INF), (-0.0, 0.0), (-1.5, 1.5), (1.5, 1.5), (NAN, NAN)],
}


def assert_same(computed, expected, where):
    """Equal, nan for nan, and zeros of the same sign."""
    np.testing.assert_array_equal(computed, expected, err_msg=str(where))
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(computed[zero]), np.signbit(expected[zero]), err_msg=str(where))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_unary_table(name, dtype, evaluate):
    x, expected = np.array(UNARY[name], dtype).T
    assert_same(evaluate(name, np.ascontiguousarray(x)), expected, x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["expm1", "log1p", "tanh"])
def test_subnormal_arguments_are_returned(name, dtype, evaluate):
    tiny = np.finfo(dtype).smallest_subnormal
    x = np.array([1, -1, 2, 3, -5, 1000, 99_999], dtype) * tiny
    np.testing.assert_array_equal(evaluate(name, x), x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_log_of_subnormal_numbers(dtype, evaluate):
    info = np.finfo(dtype)
    steps = np.arange(1, info.nmant + 1).astype(dtype)
    x = info.smallest_subnormal * dtype(2) ** (steps - 1)
    exact = (steps.astype(np.float64) - 1 + info.minexp - info.nmant) * np.log(2)
    np.testing.assert_allclose(evaluate("log", x), exact, rtol=2 * info.eps)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_ends_of_the_range_of_exp(dtype, evaluate):
    info = np.finfo(dtype)
    exact = np.longdouble if np.finfo(np.longdouble).nmant > 52 else np.float64
    top = dtype(np.log(exact(info.max)))
    if exact(top) > np.log(exact(info.max)):
        top = np.nextafter(top, dtype(0))
    above = np.nextafter(top, dtype(INF))
    bottom = dtype(-708.3964185322641 if dtype == np.float64 else -87.33654)
    below = np.nextafter(bottom, dtype(-INF))
    values = evaluate("exp", np.array([top, above, bottom, below], dtype))
    assert 0.99 * float(info.max) < float(values[0]) < INF
    assert values[1] == INF
    # The least argument gives a normal number; the next below is flushed.
    assert info.tiny <= values[2] < 1.0001 * info.tiny
    assert values[3] == 0
    assert evaluate("expm1", np.array([top, above], dtype)).tolist() == [float(values[0]), INF]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", DTYPES)
def test_pow_follows_the_c_standard(dtype, evaluate):
    odd, even = 2.0**24 - 1, 2.0**24
    special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        -2.0,
        0.5,
        -0.5,
        3.0,
        -3.0,
        2.5,
        -2.5,
        2.7,
        INF,
        -INF,
        NAN,
        odd,
        even,
    ]
    special += [2.0**52 + 1, 2.0**53 - 1, 2.0**53, -(2.0**53) + 1, 1e30, -1e30, 1e-30, 4e-320]
    x, y = (np.ascontiguousarray(a.ravel()) for a in np.meshgrid(np.array(special, dtype), special))
    y = y.astype(dtype)
    expected = np.power(x, y)
    computed = evaluate("pow", x, y)
    subnormal = np.abs(expected) < np.finfo(dtype).tiny
    expected[subnormal] = np.copysign(0, expected[subnormal])
    plain = ~np.isfinite(expected) | (np.abs(expected) == 1) | (expected == 0)
    assert_same(computed[plain], expected[plain], (x[plain], y[plain]))
    np.testing.assert_allclose(computed, expected, rtol=2 * np.finfo(dtype).eps)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", DTYPES)
def test_integer_pow_of_special_numbers(dtype):
    @njit
    def powers(x, n, out):
        for i in range(out.shape[0]):
            out[i] = kernreg.jit.pow(x[i], n)

    x = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.25, INF, -INF, NAN, 1e30, -1e30, 1e-30], dtype)
    info = np.finfo(dtype)
    for n in (-100_001, -64, -63, -5, -4, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 63, 64, 101):
        out = np.empty_like(x)
        powers(x, n, out)
        expected = np.power(x, dtype(n))
        if abs(n) >= 64 and dtype == np.float64:
            subnormal = np.abs(expected) < info.tiny
            expected[subnormal] = np.copysign(0, expected[subnormal])
        np.testing.assert_allclose(out, expected, rtol=2 * info.eps, atol=2 * info.smallest_subnormal, err_msg=str(n))
        exact = ~np.isfinite(expected) | (expected == 0)
        assert_same(out[exact], expected[exact], n)


def test_an_odd_exponent_beyond_the_integers_of_float64_keeps_the_sign():
    power = njit(lambda x, n: kernreg.jit.pow(x, n))
    assert power(-1.0, 2**53 + 1) == -1.0
    assert power(np.float32(-1.0), 2**24 + 1) == -1.0
    assert power(-1.0, np.uint64(2**63 + 1)) == -1.0
    assert power(2.0, np.uint8(3)) == 8.0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_maximum_and_minimum_are_those_of_numpy(name, dtype, evaluate):
    values = np.array([-INF, -1.0, 0.0, 2.0, INF, NAN], dtype)
    x, y = (np.ascontiguousarray(a.ravel()) for a in np.meshgrid(values, values))
    np.testing.assert_array_equal(evaluate(name, x, y), getattr(np, name)(x, y))
