"""Products with K that never hold K: fused blocks, and separable plus sparse."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg, svds

import kernreg as kr
from kernreg import kernel
from kernreg.kernels.builtin import linear, poly, rbf, sne, tanh_

SPECS = ("rbf(sigma=2.0)", "laplacian", "linear", "poly", "sne", "t(self_term=False)", "chi2", "kl-gaussian", "matern")


def table(n, d, seed=0):
    return np.random.default_rng(seed).random((n, d)) + 0.1


def sparse_table(n, d, seed=0, per_row=4):
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n), per_row)
    values = rng.random(n * per_row) - 0.2
    return sp.csr_array((values, (rows, rng.integers(0, d, n * per_row))), shape=(n, d))


@pytest.mark.parametrize("d", [6, 64])
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("square", [True, False])
def test_products_equal_those_with_the_matrix(spec, d, square, rng):
    k, X = kr.make_kernel(spec), table(530, d)
    Z = None if square else table(301, d, 1)
    K, A = k(X, Z), k.operator(X, Z)
    n, m = K.shape
    assert isinstance(A, LinearOperator)
    assert A.shape == K.shape
    assert A.dtype == np.float64
    v, V, w, W = rng.normal(size=m), rng.normal(size=(m, 3)), rng.normal(size=n), rng.normal(size=(n, 2))
    bar = 1e-13 * np.abs(K).max() * max(K.shape)
    for found, expected in (
        (A @ v, K @ v),
        (A.matvec(v), K @ v),
        (A @ v[:, None], (K @ v)[:, None]),
        (A @ V, K @ V),
        (A.matmat(V), K @ V),
        (A.rmatvec(w), K.T @ w),
        (A.rmatmat(W), K.T @ W),
        (A.adjoint() @ w, K.T @ w),
        (A.H @ W, K.T @ W),
        (A.T @ w, K.T @ w),
        (A.T.T @ v, K @ v),
        (A.T.rmatvec(v), K @ v),
    ):
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=0, atol=bar)


def test_products_with_integers_complex_numbers_and_other_layouts(rng):
    X, Z = table(40, 3), table(30, 3, 1)
    K, A = rbf()(X, Z), rbf().operator(X, Z)
    np.testing.assert_allclose(A @ np.arange(30), K @ np.arange(30.0), rtol=1e-13)
    v = rng.normal(size=30) + 1j * rng.normal(size=30)
    np.testing.assert_allclose(A @ v, K @ v, rtol=1e-12)
    V = np.asfortranarray(rng.normal(size=(30, 4)))
    np.testing.assert_allclose(A @ V[:, ::2], K @ V[:, ::2], rtol=1e-12, atol=1e-12)
    assert (A @ np.empty((30, 0))).shape == (40, 0)


def test_float32_products_stay_float32():
    X, Z = table(300, 5).astype(np.float32), table(290, 5, 1).astype(np.float32)
    A, v = rbf().operator(X, Z), np.ones(290, dtype=np.float32)
    assert A.dtype == np.float32
    assert (A @ v).dtype == np.float32
    np.testing.assert_allclose(A @ v, rbf()(X.astype(float), Z.astype(float)).sum(axis=1), rtol=1e-5)
    mixed = (rbf() * linear()).operator(X, Z.astype(np.float64))
    assert mixed.dtype == np.float64


def test_scipys_solvers_run_on_operators(rng):
    X = table(200, 3)
    K, A = rbf()(X), rbf().operator(X)
    y = rng.normal(size=200)
    shifted = A + 0.5 * LinearOperator((200, 200), matvec=lambda v: v, rmatvec=lambda v: v, dtype=float)
    solution, failed = cg(shifted, y, rtol=1e-10)
    assert failed == 0
    np.testing.assert_allclose(solution, np.linalg.solve(K + 0.5 * np.eye(200), y), rtol=0, atol=1e-7)
    values = svds(sne().operator(X), k=3, return_singular_vectors=False, rng=0)
    np.testing.assert_allclose(np.sort(values), np.linalg.svd(sne()(X))[1][2::-1], rtol=1e-9)


def test_products_never_hold_the_matrix(rng):
    X = table(6000, 4)  # K would be 288 MB
    A, v = rbf().operator(X), rng.normal(size=6000)
    A @ v
    tracemalloc.start()
    result = A @ v
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6
    np.testing.assert_allclose(result[[0, 5999]], rbf()(X[[0, 5999]], X) @ v, rtol=1e-10)


# separable plus sparse -----------------------------------------------------------------------------------------

SEPARABLE = {
    "rbf": lambda: rbf(sigma=1.5),
    "sne": lambda: sne(sigma=1.5),
    "linear": linear,
    "poly": lambda: poly(degree=3, c=0.7),
    "tanh": lambda: tanh_(c=0.8, t=0.3),
}


@pytest.mark.parametrize("name", SEPARABLE)
@pytest.mark.parametrize("square", [True, False])
def test_sparse_samples_take_the_separable_form_and_its_products_are_exact(name, square, rng):
    k, X = SEPARABLE[name](), sparse_table(600, 5000)
    Z = None if square else sparse_table(450, 5000, 1)
    A, K = k.operator(X, Z), k(X.toarray(), None if square else Z.toarray())
    assert A.form == "separable"
    bar = 1e-12 * np.abs(K).sum(axis=1).max()
    for side in (rng.normal(size=K.shape[1]), rng.normal(size=(K.shape[1], 3))):
        np.testing.assert_allclose(A @ side, K @ side, rtol=0, atol=bar)
    side = rng.normal(size=(K.shape[0], 2))
    np.testing.assert_allclose(A.T @ side, K.T @ side, rtol=0, atol=1e-12 * np.abs(K).sum(axis=0).max())
    np.testing.assert_allclose(A.T @ side[:, 0], K.T @ side[:, 0], rtol=0, atol=1e-12 * np.abs(K).sum(axis=0).max())


def test_bound_sne_is_separable_in_both_directions(rng):
    Z, new = sparse_table(500, 4000), sparse_table(300, 4000, 1)
    k = sne(sigma=1.5).bind(Z)
    for X, W in ((new, Z), (Z, new), (Z, Z)):
        A, K = k.operator(X, W), k(X.toarray(), W.toarray())
        A_dense = k.operator(X.toarray(), W.toarray())
        v = rng.normal(size=K.shape[1])
        assert A.form == "separable"
        assert A_dense.form == "blocks"
        np.testing.assert_allclose(A @ v, K @ v, rtol=0, atol=1e-12)
        np.testing.assert_allclose(A_dense @ v, K @ v, rtol=0, atol=1e-12)


def test_a_third_party_kernel_of_the_inner_product_is_separable(rng):
    @kernel(of="dot", symmetric=True)
    def shifted_cube(dot, c=2.0):
        return (dot - c) * (dot - c) * (dot - c)

    X = sparse_table(400, 3000)
    A = shifted_cube().operator(X)
    v = rng.normal(size=400)
    assert A.form == "separable"
    np.testing.assert_allclose(A @ v, shifted_cube()(X.toarray()) @ v, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("reason", "k", "X"),
    [
        ("norms whose exponentials underflow", rbf(sigma=0.02), sparse_table(300, 5000)),
        ("inner products whose exponentials overflow", sne(sigma=0.02), sparse_table(300, 5000)),
        ("different norms", sne(sigma=1.0), sp.vstack([sparse_table(150, 5000), 40.0 * sparse_table(150, 5000, 1)])),
        ("too many shared features", rbf(), sparse_table(300, 20)),
        ("single precision", rbf(), sparse_table(300, 5000).astype(np.float32)),
        ("no self term", sne(self_term=False), sparse_table(300, 5000)),
        ("no factorisation", kr.make_kernel("laplacian"), sparse_table(300, 5000)),
    ],
)  # fmt: skip
def test_where_the_separable_form_is_unsafe_or_no_gain_blocks_are_used(reason, k, X, rng):
    X = sp.csr_array(X)
    A, K = k.operator(X), k(X.toarray())
    v = rng.normal(size=K.shape[1])
    assert A.form == "blocks"
    bar = (1e-12 if X.dtype == np.float64 else 1e-4) * np.abs(K).sum(axis=1).max()
    np.testing.assert_allclose(A @ v, K @ v, rtol=0, atol=bar)
    np.testing.assert_allclose(A.T @ v, K.T @ v, rtol=0, atol=bar)


def test_a_function_that_is_infinite_at_zero_is_not_separable(rng):
    @kernel(of="dot")
    def reciprocal(dot):
        return 1.0 / dot

    assert reciprocal().operator(sparse_table(300, 5000)).form == "blocks"


def test_separable_products_take_memory_of_the_shared_features_only(rng):
    X = sparse_table(20_000, 100_000)  # K would be 3.2 GB
    A, v = sne().operator(X), rng.normal(size=20_000)
    tracemalloc.start()
    result = A @ v
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert A.form == "separable"
    assert peak < 5e6
    rows = [0, 777, 19_999]
    np.testing.assert_allclose(result[rows], sne()(X[rows], X) @ v, rtol=0, atol=1e-12)
