"""Transposed, symmetrised and shifted kernels hold little more than their matrix where memory is short."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import kernreg as kr
from kernreg.engine import memory
from kernreg.kernels import spectrum, symmetrize
from kernreg.kernels.combinations.algebra import transpose

X = np.random.default_rng(0).normal(size=(1000, 3))
SIZE = 8 * len(X) ** 2
KERNELS = {  # with the number of matrices there is room for
    "transpose": (transpose("sne(sigma=2.0)"), 1.9),
    "transpose of rbf": (transpose("rbf(sigma=2.0)"), 1.9),
    "mean": (symmetrize("sne(sigma=2.0)", "mean"), 2.4),
    "shift": (spectrum("tl1(rho=2.0)", "shift"), 2.1),  # eigenvalues need a copy
}


def matrix_and_peak(kernel, samples):
    """Return K and how many bytes were held at most while it was made."""
    kernel(samples[:10])
    memory.release()  # recycled memory is not counted
    tracemalloc.start()
    try:
        return kernel(samples), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", KERNELS)
def test_few_matrices_are_held(name):
    kernel, matrices = KERNELS[name]
    expected = kernel(X)
    out = np.empty_like(expected)
    with kr.config_context(memory=int(1.3 * SIZE)):
        found, peak = matrix_and_peak(kernel, X)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(kernel(X, out=out), expected, rtol=1e-12, atol=1e-14)
    assert peak < matrices * SIZE


@pytest.mark.parametrize("how", ["sum", "product"])
def test_the_second_part_of_a_sum_takes_what_the_first_leaves_of_the_budget(how):
    samples = np.random.default_rng(0).normal(size=(1800, 3))
    left, right = kr.make_kernel("rbf(sigma=2.0)"), kr.make_kernel("sne(sigma=2.0)")
    kernel, size = left + right if how == "sum" else left * right, 8 * len(samples) ** 2
    with kr.config_context(memory=int(1.1 * size)):
        found, peak = matrix_and_peak(kernel, samples)
    expected = left(samples) + right(samples) if how == "sum" else left(samples) * right(samples)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    assert peak < 1.4 * size
