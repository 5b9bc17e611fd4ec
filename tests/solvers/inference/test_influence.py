"""Influence against refits, and against linear regression, where the formulas come from."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import r2_score

from kernreg.errors import ParameterError
from kernreg.solvers import LSSVC, LSSVR, AsKLSRegressor


def samples(m=25, outputs=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 2))
    y = X[:, 0] + 0.3 * rng.normal(size=m)
    return X, y if outputs is None else np.column_stack([y, rng.normal(size=m)])


def make(machine, **more):
    return type(machine)(**{**machine.get_params(deep=False), **more})


@pytest.mark.parametrize("outputs", [None, 2])
@pytest.mark.parametrize(
    ("machine", "view"),
    [
        (LSSVR(kernel="rbf(sigma=2.0)", gamma=4.0), "decision"),
        (LSSVR(kernel="tl1(rho=4.0)", gamma=0.05), "decision"),
        (AsKLSRegressor(kernel="laplacian(sigma=2.0)", gamma=0.4), "source"),
        (AsKLSRegressor(kernel="laplacian(sigma=2.0)", gamma=0.4), "target"),
    ],
)
def test_influence_is_that_of_refits_and_leverage_that_of_changed_targets(machine, view, outputs):
    X, y = samples(outputs=outputs)
    m = len(X)
    model = make(machine).fit(X, y)
    found = model.influence(view)
    f = model.decision_views(X)[view].reshape(m, -1)
    leverage, squares = np.empty(m), np.empty(m)
    for i in range(m):
        rest = np.delete(np.arange(m), i)
        refit = make(machine).fit(X[rest], y[rest])
        squares[i] = ((f - refit.decision_views(X)[view].reshape(m, -1)) ** 2).sum()
        moved = y.copy()
        moved[i] += 1.0
        leverage[i] = make(machine).fit(X, moved).decision_views(X)[view].reshape(m, -1)[i, 0] - f[i, 0]
    np.testing.assert_allclose(found.leverage, leverage, atol=1e-9)
    assert abs(found.degrees_of_freedom - leverage.sum()) < 1e-8
    variance = ((y.reshape(m, -1) - f) ** 2).sum() / (m - leverage.sum()) / f.shape[1]
    np.testing.assert_allclose(found.cook, squares / (leverage.sum() * variance), rtol=1e-7)
    assert abs(found.noise - np.sqrt(variance)) < 1e-9


def test_without_regularisation_it_is_cooks_distance():
    X, y = samples(60)
    found = LSSVR(kernel="linear", gamma=1e7).fit(X, y).influence()
    A = np.column_stack([X, np.ones(60)])
    H = A @ np.linalg.solve(A.T @ A, A.T)
    h, e = H.diagonal(), y - H @ y
    s2 = e @ e / (60 - 3)
    np.testing.assert_allclose(found.leverage, h, atol=1e-6)
    np.testing.assert_allclose(found.cook, e**2 * h / (3 * s2 * (1 - h) ** 2), rtol=1e-4)
    assert abs(found.degrees_of_freedom - 3) < 1e-5


def test_a_misplaced_sample_stands_out():
    X, y = samples(80)
    y[7] += 10.0
    found = LSSVR(kernel="rbf(sigma=3.0)", gamma=4.0).fit(X, y).influence()
    assert found.cook.argmax() == 7
    assert np.abs(found.loo_residuals).argmax() == 7


def test_classes_have_leverage_too():
    X, _ = samples(30)
    clf = LSSVC(kernel="rbf(sigma=2.0)", gamma=2.0).fit(X, np.arange(30) % 3)
    found = clf.influence()
    assert found.leverage.shape == found.cook.shape == (30,)
    np.testing.assert_allclose(found.loo_residuals, clf.loo_residuals_, atol=1e-9)


@pytest.mark.parametrize(
    "machine",
    [LSSVR(kernel="rbf(sigma=2.0)", gamma=4.0), AsKLSRegressor(kernel="laplacian(sigma=2.0)", gamma=0.4)],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_learning_curves_are_those_of_refits(machine, weighted):
    X, y = samples(40)
    weights = np.linspace(0.5, 2, 40) if weighted else None
    model = make(machine).fit(X, y, sample_weight=weights)
    found = model.learning_curve([15, 40], n_repeats=2, random_state=3)
    rng = np.random.default_rng(3)
    for repeat in range(2):
        rows = np.sort(rng.permutation(40)[:15])
        w = None if weights is None else weights[rows]
        part = make(machine).fit(X[rows], y[rows], sample_weight=w)
        assert abs(found.loo_scores[0, repeat] - part.loo_score_) < 1e-9
        assert abs(found.train_scores[0, repeat] - r2_score(y[rows], part.predict(X[rows]), sample_weight=w)) < 1e-9
    np.testing.assert_allclose(found.loo_scores[1], model.loo_score_, atol=1e-9)


def test_what_is_not_accepted_is_said():
    X, y = samples(30)
    with pytest.raises(ParameterError, match="from 2 to 30"):
        LSSVR().fit(X, y).learning_curve([31])
    with pytest.raises(ParameterError, match="view"):
        LSSVR().fit(X, y).influence("source")
    with pytest.raises(ParameterError, match="lowrank"):
        LSSVR(strategy="lowrank", n_landmarks=5).fit(X, y).influence()
