from __future__ import annotations

import numpy as np
import pytest

from kernreg import plotting
from kernreg.errors import DataError
from kernreg.solvers import LSSVC, LSSVR


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (120, 2))
    y = np.sin(X[:, 0]) + 0.2 * rng.standard_normal(120)
    y[5] += 4.0
    return LSSVR(kernel="rbf(sigma=2.0)", gamma=5.0).fit(X, y), X, y


def test_intervals_tell_who_is_outside(model):
    machine, X, y = model
    display = plotting.IntervalDisplay.from_estimator(machine, X, y, coverage=0.8)
    low, high = machine.predict_interval(X, 0.8).T
    inside = (low <= y) & (y <= high)
    assert display.covered == pytest.approx(inside.mean())
    lines = {line.get_label(): line for line in display.ax_.get_lines()}
    assert sorted(lines["outside"].get_ydata()) == sorted(y[~inside])
    assert sorted(lines["truth inside"].get_ydata()) == sorted(y[inside])
    assert (np.diff(lines["prediction"].get_ydata()) >= 0).all()
    assert f"{inside.mean():.1%}" in display.ax_.get_title()
    with pytest.raises(DataError, match="shapes"):
        plotting.IntervalDisplay([1.0], [[1.0, 2.0, 3.0]])


def test_reliability_is_the_frequency_in_groups():
    rng = np.random.default_rng(0)
    p = rng.random(1000)
    truth = rng.random(1000) < p
    display = plotting.ReliabilityDisplay(truth, p, bins=4).plot()
    order = np.argsort(p)
    for number, (mean, frequency) in enumerate(zip(*display.curves[0], strict=True)):
        rows = order[number * 250 : (number + 1) * 250]
        assert mean == pytest.approx(p[rows].mean())
        assert frequency == pytest.approx(truth[rows].mean())
    assert display.error < 0.05
    assert len(display.ax_.get_lines()) == 2
    X = np.column_stack([p, rng.random(1000)])
    clf = LSSVC(kernel="rbf(sigma=1.0)").fit(X[:200], truth[:200])
    assert plotting.ReliabilityDisplay.from_estimator(clf, X[200:], truth[200:]).error < 0.15


def test_residuals_are_those_left_out(model):
    machine, _, y = model
    display = plotting.ResidualDisplay.from_estimator(machine)
    np.testing.assert_allclose(display.residuals, machine.loo_residuals_)
    np.testing.assert_allclose(display.predictions + display.residuals, y)
    points = display.axes_[1].get_lines()[-1]
    assert (np.diff(points.get_ydata()) >= 0).all()
    assert abs(np.median(points.get_xdata())) < 1e-9


def test_the_most_influential_sample_is_named(model):
    machine, _, _ = model
    display = plotting.InfluenceDisplay.from_estimator(machine)
    assert display.named[0] == 5
    assert "5" in [text.get_text() for text in display.ax_.texts]
    sizes = display.ax_.collections[0].get_sizes()
    assert sizes.argmax() == 5
    offsets = np.asarray(display.ax_.collections[0].get_offsets())
    np.testing.assert_allclose(offsets[:, 0], machine.influence().leverage)


def test_a_learning_curve_has_both_scores(model):
    machine, _, _ = model
    display = plotting.LearningCurveDisplay.from_estimator(machine, sizes=[30, 120], n_repeats=2)
    lines = {line.get_label(): line for line in display.ax_.get_lines()}
    np.testing.assert_allclose(lines["left out"].get_ydata()[-1], machine.loo_score_, atol=1e-9)
    assert lines["fitted"].get_ydata()[-1] > lines["left out"].get_ydata()[-1]
    assert lines["left out"].get_xdata().tolist() == [30, 120]
