"""Low-rank solves: exact with all landmarks, exact for the approximated kernel with fewer, leave-one-out by refits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from textbook import textbook_block, textbook_symmetric
from torture.samples import unsorted_rows

import kernreg as kr
from kernreg.errors import DataError, ParameterError
from kernreg.kernels.base import Kernel
from kernreg.kernels.builtin import linear, rbf, sne, tl1
from kernreg.kernels.indexed import precomputed
from kernreg.linalg.landmarks.features import asymmetric_features
from kernreg.linalg.landmarks.lowrank_systems import BlockLowRank, SymmetricLowRank
from kernreg.linalg.landmarks.small_systems import SmallSystem


def solve_symmetric_lowrank(kernel, X, Y, gamma, *, loo=False, **settings):
    problem = SymmetricLowRank(kernel, X, Y, **settings)
    (view,), report = problem.at(gamma, loo=loo)
    return problem.indices, view, report


def solve_block_lowrank(kernel, X, Y, gamma, *, loo=False, **settings):
    problem = BlockLowRank(kernel, X, Y, **settings)
    views, report = problem.at(gamma, loo=loo)
    return problem.indices, *views, report


def close(got, expected, tolerance):
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    return rng.normal(size=(300, 4)), rng.normal(size=(300, 2)), 0.2 + rng.random(300)


def nystrom(K, chosen):
    """K[:, chosen] W⁺ K[chosen, :], with the cut of the package's own approximation."""
    return K[:, chosen] @ np.linalg.pinv(K[np.ix_(chosen, chosen)], rcond=1e-9) @ K[chosen]


SYMMETRIC = {"definite": rbf(sigma=1.5), "indefinite": tl1(rho=2.8), "of low rank": linear()}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", SYMMETRIC)
def test_all_landmarks_equal_the_exact_solution(data, name, weighted):
    X, Y, weights = data
    kernel, weights = SYMMETRIC[name], weights if weighted else None
    chosen, view, report = solve_symmetric_lowrank(kernel, X, Y, 0.3, weights=weights, n_landmarks=300)
    a, b = textbook_symmetric(kernel(X), Y, 0.3, weights)
    close(kernel(X, X[chosen]) @ view.coefficients + view.intercept, kernel(X) @ a + b, 1e-6)
    assert report.strategy == "lowrank"
    assert report.residual < 1e-9


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["definite", "indefinite"])
def test_fewer_landmarks_solve_the_system_of_the_approximated_kernel(data, name, weighted):
    X, Y, weights = data
    kernel, weights = SYMMETRIC[name], weights if weighted else None
    chosen, view, report = solve_symmetric_lowrank(kernel, X, Y, 0.3, weights=weights, n_landmarks=40)
    K = nystrom(kernel(X), chosen)
    a, b = textbook_symmetric(K, Y, 0.3, weights)
    close(kernel(X, X[chosen]) @ view.coefficients + view.intercept, K @ a + b, 1e-7)
    assert report.landmarks == len(chosen) == 40


@pytest.mark.parametrize("weighted", [False, True])
def test_block_with_all_landmarks_equals_the_exact_solution(data, weighted):
    X, Y, weights = data
    weights = weights if weighted else None
    kernel = sne(sigma=0.5).bind(X)
    chosen, source, target, _ = solve_block_lowrank(kernel, X, Y, 0.5, weights=weights, n_landmarks=300)
    K = kernel(X)
    a, c, b1, b2 = textbook_block(K, Y, 0.5, weights)
    close(kernel(X, X[chosen]) @ source.coefficients + source.intercept, K @ c + b1, 1e-6)
    close(kernel(X[chosen], X).T @ target.coefficients + target.intercept, K.T @ a + b2, 1e-6)


