"""Compatibility a3: exact gradients, the heads, and what learning is for."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from threadpoolctl import threadpool_limits

import kernreg as kr
from kernreg.errors import DataError, ParameterError
from kernreg.solvers import KernelSVD
from kernreg.solvers.decompositions.compatibility.fixed_maps import make_compatibility
from kernreg.solvers.decompositions.compatibility.heads import HEADS, targets
from kernreg.solvers.decompositions.compatibility.learned_map import DownstreamLoss, LearningProblem
from kernreg.solvers.kernel_gradients import check_differentiable, sample_gradients

KERNELS = (
    "linear",
    "poly(degree=3, c=0.5)",
    "tanh(c=0.3, t=0.1)",
    "rbf(sigma=3.0)",
    "cauchy(sigma=2.0)",
    "rational-quadratic(sigma=2.0, alpha=1.5)",
    "sne(sigma=2.0)",
    "t(sigma=2.0)",
)


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    with threadpool_limits(1, user_api="blas"):
        yield


def slope(function, x, direction, step=1e-5):
    """The central difference along a direction."""
    return (function(x + step * direction) - function(x - step * direction)) / (2 * step)


@pytest.mark.parametrize("spec", KERNELS)
def test_derivatives_of_kernels_by_their_samples_are_finite_differences(spec):
    rng = np.random.default_rng(0)
    k = kr.make_kernel(spec)
    A, B, W = rng.standard_normal((5, 3)), rng.standard_normal((4, 3)), rng.standard_normal((5, 4))
    left, right = sample_gradients(k, A, B, k(A, B), W)
    for _ in range(3):
        D = rng.standard_normal(A.shape)
        assert slope(lambda x: float((W * k(x, B)).sum()), A, D) == pytest.approx((left * D).sum(), rel=1e-7, abs=1e-9)
        D = rng.standard_normal(B.shape)
        assert slope(lambda z: float((W * k(A, z)).sum()), B, D) == pytest.approx((right * D).sum(), rel=1e-7, abs=1e-9)


def problem(spec, shape, head, center, n_components=2, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal(shape)
    Y = rng.standard_normal((shape[0], 2))
    Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    if head == "logistic":
        Y = (Y > 0).astype(float)
        Y[:2] = [[0, 0], [1, 1]]
    start = make_compatibility("a1", A, A.T, rows_and_columns=True)
    mapped = "right" if start.left is None else "left"
    left, right = start.left_samples(A), start.right_samples(A.T)
    made = LearningProblem(
        kr.make_kernel(spec),
        left,
        right,
        mapped,
        Y,
        DownstreamLoss(head, n_components, center, alpha=1e-2, penalty=0.3),
    )
    return made, np.eye(made.size).ravel() + 0.2 * rng.standard_normal(made.size**2), rng


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("head", list(HEADS))
@pytest.mark.parametrize("spec", KERNELS)
def test_gradient_of_the_loss_is_a_finite_difference(spec, head, center):
    for shape in ((14, 5), (5, 14)):  # the map on the right, and on the left
        made, x, rng = problem(spec, shape, head, center)
        _, gradient = made(x)
        for _ in range(2):
            D = rng.standard_normal(x.size)
            assert slope(lambda b, made=made: made(b)[0], x, D) == pytest.approx(gradient @ D, rel=2e-6, abs=1e-9)


@pytest.mark.parametrize("n_components", [1, 4, 5])
def test_gradient_holds_for_one_and_for_all_components(n_components):
    made, x, rng = problem("rbf(sigma=3.0)", (14, 5), "least-squares", False, n_components)
    _, gradient = made(x)
    D = rng.standard_normal(x.size)
    assert slope(lambda b: made(b)[0], x, D) == pytest.approx(gradient @ D, rel=1e-6)


def test_gradient_holds_where_singular_values_among_the_first_are_equal():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((8, 4)))[0]
    Y = rng.standard_normal((8, 1))
    Y = (Y - Y.mean()) / Y.std()
    # The linear kernel of Q and the identity has four singular values of one; all but the last two are made smaller.
    left = Q * np.array([1.0, 1.0, 0.3, 0.2])
    made = LearningProblem(
        kr.make_kernel("linear"), left, np.eye(4), "right", Y, DownstreamLoss("least-squares", 2, False, 1e-2, 0.0)
    )
    x = np.eye(4).ravel()
    _, gradient = made(x)
    D = rng.standard_normal(16)
    assert slope(lambda b: made(b)[0], x, D) == pytest.approx(gradient @ D, rel=1e-6)


def test_least_squares_head_is_ridge_regression():
    rng = np.random.default_rng(0)
    S, Y = rng.standard_normal((30, 3)) + 2.0, rng.standard_normal((30, 2))
    Y -= Y.mean(axis=0)
    loss, residuals, theta = HEADS["least-squares"](S, Y, 0.1)
    peer = Ridge(alpha=0.1 * 30).fit(S, Y)
    np.testing.assert_allclose(theta, peer.coef_.T, atol=1e-10)
    np.testing.assert_allclose(residuals, (peer.predict(S) - Y) / 30, atol=1e-10)
    expected = 0.5 * ((peer.predict(S) - Y) ** 2).sum() / 30 + 0.05 * (peer.coef_**2).sum()
    assert loss == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("size", [1.0, 1e-3, 30.0])  # nearly separable for the largest
def test_logistic_head_is_logistic_regression(size):
    rng = np.random.default_rng(0)
    S = size * rng.standard_normal((60, 3))
    y = (S[:, 0] / size + 0.5 * rng.standard_normal(60) > 0.2).astype(float)
    ridge = 0.01 * size**2
    loss, residuals, theta = HEADS["logistic"](S, y[:, None], ridge)
    peer = LogisticRegression(C=1 / (0.01 * 60), tol=1e-12, max_iter=10_000).fit(S / size, y)
    np.testing.assert_allclose(theta[:, 0] * size, peer.coef_[0], rtol=2e-5)
    np.testing.assert_allclose(residuals[:, 0] * 60, peer.predict_proba(S / size)[:, 1] - y, atol=1e-5)
    assert 0 < loss < np.log(2)


@pytest.mark.parametrize(
    ("y", "head", "shape"),
    [
        (["a", "b", "a", "b"], "logistic", (4, 1)),
        ([0, 1, 2, 0], "logistic", (4, 3)),
        ([0.0, 1.0, 1.0, 0.0], "logistic", (4, 1)),
        ([0.0, 1.0, 2.0, 0.0], "least-squares", (4, 1)),
        ([[0.5, 1.0], [2.0, 2.0], [3.0, 1.0], [1.0, 7.0]], "least-squares", (4, 2)),
    ],
    ids=["text", "three classes", "two numbers", "numbers", "two outputs"],
)
def test_head_follows_the_targets(y, head, shape):
    found, Y = targets("auto", y, 4)
    assert (found, Y.shape) == (head, shape)
    if head == "least-squares":
        np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-15)
        assert (Y * Y).sum() / 4 == pytest.approx(1.0)


def informative(n=90, seed=0):
    """Classes that lie in a direction of small variance, which principal directions leave to the end."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, 4)) * np.array([3.0, 2.0, 1.0, 0.3])
    X[:, 3] += 0.8 * y
    return X, y


