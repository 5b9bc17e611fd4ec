"""Kernels that were learned: values against their definition, in every way of asking."""

from __future__ import annotations

import pickle

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import kernreg as kr
from kernreg.errors import DataError, ParameterError
from kernreg.kernels.builtin import linear, rbf, sne
from kernreg.kernels.combinations.learned import corrected, projected
from kernreg.kernels.combinations.neighbour_spectrum import neighbour_spectrum
from kernreg.kernels.combinations.reference import centered
from kernreg.kernels.indexed import precomputed


@pytest.fixture
def data():
    rng = np.random.default_rng(8)
    A = rng.normal(size=(9, 9))
    return rng.normal(size=(9, 3)), 0.1 * (A + A.T), rng.normal(size=(14, 3)), rng.normal(size=(5, 3))


def by_definition(S, Q, X, Z, sigma=2.0):
    k = lambda A, B: naive.rbf(A, B, sigma=sigma)  # noqa: E731 (a formula)
    return (k(X, Z) + k(X, S) @ Q @ k(S, Z)).astype(float)


def test_corrected_is_its_definition(data):
    S, Q, X, Z = data
    k = corrected(rbf(sigma=2.0), S, Q)
    np.testing.assert_allclose(k(X, Z), by_definition(S, Q, X, Z), atol=1e-13)
    np.testing.assert_allclose(k(X), by_definition(S, Q, X, X), atol=1e-13)
    np.testing.assert_allclose(k(S, X), by_definition(S, Q, S, X), atol=1e-13)
    np.testing.assert_array_equal(k(X), k(X).T)
    assert k.scalar(X[0], Z[1]) == pytest.approx(k(X, Z)[0, 1], abs=1e-13)
    np.testing.assert_allclose(k.operator(X, Z) @ np.eye(5), k(X, Z), atol=1e-13)
    np.testing.assert_allclose(k.operator(X) @ np.eye(14), k(X), atol=1e-13)
    np.testing.assert_allclose(np.vstack([b for _, b in k.blocks(X, block_rows=3)]), k(X), atol=1e-13)
    assert k.bind(X) is k
    assert k.T is k
    assert k.symmetric
    assert k.definite is None


def test_columns_in_parts_give_the_same_matrix(data):
    S, Q, X, Z = data
    k = corrected(rbf(sigma=2.0), S, Q)
    whole = k(X, Z), k(X)
    with kr.config_context(memory=2000):
        parts = k(X, Z), k(X)
    np.testing.assert_allclose(parts[0], whole[0], atol=1e-14)
    np.testing.assert_allclose(parts[1], whole[1], atol=1e-14)


def test_a_given_training_matrix_is_used_for_the_samples_and_slices_of_them_only(data):
    S, Q, X, _ = data
    plain = corrected(rbf(sigma=2.0), S, Q)
    marked = corrected(rbf(sigma=2.0), S, Q, training=plain(S) + 100.0)
    np.testing.assert_allclose(marked(S), plain(S) + 100.0)
    np.testing.assert_allclose(marked(S, S), plain(S) + 100.0)
    np.testing.assert_allclose(marked.rows(S, None, 2, 5), (plain(S) + 100.0)[2:5])
    np.testing.assert_allclose(np.vstack([b for _, b in marked.blocks(S, block_rows=4)]), plain(S) + 100.0)
    np.testing.assert_allclose(marked.operator(S) @ np.eye(9), plain(S) + 100.0)
    np.testing.assert_allclose(marked(X, S), plain(X, S), atol=1e-13)
    np.testing.assert_allclose(marked(S, X), plain(S, X), atol=1e-13)
    np.testing.assert_allclose(marked(X), plain(X), atol=1e-13)
    np.testing.assert_allclose(marked.rows(X, None, 2, 5), plain(X)[2:5], atol=1e-13)


def test_projected_is_its_definition(data):
    S, Q, X, Z = data
    F = Q[:, :4]
    k = projected(rbf(sigma=2.0), S, F)
    left, right = (naive.rbf(side, S, sigma=2.0).astype(float) @ F for side in (X, Z))
    np.testing.assert_allclose(k(X, Z), left @ right.T, atol=1e-13)
    np.testing.assert_allclose(k.features(X), left, atol=1e-13)
    np.testing.assert_array_equal(k(X), k(X).T)
    np.testing.assert_allclose(k.operator(X, Z) @ np.eye(5), left @ right.T, atol=1e-13)
    np.testing.assert_allclose(k.operator(X).T @ np.eye(14), left @ left.T, atol=1e-13)
    assert k.scalar(X[0], Z[1]) == pytest.approx(left[0] @ right[1], abs=1e-13)
    assert k.definite
    assert np.linalg.matrix_rank(k(X)) == 4


