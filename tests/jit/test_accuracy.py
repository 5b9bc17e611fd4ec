"""Errors in ulp, against numpy's longdouble functions on many numbers and against mpmath on some."""

import mpmath
import numpy as np
import pytest
from numba import njit

import kernreg.jit

DTYPES = (np.float64, np.float32)
LONG = np.finfo(np.longdouble).nmant >= 63
longdouble_needed = pytest.mark.skipif(not LONG, reason="longdouble is not wider than float64 here")

# The bounds that the docstrings state.
BOUND = {"exp": 1.2, "expm1": 1.3, "log": 1.0, "log1p": 1.5, "tanh": 1.0, "sqrt": 0.501}

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def samples(name, dtype, all_binades, n=60_000):
    """Random bits, the whole range, the neighbourhood of 1 and small numbers of both signs."""
    rng = np.random.default_rng(1)
    reach = 709.0 if dtype == np.float64 else 88.0
    small = 10.0 ** rng.uniform(-20, 0, n) * rng.choice([-1, 1], n)
    parts = {
        "exp": (rng.uniform(-reach, reach, n), rng.uniform(-1, 1, n), small),
        "expm1": (rng.uniform(-reach, reach, n), rng.uniform(-2, 2, n), small),
        "log": (rng.uniform(0.5, 2, n), 1 + small, rng.uniform(0, 1000, n)),
        "log1p": (rng.uniform(-1, 3, n), small, rng.uniform(0, 1000, n), small - 1),
        "tanh": (rng.uniform(-25, 25, n), rng.uniform(-2, 2, n), small),
        "sqrt": (rng.uniform(0, 1000, n),),
    }
    arrays = [all_binades(dtype, n), *(part.astype(dtype) for part in parts[name])]
    return np.concatenate(arrays)


@longdouble_needed
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BOUND)
def test_error_is_within_the_documented_bound(name, dtype, evaluate, ulps, all_binades):
    x = samples(name, dtype, all_binades)
    exact = getattr(np, name)(x.astype(np.longdouble))
    computed = evaluate(name, x)
    assert computed.dtype == dtype
    assert ulps(computed, exact).max() < BOUND[name]
    # Where the result is no number, or too great, or zero, it is what it has to be.
    rounded = exact.astype(dtype)
    special = ~np.isfinite(rounded) | (rounded == 0)
    np.testing.assert_array_equal(computed[special], rounded[special])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*BOUND, "pow"])
def test_error_against_mpmath(name, dtype, evaluate):
    rng = np.random.default_rng(2)
    reach = 700.0 if dtype == np.float64 else 86.0
    x = np.concatenate([rng.uniform(1e-3, 10, 100), np.exp(rng.uniform(-reach, reach, 100))]).astype(dtype)
    if name in ("exp", "expm1", "tanh"):
        x[100:] = rng.uniform(-reach, reach, 100).astype(dtype)
    arrays = [x]
    if name == "pow":
        arrays.append((rng.uniform(-reach, reach, 200) / np.log(x.astype(np.float64))).astype(dtype))
    computed = evaluate(name, *arrays)
    function = mpmath.power if name == "pow" else getattr(mpmath, name)
    with mpmath.workprec(200):
        for value, *arguments in zip(computed, *arrays, strict=True):
            exact = function(*(mpmath.mpf(float(a)) for a in arguments))
            error = abs(mpmath.mpf(float(value)) - exact) / float(np.spacing(abs(dtype(float(exact)))))
            assert error < BOUND.get(name, 1.5), arguments


@longdouble_needed
@pytest.mark.parametrize("dtype", DTYPES)
def test_pow_is_accurate_up_to_the_overflow_threshold(dtype, evaluate, ulps):
    rng = np.random.default_rng(3)
    n = 60_000
    reach = 708.0 if dtype == np.float64 else 87.0
    bases = [
        np.exp(rng.uniform(-reach, reach, n)),
        rng.uniform(0.5, 2.0, n),
        1 + rng.uniform(-1, 1, n) * 10.0 ** rng.uniform(-6, 0, n),
    ]
    x = np.concatenate(bases).astype(dtype)
    x[(x == 1) | (x == 0)] = 2
    y = (rng.uniform(-reach, reach, 3 * n) / np.log(x.astype(np.longdouble))).astype(dtype)
    exact = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
    assert ulps(evaluate("pow", x, y), exact).max() < 1.5


@njit(nogil=True)
def powers(x, degree, out):
    for i in range(out.shape[0]):
        out[i] = kernreg.jit.pow(x[i], degree)


@longdouble_needed
@pytest.mark.parametrize("dtype", DTYPES)
def test_integer_powers(dtype, ulps):
    rng = np.random.default_rng(4)
    reach = 708.0 if dtype == np.float64 else 87.0
    for degree in (-1000, -64, -63, -5, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8, 13, 63, 64, 1001):
        r = reach / abs(degree)
        x = (np.exp(rng.uniform(-r, r, 20_000)) * rng.choice([-1, 1], 20_000)).astype(dtype)
        out = np.empty_like(x)
        powers(x, degree, out)
        exact = np.power(x.astype(np.longdouble), np.longdouble(degree))
        assert ulps(out, exact).max() < 2.0, degree
        if abs(degree) < 64 and degree != 3:
            # Away from underflow the rounding errors are carried along: all but correctly rounded.
            safe = np.abs(exact) > float(np.finfo(dtype).tiny) / float(np.finfo(dtype).eps) ** 2
            assert ulps(out[safe], exact[safe]).max() < 0.51, degree
    for degree in (0, 1, 2):
        powers(x, degree, out)
        np.testing.assert_array_equal(out, x**degree)


@pytest.mark.parametrize("dtype", DTYPES)
def test_exp_never_exceeds_one_below_zero(dtype, evaluate):
    """A kernel exp(-d²/σ²) is 1 on the diagonal and nowhere greater."""
    x = -np.concatenate([[0.0], np.logspace(-320, 2, 10_000)]).astype(dtype)
    values = evaluate("exp", x)
    assert values[0] == 1.0
    assert values.max() == 1.0
