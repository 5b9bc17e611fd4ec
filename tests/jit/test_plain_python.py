"""The same names outside jitted code: numbers, numpy scalars, arrays, and NUMBA_DISABLE_JIT=1."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import float32, int64, njit
from numba.core.errors import TypingError

import kernreg.jit as kj


def test_python_numbers_give_python_floats():
    for value in (kj.exp(1), kj.log(2.0), kj.pow(2, 3), kj.pow(2, -1), kj.maximum(1, 2.5), kj.sqrt(True)):
        assert type(value) is float
    assert kj.pow(2, -1) == 0.5
    assert kj.exp(1) == np.e


def test_no_exception_and_no_warning_outside_the_domain():
    assert kj.exp(1e4) == np.inf
    assert kj.expm1(1e4) == np.inf
    assert kj.log(0) == -np.inf
    assert np.isnan(kj.log(-1.0))
    assert np.isnan(kj.log1p(-2.0))
    assert np.isnan(kj.sqrt(-1.0))
    assert kj.pow(0.0, -1) == np.inf
    assert np.isnan(kj.pow(-2.0, 0.5))
    assert kj.wide() is None


def test_types_are_those_of_jitted_code():
    x = np.float32(2)
    assert kj.exp(x).dtype == np.float32
    assert kj.pow(x, 3).dtype == np.float32
    assert kj.pow(x, np.int64(3)).dtype == np.float32
    assert kj.maximum(x, 0).dtype == np.float32
    assert kj.pow(x, np.float64(3)).dtype == np.float64

    @njit
    def calls(x, n):
        return kj.exp(x), kj.pow(x, n), kj.maximum(x, n), kj.exp(n)

    calls.compile((float32, int64))
    kinds = [str(kind) for kind in calls.nopython_signatures[0].return_type]
    assert kinds == ["float32", "float32", "float32", "float64"]


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "tanh", "sqrt", "fabs"])
def test_arrays_go_to_numpy(name):
    x = np.linspace(0.1, 3, 12).reshape(3, 4)
    result = getattr(kj, name)(x)
    np.testing.assert_array_equal(result, getattr(np, name)(x))
    assert getattr(kj, name)(x.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "tanh", "sqrt"])
def test_jitted_and_plain_agree(name, evaluate):
    x = np.linspace(0.01, 5, 1000)
    np.testing.assert_allclose(evaluate(name, x), getattr(kj, name)(x), rtol=5e-16)


@pytest.mark.parametrize("argument", [np.ones(2), 1j, "x"])
def test_other_arguments_are_refused_with_a_reason(argument):
    for function in (lambda x: kj.exp(x), lambda x: kj.pow(x, 2), lambda x: kj.pow(2.0, x)):
        with pytest.raises(TypingError, match=r"takes real numbers, and was given"):
            njit(function)(argument)


def test_jit_disabled():
    code = """
import numpy as np
from numba import njit
from kernreg.jit import exp, pow, wide

@njit(nogil=True)
def loop(x, out):
    wide()
    for i in range(out.shape[0]):
        out[i] = exp(-x[i]) + pow(x[i], 2)

x = np.array([0.0, 1.0, 1e9])
out = np.empty(3)
loop(x, out)
assert not hasattr(loop, "signatures")
assert out.tolist() == [1.0, np.exp(-1.0) + 1.0, 1e18], out
"""
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"})
