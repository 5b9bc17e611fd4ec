"""AsK-LS on features against the dual system of all samples and against refits."""

from __future__ import annotations

import numpy as np
import pytest
from kernreg_asymmetric import AsKRFF, AsKRFFClassifier, AsKRFFRegressor
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV

import kernreg
from kernreg.errors import DataError, ParameterError, RangeWarning

SPEC = "shift-gauss(sigma=1.5, shift=0.4)"


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=80)


def block_solution(K, y, gamma, weights):
    """The (2m + 2) × (2m + 2) system of AsK-LS, unknowns a, c, b1, b2."""
    m = len(y)
    A, ones, zero = np.zeros((2 * m + 2, 2 * m + 2)), np.ones(m), np.zeros((m, m))
    ridge = np.diag(1.0 / (gamma * weights))
    A[: 2 * m, : 2 * m] = np.block([[ridge, K], [K.T, ridge]])
    A[:m, 2 * m], A[m : 2 * m, 2 * m + 1] = ones, ones
    A[2 * m, :m], A[2 * m + 1, m : 2 * m] = ones, ones
    assert not zero.any()
    z = np.linalg.solve(A, np.concatenate([y, y, [0.0, 0.0]]))
    return z[:m], z[m : 2 * m], z[2 * m], z[2 * m + 1]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gamma", [0.003, 0.05, 1.0])
def test_views_are_those_of_the_dual_system(data, gamma, weighted):
    X, y = data
    weights = np.random.default_rng(2).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    model = AsKRFFRegressor(SPEC, 30, gamma=gamma).fit(X, y, sample_weight=weights if weighted else None)
    K = model.kernel_(X)
    a, c, b1, b2 = block_solution(K, y, gamma, weights)
    new = np.random.default_rng(3).normal(size=(10, 2))
    views = model.decision_views(new)
    np.testing.assert_allclose(views["source"], model.kernel_(new, X) @ c + b1, atol=1e-7)
    np.testing.assert_allclose(views["target"], a @ model.kernel_(X, new) + b2, atol=1e-7)
    np.testing.assert_allclose(model.predict(new), 0.5 * (views["source"] + views["target"]), atol=1e-12)
    np.testing.assert_allclose(
        AsKRFF(SPEC, 30).fit(X).transform(new) @ model.coef_[0, 0] + model.intercept_[0, 0], views["source"], atol=1e-10
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_is_that_of_refits(data, weighted):
    from kernreg_asymmetric.random_features.dual_spectrum import DualSpectrum, moments

    X, y = data
    weights = np.random.default_rng(2).uniform(0.2, 1.0, len(y)) if weighted else None
    map = AsKRFF(SPEC, 20).fit(X)
    Y = y[:, None]
    left_out = DualSpectrum(map._features, moments(map._features, X, Y, weights)).left_out(X, Y, weights)
    source, target = left_out.residuals(0.02)
    for i in range(0, len(y), 16):
        rest = np.delete(np.arange(len(y)), i)
        w = None if weights is None else weights[rest]
        refit = AsKRFFRegressor(SPEC, 20, gamma=0.02).fit(X[rest], y[rest], sample_weight=w)
        views = refit.decision_views(X[[i]])
        np.testing.assert_allclose(y[i] - views["source"][0], source[i, 0], atol=1e-8)
        np.testing.assert_allclose(y[i] - views["target"][0], target[i, 0], atol=1e-8)


def test_integer_weights_are_copies_and_zero_leaves_out(data):
    X, y = data
    counts = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = AsKRFFRegressor(SPEC, 30, gamma=0.02).fit(X, y, sample_weight=counts)
    copies = AsKRFFRegressor(SPEC, 30, gamma=0.02).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.predict(X), copies.predict(X), atol=1e-9)
    weighted = AsKRFFRegressor("rbf", 15).fit(X, y, sample_weight=counts)  # width and γ, too
    copies = AsKRFFRegressor("rbf", 15).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert weighted.approximated_ == copies.approximated_
    np.testing.assert_allclose(weighted.loo_score_, copies.loo_score_, atol=1e-7)
    np.testing.assert_allclose(weighted.predict(X), copies.predict(X), atol=1e-6)


