"""Transposed, symmetrised and shifted kernels hold one matrix where two would not fit in the memory budget."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import kernreg as kr
from kernreg.kernels import spectrum, symmetrize
from kernreg.kernels.combinations.algebra import transpose

X = np.random.default_rng(0).normal(size=(1000, 3))
SIZE = 8 * len(X) ** 2
KERNELS = {
    "transpose": transpose("sne(sigma=2.0)"),
    "transpose of rbf": transpose("rbf(sigma=2.0)"),
    "mean": symmetrize("sne(sigma=2.0)", "mean"),
    "shift": spectrum("tl1(rho=2.0)", "shift"),
}


@pytest.mark.parametrize("name", KERNELS)
def test_one_matrix_is_held(name):
    kernel = KERNELS[name]
    expected = kernel(X)
    out = np.empty_like(expected)
    with kr.config_context(memory=int(1.3 * SIZE)):
        kernel(X[:10])
        tracemalloc.start()
        try:
            found = kernel(X)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(kernel(X, out=out), expected, rtol=1e-12, atol=1e-14)
    assert peak < 1.9 * SIZE  # the matrix, and blocks of it
