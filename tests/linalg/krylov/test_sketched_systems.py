"""Sketched systems on landmarks against dense formulas, the low-rank solutions, and refits without samples."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from process_engine import ProcessEngine
from sklearn.exceptions import ConvergenceWarning

import kernreg as kr
from kernreg.errors import DataError, ParameterError
from kernreg.kernels.builtin import laplacian, linear, rbf, sne, tl1
from kernreg.kernels.indexed import precomputed
from kernreg.linalg.krylov.sketched_systems import BlockSketched, SketchSettings, SymmetricSketched
from kernreg.linalg.landmarks import landmark_columns
from kernreg.linalg.landmarks.lowrank_systems import BlockLowRank, SymmetricLowRank

CLOSE = SketchSettings(tol=1e-9)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    return rng.normal(size=(1500, 4)), rng.normal(size=(1500, 2)), 0.2 + rng.random(1500)


def close(got, expected, tolerance):
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def decision(kernel, X, problem, view):
    return kernel(X, X[problem.indices]) @ view.coefficients + view.intercept


def dense(C, W, Y, gamma, D):
    """Fitted values of (C̃ᵀDC̃ + W/γ) α = C̃ᵀDỸ with the weighted means taken out; nothing of the package."""
    D = np.ones(len(C)) if D is None else D
    mean, offset = np.average(C, axis=0, weights=D), np.average(Y, axis=0, weights=D)
    F, E = C - mean, Y - offset
    alpha = np.linalg.solve(F.T @ (D[:, None] * F) + W / gamma, F.T @ (D[:, None] * E))
    return F @ alpha + offset


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("kernel", "method"), [(laplacian(sigma=3.0), "cg"), (tl1(rho=2.8), "minres")], ids=str)
@pytest.mark.parametrize("gamma", [0.1, 10.0])
def test_symmetric_equals_the_dense_formula(data, kernel, method, weighted, gamma):
    X, Y, weights = data
    weights = weights if weighted else None
    problem = SymmetricSketched(kernel, X, Y, weights=weights, n_landmarks=120)
    (view,), report = problem.at(gamma, CLOSE)
    L = X[problem.indices]
    close(decision(kernel, X, problem, view), dense(kernel(X, L), kernel(L), Y, gamma, weights), 1e-7)
    assert (report.strategy, report.method, report.landmarks) == ("sketched", method, 120)
    assert report.converged
    assert report.residual <= 1e-9
    assert report.sketch == 480


@pytest.mark.parametrize("kernel", [rbf(sigma=2.0), rbf(sigma=20.0), tl1(rho=2.8), linear()], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_symmetric_equals_lowrank(data, kernel, weighted):
    """W is singular but for rounding with the wide rbf, and singular with linear."""
    X, Y, weights = data
    options = {"weights": weights if weighted else None, "n_landmarks": 90}
    low, sketched = SymmetricLowRank(kernel, X, Y, **options), SymmetricSketched(kernel, X, Y, **options)
    assert np.array_equal(low.indices, sketched.indices)
    (expected,), _ = low.at(0.5)
    (view,), report = sketched.at(0.5)
    close(decision(kernel, X, sketched, view), decision(kernel, X, low, expected), 2e-5)
    assert report.residual <= 1e-6


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", [sne(sigma=1.5), rbf(sigma=2.0), tl1(rho=2.8)], ids=str)
def test_block_equals_lowrank(data, kernel, weighted):
    X, Y, weights = data
    options = {"weights": weights if weighted else None, "n_landmarks": 80}
    kernel = kernel.bind(X)
    low, sketched = BlockLowRank(kernel, X, Y, **options), BlockSketched(kernel, X, Y, **options)
    expected, _ = low.at(3.0)
    views, report = sketched.at(3.0, CLOSE)
    for k, view, wanted in zip((kernel, kernel.T), views, expected, strict=True):
        close(decision(k, X, sketched, view), decision(k, X, low, wanted), 1e-6)
    assert report.method == "minres"
    assert report.converged


def test_two_spaces(data):
    X, Y, _ = data
    Z = X[:, ::-1] + 0.3
    low, sketched = (way(rbf(sigma=2.0), X, Y, Z=Z, n_landmarks=60) for way in (BlockLowRank, BlockSketched))
    for view, wanted in zip(sketched.at(1.0, CLOSE)[0], low.at(1.0)[0], strict=True):
        close(view.coefficients, wanted.coefficients, 1e-5)
        close(view.intercept, wanted.intercept, 1e-5)


@pytest.mark.parametrize("gamma", [1e-2, 1.0, 1e2, 1e4])
@pytest.mark.parametrize("landmarks", [50, 400])
def test_iterations_do_not_grow_with_landmarks_and_gamma(data, gamma, landmarks):
    X, Y, _ = data
    _, report = SymmetricSketched(laplacian(sigma=3.0), X, Y, n_landmarks=landmarks).at(gamma)
    assert report.iterations <= 30


def test_another_gamma_reuses_the_sketch(data):
    X, Y, _ = data
    problem = SymmetricSketched(rbf(sigma=2.0), X, Y, n_landmarks=60)
    problem.at(100.0)
    for gamma in (0.01, 1.0):
        (again,), _ = problem.at(gamma, CLOSE)
        (first,), _ = SymmetricSketched(rbf(sigma=2.0), X, Y, n_landmarks=60).at(gamma, CLOSE)
        assert np.array_equal(again.coefficients, first.coefficients)


@pytest.mark.parametrize("kernel", [laplacian(sigma=3.0), tl1(rho=2.8)], ids=str)
def test_values_held_out_are_those_of_a_fit_to_the_others(data, kernel):
    X, Y, weights = data
    some = np.arange(3, 1500, 11)
    problem = SymmetricSketched(kernel, X, Y, weights=weights, n_landmarks=80)
    views, _ = problem.at(2.0, CLOSE)
    (found,) = problem.held_out(2.0, views, some)
    L, without = X[problem.indices], weights.copy()
    without[some] = 0.0
    expected = dense(kernel(X, L), kernel(L), Y, 2.0, without)[some]
    change = np.abs(expected - decision(kernel, X, problem, views[0])[some]).max()
    assert np.abs(found - expected).max() < 0.15 * change


def test_values_held_out_of_both_views(data):
    X, Y, _ = data
    kernel, some = sne(sigma=1.5).bind(X), np.arange(0, 1500, 7)
    rest = np.setdiff1d(np.arange(1500), some)
    indices = rest[::20]
    problem = BlockSketched(kernel, X, Y, landmarks=indices)
    views, _ = problem.at(3.0, CLOSE)
    found = problem.held_out(3.0, views, some)
    K = kernel(X)  # normalised over all samples, which stays
    fitted = BlockLowRank(precomputed(K=K), rest[:, None], Y[rest], landmarks=np.searchsorted(rest, indices))
    for A, value, view, before in zip((K, K.T), found, fitted.at(3.0)[0], views, strict=True):
        columns = A[np.ix_(some, indices)]
        expected = columns @ view.coefficients + view.intercept
        change = np.abs(expected - columns @ before.coefficients - before.intercept).max()
        assert np.abs(value - expected).max() < 0.15 * change


def test_targets_that_do_not_vary(data):
    X, Y, _ = data
    Y = np.column_stack([np.full(1500, 0.1), Y[:, 0]])
    (view,), report = SymmetricSketched(rbf(sigma=2.0), X, Y, n_landmarks=40).at(1.0)
    assert np.array_equal(view.coefficients[:, 0], np.zeros(40))
    assert view.intercept[0] == pytest.approx(0.1)
    assert report.converged


def test_a_kernel_of_zeros_gives_the_mean(data):
    Y = data[1]
    for way in (SymmetricSketched, BlockSketched):
        views, _ = way(precomputed(K=np.zeros((1500, 1500))), np.arange(1500)[:, None], Y, n_landmarks=40).at(1.0)
        for view in views:
            close(view.intercept, Y.mean(axis=0), 1e-12)
            assert not view.coefficients.any()


def test_a_matrix_that_is_not_definite_after_all_is_solved_by_minres(data):
    X, Y, _ = data
    problem = SymmetricSketched(tl1(rho=2.8), X, Y, n_landmarks=120, definite=True)
    (view,), report = problem.at(1.0, CLOSE)
    L = X[problem.indices]
    close(decision(tl1(rho=2.8), X, problem, view), dense(tl1(rho=2.8)(X, L), tl1(rho=2.8)(L), Y, 1.0, None), 1e-7)
    assert report.method == "minres"


def test_float32_and_sparse_samples(data):
    X, Y, _ = data
    kernel = rbf(sigma=2.0)
    (expected,), _ = SymmetricLowRank(kernel, X.astype(np.float32), Y, n_landmarks=50).at(1.0)
    problem = SymmetricSketched(kernel, X.astype(np.float32), Y, n_landmarks=50)
    (view,), _ = problem.at(1.0)
    close(decision(kernel, X, problem, view), decision(kernel, X, problem, expected), 1e-4)
    S, kernel = sp.csr_array(X * (np.random.default_rng(0).random(X.shape) < 0.5)), laplacian(sigma=3.0)
    expected, view = (way(kernel, S, Y, n_landmarks=50).at(1.0)[0][0] for way in (SymmetricLowRank, SymmetricSketched))
    K = kernel(S, S[problem.indices])
    close(K @ view.coefficients + view.intercept, K @ expected.coefficients + expected.intercept, 1e-4)


def test_the_same_bits_for_any_number_of_threads(data):
    X, Y, weights = data
    found = []
    for threads in (1, 2, 5):
        with kr.config_context(threads=threads):
            problem = SymmetricSketched(laplacian(sigma=3.0), X, Y, weights=weights, n_landmarks=60)
            gram = problem._sides[0].sketched_gram(problem._sketch, problem._whitenings[0])
            found.append((np.tril(gram), problem._sides[0].normal(Y[:60])))
    for gram, product in found[1:]:
        assert np.array_equal(gram, found[0][0])
        assert np.array_equal(product, found[0][1])


def test_an_engine_of_processes_gives_the_same_solution(data):
    X, Y, weights = data
    engine = ProcessEngine(workers=1)
    (here,), _ = SymmetricSketched(laplacian(sigma=3.0), X, Y, weights=weights, n_landmarks=40).at(1.0)
    try:
        with kr.config_context(engine=engine):
            (there,), _ = SymmetricSketched(laplacian(sigma=3.0), X, Y, weights=weights, n_landmarks=40).at(1.0)
    finally:
        engine.close()
    close(there.coefficients, here.coefficients, 1e-9)


@pytest.mark.parametrize("stripe", [1, 7, 256])
@pytest.mark.parametrize("part", [1, 3000, 1 << 27])
def test_stripes_and_parts_do_not_change_the_sketch(data, monkeypatch, stripe, part):
    X, Y, weights = data
    problem = SymmetricSketched(laplacian(sigma=3.0), X, Y, weights=weights, n_landmarks=30)
    side, sketch, whitening = problem._sides[0], problem._sketch, problem._whitenings[0]
    C = laplacian(sigma=3.0)(X, X[problem.indices])
    centred = np.sqrt(weights)[:, None] * (C - np.average(C, axis=0, weights=weights))
    F = whitening.of_rows(np.ascontiguousarray(sketch.matrix(slice(0, 1500)) @ centred))
    monkeypatch.setattr(landmark_columns, "_STRIPE", stripe)
    monkeypatch.setattr(landmark_columns, "_PART", part)
    close(np.tril(side.sketched_gram(sketch, whitening)), np.tril(F @ F.T), 1e-11)


def test_too_few_iterations_are_a_warning(data):
    X, Y, _ = data
    problem = SymmetricSketched(rbf(sigma=1.0), X, Y, n_landmarks=100)
    with pytest.warns(ConvergenceWarning, match="cg stopped after 3 iterations"):
        _, report = problem.at(100.0, SketchSettings(max_iter=3))
    assert not report.converged
    assert report.residual > 1e-6


@pytest.mark.filterwarnings("ignore::kernreg.errors.RangeWarning")  # that is how kernel values become infinite
def test_what_is_not_accepted_is_said(data):
    X, Y, _ = data
    with pytest.raises(ParameterError, match="gamma"):
        SymmetricSketched(rbf(sigma=1.0), X, Y, n_landmarks=10).at(-1.0)
    big = X.copy()
    big[7] *= 1e200
    for landmarks in ([7, 8], [8, 9]):  # between landmarks, and between one and a sample
        with pytest.raises(DataError, match="not finite"):
            SymmetricSketched(kr.make_kernel("poly(degree=2)"), big, Y, landmarks=landmarks)
