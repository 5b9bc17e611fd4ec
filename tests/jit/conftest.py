"""What the tests of kernreg.jit share: compiled loops, samples that reach every binade, errors in ulp."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from numba import njit

import kernreg.jit

UNARY = ("exp", "expm1", "log", "log1p", "tanh", "sqrt", "fabs")
BINARY = ("pow", "maximum", "minimum")


@functools.cache
def _loop(name, options):
    function = getattr(kernreg.jit, name)
    keywords = {"nogil": True, **dict(options)}
    if "fastmath" in keywords and keywords["fastmath"] is not True:
        keywords["fastmath"] = set(keywords["fastmath"])
    if name in BINARY:

        @njit(**keywords)
        def loop(x, y, out):
            for i in range(out.shape[0]):
                out[i] = function(x[i], y[i])

    else:

        @njit(**keywords)
        def loop(x, out):
            for i in range(out.shape[0]):
                out[i] = function(x[i])

    return loop


@pytest.fixture(scope="session")
def compiled_loop():
    """compiled_loop(name, **jit_options): the jitted loop ``out[i] = name(x[i], ...)``."""

    def get(name, **options):
        return _loop(name, tuple(sorted(options.items())))

    return get


@pytest.fixture(scope="session")
def evaluate(compiled_loop):
    """evaluate(name, x, ..., **jit_options): the values that the jitted loop gives."""

    def values(name, *arrays, **options):
        out = np.empty_like(arrays[0])
        compiled_loop(name, **options)(*arrays, out)
        return out

    return values


@pytest.fixture(scope="session")
def ulps():
    """ulps(computed, exact): the errors in ulp where the exact value is a normal number."""

    def errors(computed, exact):
        dtype = computed.dtype
        rounded = exact.astype(dtype)
        normal = np.isfinite(rounded) & (np.abs(rounded) >= np.finfo(dtype).tiny)
        difference = np.abs(computed[normal].astype(exact.dtype) - exact[normal])
        return difference / np.spacing(np.abs(rounded[normal]))

    return errors


@pytest.fixture(scope="session")
def all_binades():
    """all_binades(dtype, n): numbers with random bits, subnormal, infinite and nan ones among them."""

    def sample(dtype, n, seed=0):
        integer = np.int64 if dtype == np.float64 else np.int32
        bounds = np.iinfo(integer)
        bits = np.random.default_rng(seed).integers(bounds.min, bounds.max, n, dtype=integer)
        return bits.view(dtype)

    return sample
