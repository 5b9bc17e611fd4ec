"""Krylov solves against the textbook systems, for every kind of kernel and data."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from textbook import textbook_block, textbook_symmetric

import kernreg as kr
from kernreg.errors import DataError, ParameterError
from kernreg.kernels.builtin import linear, rbf, sne, tl1
from kernreg.kernels.indexed import precomputed
from kernreg.linalg.krylov.centred_operator import CentredOperator
from kernreg.linalg.krylov.cg_and_minres import (
    CentredSystem,
    IterationSettings,
    conjugate_gradients,
    minimal_residuals,
    solve_checked,
)
from kernreg.linalg.krylov.clock import Clock
from kernreg.linalg.krylov.dual_systems import solve_block_iterative, solve_symmetric_iterative
from kernreg.linalg.krylov.preconditioners import SymmetricPreconditioner, _nystrom, symmetric_preconditioner
from kernreg.linalg.landmarks.pivoted_cholesky import KernelMatrix, pivoted_cholesky

TIGHT = IterationSettings(tol=1e-11, max_iter=2000)


def close(got, expected, tolerance):
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    return rng.normal(size=(300, 6)), rng.normal(size=(300, 3)), 0.2 + rng.random(300)


@pytest.mark.parametrize("rank", [0, 40, None, 300], ids=["none", "small", "default", "full"])
@pytest.mark.parametrize("weighted", [False, True])
def test_definite_kernel_by_conjugate_gradients(data, rank, weighted):
    X, Y, weights = data
    weights = weights if weighted else None
    kernel = rbf(sigma=3.0)
    A, b, report = solve_symmetric_iterative(kernel, X, Y, 50.0, weights=weights, settings=replace(TIGHT, rank=rank))
    a, beta = textbook_symmetric(kernel(X), Y, 50.0, weights)
    close(A, a, 1e-8)
    close(b, beta, 1e-8)
    assert report.strategy == "iterative"
    assert report.method == "cg"
    assert report.converged
    assert report.residual <= TIGHT.tol


@pytest.mark.parametrize("rank", [0, None])
def test_indefinite_kernel_by_minres(data, rank):
    X, Y, weights = data
    kernel = tl1(rho=4.2)
    assert np.linalg.eigvalsh(kernel(X))[0] < -0.1
    A, b, report = solve_symmetric_iterative(kernel, X, Y, 1.0, weights=weights, settings=replace(TIGHT, rank=rank))
    a, beta = textbook_symmetric(kernel(X), Y, 1.0, weights)
    close(A, a, 1e-7)
    close(b, beta, 1e-7)
    assert report.method == "minres"


def test_wrong_claim_of_definiteness_is_noticed(data):
    X, Y, _ = data
    kernel = tl1(rho=4.2)
    A, _, report = solve_symmetric_iterative(kernel, X, Y, 10.0, definite=True, settings=replace(TIGHT, rank=0))
    close(A, textbook_symmetric(kernel(X), Y, 10.0)[0], 1e-6)
    assert report.method == "minres"
    assert "indefinite" in report.note


@pytest.mark.parametrize("rank", [0, None, 200])
@pytest.mark.parametrize("weighted", [False, True])
def test_asymmetric_kernel_by_block_minres(data, rank, weighted):
    X, Y, weights = data
    weights = weights if weighted else None
    kernel = sne(sigma=3.0)  # singular values on both sides of 1/γ: the block is indefinite
    A, C, b, report = solve_block_iterative(kernel, X, Y, 6.0, weights=weights, settings=replace(TIGHT, rank=rank))
    a, c, *beta = textbook_block(kernel(X), Y, 6.0, weights)
    for got, expected in ((A, a), (C, c), (b, beta)):
        close(got, expected, 1e-7)
    assert report.residual <= TIGHT.tol


@pytest.mark.parametrize("gamma", [0.1, 2.0], ids=["definite", "indefinite"])
def test_random_matrix_by_block_minres(data, gamma):
    _, Y, _ = data
    rng = np.random.default_rng(8)
    K = rng.normal(size=(300, 30)) @ rng.normal(size=(30, 300)) / 20 + rng.normal(size=(300, 300)) / 200
    A, C, b, _ = solve_block_iterative(precomputed(K=K), np.arange(300), Y, gamma, settings=TIGHT)
    for got, expected in zip((A, C, *b), textbook_block(K, Y, gamma), strict=True):
        close(got, expected, 1e-7)


def test_two_spaces(data):
    X, Y, _ = data
    Z = np.cos(X + 1.0)
    kernel = rbf(sigma=2.0)
    A, C, b, _ = solve_block_iterative(kernel, X, Y, 0.7, Z=Z, settings=TIGHT)
    for got, expected in zip((A, C, *b), textbook_block(kernel(X, Z), Y, 0.7), strict=True):
        close(got, expected, 1e-6)


def test_block_equals_symmetric_for_a_symmetric_kernel(data):
    X, Y, _ = data
    kernel = rbf(sigma=3.0)
    A, C, (b1, b2), _ = solve_block_iterative(kernel, X, Y, 0.5, settings=TIGHT)
    a, b, _ = solve_symmetric_iterative(kernel, X, Y, 0.5, settings=TIGHT)
    for got in (A, C):
        close(got, a, 1e-8)
    for got in (b1, b2):
        close(got, b, 1e-8)


@pytest.mark.parametrize(
    ("solve", "kernel"), [(solve_symmetric_iterative, rbf()), (solve_block_iterative, sne(sigma=3.0))]
)
def test_many_right_hand_sides_equal_one_at_a_time(data, solve, kernel):
    X, Y, _ = data
    together = solve(kernel, X, Y, 2.0, settings=TIGHT)[0]
    for j in range(Y.shape[1]):
        close(together[:, [j]], solve(kernel, X, Y[:, j], 2.0, settings=TIGHT)[0], 1e-8)


def test_repeatable(data):
    X, Y, _ = data
    first, second = (solve_symmetric_iterative(rbf(sigma=2.0), X, Y, 10.0)[0] for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize("kernel", [rbf(sigma=2.0), linear()])
def test_sparse_data_equal_dense_and_take_the_separable_form(kernel):
    rng = np.random.default_rng(2)
    X = sp.random_array((500, 800), density=0.005, rng=rng, format="csr")
    Y = rng.normal(size=(500, 2))
    A, b, report = solve_symmetric_iterative(kernel, X, Y, 5.0, settings=TIGHT)
    a, beta = textbook_symmetric(kernel(X.toarray()), Y, 5.0)
    close(A, a, 1e-7)
    close(b, beta, 1e-7)
    assert report.form == "separable"


@pytest.mark.parametrize("self_term", [True, False])
def test_sparse_asymmetric(self_term):
    rng = np.random.default_rng(2)
    X = sp.random_array((300, 800), density=0.005, rng=rng, format="csr")
    Y = rng.normal(size=(300, 1))
    kernel = sne(sigma=1.0, self_term=self_term)
    A, C, b, report = solve_block_iterative(kernel, X, Y, 5.0, settings=TIGHT)
    for got, expected in zip((A, C, *b), textbook_block(kernel(X.toarray()), Y, 5.0), strict=True):
        close(got, expected, 1e-7)
    assert report.form == ("separable" if self_term else "blocks")


def test_preconditioner_saves_iterations(data):
    X, Y, _ = data
    plain, helped = (
        solve_symmetric_iterative(rbf(sigma=4.0), X, Y, 1000.0, settings=IterationSettings(rank=r, max_iter=2000))[2]
        for r in (0, 200)
    )
    assert helped.iterations < 0.5 * plain.iterations
    assert 0 < helped.rank <= 200


def test_reaching_max_iter_warns_and_tells_the_true_residual(data):
    X, Y, _ = data
    kernel = rbf(sigma=4.0)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        A, _, report = solve_symmetric_iterative(kernel, X, Y, 1000.0, settings=IterationSettings(rank=0, max_iter=3))
    assert not report.converged
    assert report.iterations == 3
    J = np.eye(300) - 1 / 300
    rest = J @ Y - J @ kernel(X) @ J @ A - A / 1000.0
    worst = (np.linalg.norm(rest, axis=0) / np.linalg.norm(J @ Y, axis=0)).max()
    assert report.residual == pytest.approx(worst, rel=1e-8)


def test_a_pole_is_named_in_the_warning():
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.normal(size=(100, 100)))[0] for _ in range(2))
    J = np.eye(100) - 1 / 100
    U, V = (np.linalg.qr(J @ Q[:, :40])[0] for Q in (U, V))
    K = (U * np.linspace(3.0, 0.5, 40)) @ V.T
    settings = IterationSettings(rank=100, max_iter=60)
    with pytest.warns(ConvergenceWarning, match="pole"):
        solve_block_iterative(precomputed(K=K), np.arange(100), rng.normal(size=100), 1 / 3.0, settings=settings)


def test_constant_targets_need_no_iteration(data):
    X, _, _ = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        A, b, report = solve_symmetric_iterative(rbf(), X, np.full((300, 2), 3.0), 1.0)
    assert np.abs(A).max() < 1e-12
    np.testing.assert_allclose(b, 3.0)
    assert report.iterations <= 1


def test_a_kernel_of_zeros_leaves_the_mean():
    kernel, X, Y = precomputed(K=np.zeros((6, 6))), np.arange(6), np.arange(6.0)
    for definite in (True, False):
        A, b, _ = solve_symmetric_iterative(kernel, X, Y, 2.0, definite=definite)
        close(A[:, 0], 2.0 * (Y - 2.5), 1e-10)
        assert b == pytest.approx(2.5)


def test_one_sample():
    A, C, b, _ = solve_block_iterative(rbf(), np.zeros((1, 2)), np.array([3.0]), 2.0)
    assert not A.any()
    assert not C.any()
    np.testing.assert_allclose(b, 3.0)


def test_within_a_small_memory_budget(data):
    X, Y, _ = data
    with kr.config_context(memory="200kB"):  # K would need 1.3 MB
        A, _, _ = solve_symmetric_iterative(rbf(sigma=3.0), X, Y, 5.0, settings=TIGHT)
    close(A, textbook_symmetric(rbf(sigma=3.0)(X), Y, 5.0)[0], 1e-8)


def test_single_precision_samples(data):
    X, Y, _ = data
    kernel, X = rbf(sigma=3.0), X.astype(np.float32)
    A, _, report = solve_symmetric_iterative(kernel, X, Y, 5.0)
    assert report.converged
    close(A, textbook_symmetric(kernel(X).astype(float), Y, 5.0)[0], 1e-3)


def test_callback_sees_every_iteration(data):
    X, Y, _ = data
    seen = []
    settings = IterationSettings(rank=0, watch=lambda i, ratio: seen.append((i, ratio)))
    report = solve_symmetric_iterative(rbf(), X, Y, 5.0, settings=settings)[2]
    assert [i for i, _ in seen] == list(range(1, report.iterations + 1))
    assert seen[-1][1] <= 1.0


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"gamma": 0.0}, ParameterError, "gamma"),
        ({"gamma": np.nan}, ParameterError, "gamma"),
        ({"Y": np.zeros(3)}, DataError, "targets"),
        ({"Y": np.full(300, np.nan)}, DataError, "NaN"),
        ({"weights": np.zeros(300)}, DataError, "weights"),
    ],
)
def test_errors_say_what_is_accepted(data, changes, error, message):
    arguments = {"kernel": rbf(), "X": data[0], "Y": data[1], "gamma": 1.0} | changes
    with pytest.raises(error, match=message):
        solve_symmetric_iterative(**arguments)


@pytest.mark.parametrize("solve", [conjugate_gradients, minimal_residuals])
def test_columns_converge_on_their_own(solve):
    """An easy column (an eigenvector) and a hard one: each ends within its bound."""
    rng = np.random.default_rng(1)
    values = np.linspace(1.0, 200.0, 150)
    B = np.column_stack([np.eye(150)[:, 3], rng.normal(size=150), np.zeros(150)])
    bounds = np.array([1e-10, 1e-8, 1e-8])
    found = solve(lambda V: values[:, None] * V, B, lambda V: V, bounds, 1000)
    assert (np.linalg.norm(B - values[:, None] * found.solution, axis=0) <= 2 * bounds).all()
    assert not found.solution[:, 2].any()


@pytest.mark.parametrize("weighted", [False, True])
def test_preconditioner_of_pivots_is_the_inverse_of_its_picture(data, weighted):
    X, _, weights = data
    weights = weights if weighted else None
    kernel, kappa = rbf(sigma=3.0), 0.02
    centred = CentredOperator(kernel.operator(X), weights)
    settings = IterationSettings(rank=60, landmarks="rpcholesky")
    found = symmetric_preconditioner(kernel, X, centred, kappa, settings, definite=True)
    drawn_by = None if weights is None else weights
    factor = pivoted_cholesky(KernelMatrix(kernel, X), 60, weights=drawn_by, random_state=0).factor
    S = np.diag(np.ones(300) if weights is None else np.sqrt(weights))
    border = np.diag(S) / np.linalg.norm(np.diag(S))
    F = (np.eye(300) - np.outer(border, border)) @ S @ factor
    V = centred.project(np.random.default_rng(0).normal(size=(300, 2)))
    values, vectors = (part[..., -60:] for part in np.linalg.eigh(F @ F.T))
    outside = values[0] * (np.eye(300) - vectors @ vectors.T)  # as large as the smallest value of the picture
    assert values[0] > 1e-3 * kappa  # none is left out
    close(found(V), np.linalg.solve(F @ F.T + kappa * np.eye(300) + outside, V), 1e-8)
    assert found.trace_error < 0.5


def test_few_iterations_learn_what_the_preconditioner_has_seen():
    """With a large γ, too: what it has not seen comes after that, and an iteration that is ended early is of use."""
    rng = np.random.default_rng(1)
    X, kernel = rng.normal(size=(900, 5)), rbf(sigma=2.0)
    y = np.sin(X[:, :1] * X[:, 1:2]) + X[:, 2:3]
    errors = []
    for gamma in (1e2, 1e4, 1e6):
        settings = IterationSettings(rank=120, max_iter=10, tol=1e-9)
        with pytest.warns(ConvergenceWarning):
            A, b, _ = solve_symmetric_iterative(kernel, X[:600], y[:600], gamma, settings=settings)
        errors.append(float(np.sqrt(np.mean((kernel(X[600:], X[:600]) @ A + b - y[600:]) ** 2))))
    a, beta = textbook_symmetric(kernel(X[:600]), y[:600], 1e4)
    exact = float(np.sqrt(np.mean((kernel(X[600:], X[:600]) @ a + beta - y[600:]) ** 2)))
    assert max(errors) < 1.5 * exact


def test_pivots_save_iterations_where_samples_are_clustered():
    """A uniform choice wastes landmarks on the large cluster; the pivots see all of them."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(30, 4)) * 6
    X = np.vstack([rng.normal(size=(600, 4)) * 0.3, *[c + 0.5 * rng.normal(size=(10, 4)) for c in centres]])
    Y = rng.normal(size=(900, 1))
    uniform, pivots = (
        solve_symmetric_iterative(
            rbf(sigma=2.0), X, Y, 1000.0, settings=IterationSettings(rank=150, landmarks=word, max_iter=3000)
        )[2]
        for word in ("uniform", "rpcholesky")
    )
    assert pivots.converged
    assert pivots.iterations <= 0.6 * uniform.iterations
    assert pivots.trace_error < 0.1
    assert uniform.trace_error is None