def test_block_of_a_random_matrix(data):
    _, Y, _ = data
    K = np.random.default_rng(1).normal(size=(300, 300)) / 20
    kernel, X = precomputed(K=K), np.arange(300)
    _, source, target, _ = solve_block_lowrank(kernel, X, Y, 3.0, n_landmarks=300)
    a, c, b1, b2 = textbook_block(K, Y, 3.0)
    close(K @ source.coefficients + source.intercept, K @ c + b1, 1e-5)
    close(K.T @ target.coefficients + target.intercept, K.T @ a + b2, 1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_block_with_fewer_landmarks_solves_the_system_of_the_approximated_kernel(data, weighted):
    X, Y, weights = data
    weights = weights if weighted else None
    kernel = sne(sigma=2.0)
    chosen, source, target, _ = solve_block_lowrank(kernel, X, Y, 3.0, weights=weights, n_landmarks=30)
    bound = kernel.bind(X)
    K = nystrom(bound(X), chosen)
    a, c, b1, b2 = textbook_block(K, Y, 3.0, weights)
    close(bound(X, X[chosen]) @ source.coefficients + source.intercept, K @ c + b1, 1e-6)
    close(bound(X[chosen], X).T @ target.coefficients + target.intercept, K.T @ a + b2, 1e-6)


def test_block_equals_symmetric_for_a_symmetric_kernel(data):
    X, Y, _ = data
    kernel = rbf(sigma=1.0)
    chosen, view, _ = solve_symmetric_lowrank(kernel, X, Y, 0.4, n_landmarks=50)
    again, source, target, _ = solve_block_lowrank(kernel, X, Y, 0.4, n_landmarks=50)
    assert np.array_equal(chosen, again)
    for other in (source, target):
        close(other.intercept, view.intercept, 1e-6)
        C = kernel(X, X[chosen])
        close(C @ other.coefficients, C @ view.coefficients, 1e-6)


def test_two_spaces(data):
    X, Y, _ = data
    Z = np.cos(X + 1.0)
    kernel = rbf(sigma=1.5)
    chosen, source, target, _ = solve_block_lowrank(kernel, X, Y, 0.7, Z=Z, n_landmarks=25)
    K = nystrom(kernel(X, Z), chosen)
    a, c, b1, b2 = textbook_block(K, Y, 0.7)
    close(kernel(X, Z[chosen]) @ source.coefficients + source.intercept, K @ c + b1, 1e-5)
    close(kernel(X[chosen], Z).T @ target.coefficients + target.intercept, K.T @ a + b2, 1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["definite", "indefinite"])
def test_leave_one_out_equals_refits(data, name, weighted):
    X, Y, weights = (part[:60] for part in data)
    weights = weights if weighted else None
    kernel = SYMMETRIC[name]
    chosen, view, _ = solve_symmetric_lowrank(kernel, X, Y, 0.3, weights=weights, n_landmarks=15, loo=True)
    K = nystrom(kernel(X), chosen)
    for i in (0, 7, 31, 59):
        rest = np.delete(np.arange(60), i)
        a, b = textbook_symmetric(K[np.ix_(rest, rest)], Y[rest], 0.3, None if weights is None else weights[rest])
        close(view.loo_residuals[i], Y[i] - K[i, rest] @ a - b, 1e-7)


@pytest.mark.parametrize("weighted", [False, True])
def test_block_leave_one_out_equals_refits(data, weighted):
    X, Y, weights = (part[:60] for part in data)
    weights = weights if weighted else None
    kernel = sne(sigma=1.5)
    chosen, source, target, _ = solve_block_lowrank(kernel, X, Y, 4.0, weights=weights, n_landmarks=12, loo=True)
    K = nystrom(kernel(X), chosen)
    for i in (0, 7, 31, 59):
        rest = np.delete(np.arange(60), i)
        inner = K[np.ix_(rest, rest)]
        a, c, b1, b2 = textbook_block(inner, Y[rest], 4.0, None if weights is None else weights[rest])
        close(source.loo_residuals[i], Y[i] - K[i, rest] @ c - b1, 1e-6)
        close(target.loo_residuals[i], Y[i] - K[rest, i] @ a - b2, 1e-6)


def test_many_right_hand_sides_equal_one_at_a_time_and_repeat(data):
    X, Y, _ = data
    together = solve_symmetric_lowrank(rbf(), X, Y, 2.0, n_landmarks=40, random_state=1)[1]
    again = solve_symmetric_lowrank(rbf(), X, Y, 2.0, n_landmarks=40, random_state=1)[1]
    assert np.array_equal(together.coefficients, again.coefficients)
    for j in range(2):
        one = solve_symmetric_lowrank(rbf(), X, Y[:, j], 2.0, n_landmarks=40, random_state=1)[1]
        close(together.coefficients[:, [j]], one.coefficients, 1e-9)


@pytest.mark.parametrize("kernel", [rbf(sigma=1.0), sne(sigma=1.0)])
def test_sparse_data_equal_dense(kernel):
    rng = np.random.default_rng(2)
    X = sp.random_array((300, 50), density=0.05, rng=rng, format="csr")
    Y = rng.normal(size=(300, 2))
    _, source, target, _ = solve_block_lowrank(kernel, X, Y, 0.5, n_landmarks=40)
    _, dense_source, dense_target, _ = solve_block_lowrank(kernel, X.toarray(), Y, 0.5, n_landmarks=40)
    close(source.coefficients, dense_source.coefficients, 1e-6)
    close(target.coefficients, dense_target.coefficients, 1e-6)


def test_blocks_of_rows_do_not_change_the_solution(data):
    X, Y, _ = data
    whole = solve_symmetric_lowrank(rbf(), X, Y, 2.0, n_landmarks=30, loo=True)[1]
    with kr.config_context(memory="20kB"):  # some twenty rows at a time
        streamed = solve_symmetric_lowrank(rbf(), X, Y, 2.0, n_landmarks=30, loo=True)[1]
    close(streamed.coefficients, whole.coefficients, 1e-8)
    close(streamed.loo_residuals, whole.loo_residuals, 1e-8)


def test_duplicated_samples_as_landmarks_are_harmless():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(30, 2)), 4, axis=0)
    Y = rng.normal(size=(120, 1))
    chosen, view, report = solve_symmetric_lowrank(rbf(), X, Y, 10.0, n_landmarks=120)
    a, b = textbook_symmetric(rbf()(X), Y, 10.0)
    close(rbf()(X, X[chosen]) @ view.coefficients + view.intercept, rbf()(X) @ a + b, 1e-7)
    assert report.rank <= 30


