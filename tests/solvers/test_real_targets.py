"""Targets of regressions and weights: what would become another number, or none, is refused by every solver."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor

import kernreg as kr
from kernreg.errors import DataError
from kernreg.solvers import CrossConformalRegressor, FeatureRelevance, check_real_targets, check_weights

X = np.random.default_rng(0).standard_normal((30, 3))
Y = X[:, 0]
SOLVERS = [kr.make_solver(plugin.name) for plugin in kr.available("solver")]
REGRESSORS = [
    *(solver for solver in SOLVERS if is_regressor(solver)),
    CrossConformalRegressor("ls-svr", cv=3),
    FeatureRelevance("rbf(sigma=1.0)", task="regression", max_iter=2),
]


def with_one(value):
    """The targets as objects, one of them something else."""
    y = Y.astype(object)
    y[4] = value
    return y


REFUSED = {
    "nothing": (np.full(30, None), "y contains NaN or infinity"),
    "one is missing": (with_one(None), "y contains NaN or infinity"),
    "one is text": (with_one("1.5"), "y holds objects that are not numbers"),
    "one is a date": (with_one(datetime.date(2020, 1, 1)), "y holds objects that are not numbers"),
    "one is a list": (with_one([1.0]), "y holds objects that are not numbers"),
    "one is wide": (with_one(2**53 + 1), "y holds integers beyond 2\\*\\*53"),
    "text": (Y.astype(str), "y has dtype <U.*; accepted are numbers"),
    "bytes": (np.full(30, b"1"), "y has dtype .S1; accepted are numbers"),
    "dates": (np.arange(30).astype("M8[D]"), "y has dtype datetime64.*; accepted are numbers"),
    "spans": (np.arange(30).astype("m8[s]"), "y has dtype timedelta64.*; accepted are numbers"),
    "complex": (Y + 0j, "Complex data not supported: y has dtype complex128"),
    "wide integers": (np.arange(30) + 2**53, "y holds integers beyond 2\\*\\*53"),
    "masked": (np.ma.array(Y, mask=np.arange(30) == 2), "y has masked values"),
    "infinite": (np.where(Y > 1.0, np.inf, Y), "y contains NaN or infinity"),
    "huge": (1e160 * Y, "y holds numbers of size .*e\\+160 at most, and squares"),
    "tiny": (1e-200 * Y, "y holds numbers of size .*e-200 at most, and squares"),
    "cubes": (Y[:, None, None], "y has shape"),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("regressor", REGRESSORS, ids=lambda solver: type(solver).__name__)
@pytest.mark.parametrize("what", REFUSED)
def test_targets_that_would_be_changed_are_refused(regressor, what):
    y, message = REFUSED[what]
    with pytest.raises(DataError, match=message):
        regressor.fit(X, y)


@pytest.mark.parametrize("y", [None, Y[:20]])
@pytest.mark.parametrize("regressor", REGRESSORS, ids=lambda solver: type(solver).__name__)
def test_missing_and_short_targets_are_refused(regressor, y):
    with pytest.raises(ValueError, match=r"y to be passed|inconsistent numbers of samples"):
        regressor.fit(X, y)


@pytest.mark.parametrize(
    "values",
    [
        [1, 2.5, -3],
        [True, False, True],
        np.array([1, 2, 3], dtype=object),
        np.array([1.5, 2.0, 0.25], dtype=np.float16),
        np.array([[1.0], [2.0], [3.0]], dtype=">f4"),
    ],
)
def test_numbers_are_read_as_they_are(values):
    found = check_real_targets(values)
    assert found.dtype == np.dtype("=f8")
    assert found.tolist() == np.asarray(values).astype(float).tolist()


def test_what_is_read_is_a_copy():
    y = np.ones(3)
    found = check_real_targets(y)
    y[0] = 2.0
    assert found.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(30) + 0j, "Complex data not supported: sample_weight has dtype"),
        (np.full(30, "1"), "sample_weight has dtype <U1"),
        (np.arange(30).astype("m8[s]"), "sample_weight has dtype timedelta64"),
        (np.full(30, None), "sample_weight has negative or infinite entries or NaN"),
        ([1.0, [2.0]], "sample_weight cannot be read as numbers"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_weights_that_would_be_changed_are_refused(weights, message):
    with pytest.raises(DataError, match=message):
        check_weights(weights, 30)
    with pytest.raises(DataError, match=message):
        kr.make_solver("ls-svr").fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    "labels", [np.full(30, None), np.where(Y > 0, 1.0, np.nan), Y + 0j, np.full(30, b"a"), Y, [[1], [2, 3]] * 15]
)
@pytest.mark.parametrize(
    "classifier", [solver for solver in SOLVERS if is_classifier(solver)], ids=lambda solver: type(solver).__name__
)
def test_labels_that_are_none_are_refused(classifier, labels):
    with pytest.raises((ValueError, TypeError), match=r"NaN|Complex|bytes|label|inhomogeneous|array element|sequence"):
        classifier.fit(X, labels)


@pytest.mark.parametrize("power", [-450, 450])  # of 2: every number keeps its digits
@pytest.mark.parametrize("name", ["ls-svr", "ask-lsr", "krein-ridge-regressor"])
def test_predictions_have_the_size_of_the_targets(name, power):
    if name not in {type_.name for type_ in kr.available("solver")}:
        pytest.skip(f"the plugin with {name} is not installed")
    expected = kr.make_solver(name, gamma=2.0).fit(X, Y).predict(X)
    found = kr.make_solver(name, gamma=2.0).fit(X, 2.0**power * Y).predict(X)
    np.testing.assert_allclose(found / 2.0**power, expected, rtol=1e-12)


def test_one_column_of_targets_may_be_zero_and_none_tiny():
    assert check_real_targets(np.zeros((3, 2))).shape == (3, 2)
    assert check_real_targets(np.column_stack([Y, 0.0 * Y])).shape == (30, 2)
    with pytest.raises(DataError, match="in a column"):
        check_real_targets(np.column_stack([Y, 1e-160 * Y]))
