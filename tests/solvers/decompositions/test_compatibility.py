from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg.errors import DataError, MemoryBudgetError, ParameterError
from kernreg.solvers.decompositions.compatibility.fixed_maps import Compatibility, make_compatibility

TALL, WIDE, SQUARE = (9, 4), (4, 9), (6, 6)
SHAPES = (TALL, WIDE, SQUARE)


def matrix(shape, rank=None, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal(shape)
    if rank is not None:
        A = A[:, :rank] @ rng.standard_normal((rank, shape[1]))
    return A


def make(name, A, **options):
    A = sp.csr_array(A) if options.pop("sparse", False) else A
    Z = A.T.tocsr() if sp.issparse(A) else A.T
    return make_compatibility(name, A, Z, rows_and_columns=True, **options)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("rank", [None, 2])
@pytest.mark.parametrize("shape", SHAPES)
def test_a0_is_the_pseudo_inverse_so_that_inner_products_give_the_matrix_back(shape, rank, sparse):
    A = matrix(shape, rank)
    C = make("a0", A, sparse=sparse)
    given = C.left if C.left is not None else C.right
    np.testing.assert_allclose(given, np.linalg.pinv(A if C.left is not None else A.T, rcond=1e-12), atol=1e-12)
    np.testing.assert_allclose(C.left_samples(A) @ C.right_samples(A.T).T, A, atol=1e-12)


@pytest.mark.parametrize("name", ["a0", "a1", "a2", "a3"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_longer_side_is_mapped_and_both_sides_become_equally_long(shape, name):
    A = matrix(shape)
    C = make(name, A, random_state=0)
    assert (C.left is not None) == (shape[1] >= shape[0])
    assert (C.right is None) == (C.left is not None)
    assert C.left_samples(A).shape == (shape[0], min(shape))
    assert C.right_samples(A.T).shape == (shape[1], min(shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_a1_projects_on_the_principal_directions(shape):
    A = matrix(shape)
    C = make("a1", A)
    X, given = (A, C.left) if C.left is not None else (A.T, C.right)
    k = given.shape[1]
    _, _, Vt = np.linalg.svd(X)
    np.testing.assert_allclose(given @ given.T, Vt[:k].T @ Vt[:k], atol=1e-12)
    np.testing.assert_allclose(given.T @ given, np.eye(k), atol=1e-12)
    # X C Cᵀ is X itself where X has no more rows than the other side has features: the minimum is zero.
    np.testing.assert_allclose(X @ given @ given.T, X, atol=1e-12)
    peaks = given[np.abs(given).argmax(axis=0), np.arange(k)]
    assert np.all(peaks > 0)


def test_a1_of_two_sample_sets_keeps_the_directions_of_most_variance():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 6)) * np.array([9.0, 7.0, 5.0, 0.1, 0.1, 0.1])
    Z = rng.standard_normal((20, 3))
    C = make_compatibility("a1", X, Z, rows_and_columns=False)
    kept = np.linalg.norm(X @ C.left) ** 2
    assert kept > 0.999 * np.linalg.norm(X) ** 2
    assert np.abs(C.left[3:]).max() < 0.05


def test_a1_leaves_out_directions_beyond_the_rank():
    C = make("a1", matrix((5, 8), rank=2))
    assert np.all(C.left[:, 2:] == 0)
    np.testing.assert_allclose(C.left[:, :2].T @ C.left[:, :2], np.eye(2), atol=1e-12)


def test_a2_is_random_of_variance_one_over_k_and_repeatable():
    A = matrix((40, 3000))
    C = make("a2", A, random_state=3)
    assert C.left.shape == (3000, 40)
    assert abs(C.left.var() * 40 - 1) < 0.02
    assert abs(C.left.mean()) < 0.002
    np.testing.assert_array_equal(C.left, make("a2", A, random_state=3).left)
    assert np.abs(C.left - make("a2", A, random_state=4).left).max() > 0.1
    lengths = np.linalg.norm(A @ C.left, axis=1) / np.linalg.norm(A, axis=1)
    assert abs(lengths.mean() - 1) < 0.1


def test_identity_is_for_equal_dimensions_and_maps_nothing():
    A = matrix(SQUARE)
    C = make("identity", A)
    assert Compatibility("identity") == C
    assert C.left_samples(A) is A
    with pytest.raises(DataError, match=r"'identity'.* 9 features, those of the right side 4\. Use 'a0'"):
        make("identity", matrix(WIDE))


def test_a0_needs_a_data_matrix():
    with pytest.raises(ParameterError, match="for two sample sets use 'a1', 'a2' or 'a3'"):
        make_compatibility("a0", matrix((5, 3)), matrix((6, 4)), rows_and_columns=False)


@pytest.mark.parametrize("name", ["a0", "a1", "a2"])
def test_single_precision_is_kept(name):
    A = matrix(TALL).astype(np.float32)
    C = make(name, A, random_state=0)
    assert C.right.dtype == np.float32
    assert C.right_samples(A.T).dtype == np.float32


@pytest.mark.parametrize(("name", "advice"), [("a1", "Use 'a2', which only draws the map"), ("a2", "Use 'identity'")])
def test_maps_beyond_the_memory_budget_are_refused(name, advice):
    with kr.config_context(memory=100_000), pytest.raises(MemoryBudgetError, match=advice):
        make(name, sp.random_array((200, 1000), density=0.01, rng=np.random.default_rng(0), format="csr"))
