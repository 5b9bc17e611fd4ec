"""Block coordinate descent against the textbook system, and what it says of itself when it stops early."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from textbook import textbook_symmetric

from kernreg.errors import DataError, ParameterError
from kernreg.kernels.builtin import laplacian, linear, rbf, tl1
from kernreg.kernels.indexed import precomputed
from kernreg.linalg.krylov import block_descent
from kernreg.linalg.krylov.block_descent import BlockSettings, solve_by_blocks
from kernreg.linalg.krylov.block_solves import block_step
from kernreg.linalg.krylov.centred_operator import CentredOperator
from kernreg.linalg.krylov.clock import Clock

SMALL = BlockSettings(tol=1e-10, max_iter=2000, block=60)


def close(got, expected, tolerance):
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def true_residual(kernel, X, Y, gamma, A, b, weights=None):
    """The largest ‖S(y - K a - a/(γ v) - b)‖ / ‖J S y‖ over columns, S = diag(√v), by the definition."""
    v = np.ones(len(Y)) if weights is None else weights
    s = np.sqrt(v)[:, None]
    rest = s * (Y - kernel(X) @ A - A / (gamma * v[:, None]) - b)
    border = s[:, 0] / np.linalg.norm(s)
    T = s * Y - np.outer(border, border @ (s * Y))
    return (np.linalg.norm(rest, axis=0) / np.linalg.norm(T, axis=0)).max()


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    return rng.normal(size=(300, 6)), 7.0 + rng.normal(size=(300, 3)), 0.2 + rng.random(300)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", [rbf(sigma=3.0), laplacian(sigma=6.0)], ids=["rbf", "laplacian"])
def test_equals_the_textbook_system(data, kernel, weighted):
    X, Y, weights = data
    weights = weights if weighted else None
    A, b, report = solve_by_blocks(kernel, X, Y, 50.0, weights=weights, settings=SMALL)
    a, beta = textbook_symmetric(kernel(X), Y, 50.0, weights)
    close(A, a, 1e-7)
    close(b, beta, 1e-7)
    assert (report.strategy, report.residual_is, report.block) == ("blocks", "measured", 60)
    assert report.converged
    assert np.abs(A.sum(axis=0)).max() < 1e-9
    assert true_residual(kernel, X, Y, 50.0, A, b, weights) <= 2e-10


def test_one_block_of_all_samples_takes_one_step(data):
    X, Y, _ = data
    A, b, report = solve_by_blocks(rbf(sigma=3.0), X, Y, 50.0, settings=replace(SMALL, block=None))
    a, beta = textbook_symmetric(rbf(sigma=3.0)(X), Y, 50.0)
    close(A, a, 1e-8)
    close(b, beta, 1e-8)
    assert report.block == int(10 * np.sqrt(300))


def test_steps_of_low_rank_solve_the_same_system(data):
    X, Y, weights = data
    kernel, settings = rbf(sigma=3.0), replace(SMALL, rank=15, tol=1e-6, max_iter=4000)
    A, b, report = solve_by_blocks(kernel, X, Y, 20.0, weights=weights, settings=settings)
    a, beta = textbook_symmetric(kernel(X), Y, 20.0, weights)
    close(A, a, 1e-3)
    close(b, beta, 1e-4)
    assert report.rank == 15
    assert report.converged


def test_momentum_saves_passes(data, monkeypatch):
    X, Y, _ = data
    settings = BlockSettings(tol=1e-4, max_iter=1000, block=50)
    helped = solve_by_blocks(rbf(sigma=2.0), X, Y, 1e3, settings=settings)[2]
    monkeypatch.setattr(block_descent._Descent, "follow", lambda self, before, now: None)  # μ = 1/ν throughout
    plain = solve_by_blocks(rbf(sigma=2.0), X, Y, 1e3, settings=settings)[2]
    assert helped.converged
    assert helped.iterations < 0.7 * plain.iterations


@pytest.mark.parametrize("passes", [1, 3, 8])
def test_stopped_early_the_residual_is_the_true_one(data, passes):
    X, Y, weights = data
    kernel = rbf(sigma=3.0)
    with pytest.warns(ConvergenceWarning, match=rf"stopped after {passes} passes .* \(measured\)"):
        A, b, report = solve_by_blocks(
            kernel, X, Y, 1e4, weights=weights, settings=replace(SMALL, block=30, max_iter=passes)
        )
    assert not report.converged
    assert report.iterations == passes
    assert report.residual == pytest.approx(true_residual(kernel, X, Y, 1e4, A, b, weights), rel=1e-6)


class _Steps:
    """A clock that runs out after so many questions; passes take a second."""

    def __init__(self, questions, seconds):
        self.left, self.seconds, self.elapsed = questions, seconds, 0.0

    def lap(self):
        return 1.0

    def over(self, reserve=0.0):
        self.left -= 1
        return self.left < 0


def test_without_time_for_a_product_the_residual_is_an_estimate(data, monkeypatch):
    """It is of the right size: the gradients of the blocks are a fair sample of the residual."""
    X, Y, _ = data
    kernel = rbf(sigma=3.0)
    monkeypatch.setattr(block_descent, "Clock", lambda seconds: _Steps(25, seconds))
    with pytest.warns(ConvergenceWarning, match=r"stopped after 2 passes .* \(estimated\)"):
        A, b, report = solve_by_blocks(kernel, X, Y, 1e3, settings=replace(SMALL, block=30, max_seconds=1.5))
    assert report.residual_is == "estimated"
    assert not report.converged
    truth = true_residual(kernel, X, Y, 1e3, A, b)
    assert 0.3 * truth < report.residual < 5.0 * truth


def test_with_time_for_a_product_it_is_measured(data, monkeypatch):
    X, Y, _ = data
    kernel = rbf(sigma=3.0)
    monkeypatch.setattr(block_descent, "Clock", lambda seconds: _Steps(25, seconds))
    with pytest.warns(ConvergenceWarning, match=r"stopped after 2 passes .* \(measured\)"):
        A, b, report = solve_by_blocks(kernel, X, Y, 1e3, settings=replace(SMALL, block=30, max_seconds=60.0))
    assert report.residual == pytest.approx(true_residual(kernel, X, Y, 1e3, A, b), rel=1e-6)


def test_no_time_at_all_leaves_the_mean(data):
    X, Y, _ = data
    with pytest.warns(ConvergenceWarning, match="0 passes"):
        A, b, report = solve_by_blocks(rbf(), X, Y, 1.0, settings=replace(SMALL, max_seconds=1e-9))
    assert not A.any()
    np.testing.assert_allclose(b, Y.mean(axis=0))
    assert (report.residual, report.residual_is) == (1.0, "estimated")


def test_many_right_hand_sides_equal_one_at_a_time(data):
    X, Y, _ = data
    together = solve_by_blocks(rbf(sigma=2.0), X, Y, 2.0, settings=SMALL)[0]
    for j in range(Y.shape[1]):
        close(together[:, [j]], solve_by_blocks(rbf(sigma=2.0), X, Y[:, j], 2.0, settings=SMALL)[0], 1e-7)


def test_repeatable(data):
    X, Y, _ = data
    first, second = (solve_by_blocks(rbf(sigma=2.0), X, Y, 10.0, settings=SMALL)[0] for _ in range(2))
    assert np.array_equal(first, second)


def test_sparse_samples_equal_dense(data):
    rng = np.random.default_rng(2)
    X = sp.random_array((200, 80), density=0.05, rng=rng, format="csr")
    Y = rng.normal(size=(200, 2))
    A, b, _ = solve_by_blocks(rbf(sigma=2.0), X, Y, 5.0, settings=SMALL)
    a, beta = textbook_symmetric(rbf(sigma=2.0)(X.toarray()), Y, 5.0)
    close(A, a, 1e-6)
    close(b, beta, 1e-6)


def test_a_singular_kernel_and_constant_targets(data):
    X, Y, _ = data
    A, b, _ = solve_by_blocks(linear(), X, Y, 10.0, settings=SMALL)
    a, beta = textbook_symmetric(X @ X.T, Y, 10.0)
    close(A, a, 1e-6)
    close(b, beta, 1e-6)
    A, b, report = solve_by_blocks(rbf(), X, np.full((300, 2), 3.0), 1.0, settings=SMALL)
    assert np.abs(A).max() < 1e-9
    np.testing.assert_allclose(b, 3.0)
    assert report.converged


def test_one_sample_and_a_kernel_of_zeros():
    A, b, report = solve_by_blocks(rbf(), np.zeros((1, 2)), np.array([3.0]), 2.0)
    assert np.abs(A).max() < 1e-12
    assert b == pytest.approx(3.0)
    assert report.converged
    A, b, _ = solve_by_blocks(precomputed(K=np.zeros((6, 6))), np.arange(6), np.arange(6.0), 2.0)
    close(A[:, 0], 2.0 * (np.arange(6.0) - 2.5), 1e-9)
    assert b == pytest.approx(2.5)


def test_single_precision_samples_with_a_large_gamma(data):
    """Blocks of single precision are positive definite but for rounding errors, which are more than 1/γ here."""
    X, _Y, _ = data
    kernel, X = rbf(sigma=12.0), X.astype(np.float32)
    settings = BlockSettings(tol=0.2, block=60, max_iter=300)
    A, b, report = solve_by_blocks(kernel, X, X[:, :1].astype(float), 1e7, settings=settings)
    assert report.converged
    assert np.abs(kernel(X) @ A + b - X[:, :1]).max() < 0.5


def test_an_indefinite_matrix_is_refused(data):
    X, Y, _ = data
    with pytest.raises(DataError, match="strategy='iterative'"):
        solve_by_blocks(tl1(rho=4.2), X, Y, 1e3, settings=SMALL)


def test_callback_sees_every_pass(data):
    X, Y, _ = data
    seen = []
    settings = replace(SMALL, watch=lambda i, ratio: seen.append((i, ratio)))
    report = solve_by_blocks(rbf(), X, Y, 5.0, settings=settings)[2]
    assert [i for i, _ in seen] == list(range(1, report.iterations + 1))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"gamma": 0.0}, ParameterError, "gamma"),
        ({"Y": np.zeros(3)}, DataError, "targets"),
        ({"weights": np.zeros(300)}, DataError, "weights"),
    ],
)
def test_errors_say_what_is_accepted(data, changes, error, message):
    arguments = {"kernel": rbf(), "X": data[0], "Y": data[1], "gamma": 1.0} | changes
    with pytest.raises(error, match=message):
        solve_by_blocks(**arguments)


@pytest.mark.parametrize("rank", [None, 5, 40])
def test_a_step_never_goes_too_far(rank):
    """The error (in the norm of the block) shrinks: no eigenvalue of the step times the block is more than 1."""
    rng = np.random.default_rng(0)
    M = rng.normal(size=(40, 40)) * np.geomspace(1.0, 1e-4, 40)
    K, kappa = M @ M.T, 1e-6
    steps = block_step(K.copy(), np.eye(40), kappa, rank, np.random.default_rng(1))
    values = np.linalg.eigvals(steps @ (K + kappa * np.eye(40))).real
    assert values.min() > 0.0
    assert values.max() < 1.1
    if rank != 5:
        np.testing.assert_allclose(values, 1.0, rtol=1e-3)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_the_step_by_an_approximation_of_sufficient_rank_is_that_of_the_block(size):
    rng = np.random.default_rng(0)
    M, g = rng.normal(size=(40, 5)), rng.normal(size=(40, 2))
    step = block_step(size * M @ M.T, size * g, size * 0.1, 8, np.random.default_rng(1))
    close(step, np.linalg.solve(M @ M.T + 0.1 * np.eye(40), g), 1e-6)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_the_step_by_an_approximation_of_what_is_above_kappa_is_about_that_of_the_block(size):
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.normal(size=(40, 40)))
    K, g = (Q * 10.0 ** (-0.5 * np.arange(40))) @ Q.T, rng.normal(size=(40, 2))
    step = block_step(size * K, size * g, size * 1e-3, 20, np.random.default_rng(1))
    close(step, np.linalg.solve(K + 1e-3 * np.eye(40), g), 1e-4)


def test_rounding_errors_are_no_reason_to_refuse_a_block_and_negative_eigenvalues_are():
    rng = np.random.default_rng(0)
    M, g = rng.normal(size=(20, 3)), rng.normal(size=(20, 1))
    almost = M @ M.T - 1e-7 * np.eye(20)  # as of single precision
    step = block_step(almost, g, 1e-9, None, rng)
    assert np.isfinite(step).all()
    with pytest.raises(DataError, match="needs a positive definite kernel"):
        block_step(M @ M.T - np.eye(20), g, 1e-9, None, rng)


def test_clock():
    clock = Clock(100.0)
    assert not clock.over()
    assert clock.over(reserve=101.0)
    assert clock.lap() >= 0.0


@pytest.mark.parametrize("weighted", [False, True])
def test_steps_are_those_of_the_accelerated_recursion(weighted):
    rng = np.random.default_rng(0)
    X, Y, kappa, size = rng.normal(size=(20, 3)), rng.normal(size=(20, 2)), 0.1, 5
    v = 0.5 + rng.random(20) if weighted else np.ones(20)
    kernel = rbf(sigma=1.0)
    centred = CentredOperator(kernel.operator(X), v if weighted else None)
    descent = block_descent._Descent(kernel, X, Y, centred, kappa, BlockSettings(block=size))
    root = np.sqrt(v)[:, None]
    K, T = root * kernel(X) * root.T, root * np.column_stack([Y, np.ones(20)])
    nu, mu = 20 / size, 0.02
    descent._mu = mu  # at first it is 1/ν, where there is no momentum
    beta, theta = 1 - np.sqrt(mu / nu), 1 / np.sqrt(mu * nu)
    alpha = 1 / (1 + theta * nu)
    Z = V = np.zeros((20, 3))
    for B in descent.blocks() + descent.blocks():
        delta = np.zeros_like(Z)
        delta[B] = np.linalg.solve(K[np.ix_(B, B)] + kappa * np.eye(size), (K @ Z + kappa * Z - T)[B])
        V, W = beta * V + (1 - beta) * Z - theta * delta, Z - delta
        Z = alpha * V + (1 - alpha) * W
        descent.step(B)
        close(descent.Z, Z, 1e-10)