@pytest.mark.parametrize("landmarks", ["rpcholesky"])
@pytest.mark.parametrize(("kernel", "gamma"), [(tl1(rho=4.2), 1.0), (rbf(sigma=3.0), 50.0)])
def test_pivots_of_symmetric_kernels_solve_the_same_system(data, kernel, gamma, landmarks):
    X, Y, weights = data
    settings = replace(TIGHT, rank=50, landmarks=landmarks)
    A, b, _ = solve_symmetric_iterative(kernel, X, Y, gamma, weights=weights, settings=settings)
    a, beta = textbook_symmetric(kernel(X), Y, gamma, weights)
    close(A, a, 1e-7)
    close(b, beta, 1e-7)


def test_pivots_of_kernels_of_zeros_and_of_two_spaces(data):
    X, Y, _ = data
    settings = replace(TIGHT, rank=40, landmarks="rpcholesky")
    zero = precomputed(K=np.zeros((6, 6)))
    A, _, report = solve_symmetric_iterative(zero, np.arange(6), np.arange(6.0), 2.0, definite=True, settings=settings)
    close(A[:, 0], 2.0 * (np.arange(6.0) - 2.5), 1e-10)
    assert report.rank == 0
    kernel, Z = rbf(sigma=2.0), np.cos(X + 1.0)
    A, C, b, report = solve_block_iterative(kernel, X, Y, 0.7, Z=Z, settings=settings)
    for got, expected in zip((A, C, *b), textbook_block(kernel(X, Z), Y, 0.7), strict=True):
        close(got, expected, 1e-6)
    assert 0.0 < report.trace_error < 1.0