def test_huge_gamma_with_a_definite_kernel_stays_finite(data):
    X, Y, _ = data
    _, view, _ = solve_symmetric_lowrank(rbf(sigma=3.0), X, Y, 1e14, n_landmarks=50)
    assert np.isfinite(view.coefficients).all()


def test_a_kernel_of_zeros_leaves_the_mean():
    kernel, X, Y = precomputed(K=np.zeros((6, 6))), np.arange(6), np.arange(6.0)
    _, view, _ = solve_symmetric_lowrank(kernel, X, Y, 1.0, definite=True)
    _, source, target, _ = solve_block_lowrank(kernel, X, Y, 1.0, loo=True)
    for found in (view, source, target):
        assert found.coefficients.shape == (6, 1)
        assert found.intercept == pytest.approx(2.5)
    close(source.loo_residuals, (Y - 2.5)[:, None] * 6 / 5, 1e-12)


def test_constant_kernel_and_large_offset_of_the_targets():
    X, Y = np.zeros((20, 2)), np.arange(20.0) + 1e6
    _, view, _ = solve_symmetric_lowrank(rbf(), X, Y, 1.0, n_landmarks=5)
    predicted = rbf()(X, X[:5]) @ view.coefficients + view.intercept
    np.testing.assert_allclose(predicted, Y.mean(), rtol=1e-12)


