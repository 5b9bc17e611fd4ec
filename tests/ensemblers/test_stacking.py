from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

from kernreg.ensemblers import Stack
from kernreg.errors import DataError, ParameterError

N = 120


def views_of(truth: np.ndarray, *scales: float, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {f"v{i}": 3.0 * truth + s * rng.standard_normal(truth.shape) + i for i, s in enumerate(scales)}


@pytest.fixture
def binary():
    y = np.where(np.random.default_rng(1).random(N) < 0.4, 1, -1)
    return views_of(y.astype(float), 2.0, 4.0, 9.0), y


@pytest.fixture
def several():
    codes = np.random.default_rng(2).integers(4, size=N)
    return views_of(2.0 * np.eye(4)[codes] - 1, 2.0, 6.0), codes


def features(views: dict[str, np.ndarray], column: int | None = None) -> np.ndarray:
    return np.column_stack([view if column is None else view[:, column] for view in views.values()])


@pytest.mark.parametrize("alpha", [0.1, 1.0, 50.0])
def test_ridge_is_scikit_learns_ridge_on_standardised_views(binary, alpha):
    views, y = binary
    F = StandardScaler().fit_transform(features(views))
    expected = Ridge(alpha=alpha).fit(F, y).predict(F)
    np.testing.assert_allclose(Stack(alpha=alpha).fit(views, y).merge(views), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 50.0])
def test_logistic_is_scikit_learns_logistic_regression_on_standardised_views(binary, alpha):
    views, y = binary
    F = StandardScaler().fit_transform(features(views))
    peer = LogisticRegression(C=1 / alpha, tol=1e-12, max_iter=1000).fit(F, y)
    stack = Stack("logistic", alpha=alpha).fit(views, y)
    np.testing.assert_allclose(stack.merge(views), peer.decision_function(F), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(stack.proba(views), peer.predict_proba(F), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("method", ["ridge", "logistic"])
def test_several_classes_are_one_regression_each(several, method):
    views, codes = several
    stack = Stack(method).fit(views, codes)
    merged = stack.merge(views)
    for c in range(4):
        one = {name: view[:, c] for name, view in views.items()}
        alone = Stack(method).fit(one, np.where(codes == c, 1, -1))
        np.testing.assert_allclose(merged[:, c], alone.merge(one), rtol=1e-12)
        assert {name: w[c] for name, w in stack.weights_.items()} == pytest.approx(alone.weights_)
        assert stack.intercept_[c] == pytest.approx(alone.intercept_)


def test_weights_and_intercept_are_the_merge(several):
    views, codes = several
    stack = Stack().fit(views, codes)
    expected = stack.intercept_ + sum(stack.weights_[name] * view for name, view in views.items())
    np.testing.assert_allclose(stack.merge(views), expected, rtol=1e-12)


def test_probabilities_add_up_and_agree_with_the_merge(several):
    views, codes = several
    stack = Stack("logistic").fit(views, codes)
    p = stack.proba(views)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    assert p.min() >= 0
    np.testing.assert_array_equal(p.argmax(axis=1), stack.merge(views).argmax(axis=1))
    odds = 1 / (1 + np.exp(-stack.merge(views)))
    np.testing.assert_allclose(p, odds / odds.sum(axis=1, keepdims=True), rtol=1e-10)


def test_probabilities_hold_where_every_class_is_very_unlikely():
    codes = np.array([0, 1, 2] * 5)
    stack = Stack("logistic", alpha=1e-6).fit({"v": 2.0 * np.eye(3)[codes] - 1}, codes)
    p = stack.proba({"v": np.array([[-1e4, -2e4, -3e4]])})
    np.testing.assert_allclose(p, [[1.0, 0.0, 0.0]], atol=1e-12)


def test_only_logistic_gives_probabilities():
    assert hasattr(Stack("logistic"), "proba")
    assert not hasattr(Stack("ridge"), "proba")


def test_separable_views_converge():
    y = np.array([-1] * 20 + [1] * 20)
    stack = Stack("logistic", alpha=1e-3).fit({"v": y * np.linspace(1, 2, 40)}, y)
    assert np.isfinite(stack.weights_["v"])
    assert (np.sign(stack.merge({"v": y * 1.0})) == y).all()


def test_regression_is_corrected_by_weight_and_intercept():
    y = np.random.default_rng(0).standard_normal(N)
    stack = Stack(alpha=1e-8).fit({"v": 2.0 * y + 5.0}, y)
    assert stack.weights_["v"] == pytest.approx(0.5)
    assert stack.intercept_ == pytest.approx(-2.5)
    outputs = np.column_stack([y, -y])
    np.testing.assert_allclose(Stack(alpha=1e-8).fit({"v": 2 * outputs}, outputs).merge({"v": 2 * outputs}), outputs)


def test_identical_and_constant_views_are_no_trouble(binary):
    views, y = binary
    one = views["v0"]
    for method in ("ridge", "logistic"):
        stack = Stack(method).fit({"a": one, "b": one.copy(), "c": np.full(N, 7.0)}, y)
        assert stack.weights_["a"] == pytest.approx(stack.weights_["b"])
        assert stack.weights_["c"] == 0.0
        assert np.isfinite(stack.merge({"a": one, "b": one, "c": one})).all()


def test_float32_stays(several):
    views, codes = several
    single = {name: view.astype(np.float32) for name, view in views.items()}
    assert Stack().fit(single, codes).merge(single).dtype == np.float32


@pytest.mark.parametrize(
    ("stack", "message"),
    [(Stack("forest"), "method='forest'"), (Stack(alpha=0), "alpha=0"), (Stack(alpha="x"), "alpha='x'")],
)
def test_wrong_parameters_are_refused(binary, stack, message):
    with pytest.raises(ParameterError, match=message):
        stack.fit(*binary)


def test_logistic_refuses_what_is_no_two_classes(binary):
    views, y = binary
    with pytest.raises(DataError, match="use 'ridge'"):
        Stack("logistic").fit(views, y + 0.5)
    with pytest.raises(DataError, match="in and outside of every class"):
        Stack("logistic").fit(views, np.ones(N))
