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


@pytest.mark.parametrize("name", KERNELS)
def test_few_matrices_are_held(name):
    kernel, matrices = KERNELS[name]
    expected = kernel(X)
    out = np.empty_like(expected)
    with kr.config_context(memory=int(1.3 * SIZE)):
        kernel(X[:10])
        memory.release()  # recycled memory is not counted
        tracemalloc.start()
        try:
            found = kernel(X)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(kernel(X, out=out), expected, rtol=1e-12, atol=1e-14)
    assert peak < matrices * SIZE
