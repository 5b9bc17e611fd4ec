"""Which scores a picture of a search shows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from kernreg import tune
from kernreg.errors import DataError, ParameterError
from kernreg.kernels.builtin import laplacian, rbf
from kernreg.plotting import TuningDisplay
from kernreg.solvers import LSSVC

pytestmark = pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")


@pytest.fixture
def result(moons):
    return tune(LSSVC(), {"kernel__sigma": [2.0, 0.5, 1.0], "gamma": [10.0, 0.1, 1.0]}, *moons)


def test_the_heat_map_is_the_table(result):
    display = TuningDisplay.from_result(result)
    assert (display.x, display.y) == ("gamma", "kernel__sigma")
    assert (display.x_values, display.y_values) == ([0.1, 1.0, 10.0], [0.5, 1.0, 2.0])
    table = result.table
    for i, sigma in enumerate(display.y_values):
        for j, gamma in enumerate(display.x_values):
            row = table[(table["kernel__sigma"] == sigma) & (table["gamma"] == gamma)]
            assert display.scores[i, j] == row["score"].item()
    np.testing.assert_array_equal(np.asarray(display.ax_.images[0].get_array()), display.scores)
    assert display.scores.max() == result.best_score
    (frame,) = display.ax_.patches
    i, j = np.unravel_index(display.scores.argmax(), (3, 3))
    assert frame.get_xy() == (j - 0.5, i - 0.5)


def test_axes_can_be_chosen(result):
    display = TuningDisplay.from_result(result, x="kernel__sigma", y="gamma")
    np.testing.assert_array_equal(display.scores, TuningDisplay.from_result(result).scores.T)
    with pytest.raises(ParameterError, match="'sigma' is not a parameter of this search; it has kernel__sigma, gamma"):
        TuningDisplay.from_result(result, x="sigma")


def test_tables_without_pandas_are_the_same(result):
    rows = result.table.to_dict("records")
    plain = TuningDisplay.from_result(SimpleNamespace(table=rows))
    np.testing.assert_array_equal(plain.scores, TuningDisplay.from_result(result).scores)


def test_one_parameter_is_a_line(moons):
    display = TuningDisplay.from_result(tune(LSSVC(), {"gamma": [0.01, 1.0, 100.0]}, *moons))
    assert (display.x, display.y) == ("gamma", None)
    np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), display.scores[0])
    assert display.ax_.get_xscale() == "log"


def test_over_other_parameters_the_best_is_taken_and_failures_are_crossed():
    rows = [
        {"a": a, "b": b, "c": c, "score": score}
        for (a, b, c, score) in [(1, 1, "x", 0.3), (1, 1, "y", 0.5), (1, 2, "x", -np.inf), (1, 2, "y", np.nan)]
    ]
    rows += [{"a": 2, "b": b, "c": "x", "score": 0.1 * b} for b in (1, 2)]
    display = TuningDisplay(rows, x="a", y="b").plot()
    np.testing.assert_allclose(display.scores, [[0.5, 0.1], [np.nan, 0.2]])
    crosses = [text for text in display.ax_.texts if text.get_text() == "×"]
    assert [text.get_position() for text in crosses] == [(0, 1)]


def test_searches_of_scikit_learn_and_whole_kernels(moons):
    grid = {"kernel": [rbf(sigma=1.0), laplacian(sigma=1.0)], "gamma": [0.1, 1.0, 10.0]}
    search = GridSearchCV(LSSVC(), grid, cv=3).fit(*moons)
    display = TuningDisplay.from_result(search)
    assert (display.x, display.y) == ("gamma", "kernel")
    assert display.scores.max() == search.best_score_
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["rbf(sigma=1.0)", "laplacian(sigma=1.0)"]


def test_nothing_to_draw_is_refused():
    with pytest.raises(DataError, match="empty"):
        TuningDisplay([])
    with pytest.raises(DataError, match="no combination has a finite score"):
        TuningDisplay([{"gamma": 1.0, "score": -np.inf}])
    with pytest.raises(DataError, match="neither what"):
        TuningDisplay.from_result(SimpleNamespace())
