from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from kernreg.errors import DataError, ParameterError
from kernreg.plotting import ExplanationDisplay
from kernreg.solvers import LSSVC, LSSVR


@pytest.fixture(scope="module")
def explanation():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    model = LSSVR(kernel="rbf(sigma=3.0)", gamma=10.0).fit(X, 3 * X[:, 2] + X[:, 0])
    return model.explain(X, feature_names=["a", "b", "c", "d"])


def labels(display):
    return [tick.get_text() for tick in display.ax_.get_yticklabels()]


def test_a_beeswarm_has_a_point_for_each_sample_and_the_largest_feature_on_top(explanation):
    display = explanation.plot()
    assert labels(display)[:2] == ["c", "a"]
    assert display.ax_.yaxis_inverted()
    for line, j in enumerate(display.order):
        points = np.asarray(display.ax_.collections[line].get_offsets())
        np.testing.assert_allclose(points[:, 0], explanation.values[:, j])
        assert np.abs(points[:, 1] - line).max() < 0.5
    colours = display.ax_.collections[0].get_array()
    assert np.corrcoef(colours, explanation.data[:, 2])[0, 1] > 0.95


def test_bars_are_mean_magnitudes(explanation):
    display = explanation.plot("bar", max_features=2)
    assert labels(display) == ["c", "a"]
    widths = [bar.get_width() for bar in display.ax_.patches]
    np.testing.assert_allclose(widths, np.abs(explanation.values).mean(axis=0)[[2, 0]])


def test_one_prediction_goes_from_the_base_to_the_prediction(explanation):
    display = explanation.plot("one", sample=3, max_features=2)
    bars = display.ax_.patches
    assert labels(display)[-1] == "2 others"
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars]
    assert abs(ends[0][1] - explanation.predictions[3]) < 1e-9
    assert abs(ends[-1][0] - explanation.base_values) < 1e-9
    for above, below in pairwise(ends):
        assert abs(above[0] - below[1]) < 1e-9
    assert f"= {explanation.data[3, display.order[0]]:.3g}" in labels(display)[0]


def test_an_output_of_several_is_chosen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    found = LSSVC(kernel="rbf(sigma=2.0)").fit(X, np.arange(30) % 3).explain(X)
    display = found.plot("bar", output=2)
    widths = [bar.get_width() for bar in display.ax_.patches]
    np.testing.assert_allclose(widths, np.sort(np.abs(found.values[:, :, 2]).mean(axis=0))[::-1])
    with pytest.raises(ParameterError, match="outputs"):
        found.plot("bar", output=3)


def test_what_is_not_accepted_is_said(explanation):
    with pytest.raises(ParameterError, match="'beeswarm' or 'bar' or 'one'"):
        explanation.plot("pie")
    with pytest.raises(ParameterError, match="60 samples"):
        explanation.plot("one", sample=60)
    with pytest.raises(DataError, match="names"):
        ExplanationDisplay(np.ones((2, 3)), np.ones((2, 3)), ["a"])
    with pytest.raises(DataError, match="shapes"):
        ExplanationDisplay(np.ones((2, 3)), np.ones((3, 3)), ["a", "b", "c"])