def test_a_pole_is_an_error():
    # The first column of H is constant: centring takes the eigenvalue 1 out, and leaves -2 = -1/γ.
    H = np.array([[1.0, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2
    K = H @ np.diag([1.0, -2.0, 3.0, 4.0]) @ H
    with pytest.raises(ParameterError, match="pole"):
        solve_symmetric_lowrank(precomputed(K=K), np.arange(4), np.array([1.0, 2.0, 0.0, -1.0]), 0.5, n_landmarks=4)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"gamma": -1.0}, ParameterError, "gamma"),
        ({"Y": np.zeros(3)}, DataError, "targets"),
        ({"weights": np.ones(3)}, DataError, "weights"),
        ({"n_landmarks": 301}, ParameterError, "from 1 to 300"),
        ({"landmarks": "best"}, ParameterError, "'leverage'"),
    ],
)
def test_errors_say_what_is_accepted(data, changes, error, message):
    arguments = {"kernel": rbf(), "X": data[0], "Y": data[1], "gamma": 1.0} | changes
    with pytest.raises(error, match=message):
        solve_symmetric_lowrank(**arguments)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", SYMMETRIC)
def test_leave_one_out_of_many_gamma_is_that_of_each(data, name, weighted):
    X, Y, weights = data
    problem = SymmetricLowRank(SYMMETRIC[name], X, Y, weights=weights if weighted else None, n_landmarks=40)
    gammas = [1e-3, 0.3, 20.0]
    for budget in ("1GB", "100kB"):  # all at once, and one by one
        with kr.config_context(memory=budget):
            path = list(problem.path(gammas))
        for gamma, ((view,), report) in zip(gammas, path, strict=True):
            (alone,), _ = problem.at(gamma, loo=True)
            close(view.loo_residuals, alone.loo_residuals, 1e-12)
            close(view.coefficients, alone.coefficients, 1e-9)
            assert report.gamma == gamma


def test_many_gamma_of_a_definite_kernel_take_one_pass(data, monkeypatch):
    X, Y, _ = data
    problem = SymmetricLowRank(rbf(sigma=1.5), X, Y, n_landmarks=40)
    passes = []
    whole = Kernel.map_rows
    monkeypatch.setattr(Kernel, "map_rows", lambda *given, **options: (passes.append(1), whole(*given, **options))[1])
    assert len(list(problem.path(np.logspace(-3, 3, 30).tolist()))) == 30
    assert len(passes) == 1


def test_the_condition_of_a_small_system_is_that_of_its_matrix():
    M = np.diag([3.0, -0.5, 0.02])
    for size in (1e-6, 1.0, 1e6):
        system = SmallSystem(size * M, 1.0, np.full(3, 0.1 * size))
        assert system.condition == pytest.approx(np.linalg.cond(M + 0.1 * np.eye(3)))


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_features_of_an_asymmetric_kernel_do_not_depend_on_its_size(size):
    X = np.random.default_rng(0).normal(size=(20, 3))
    kernel, chosen = size * sne(sigma=1.0).bind(X), np.arange(0, 20, 4)
    source, target = asymmetric_features(kernel, X, X, chosen)
    assert source.transform.shape == target.transform.shape == (5, 5)
    product = kernel(X, X[chosen]) @ source.transform @ (kernel.T(X, X[chosen]) @ target.transform).T
    W = kernel(X[chosen])
    np.testing.assert_allclose(product[np.ix_(chosen, chosen)], W, atol=1e-9 * np.abs(W).max())


def test_block_leave_one_out_of_sparse_samples_that_are_not_sorted():
    rng = np.random.default_rng(8)
    X, y = np.round(np.abs(rng.normal(size=(40, 3))) * 4) / 4, rng.normal(size=40)
    _, *dense, _ = solve_block_lowrank(sne(sigma=2.0), X, y, 10.0, loo=True, landmarks=np.arange(12))
    _, *found, _ = solve_block_lowrank(sne(sigma=2.0), unsorted_rows(X), y, 10.0, loo=True, landmarks=np.arange(12))
    for view, expected in zip(found, dense, strict=True):
        close(view.loo_residuals, expected.loo_residuals, 1e-9)