def test_a_symmetric_kernel_has_two_equal_views():
    X, y = load_iris(return_X_y=True)
    model = AsKRFFClassifier("rbf(sigma=2.0)", 100, gamma=0.01).fit(X, y)
    views = model.decision_views(X)
    np.testing.assert_allclose(views["source"], views["target"], atol=1e-8)


@pytest.mark.parametrize("ensembler", ["average", "source", "target", "best", "stack"])
def test_classes_are_learned_with_every_ensembler(ensembler):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = AsKRFFClassifier("cosh-gauss(sigma=3.0, beta=0.5)", 200, ensembler=ensembler).fit(X, names)
    assert model.score(X, names) > 0.94
    assert model.loo_score_ > 0.9
    binary = clone(model).fit(X, y == 2)
    assert binary.decision_function(X).shape == (150,)
    assert binary.score(X, y == 2) > 0.94


def test_several_outputs_are_several_fits(data):
    X, y = data
    both = AsKRFFRegressor(SPEC, 40, gamma=0.05).fit(X, np.column_stack([y, -2.0 * y]))
    one = AsKRFFRegressor(SPEC, 40, gamma=0.05).fit(X, y)
    np.testing.assert_allclose(both.predict(X), np.column_stack([one.predict(X), -2.0 * one.predict(X)]), atol=1e-9)


def test_gamma_by_leave_one_out_is_the_best_of_a_sequence(data):
    X, y = data
    gammas = [1e-4, 1e-2, 0.1]
    chosen = AsKRFFRegressor(SPEC, 40, gamma=gammas).fit(X, y)
    scores = [AsKRFFRegressor(SPEC, 40, gamma=[g]).fit(X, y).loo_score_ for g in gammas]
    assert chosen.gamma_ == gammas[int(np.argmax(scores))]
    assert chosen.loo_score_ == max(scores)


def test_poles_and_wrong_values_are_told(data):
    X, y = data
    K = AsKRFF(SPEC, 10).fit(X).kernel_(X)
    J = np.eye(len(X)) - 1.0 / len(X)
    pole = 1.0 / np.linalg.svd(J @ K @ J)[1][3]
    with pytest.raises(ParameterError, match="is at a pole"):
        AsKRFFRegressor(SPEC, 10, gamma=pole).fit(X, y)
    with pytest.raises(ParameterError, match="every gamma"):
        AsKRFFRegressor(SPEC, 10, gamma=[pole]).fit(X, y)
    for gamma in (-1.0, "best", [], [0.1, None]):
        with pytest.raises(ParameterError, match="gamma="):
            AsKRFFRegressor(SPEC, 10, gamma=gamma).fit(X, y)
    with pytest.raises(DataError, match="one class only"):
        AsKRFFClassifier().fit(X, np.zeros(len(X), dtype=int))
    with pytest.raises(DataError, match="zero for every sample"):
        AsKRFFRegressor().fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ParameterError, match="tells nothing apart"):
        AsKRFFRegressor("rbf(sigma=1.0)", 10).fit(np.ones((5, 2)), np.arange(5.0))


def test_kernel_parameters_in_a_grid_search(data):
    X, y = data
    search = GridSearchCV(
        AsKRFFRegressor("shift-gauss", 60), {"kernel__sigma": [0.1, 2.0], "kernel__shift": [0.2]}, cv=3
    )
    assert search.fit(X, y).best_params_["kernel__sigma"] == 2.0
    assert kernreg.make_solver("ask-rff-lsr", kernel=SPEC).set_params(kernel__shift=0.1).resolve_kernel().shift == 0.1


def test_machines_survive_model_files(data, tmp_path):
    X, y = data
    for model in (AsKRFFRegressor(SPEC, 20, ensembler="stack").fit(X, y), AsKRFFClassifier(SPEC, 20).fit(X, y > 0)):
        kernreg.save(model, tmp_path / "model.kern")
        loaded = kernreg.load(tmp_path / "model.kern")
        assert np.array_equal(loaded.predict(X), model.predict(X))
        assert loaded.solver_report_ == model.solver_report_


@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 1e14), (np.float32, 1e6)])
def test_angles_that_rounding_makes_arbitrary_are_told(dtype, size):
    k = kernreg.make_kernel("ask-rff", frequencies=[[2.0]], phases=[[0.5]], weights=[[1.0]])
    with pytest.warns(RangeWarning, match="move their mean to the origin"):
        k(np.array([[size]], dtype=dtype))
    k(np.array([[1e3]], dtype=dtype))