def extension(S, V, weights, values, degrees, radii, k, x):
    """v_i(x) by its formula, one sample at a time."""
    for i, s in enumerate(S):
        if np.array_equal(s, x):
            return V[i]
    distance = np.sqrt(((S - x) ** 2).sum(axis=1))
    near = [distance[j] <= np.sort(distance)[k - 1] or distance[j] <= radii[j] for j in range(len(S))]
    w = np.array(near, dtype=float)
    return [sum(w[j] / np.sqrt(w.sum() * degrees[j]) * V[j, i] for j in range(len(S))) / values[i] for i in range(3)]


def test_extended_eigenvectors_are_their_formula(data):
    S, _, X, Z = data
    rng = np.random.default_rng(1)
    V, weights, values = rng.normal(size=(9, 3)), np.array([0.6, 0.3, 0.1]), np.array([0.9, 0.5, -0.2])
    degrees, radii = rng.integers(2, 6, size=9).astype(float), rng.random(9)
    k = neighbour_spectrum(S, V, weights, values, degrees, radii, n_neighbors=2)
    mixed = np.vstack([X[:3], S[4:6], Z])
    expected = np.array([extension(S, V, weights, values, degrees, radii, 2, x) for x in mixed]) * np.sqrt(weights)
    np.testing.assert_allclose(k.features(mixed), expected, atol=1e-12)
    np.testing.assert_allclose(k(mixed, X), expected @ k.features(X).T, atol=1e-12)
    np.testing.assert_allclose(k(S), (V * weights) @ V.T, atol=1e-14)
    np.testing.assert_allclose(k(S[3:5], S), ((V * weights) @ V.T)[3:5], atol=1e-14)
    np.testing.assert_allclose(k.operator(mixed, X) @ np.eye(14), k(mixed, X), atol=1e-12)
    assert k.scalar(mixed[0], X[1]) == pytest.approx(k(mixed, X)[0, 1], abs=1e-12)
    sparse = k.set_params(samples=sp.csr_array(S))
    np.testing.assert_allclose(sparse(sp.csr_array(mixed), sp.csr_array(X)), k(mixed, X), atol=1e-12)


def test_vanishing_eigenvalues_do_not_extend_and_repeated_samples_have_the_mean():
    S = np.array([[0.0], [1.0], [1.0], [3.0]])
    V = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 0.0], [7.0, 8.0]])
    k = neighbour_spectrum(S, V, [1.0, 1.0], [0.5, 1e-9], np.ones(4), np.zeros(4), n_neighbors=1)
    np.testing.assert_allclose(k.features([[1.0]]), [[4.0, 2.0]])
    np.testing.assert_allclose(k.features(S), V)
    np.testing.assert_allclose(k.features([[0.1]]), [[2.0, 0.0]])


def test_a_graph_without_a_rule_refuses_new_samples(data):
    S, Q, X, _ = data
    k = neighbour_spectrum(S, Q[:, :2], [1.0, 1.0], [0.5, 0.5], np.ones(9), np.zeros(9))
    np.testing.assert_allclose(k(S[:2], S), Q[:2, :2] @ Q[:, :2].T)
    with pytest.raises(DataError, match=r"14 sample.* are not in the graph"):
        k(X, S)


@pytest.mark.parametrize("family", ["corrected", "projected", "neighbour-spectrum"])
def test_objects_like_any_other_kernel(family, data):
    S, Q, X, Z = data
    k = {
        "corrected": lambda: kr.make_kernel("corrected", kernel="rbf(sigma=2.0)", samples=S, correction=Q),
        "projected": lambda: kr.make_kernel("projected", kernel="rbf(sigma=2.0)", samples=S, factor=Q),
        "neighbour-spectrum": lambda: kr.make_kernel(
            "neighbour-spectrum",
            samples=S,
            vectors=Q,
            weights=np.ones(9),
            eigenvalues=np.full(9, 0.5),
            degrees=np.ones(9),
            radii=np.ones(9),
            n_neighbors=2,
        ),
    }[family]()
    again = pickle.loads(pickle.dumps(k))
    assert again == k
    assert hash(again) == hash(k)
    np.testing.assert_array_equal(again(X, Z), k(X, Z))
    assert clone(k) == k
    assert repr(k).startswith(f"{family}(")
    assert "<9x" in repr(k)
    np.testing.assert_allclose((k + linear())(X, Z), k(X, Z) + X @ Z.T, atol=1e-12)
    np.testing.assert_allclose((2.0 * k)(X), 2.0 * k(X))
    centred = centered(k).bind(X)(X)
    np.testing.assert_allclose(centred.sum(axis=0), 0.0, atol=1e-12)
    single = k(X.astype(np.float32), Z.astype(np.float32))
    assert single.dtype == np.float32
    assert k.set_params(samples=S + 1.0) != k


def test_parameters_of_the_kernel_inside_are_reached(data):
    S, Q, X, Z = data
    k = corrected("rbf(sigma=1.0)", S, Q)
    np.testing.assert_allclose(k.set_params(kernel__sigma=2.0)(X, Z), by_definition(S, Q, X, Z), atol=1e-13)


