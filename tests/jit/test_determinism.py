"""A value does not depend on where in an array it stands, nor on how the caller is compiled."""

import numpy as np
import pytest
from numba import njit

import kernreg.jit

FUNCTIONS = ("exp", "expm1", "log", "log1p", "tanh", "pow")
OPTIONS = {
    "plain": {},
    "contracted": {"fastmath": ("arcp", "contract"), "error_model": "numpy"},
}


def arguments(name, dtype, n):
    rng = np.random.default_rng(7)
    x = rng.uniform(0.01, 6, n).astype(dtype)
    if name in ("exp", "expm1", "tanh"):
        x -= dtype(3)
    return (x, rng.uniform(-4, 4, n).astype(dtype)) if name == "pow" else (x,)


def bits(a):
    return a.view(np.int64 if a.dtype == np.float64 else np.int32)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_bits_at_every_position_and_length(name, dtype, options, evaluate):
    arrays = arguments(name, dtype, 200)
    whole = evaluate(name, *arrays, **OPTIONS[options])
    np.testing.assert_array_equal(bits(whole), bits(evaluate(name, *arrays)))
    for n in range(1, 71):
        for start in (0, n % 7):
            part = evaluate(name, *(a[start : start + n] for a in arrays), **OPTIONS[options])
            np.testing.assert_array_equal(bits(part), bits(whole[start : start + n]))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_bits_under_full_fastmath_and_wide_vectors(name, evaluate):
    """The flags of the caller do not reach into the functions: reassociation would destroy them."""
    function = getattr(kernreg.jit, name)
    arrays = arguments(name, np.float64, 203)
    if name == "pow":

        @njit(fastmath=True)
        def loop(x, y, out):
            kernreg.jit.wide()
            for i in range(out.shape[0]):
                out[i] = function(x[i], y[i])

    else:

        @njit(fastmath=True)
        def loop(x, out):
            kernreg.jit.wide()
            for i in range(out.shape[0]):
                out[i] = function(x[i])

    out = np.empty_like(arrays[0])
    loop(*arrays, out)
    np.testing.assert_array_equal(bits(out), bits(evaluate(name, *arrays)))


def test_integer_powers_do_not_depend_on_the_position():
    @njit(nogil=True, fastmath={"contract"})
    def powers(x, degree, out):
        for i in range(out.shape[0]):
            out[i] = kernreg.jit.pow(x[i], degree)

    x = np.random.default_rng(8).uniform(-2, 2, 71)
    for degree in (2, 3, 5, 9, -7, 70):
        whole, part = np.empty(71), np.empty(71)
        powers(x, degree, whole)
        for n in range(1, 71):
            powers(x[:n], degree, part[:n])
            np.testing.assert_array_equal(bits(part[:n]), bits(whole[:n]))
