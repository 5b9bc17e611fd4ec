"""Randomly pivoted Cholesky against the one-at-a-time formula, and its pivots as landmarks of every kind of kernel."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import kernreg as kr
from kernreg.engine.sources.base import ArrayRows
from kernreg.errors import DataError
from kernreg.kernels import kernel
from kernreg.kernels.builtin import laplacian, linear, rbf, sne, tl1
from kernreg.kernels.indexed import precomputed
from kernreg.linalg.landmarks import pivot_choice
from kernreg.linalg.landmarks.pivot_choice import choose_pivots_of_both
from kernreg.linalg.landmarks.pivoted_cholesky import KernelMatrix, RowProducts, pivoted_cholesky
from kernreg.linalg.landmarks.selection import choose_landmarks, select_landmarks
from kernreg.solvers import LSSVC, AsKLSClassifier, AsymmetricNystroem


def one_at_a_time(K, pivots):
    """The factor of these pivots, one column after the other, as the textbook has it."""
    G, d = np.zeros((len(K), 0)), K.diagonal().copy()
    for s in pivots:
        g = (K[:, s] - G @ G[s]) / np.sqrt(d[s])
        G, d = np.column_stack([G, g]), d - g * g
    return G, d


@pytest.fixture(scope="module")
def samples():
    return np.random.default_rng(3).normal(size=(400, 4))


def factorise(k, X, rank, **options):
    return pivoted_cholesky(KernelMatrix(k, X), rank, random_state=1, **options)


@pytest.mark.parametrize("candidates", [1, 7, None, 200])
def test_factor_is_that_of_the_one_at_a_time_formula(samples, candidates):
    k = rbf(sigma=2.0)
    found = factorise(k, samples, 60, candidates=candidates)
    G, d = one_at_a_time(k(samples), found.pivots)
    assert len(set(found.pivots.tolist())) == 60
    np.testing.assert_allclose(found.factor, G, atol=1e-9)
    np.testing.assert_allclose(found.left, np.maximum(d, 0.0), atol=1e-12)


def test_what_is_left_is_positive_semidefinite_and_has_the_reported_trace(samples):
    K = laplacian(sigma=4.0)(samples)
    found = factorise(laplacian(sigma=4.0), samples, 80)
    rest = K - found.factor @ found.factor.T
    assert np.linalg.eigvalsh(rest)[0] > -1e-12
    assert np.trace(rest) == pytest.approx(found.left.sum(), rel=1e-10)
    assert found.trace_error == pytest.approx(np.trace(rest) / np.trace(K), rel=1e-10)
    assert found.trace == pytest.approx(400.0)


def law_of_two_pivots(K):
    """The probability of every ordered pair of pivots, by the definition."""
    n, law = len(K), {}
    for i, j in permutations(range(n), 2):
        left = K.diagonal() - K[:, i] ** 2 / K[i, i]
        left[i] = 0.0
        law[i, j] = K[i, i] / np.trace(K) * left[j] / left.sum()
    return law


def test_rejection_keeps_the_law_of_the_one_at_a_time_form():
    rng = np.random.default_rng(0)
    M = rng.normal(size=(4, 3)) * [3.0, 1.0, 0.3]
    law, counts, draws = law_of_two_pivots(M @ M.T), {}, 1500
    matrix = RowProducts(M)
    for _ in range(draws):
        pair = tuple(pivoted_cholesky(matrix, 2, random_state=rng).pivots.tolist())
        counts[pair] = counts.get(pair, 0) + 1
    assert sum(law.values()) == pytest.approx(1.0)
    for pair, probability in law.items():
        error = counts.get(pair, 0) / draws - probability
        assert abs(error) < 5.0 * np.sqrt(probability * (1 - probability) / draws) + 1e-9, pair


def test_a_matrix_of_rank_r_is_exact_after_r_pivots(samples):
    found = factorise(linear(), samples, 50)
    assert len(found.pivots) == 4
    np.testing.assert_allclose(found.factor @ found.factor.T, samples @ samples.T, atol=1e-12)
    assert found.trace_error == pytest.approx(0.0, abs=1e-14)


def test_repeated_samples_are_taken_once(samples):
    X = np.repeat(samples[:20], 9, axis=0)
    found = factorise(rbf(sigma=1.0), X, 100)
    assert len(found.pivots) == len(np.unique(X[found.pivots], axis=0)) == 20
    np.testing.assert_allclose(found.factor @ found.factor.T, rbf(sigma=1.0)(X), atol=1e-10)
    assert not found.left.any()


def test_a_kernel_of_zeros_has_no_pivots():
    found = factorise(precomputed(K=np.zeros((9, 9))), np.arange(9), 4)
    assert found.factor.shape == (9, 0)
    assert found.trace_error == 0.0


def test_no_more_pivots_than_samples(samples):
    found = factorise(laplacian(sigma=1.0), samples[:12], 50)
    assert sorted(found.pivots.tolist()) == list(range(12))


def test_weights_are_those_of_the_scaled_matrix():
    """A sample of overwhelming weight is the first pivot; the factor stays that of K."""
    K = np.diag([1.0, 2.0, 3.0, 4.0]) + 0.1
    weights = np.array([1e9, 1.0, 1.0, 1.0])
    found = pivoted_cholesky(KernelMatrix(precomputed(K=K), np.arange(4)), 2, weights=weights, random_state=0)
    assert found.pivots[0] == 0
    np.testing.assert_allclose(found.factor, one_at_a_time(K, found.pivots)[0], atol=1e-12)


def test_values_of_single_precision(samples):
    X = samples.astype(np.float32)
    found = factorise(rbf(sigma=4.0), X, 300)
    K = rbf(sigma=4.0)(X).astype(float)
    assert np.abs(K - found.factor @ found.factor.T).max() < 1e-4


def test_a_diagonal_that_is_not_finite_is_refused():
    K = np.diag([1.0, np.nan, 1.0])

    @kernel(of="blocks", symmetric=True, definite=True)
    def broken(A, B):
        """K of sample numbers."""
        return K[np.ix_(A[:, 0].astype(int), B[:, 0].astype(int))]

    with pytest.raises(DataError, match="not finite"):
        factorise(broken(), np.arange(3.0)[:, None], 2)


# As landmarks ---------------------------------------------------------------------------------------------------


def test_fewer_different_samples_than_landmarks(samples):
    X = np.repeat(samples[:5], 10, axis=0)
    chosen = choose_landmarks(rbf(sigma=1.0), X, 20, "rpcholesky", random_state=0)
    assert len(np.unique(chosen)) == 20
    assert len(np.unique(X[chosen], axis=0)) == 5


@pytest.mark.parametrize("k", [tl1(rho=2.0), sne(sigma=1.0)], ids=["indefinite", "asymmetric"])
def test_rows_of_indefinite_kernels_by_what_is_left_of_their_norms(k):
    """Nine small clusters beside a large one: one landmark of each leaves less than ten at random."""
    rng = np.random.default_rng(0)
    centres = np.vstack([np.zeros((1, 3)), rng.normal(size=(9, 3)) * 12])
    X = np.vstack([c + 0.3 * rng.normal(size=(n, 3)) for c, n in zip(centres, [400, *[8] * 9], strict=True)])
    K = k(X)

    def left(method, seed):
        rows = K[choose_landmarks(k, X, 40, method, random_state=seed)]
        return np.linalg.norm(K - K @ np.linalg.pinv(rows, rcond=1e-10) @ rows)

    uniform, pivots = (np.median([left(method, seed) for seed in range(5)]) for method in ("uniform", "rpcholesky"))
    assert pivots < 0.9 * uniform
    assert 0.0 <= select_landmarks(k, X, 40, "rpcholesky", random_state=0).trace_error < 0.5


def test_error_of_rows_is_that_of_the_projection():
    rng = np.random.default_rng(1)
    M = rng.normal(size=(60, 30)) * np.geomspace(1.0, 1e-3, 30)
    found = pivoted_cholesky(RowProducts(M), 12, random_state=0)
    basis = np.linalg.qr(M[found.pivots].T)[0]
    rest = M - M @ basis @ basis.T
    assert found.trace_error == pytest.approx((rest**2).sum() / (M**2).sum(), rel=1e-8)


def test_heavy_rows_and_columns_of_a_sparse_matrix_are_found():
    G = np.zeros((300, 500))
    G[7, :9] = G[:9, 5] = 1.0
    rows, columns = choose_pivots_of_both(lambda i, j: G[np.ix_(i, j)], G.shape, (20, 20), 2, np.random.default_rng(0))
    assert 7 in rows.indices
    assert 5 in columns.indices
    assert len(np.unique(rows.indices)) == len(np.unique(columns.indices)) == 20


def test_a_pool_where_the_factor_does_not_fit(samples):
    with kr.config_context(memory="64kB"):  # a quarter holds 40 columns of 51 samples
        assert len(pivot_choice.candidates(400, 40, 1, np.random.default_rng(0))) == 80
        chosen = choose_landmarks(rbf(sigma=1.0), samples, 40, "rpcholesky", random_state=0)
    assert len(np.unique(chosen)) == 40


def test_sources_and_sparse_samples_choose_as_arrays_do(samples):
    k = rbf(sigma=2.0)
    expected = choose_landmarks(k, samples, 30, "rpcholesky", random_state=0)
    handle = k.check_samples(ArrayRows(samples))
    for X in (handle, sp.csr_array(samples)):
        assert np.array_equal(choose_landmarks(k, X, 30, "rpcholesky", random_state=0), expected)


@pytest.mark.parametrize(
    "machine", [LSSVC(kernel="rbf(sigma=3.0)"), AsKLSClassifier(kernel="sne(sigma=2.0)", gamma=2.0)]
)
def test_reports_of_machines_tell_the_error(samples, machine):
    y = samples[:, 0] > 0
    for strategy in ("lowrank", "iterative"):
        machine.set_params(strategy=strategy, landmarks="rpcholesky", n_landmarks=40).fit(samples, y)
        assert 0.0 < machine.solver_report_.trace_error < 0.5
        default = clone(machine).set_params(landmarks="auto").fit(samples, y)
        pivots = strategy == "iterative" and machine.kernel_.definite
        assert (default.solver_report_.trace_error is not None) == bool(pivots)
        machine.set_params(landmarks="uniform").fit(samples, y)
        assert machine.solver_report_.trace_error is None


@pytest.mark.parametrize("spec", ["rbf(sigma=3.0)", "sne(sigma=3.0)", "tl1(rho=5.0)"])
def test_nystrom_by_pivots_tells_the_error(samples, spec):
    model = AsymmetricNystroem(spec, 3, n_landmarks=60, landmarks="rpcholesky").fit(samples)
    exact = AsymmetricNystroem(spec, 3, n_landmarks=400).fit(samples)
    assert 0.0 < model.solver_report_.trace_error < 0.2
    np.testing.assert_allclose(model.singular_values_, exact.singular_values_, rtol=0.05)


def test_one_factor_serves_both_sides_of_a_positive_definite_kernel(samples):
    k = rbf(sigma=3.0)
    model = AsymmetricNystroem(k, 3, n_landmarks=60, landmarks="rpcholesky").fit(samples)
    assert np.array_equal(model.row_landmarks_, model.column_landmarks_)
    K, chosen = k(samples), model.row_landmarks_
    rest = np.trace(K - K[:, chosen] @ np.linalg.pinv(K[np.ix_(chosen, chosen)], rcond=1e-13) @ K[chosen])
    assert model.solver_report_.trace_error == pytest.approx(rest / 400, rel=1e-3)
