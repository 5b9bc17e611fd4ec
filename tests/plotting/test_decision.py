"""Which values a picture of decision regions shows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from kernreg.errors import DataError
from kernreg.plotting import DecisionViewsDisplay
from kernreg.solvers import LSSVC, AsKLSClassifier


@pytest.fixture
def three_classes():
    rng = np.random.default_rng(0)
    y = np.repeat(["ape", "bee", "cat"], 15)
    return rng.normal(size=(45, 2)) + 2 * np.eye(3)[:, :2][np.repeat([0, 1, 2], 15)], y


def test_two_views_and_their_merger_on_a_grid(moons):
    X, y = moons
    clf = AsKLSClassifier(kernel="sne(sigma=0.6)", gamma=0.7).fit(X, y)
    display = DecisionViewsDisplay.from_estimator(clf, X, y, grid_resolution=12)
    assert list(display.responses) == ["source", "target", "merged"]
    point = np.array([[display.xx[3, 5], display.yy[3, 5]]])
    views = clf.decision_views(point)
    for name in ("source", "target"):
        assert display.responses[name][3, 5] == pytest.approx(views[name][0], rel=1e-9)
    assert display.responses["merged"][3, 5] == pytest.approx(clf.decision_function(point)[0], rel=1e-9)
    assert [ax.get_title() for ax in display.axes_] == ["source view", "target view", "merged"]
    low, high = X.min(axis=0), X.max(axis=0)
    np.testing.assert_allclose(
        [display.xx.min(), display.yy.max()], [low[0], high[1]] + 0.08 * np.array([-1, 1]) * (high - low)
    )


def test_one_view_is_one_panel(moons):
    X, y = moons
    display = DecisionViewsDisplay.from_estimator(LSSVC().fit(X, y), X, y, grid_resolution=8)
    assert list(display.responses) == ["decision"]
    both = AsKLSClassifier(kernel="sne", gamma=0.7).fit(X, y)
    assert len(DecisionViewsDisplay.from_estimator(both, X, grid_resolution=8, merged=False).axes_) == 2


def test_several_classes_are_regions_of_the_largest_value(three_classes):
    X, y = three_classes
    clf = AsKLSClassifier(kernel="sne(sigma=1.0)", gamma=0.7).fit(X, y)
    display = DecisionViewsDisplay.from_estimator(clf, X, y, grid_resolution=15)
    assert display.responses["merged"].shape == (15, 15, 3)
    grid = np.column_stack([display.xx.ravel(), display.yy.ravel()])
    mesh = np.asarray(display.axes_[-1].collections[0].get_array()).ravel().astype(int)
    np.testing.assert_array_equal(clf.classes_[mesh], clf.predict(grid))
    assert [text.get_text() for text in display.axes_[-1].get_legend().get_texts()] == ["ape", "bee", "cat"]


def test_wrong_input_is_refused(moons, three_classes):
    X, y = moons
    with pytest.raises(DataError, match=r"X has shape \(60, 3\); decision regions are drawn in the plane"):
        DecisionViewsDisplay.from_estimator(LSSVC(), np.ones((60, 3)), y)
    with pytest.raises(DataError, match="LogisticRegression is not a fitted classifier with decision_views"):
        DecisionViewsDisplay.from_estimator(LogisticRegression(), X, y)
    with pytest.raises(DataError, match=r"view 'a' has shape \(3,\) on a grid of shape \(2, 2\)"):
        DecisionViewsDisplay(np.zeros((2, 2)), np.zeros((2, 2)), {"a": np.zeros(3)}, [0, 1])
