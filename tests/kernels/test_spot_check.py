"""A kernel whose compiled code computes something else than its Python function is told, and no other is."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg import kernel
from kernreg.errors import DataError, FormulaWarning, RangeWarning
from kernreg.jit import exp

X = np.random.default_rng(0).normal(size=(20, 4))


def halved(s, n=3):
    return s * 2**-n


def wrapped_power(s, n=30):
    return s / n**15


def wrapped_factorial(s, n=25):
    product = 1
    for factor in range(1, n):
        product *= factor
    return s / product


def shifted(s, n=7):
    return s * (1 << n * 10)


def infinite(s, n=70):
    return s / 2**n


WRONG = (halved, wrapped_power, wrapped_factorial, shifted, infinite)


@pytest.mark.filterwarnings("ignore::kernreg.errors.RangeWarning")
@pytest.mark.parametrize("function", WRONG)
@pytest.mark.parametrize("samples", [X, X.astype(np.float32), sp.csr_array(X)], ids=["float64", "float32", "sparse"])
def test_integers_that_compiled_code_computes_otherwise_are_told_once(function, samples):
    k = kernel(of="sqeuclidean")(function)()
    with pytest.warns(FormulaWarning, match="the Python function gives .* 2.0 \\*\\* -n") as heard:
        k(samples)
    assert [warning.filename for warning in heard if warning.category is FormulaWarning] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error", FormulaWarning)
        k(samples)  # once is enough


def test_every_value_of_an_integer_is_looked_at():
    family = kernel(of="dot")(halved)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        family(n=0)(X)
    with pytest.warns(FormulaWarning):
        family(n=1)(X)


@pytest.mark.parametrize("how", ["blocks", "operator", "rows", "bind", "fit"])
def test_it_is_told_however_the_kernel_is_used(how):
    k = kernel(of="sqeuclidean", symmetric=True)(halved)(n=5)
    ask = {
        "blocks": lambda: list(k.blocks(X)),
        "operator": lambda: k.operator(X) @ np.ones(20),
        "rows": lambda: k.rows(X, None, 0, 2),
        "bind": lambda: k.diagonal(X),
        "fit": lambda: kr.make_solver("kpca", kernel=k, n_components=2).fit(X),
    }[how]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        ask()
    assert any(warning.category is FormulaWarning for warning in heard)


def root(s):
    return math.sqrt(-s)  # plain Python raises, compiled code gives nan


def compared(x, y):
    total = 0.0
    for d in range(len(x)):
        if x[d] > y[d]:
            total += 1.0
    return total / len(x)


def weighted(d2, sigma="scale", n=2, strong=True):
    return exp(-d2 / sigma**2) * (n if strong else 1 / n)


def tiny(s):
    return exp(-(s**2)) * 1e-30


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_formulas_that_both_read_alike_are_not_told(dtype):
    samples = X.astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", RangeWarning)
        kernel(of="dot")(root)()(samples)
        kernel(of="rows")(compared)()(samples)
        kernel(of="sqeuclidean", normalize="rows")(weighted)()(samples)
        kernel(of="dot")(tiny)()(100 * samples)
        kernel(of="dot", name="one-less")(lambda s: s - 1.0)()(samples)
        kernel(of="sqeuclidean")(weighted)(sigma=2.0, n=3, strong=False)(samples[:1])
        kernel(of="sqeuclidean")(weighted)(n=4)(np.ones((5, 3), dtype=dtype))
        kernel(of="sqeuclidean")(weighted)(n=5)(np.empty((0, 3), dtype=dtype), samples[:, :3])


def third_feature(x, y):
    return x[2] * y[2]


@pytest.mark.parametrize("how", ["call", "operator", "fit"])
def test_a_function_that_reads_beyond_the_features_is_refused_every_time(how):
    k = kernel(of="rows", symmetric=True)(third_feature)()
    few, y = X[:, :2], np.tile([-1, 1], 10)
    ask = {
        "call": lambda: k(few),
        "operator": lambda: k.operator(few) @ np.ones(20),
        "fit": lambda: kr.make_solver("ls-svm", kernel=k).fit(few, y),
    }[how]
    np.testing.assert_allclose(k(X), np.outer(X[:, 2], X[:, 2]))
    for _ in range(2):
        with pytest.raises(DataError, match=r"samples of 2 features do not have .*index 2 is out of bounds"):
            ask()
