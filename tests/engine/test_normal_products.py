"""KᵀD(KV - 1sᵀ) by strips, against the matrix."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg.engine import normal_products
from kernreg.engine.operator import KernelOperator, normal_product_of

rng = np.random.default_rng(1)
X, Z, WIDE = rng.normal(size=(700, 3)), rng.normal(size=(300, 3)), rng.normal(size=(700, 80))
V, shift, weights = rng.normal(size=(300, 4)), rng.normal(size=4), rng.random(700)


def expected(K, D):
    U = D[:, None] * (K.astype(np.float64) @ V - shift)
    return np.vstack([K.T.astype(np.float64) @ U, U.sum(axis=0)])


def close(got, wanted, tolerance=1e-12):
    np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance * np.abs(wanted).max())


@pytest.mark.parametrize("spec", ["rbf(sigma=2.0)", "laplacian(sigma=2.0)", "tanh(c=0.1)", "sne(sigma=1.0)"])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_product_with_the_matrix(spec, weighted):
    k, D = kr.make_kernel(spec), weights if weighted else None
    found = k.operator(X, Z).normal_product(V, shift, D)
    close(found, expected(k(X, Z), np.ones(700) if D is None else D))


@pytest.mark.parametrize("spec", ["rbf(sigma=9.0)", "laplacian(sigma=50.0)"])
@pytest.mark.parametrize("values", [1, 300 * 40, 1 << 20])
def test_the_height_of_strips_does_not_matter(monkeypatch, spec, values):
    monkeypatch.setattr(normal_products, "_STRIP", values)
    k = kr.make_kernel(spec)
    close(k.operator(WIDE, WIDE[:300]).normal_product(V, shift, weights), expected(k(WIDE, WIDE[:300]), weights))


def test_float32_values_are_multiplied_in_float64():
    k, A, B = kr.make_kernel("rbf(sigma=2.0)"), X.astype(np.float32), Z.astype(np.float32)
    found = k.operator(A, B).normal_product(V, shift, weights)
    assert found.dtype == np.float64
    close(found, expected(k(A, B), weights))


def test_sparse_samples_and_plain_matrices_take_two_products():
    S = sp.csr_array(X * (rng.random(X.shape) < 0.3))
    k = kr.make_kernel("rbf(sigma=2.0)")
    operator = k.operator(S, S[:300])
    assert isinstance(operator, KernelOperator)
    close(operator.normal_product(V, shift, weights), expected(k(S, S[:300]), weights), 1e-11)
    K = k(X, Z)
    close(normal_product_of(K, V, shift, weights), expected(K, weights))
    close(normal_product_of(K, V, shift), expected(K, np.ones(700)))