def test_time_ends_an_iteration_with_a_true_residual(data, monkeypatch):
    X, Y, _ = data
    monkeypatch.setattr(Clock, "over", lambda self, reserve=0.0: self.seconds is not None)
    kernel = rbf(sigma=4.0)
    with pytest.warns(ConvergenceWarning, match="raise max_seconds"):
        A, _, report = solve_symmetric_iterative(
            kernel, X, Y, 1000.0, settings=IterationSettings(rank=0, max_seconds=1.0)
        )
    assert report.iterations == 1
    J = np.eye(300) - 1 / 300
    rest = J @ Y - J @ kernel(X) @ J @ A - A / 1000.0
    worst = (np.linalg.norm(rest, axis=0) / np.linalg.norm(J @ Y, axis=0)).max()
    assert report.residual == pytest.approx(worst, rel=1e-8)


def test_stopped_conjugate_gradients_keep_what_they_have():
    """The residual may be larger than that of the mean for long, while the error falls with every iteration."""
    rng = np.random.default_rng(0)
    X, kernel, gamma = rng.normal(size=(300, 3)), rbf(sigma=3.0), 1e5
    y = np.sin(2.0 * X[:, :1]) + 0.3 * rng.normal(size=(300, 1))
    a, _ = textbook_symmetric(kernel(X), y, gamma)
    J = np.eye(300) - 1 / 300
    system = J @ kernel(X) @ J + np.eye(300) / gamma
    errors = [float(a[:, 0] @ system @ a[:, 0])]
    residuals = []
    for most in (2, 5, 10):
        with pytest.warns(ConvergenceWarning):
            A, _, report = solve_symmetric_iterative(
                kernel, X, y, gamma, settings=IterationSettings(rank=20, max_iter=most, tol=1e-9)
            )
        errors.append(float((A - a)[:, 0] @ system @ (A - a)[:, 0]))
        residuals.append(report.residual)
    assert max(residuals) > 1.0
    assert (np.diff(errors) < 0.0).all()