def test_learning_lowers_the_loss_and_brings_the_classes_out():
    scores = {"a1": [], "a3": []}
    for seed in range(4):
        X, y = informative(seed=seed)
        new, new_y = informative(seed=seed + 10)
        for name, found in scores.items():
            svd = KernelSVD("rbf(sigma=4.0)", 2, compatibility=name).fit(X, y)
            size = svd.left_scores_.std()
            head = LogisticRegression(C=1e4, max_iter=1000).fit(svd.left_scores_ / size, y)
            found.append(head.score(svd.transform(new) / size, new_y))
        assert svd.learning_report_.head == "logistic"
        assert svd.learning_report_.objective < 0.9 * svd.learning_report_.start
    assert np.mean(scores["a1"]) < 0.7
    assert np.mean(scores["a3"]) > 0.8


def test_learning_is_at_a_minimum_where_it_converged():
    X, y = informative(60)
    svd = KernelSVD("rbf(sigma=4.0)", 2, compatibility="a3", learning_iter=1000).fit(X, y)
    report = svd.learning_report_
    assert report.converged
    assert report.gradient < 1e-3
    again = KernelSVD("rbf(sigma=4.0)", 2, compatibility="a3", learning_iter=3).fit(X, y)
    assert again.learning_report_.iterations == 3
    assert not again.learning_report_.converged
    assert report.objective < again.learning_report_.objective < report.start


@pytest.mark.parametrize("shape", [(30, 6), (12, 20)])
def test_learned_maps_serve_training_and_new_samples_alike(shape):
    rng = np.random.default_rng(0)
    A = rng.standard_normal(shape)
    svd = KernelSVD("sne(sigma=3.0)", 3, compatibility="a3", learning_iter=5).fit(A, A[:, 0] + 0.1 * A[:, 1])
    assert svd.learning_report_.head == "least-squares"
    np.testing.assert_allclose(svd.transform(A), svd.left_scores_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(svd.transform_right(A.T), svd.right_scores_, rtol=0, atol=1e-12)


def test_a_strong_penalty_holds_the_map_at_a1():
    X, y = informative(40)
    held = KernelSVD("rbf(sigma=4.0)", 2, compatibility="a3", learning_penalty=1e8).fit(X, y)
    start = KernelSVD("rbf(sigma=4.0)", 2, compatibility="a1").fit(X)
    np.testing.assert_allclose(held.compatibility_.right, start.compatibility_.right, atol=1e-6)


@pytest.mark.parametrize("kernel", ["laplacian", "tl1", "sne(self_term=False)", "matern(nu=0.5)"])
def test_kernels_without_a_known_derivative_are_refused(kernel):
    with pytest.raises(
        ParameterError, match="accepted are cauchy, linear, poly, rational-quadratic, rbf, sne, t, tanh"
    ):
        KernelSVD(kernel, 2, compatibility="a3").fit(*informative(20))
    with pytest.raises(ParameterError, match="not combined"):
        check_differentiable(kr.make_kernel("rbf") + kr.make_kernel("linear"))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        (np.zeros(20), "nothing to learn"),
        (np.full(20, 0.1), "nothing to learn"),
        (np.arange(19) % 2, "inconsistent"),
        (np.where(np.arange(20) == 3, np.nan, 1.0), "NaN"),
    ],
    ids=["none", "one class", "constant", "short", "nan"],
)
def test_targets_that_cannot_be_learned_from_are_refused(y, message):
    with pytest.raises((DataError, ValueError), match=message):
        KernelSVD("rbf(sigma=4.0)", 2, compatibility="a3").fit(informative(20)[0], y)


def test_a_logistic_head_is_for_classes():
    X, _ = informative(20)
    with pytest.raises(DataError, match="use head='least-squares'"):
        KernelSVD("rbf(sigma=4.0)", 2, compatibility="a3", head="logistic").fit(X, np.linspace(0, 1, 20))
