"""Transposed, symmetrised and shifted kernels hold little more than their matrix where memory is short."""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kernreg as kr
from kernreg.engine import memory
from kernreg.errors import MemoryBudgetError, MemoryBudgetWarning
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


def with_peak(call: Callable[[], Any]) -> tuple[Any, int]:
    """Return what a call returns, and how many bytes it held at most once everything is compiled."""
    call()
    memory.release()  # recycled memory is not counted
    tracemalloc.start()
    try:
        return call(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def matrix_and_peak(kernel, samples):
    return with_peak(lambda: kernel(samples))


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


COMBINED = [
    *("transpose('sne')", "symmetrize('sne')", "symmetrize('sne', how='left')", "centered(\"transpose('sne')\")"),
    *("add('rbf', 'sne')", "power('rbf', exponent=2)", "spectrum('tanh', method='square')"),
]


@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize("spec", COMBINED)
def test_a_matrix_beyond_the_budget_is_refused_before_anything_is_made(spec, bound):
    X = np.random.default_rng(0).normal(size=(300, 2))
    kernel = kr.make_kernel(spec)
    if bound:
        kernel = kernel.bind(X[:20])

    def refused() -> None:
        with pytest.raises(MemoryBudgetError, match="300 × 300"):
            kernel(X)

    with kr.config_context(memory=300 * 300 * 8 - 1):
        _, peak = with_peak(refused)
        assert peak < 100_000
        if bound:  # an open reference set is X, of which a matrix is needed
            assert kernel(X, out=np.empty((300, 300))).shape == (300, 300)


@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize("reference", ["the same", "others"])
@pytest.mark.parametrize("method", ["clip", "flip", "square"])
def test_corrected_spectra_in_pieces_have_the_values_of_the_formula(method, reference, bound):
    rng = np.random.default_rng(1)
    R, X, Z = rng.normal(size=(30, 3)), rng.normal(size=(50, 3)), rng.normal(size=(40, 3))
    tanh = kr.make_kernel("tanh")
    values, vectors = np.linalg.eigh(tanh(R))
    corrected = {"clip": np.maximum(values, 0.0), "flip": np.abs(values), "square": values**2}[method]
    Q = (vectors * corrected / values**2) @ vectors.T
    k = spectrum(tanh, method).bind(R) if bound else spectrum(tanh, method)
    if not bound:
        X, Z = (X, R) if reference == "others" else (R, R)
    elif reference == "the same":
        Z = X
    expected = tanh(X, R) @ Q @ tanh(R, Z)
    with kr.config_context(memory=len(X) * len(Z) * 8), warnings.catch_warnings():
        warnings.simplefilter("ignore", MemoryBudgetWarning)
        K = k(X) if reference == "the same" else k(X, Z)
    np.testing.assert_allclose(K, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    if reference == "the same":
        assert np.array_equal(K, K.T)


def test_a_corrected_spectrum_evaluates_little_more_than_the_matrix():
    rng = np.random.default_rng(2)
    R = rng.normal(size=(1200, 3))
    k = spectrum("tanh", "flip").bind(R)
    Z, size = R[:600].copy(), 1200 * 600 * 8
    with kr.config_context(memory=size):
        K, peak = with_peak(lambda: k(R, Z))
    assert K.nbytes == size
    assert peak < 3.0 * size


@pytest.mark.parametrize("kind", ["add", "multiply"])
def test_blocks_of_sums_and_products_take_their_second_part_piece_by_piece(kind):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(4100, 3))
    kernel, size = kr.make_kernel(f"{kind}('laplacian', 'tanh')"), 8 * 1024 * 4100
    expected = kernel(X) @ np.ones(4100)
    with kr.config_context(memory=int(1.2 * size)):
        found, peak = with_peak(lambda: kernel.operator(X) @ np.ones(4100))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    if kind == "multiply":  # a sum multiplies with each part
        assert peak < 1.8 * size


def test_products_with_a_whole_graph_copy_nothing_of_it():
    graph = (np.random.default_rng(4).random((600, 600)) < 0.2).astype(float)
    kernel = kr.make_kernel("adjacency", graph=graph)
    nodes, v = np.arange(600), np.ones((600, 2))
    K = kernel(nodes)

    def products() -> Any:
        operator = kernel.operator(nodes)
        return operator @ v, operator.T @ v

    (forward, backward), peak = with_peak(products)
    assert peak < 200_000  # 864 000 bytes are stored
    np.testing.assert_allclose(forward, K @ v)
    np.testing.assert_allclose(backward, K.T @ v)
    some = nodes[::-1]
    np.testing.assert_allclose(kernel.operator(some, nodes) @ v, K[::-1] @ v)
    np.testing.assert_allclose(kernel.operator(nodes, some).T @ v, K[:, ::-1].T @ v)