def test_kernels_of_indices_of_a_reference_set_and_asymmetric_ones_can_be_corrected(data):
    S, Q, X, Z = data
    both = np.vstack([S, X, Z])
    held = corrected(precomputed(K=naive.rbf(both, sigma=2.0).astype(float)), np.arange(9)[:, None], Q)
    np.testing.assert_allclose(held(np.arange(9, 23), [23, 24]), by_definition(S, Q, X, Z)[:, :2], atol=1e-13)
    assert held.scalar(9, 23) == pytest.approx(held([9], [23])[0, 0], abs=1e-13)
    assert not held.symmetric
    for inner in (centered(rbf(sigma=2.0)), sne(sigma=2.0)):
        k, bound = corrected(inner, S, Q), inner.bind(S)
        np.testing.assert_allclose(k(X, Z), bound(X, Z) + bound(X, S) @ Q @ bound(S, Z), atol=1e-13)
        np.testing.assert_allclose(k(X), bound(X, X) + bound(X, S) @ Q @ bound(S, X), atol=1e-13)
        np.testing.assert_allclose(k.operator(X) @ np.eye(14), k(X), atol=1e-13)
        np.testing.assert_allclose(k.T(Z, X), k(X, Z).T, atol=1e-13)
        np.testing.assert_allclose(pickle.loads(pickle.dumps(k))(X, Z), k(X, Z))
        assert k.symmetric == inner.symmetric


def test_sparse_samples(data):
    S, Q, X, Z = data
    k = corrected(rbf(sigma=2.0), sp.csr_array(S), Q)
    np.testing.assert_allclose(k(sp.csr_array(X), sp.csr_array(Z)), by_definition(S, Q, X, Z), atol=1e-13)
    assert k.scalar(X[0], Z[0]) == pytest.approx(by_definition(S, Q, X, Z)[0, 0], abs=1e-13)
    assert pickle.loads(pickle.dumps(k)) == k


def test_wrong_parameters_are_explained(data):
    S, Q, _, _ = data
    lopsided = Q + np.triu(np.ones((9, 9)))
    with pytest.raises(ParameterError, match="correction is not symmetric"):
        corrected(rbf(), S, lopsided)
    with pytest.raises(ParameterError, match="training is not symmetric"):
        corrected(rbf(), S, Q, training=lopsided)
    with pytest.raises(ParameterError, match=r"correction has shape \(8, 8\); with 9 samples it is 9 × 9"):
        corrected(rbf(), S, Q[:8, :8])
    with pytest.raises(ParameterError, match="with 9 samples it has 9 rows"):
        projected(rbf(), S, Q[:8])
    rest = {"weights": np.ones(9), "eigenvalues": np.ones(9), "degrees": np.ones(9), "radii": np.ones(9)}
    for name in rest:
        with pytest.raises(ParameterError, match=f"{name} has shape"):
            neighbour_spectrum(S, Q, **{**rest, name: np.ones(4)})
    with pytest.raises(ParameterError, match="has 8 rows for 9 samples"):
        neighbour_spectrum(S, Q[:8], **rest)
    with pytest.raises(ParameterError, match="a weight is -1"):
        neighbour_spectrum(S, Q, **{**rest, "weights": -np.ones(9)})
    with pytest.raises(ParameterError, match="n_neighbors=10, and there are 9 samples"):
        neighbour_spectrum(S, Q, **rest, n_neighbors=10)


@pytest.mark.parametrize("inner", ["rbf(sigma=2.0)", "sne(sigma=2.0)", "t(sigma=2.0)"])
@pytest.mark.parametrize("learnt", ["corrected", "projected"])
def test_kernels_learned_on_float32_samples_are_as_good_as_their_result(inner, learnt):
    rng = np.random.default_rng(4)
    S, X, Z = (rng.normal(size=(n, 3)).astype(np.float32) for n in (7, 9, 5))
    A = 1e4 * rng.normal(size=(7, 7))  # which magnifies what values are off by
    params = {"correction": A + A.T if inner.startswith("rbf") else A} if learnt == "corrected" else {"factor": A}
    k, exact = (kr.make_kernel(learnt, kernel=inner, samples=side, **params) for side in (S, S.astype(float)))
    expected = exact(X.astype(float), Z.astype(float))
    size = np.abs(expected).max()
    for x, z in ((X, Z.astype(float)), (X.astype(float), Z), (X, Z)):
        bar = 1e-11 if x.dtype != z.dtype else 1e-6
        assert np.abs(k(x, z) - expected).max() <= bar * size
        assert np.abs(k.operator(x, z) @ np.eye(5) - expected).max() <= 1e-11 * size
    assert k(X, Z).dtype == np.float32
    own = exact.diagonal(X.astype(float))
    assert np.abs(k.diagonal(X) - own).max() <= 1e-6 * np.abs(own).max()
