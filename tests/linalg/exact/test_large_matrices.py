"""Factors, inverses and products taken apart into blocks: against LAPACK and BLAS on the whole, at a size both can."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import lapack

from kernreg.linalg.exact import large_matrices
from kernreg.linalg.exact.large_matrices import cholesky, inverse_from, symmetric_product

N = 61


@pytest.fixture(autouse=True, params=[(16, 40), (7, 7), (64, 64)], ids=str)
def blocks(request, monkeypatch):
    """Everything is large, in blocks that do not divide it; the last is larger than it."""
    block, high = request.param
    monkeypatch.setattr(large_matrices, "LARGEST", 0)
    monkeypatch.setattr(large_matrices, "_BLOCK", block)
    monkeypatch.setattr(large_matrices, "_HIGH", high)


def definite(dtype=np.float64):
    A = np.random.default_rng(0).standard_normal((N, N + 5)).astype(dtype)
    return np.asfortranarray(A @ A.T)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 2e-3)])
def test_a_factor_is_that_of_lapack_and_leaves_the_other_triangle(lower, dtype, tolerance):
    M = definite(dtype)
    W = M.copy(order="F")
    marks = np.tril_indices(N, -1) if not lower else np.triu_indices(N, 1)
    W[marks] = 7.0
    factor, failed = cholesky(W, lower=lower)
    assert failed == 0
    assert factor is W
    assert np.all(W[marks] == 7.0)
    own = np.tril(W) if lower else np.triu(W)
    expected = lapack.dpotrf(M.astype(np.float64), lower=int(lower))[0]
    assert np.abs(own - expected).max() < tolerance * np.abs(expected).max()
    assert W.dtype == dtype


@pytest.mark.parametrize("at", [1, 20, N])
def test_the_minor_that_is_not_positive_is_told(at):
    M = definite()
    M[at - 1, at - 1] = -1.0
    expected = lapack.dpotrf(M)[1]
    assert 0 < cholesky(M, lower=False)[1] == expected <= at


def test_the_inverse_from_a_factor_is_the_inverse():
    M = definite()
    factor, _ = lapack.dpotrf(M, lower=0, clean=0)
    other, triangle = np.tril_indices(N, -1), np.triu_indices(N)
    kept = factor[other].copy()
    inverse = inverse_from(factor)
    assert np.allclose(inverse[triangle], np.linalg.inv(M)[triangle], rtol=1e-9, atol=1e-12)
    assert np.array_equal(inverse[other], kept)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("add", [False, True])
def test_a_symmetric_product_fills_one_triangle(lower, add):
    rng = np.random.default_rng(1)
    A, C = rng.standard_normal((N, 9)), np.asfortranarray(rng.standard_normal((N, N)))
    expected = -2.0 * A @ A.T + (C if add else 0.0)
    before = C.copy()
    found = symmetric_product(A, C, alpha=-2.0, add=add, lower=lower)
    triangle, other = (
        (np.tril_indices(N), np.triu_indices(N, 1)) if lower else (np.triu_indices(N), np.tril_indices(N, -1))
    )
    assert np.allclose(found[triangle], expected[triangle], rtol=1e-12, atol=1e-12)
    assert np.array_equal(found[other], before[other])
