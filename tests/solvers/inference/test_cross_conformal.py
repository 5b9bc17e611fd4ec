"""CV+ written out: one model for each fold, one value for each training sample."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge

import kernreg as kr
from kernreg.errors import DataError, ParameterError, SpecError, UnknownPlugin
from kernreg.solvers import LSSVR, CrossConformalClassifier, CrossConformalRegressor


def sine(m, seed=0, outputs=None):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (m, 2))
    y = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(m)
    return X, y if outputs is None else np.column_stack([y * (c + 1) for c in range(outputs)])


@pytest.mark.parametrize("outputs", [None, 2])
@pytest.mark.parametrize(
    "estimator",
    [LSSVR(kernel="rbf(sigma=2.0)", strategy="lowrank", n_landmarks=20), Ridge(), LSSVR(kernel="rbf(sigma=2.0)")],
)
def test_intervals_by_folds(estimator, outputs):
    X, y = sine(80, outputs=outputs)
    model = CrossConformalRegressor(estimator, cv=4).fit(X[:60], y[:60])
    found = model.predict_interval(X[60:], 0.8)
    assert sorted(np.bincount(model.folds_)) == [15] * 4
    Y = y.reshape(80, -1)
    found = found.reshape(20, -1, 2)
    mu, r = np.empty((20, 60, Y.shape[1])), np.empty((60, Y.shape[1]))
    for i in range(60):
        train = np.flatnonzero(model.folds_ != model.folds_[i])
        refit = type(estimator)(**estimator.get_params(deep=False)).fit(X[train], y[train])
        mu[:, i] = refit.predict(X[60:]).reshape(20, -1)
        r[i] = np.abs(Y[i] - refit.predict(X[i : i + 1]).reshape(-1))
    for n in range(20):
        for c in range(Y.shape[1]):
            low, high = np.sort(mu[n, :, c] - r[:, c]), np.sort(mu[n, :, c] + r[:, c])
            np.testing.assert_allclose(found[n, c], [low[12 - 1], high[49 - 1]], atol=1e-9)  # ⌊.2·61⌋, ⌈.8·61⌉


def test_as_many_folds_as_samples_are_the_jackknife():
    X, y = sine(40)
    folds = CrossConformalRegressor(LSSVR(kernel="rbf(sigma=2.0)", gamma=3.0), cv=30).fit(X[:30], y[:30])
    exact = LSSVR(kernel="rbf(sigma=2.0)", gamma=3.0).fit(X[:30], y[:30])
    np.testing.assert_allclose(folds.predict_interval(X[30:], 0.9), exact.predict_interval(X[30:], 0.9), atol=1e-9)
    np.testing.assert_allclose(folds.predict(X), exact.predict(X))


def test_sets_by_folds_of_a_classifier_with_probabilities():
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"] * 30)
    X = rng.normal(size=(90, 2)) + 1.5 * (y[:, None] == np.array(["a", "b"]))
    forest = RandomForestClassifier(20, random_state=0)
    model = CrossConformalClassifier(forest, cv=3).fit(X[:60], y[:60])
    found = model.predict_set(X[60:], 0.8)
    count = np.ones((30, 3))
    for i in range(60):
        train = np.flatnonzero(model.folds_ != model.folds_[i])
        p = RandomForestClassifier(20, random_state=0).fit(X[train], y[train]).predict_proba(np.vstack([X[60:], X[i]]))
        s = np.stack([np.delete(p, c, axis=1).max(axis=1) - p[:, c] for c in range(3)], axis=1)
        count += s[-1, "abc".index(y[i])] >= s[:-1]
    assert found.tolist() == (count > 0.2 * 61 + 1e-9).tolist()


def test_files_hold_them(tmp_path):
    X, y = sine(60)
    model = CrossConformalRegressor("ls-svr(strategy='lowrank', n_landmarks=15)", cv=3).fit(X, y)
    kr.save(model, tmp_path / "model.kern")
    again = kr.load(tmp_path / "model.kern")
    assert again.predict_interval(X[:5]).tolist() == model.predict_interval(X[:5]).tolist()


def test_what_is_not_accepted_is_said():
    X, y = sine(30)
    with pytest.raises(ParameterError, match="at least 2"):
        CrossConformalRegressor(cv=1).fit(X, y)
    with pytest.raises(DataError, match="fewer folds"):
        CrossConformalRegressor(cv=31).fit(X, y)
    with pytest.raises(DataError, match="of every class"):
        CrossConformalClassifier(cv=5).fit(X, np.arange(30) < 3)
    with pytest.raises(DataError, match="one column"):
        CrossConformalClassifier(cv=5).fit(X, np.zeros((30, 2)))


def test_weights_go_to_the_models_and_to_the_quantiles():
    X, y = sine(40)
    weights = np.tile([1.0, 3.0], 20)
    model = CrossConformalRegressor(Ridge(), cv=4).fit(X, y, sample_weight=weights)
    train = model.folds_ != 0
    expected = Ridge().fit(X[train], y[train], sample_weight=weights[train]).predict(X)
    np.testing.assert_allclose(model.models_[0].predict(X), expected)
    plain = CrossConformalRegressor(Ridge(), cv=4).fit(X, y).predict_interval(X, 0.7)
    assert not np.allclose(model.predict_interval(X, 0.7), plain)


class FailsToPredict(Ridge):
    """A regressor that fails after its fit, when residuals are asked for."""

    def predict(self, X):
        raise MemoryError("none left")


def test_a_refit_that_fails_after_the_models_are_fitted_leaves_the_old_fit():
    X, y = sine(60)
    model = CrossConformalRegressor(Ridge(), cv=3).fit(X, y)
    before = model.predict_interval(X, 0.8)
    model.set_params(estimator=FailsToPredict(), cv=2)
    with pytest.raises(MemoryError):
        model.fit(X[:30], y[:30])
    np.testing.assert_array_equal(model.predict_interval(X, 0.8), before)
    assert len(model.models_) == 3


def test_a_refit_of_a_classifier_that_fails_leaves_the_old_classes():
    X, y = sine(60)
    model = CrossConformalClassifier("ls-svm", cv=3).fit(X, y > 0)
    before = model.predict_set(X, 0.8)
    with pytest.raises(DataError, match="cv=3 folds need as many samples of every class"):
        model.fit(X, np.where(np.arange(60) < 2, "few", "many"))
    assert model.classes_.tolist() == [False, True]
    np.testing.assert_array_equal(model.predict_set(X, 0.8), before)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_folds_of_every_sparse_form(form):
    X, y = sine(40)
    model = CrossConformalRegressor(LSSVR(kernel="rbf(sigma=2.0)"), cv=4)
    expected = model.fit(X, y).predict_interval(X[:5])
    found = model.fit(sp.coo_array(X).asformat(form), y).predict_interval(X[:5])
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("estimator", [2**31 - 1, np.ones((2, 2)) * 1j, "no such solver"])
def test_an_estimator_that_is_none_is_named(estimator):
    X = np.arange(20.0)[:, None]
    with pytest.raises((ParameterError, SpecError, UnknownPlugin), match=r"^estimator: "):
        CrossConformalClassifier(estimator).fit(X, np.arange(20) % 2)
