from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from kernreg.ensemblers import Average, Best, Source, Target
from kernreg.errors import DataError, ParameterError

RNG = np.random.default_rng(0)
Y = np.where(RNG.random(50) < 0.5, -1, 1)
CODES = RNG.integers(3, size=50)
BINARY = {"source": Y + RNG.standard_normal(50), "target": Y + 2 * RNG.standard_normal(50)}
NOISE = {"c": 1.0, "a": 2.0, "b": 3.0}
SEVERAL = {name: 2.0 * np.eye(3)[CODES] - 1 + s * RNG.standard_normal((50, 3)) for name, s in NOISE.items()}


@pytest.mark.parametrize(("cls", "name"), [(Source, "source"), (Target, "target")])
def test_source_and_target_are_their_views(cls, name):
    fitted = cls().fit(BINARY, Y)
    np.testing.assert_array_equal(fitted.merge(BINARY), BINARY[name])
    assert fitted.merge(BINARY) is not BINARY[name]
    assert fitted.weights_ == {"source": float(name == "source"), "target": float(name == "target")}


@pytest.mark.parametrize("cls", [Source, Target])
def test_source_and_target_need_their_view(cls):
    with pytest.raises(DataError, match="only 'a', 'b', 'c'"):
        cls().fit(SEVERAL, CODES)


def test_average_of_three_views():
    expected = sum(SEVERAL.values()) / 3
    np.testing.assert_allclose(Average().fit(SEVERAL, CODES).merge(SEVERAL), expected, rtol=1e-14)


def test_average_with_weights():
    fitted = Average(weights={"a": 1, "b": 0, "c": 3}).fit(SEVERAL, CODES)
    assert fitted.weights_ == {"a": 0.25, "b": 0.0, "c": 0.75}
    np.testing.assert_allclose(fitted.merge(SEVERAL), 0.25 * SEVERAL["a"] + 0.75 * SEVERAL["c"], rtol=1e-14)


@pytest.mark.parametrize(
    "weights",
    [
        {"source": 1},
        {"source": 1, "other": 2},
        [1, 2],
        {"source": 0, "target": 0},
        {"source": -1, "target": 2},
        {"source": np.nan, "target": 1},
        {"source": "much", "target": 1},
    ],
)
def test_weights_that_make_no_mean_are_refused(weights):
    with pytest.raises(ParameterError, match="weights="):
        Average(weights=weights).fit(BINARY, Y)


def test_best_has_the_fewest_errors():
    fitted = Best().fit(SEVERAL, CODES)
    errors = {name: np.mean(view.argmax(axis=1) != CODES) for name, view in SEVERAL.items()}
    assert fitted.errors_ == errors
    assert fitted.best_ == min(errors, key=errors.get) == "c"
    np.testing.assert_array_equal(fitted.merge(SEVERAL), SEVERAL["c"])
    assert fitted.weights_ == {"a": 0.0, "b": 0.0, "c": 1.0}


def test_best_settles_ties_by_squared_error_then_by_name():
    y = np.array([1, -1])
    assert Best().fit({"a": [9.0, -9.0], "b": [1.1, -1.1]}, y).best_ == "b"
    assert Best().fit({"b": [1.0, -1.0], "a": [1.0, -1.0]}, y).best_ == "a"


def test_best_of_a_regression_has_the_least_squared_error():
    y = RNG.standard_normal(50)
    views = {"near": y + 0.1, "opposite": -y}
    fitted = Best().fit(views, y)
    assert fitted.best_ == "near"
    assert fitted.errors_["near"] == pytest.approx(0.01)
    outputs = np.column_stack([y, y])
    assert Best().fit({"near": outputs + 0.1, "far": outputs + 1}, outputs).best_ == "near"


def test_codes_0_and_1_mean_the_same_as_minus_and_plus_1():
    np.testing.assert_array_equal(
        list(Best().fit(BINARY, (Y + 1) // 2).errors_.values()), list(Best().fit(BINARY, Y).errors_.values())
    )


@pytest.mark.parametrize("cls", [Source, Average, Best])
def test_float32_stays(cls):
    views = {name: view.astype(np.float32) for name, view in BINARY.items()}
    assert cls().fit(views, Y).merge(views).dtype == np.float32


def test_merge_before_fit_is_refused():
    with pytest.raises(NotFittedError):
        Average().merge(BINARY)


@pytest.mark.parametrize(
    ("views", "message"),
    [
        ([1.0, 2.0], "a list"),
        ({"source": np.zeros((2, 2, 2))}, "shape"),
        ({"source": ["a", "b"]}, "does not hold numbers"),
        ({"source": [1.0, np.nan]}, "NaN"),
        ({1: [1.0, 2.0]}, "string"),
        ({"source": [1.0, 2.0], "target": [1.0]}, "different shapes"),
    ],
)
def test_what_is_not_views_is_refused(views, message):
    with pytest.raises(DataError, match=message):
        Average().fit(views, [1, -1])


def test_merge_wants_the_views_of_fit():
    fitted = Average().fit(BINARY, Y)
    with pytest.raises(DataError, match="those seen in fit were"):
        fitted.merge({"source": BINARY["source"]})
    with pytest.raises(DataError, match="shape"):
        fitted.merge({name: np.column_stack([view, view]) for name, view in BINARY.items()})


@pytest.mark.parametrize(
    "y", [[0, 1, 3], [0.5, 1, 2], [0, 1], ["a", "b", "c"], [[0, 1], [1, 2], [2, 0]], [0, 1, np.nan]]
)
def test_targets_that_do_not_go_with_the_views_are_refused(y):
    with pytest.raises(DataError, match="y"):
        Best().fit({"a": np.eye(3), "b": np.eye(3)}, y)
