"""Kernels of sample indices: every block of a held matrix, and the adjacency of a graph."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from kernreg.errors import DataError, ParameterError
from kernreg.kernels import spectrum, symmetrize
from kernreg.kernels.builtin import rbf
from kernreg.kernels.indexed import adjacency, precomputed


@pytest.fixture
def K(rng):
    return rng.normal(size=(300, 300))


def test_precomputed_gives_any_block_of_the_held_matrix(K):
    k = precomputed(K=K)
    train, test = np.arange(0, 300, 2), np.arange(1, 300, 3)
    assert np.array_equal(k(train, test), K[np.ix_(train, test)])
    assert np.array_equal(k(test, train), K[np.ix_(test, train)])
    assert np.array_equal(k(train), K[np.ix_(train, train)])
    assert np.array_equal(k([2, 2, 0], [1]), K[[2, 2, 0]][:, [1]])


@pytest.mark.parametrize("index", [[3, 1], [[3], [1]], np.array([3.0, 1.0]), np.array([3, 1], dtype=np.uint8)])
def test_indices_may_be_lists_columns_and_whole_numbers(K, index):
    assert np.array_equal(precomputed(K=K)(index), K[np.ix_([3, 1], [3, 1])])


def test_precomputed_takes_rectangular_and_sparse_matrices(K):
    held = sp.random_array((20, 8), density=0.3, random_state=0, format="csr")
    k = precomputed(K=held)
    assert np.array_equal(k(np.arange(20), np.arange(8)), held.toarray())
    assert np.array_equal(precomputed(K=K[:5])(np.arange(5), np.arange(300)), K[:5])


def test_products_and_blocks_of_a_held_matrix(K, rng):
    k, rows, columns = precomputed(K=K), np.arange(280), np.arange(20, 300)
    v = rng.normal(size=280)
    np.testing.assert_allclose(k.operator(rows, columns) @ v, K[:280, 20:] @ v, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(k.operator(rows, columns).T @ v, K[:280, 20:].T @ v, rtol=1e-12, atol=1e-12)
    assert np.array_equal(np.vstack([b for _, b in k.blocks(rows, columns, block_rows=33)]), K[:280, 20:])


@pytest.mark.parametrize(
    ("index", "said"),
    [
        ([300], "row index 300 is beyond the held 300 × 300 matrix"),
        ([-1], "negative index -1"),
        ([0.5], "integer sample indices"),
        ([[1.0, 2.0]], "takes sample indices"),
        (["a"], "integer sample indices"),
        ([np.nan], "integer sample indices"),
    ],
)
def test_what_is_no_index_is_refused(K, index, said):
    with pytest.raises(DataError, match=said):
        precomputed(K=K)(index)


@pytest.mark.parametrize("wrong", [np.zeros(3), np.array([[np.nan]]), np.array([["a"]]), None, "K"])
def test_what_is_no_matrix_is_refused(wrong):
    with pytest.raises(ParameterError, match="finite 2-D numeric array"):
        precomputed(K=wrong)
    with pytest.raises(ParameterError, match="needs K="):
        precomputed()


def test_precomputed_kernels_are_equal_when_their_matrices_are(K):
    assert precomputed(K=K) == precomputed(K=K.copy())
    assert precomputed(K=K) != precomputed(K=K + 1)
    assert hash(precomputed(K=K)) == hash(precomputed(K=K.copy()))


def test_combinators_work_on_indices(K):
    S = K + K.T
    index = np.arange(40)
    np.testing.assert_array_equal(symmetrize(precomputed(K=K))(index), (K[:40, :40] + K[:40, :40].T) / 2)
    corrected = spectrum(precomputed(K=S))(index)
    assert np.linalg.eigvalsh(corrected).min() > -1e-9


def test_a_column_of_indices_may_be_seen_as_feature_and_as_index(K):
    column = np.arange(5.0)[:, None]
    k = rbf(sigma=2.0) + precomputed(K=K)
    np.testing.assert_array_equal(k(column), rbf(sigma=2.0)(column) + K[:5, :5])


@pytest.mark.parametrize("subset", [False, True])
def test_products_with_a_sparse_held_matrix_are_sparse_products(subset, rng):
    held = sp.random_array((500, 400), density=0.01, rng=rng, format="csr")
    rows, columns = (
        (rng.permutation(500)[:120], rng.permutation(400)[:90]) if subset else (np.arange(500), np.arange(400))
    )
    A, K = precomputed(K=held).operator(rows, columns), held.toarray()[np.ix_(rows, columns)]
    assert A.form == "held"
    V, W = rng.normal(size=(len(columns), 3)), rng.normal(size=(len(rows), 2))
    np.testing.assert_allclose(A @ V, K @ V, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(A @ V[:, 0], K @ V[:, 0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(A.T @ W, K.T @ W, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(A.rmatvec(W[:, 0]), K.T @ W[:, 0], rtol=1e-12, atol=1e-14)
    with pytest.raises(DataError, match="beyond the held 500 × 400 matrix"):
        precomputed(K=held).operator([500], [0])


GRAPH = np.array([[0, 1, 1, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=float)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_matrix])
def test_adjacency_kernel_spreads_each_node_over_those_that_point_to_it(form):
    A = GRAPH.T + np.eye(4)
    assert np.array_equal(adjacency(graph=form(GRAPH))(np.arange(4)), A / A.sum(axis=1, keepdims=True))


def test_adjacency_options():
    index = np.arange(4)
    assert np.array_equal(adjacency(graph=GRAPH, normalize="none")(index), GRAPH.T + np.eye(4))
    assert np.array_equal(adjacency(graph=GRAPH, normalize="none", cited=False)(index), GRAPH + np.eye(4))
    K = adjacency(graph=GRAPH, self_loops=False)(index)
    assert np.array_equal(K[3], np.zeros(4))  # nobody points to node 3
    assert np.array_equal(K.sum(axis=1), [1, 1, 1, 0])
    assert not adjacency(graph=GRAPH).symmetric


def test_adjacency_of_a_rectangular_table_is_refused():
    with pytest.raises(ParameterError, match="square"):
        adjacency(graph=np.ones((2, 3)))([0])