def test_an_iteration_goes_on_until_the_true_residual_is_within_its_bound():
    """Products that are wrong by a hundredth: the first end of the iteration is none of the equations."""
    rng = np.random.default_rng(0)
    B = rng.normal(size=(30, 30))
    A, b = B @ B.T + 30.0 * np.eye(30), rng.normal(size=(30, 1))
    system = CentredSystem(lambda V: 1.01 * (A @ V), b, lambda V: b - A @ V, lambda V: V, 1.0)
    for share in (1.5, 15.0):  # the first residual is so many times as large as it may be
        bound = 0.01 / 1.01 / share * np.linalg.norm(b, axis=0)
        result = solve_checked("cg", system, lambda V: V, bound, 1000, None)
        assert np.linalg.norm(b - A @ result.solution) <= bound


@pytest.mark.parametrize("rest", [None, 0.3])
def test_a_symmetric_preconditioner_is_the_inverse_of_its_matrix(rest):
    rng = np.random.default_rng(0)
    U, _ = np.linalg.qr(rng.normal(size=(12, 4)))
    values, kappa, V = np.array([5.0, 2.0, -1.0, 0.5]), 0.2, rng.normal(size=(12, 3))
    given = (
        SymmetricPreconditioner(U, values, kappa)
        if rest is None
        else SymmetricPreconditioner(U, values, kappa, None, rest)
    )
    outside = np.eye(12) - U @ U.T
    dense = (U * np.abs(values + kappa)) @ U.T + (kappa + (rest or 0.0)) * outside
    close(given(V), np.linalg.solve(dense, V), 1e-12)


def test_nystrom_directions_are_those_of_the_approximation():
    rng = np.random.default_rng(0)
    columns, M = rng.normal(size=(20, 5)), rng.normal(size=(5, 5))
    U, values = _nystrom(columns.copy(), M @ M.T)
    close((U * values) @ U.T, columns @ np.linalg.inv(M @ M.T) @ columns.T, 1e-9)
    close(U.T @ U, np.eye(5), 1e-9)
