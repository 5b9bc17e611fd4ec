"""krein-ridge: the dense formula, ls-svm where the kernel is definite, and no poles."""

from __future__ import annotations

import numpy as np
import pytest
from kernreg_krein import KreinRidgeClassifier, KreinRidgeRegressor
from sklearn.datasets import load_iris, make_moons
from sklearn.model_selection import GridSearchCV

from kernreg import make_kernel
from kernreg.errors import AsymmetryError, GridEndWarning, ParameterError
from kernreg.solvers import LSSVC, LSSVR

KERNEL = "tl1(rho=0.9)"


def krein_ridge(K, y, kappa_positive, kappa_negative, *, intercept):
    """Return α and b by the dense formula, J formed."""
    m = len(y)
    J = np.eye(m) - np.ones((m, m)) / m if intercept else np.eye(m)
    values, U = np.linalg.eigh(J @ K @ J)
    alpha = np.zeros(m)
    for value, u in zip(values, U.T, strict=True):
        if abs(value) > 1e-11 * np.abs(values).max():
            kappa = kappa_positive if value > 0 else kappa_negative
            alpha += np.sign(value) / (abs(value) + kappa) * (u @ (J @ y)) * u
    return alpha, (y - K @ alpha).mean() if intercept else 0.0


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(160, noise=0.25, random_state=3)
    return X[:100], y[:100], X[100:], y[100:]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("gamma", "negative"), [(0.1, None), (3.0, 0.02), (500.0, 1e4)])
def test_equals_the_dense_formula(gamma, negative, intercept, moons):
    X, y, new, _ = moons
    k = make_kernel(KERNEL)
    model = KreinRidgeClassifier(k, gamma, gamma_negative=negative, fit_intercept=intercept).fit(X, y)
    other = gamma if negative is None else negative
    alpha, b = krein_ridge(k(X), np.where(y == 1, 1.0, -1.0), 1 / gamma, 1 / other, intercept=intercept)
    expected = k(new, X) @ alpha + b
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-10 * max(1.0, np.abs(expected).max()))
    np.testing.assert_allclose(model.dual_coef_, alpha, atol=1e-10 * np.abs(alpha).max())


@pytest.mark.parametrize("gamma", [0.3, 10.0])
def test_equals_ls_svm_on_definite_kernels(gamma):
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    ours = KreinRidgeClassifier("rbf(sigma=2.0)", gamma, class_weight="balanced").fit(X, y, weights)
    theirs = LSSVC("rbf(sigma=2.0)", gamma, class_weight="balanced").fit(X, y, weights)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(ours.fixed_metric_residuals_, theirs.loo_residuals_, atol=1e-6)
    assert ours.fixed_metric_score_ == pytest.approx(theirs.loo_score_)


def test_regression_equals_ls_svr_on_definite_kernels():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    Y = np.column_stack([X[:, 0] ** 2, X[:, 1]])
    ours, theirs = KreinRidgeRegressor("rbf(sigma=2.0)", 5.0).fit(X, Y), LSSVR("rbf(sigma=2.0)", 5.0).fit(X, Y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9)
    np.testing.assert_allclose(ours.fixed_metric_values_, theirs.loo_views_["decision"], atol=1e-8)


def test_defined_where_ls_svm_has_a_pole(moons):
    X, y, _, _ = moons
    K = make_kernel(KERNEL)(X)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    values = np.linalg.eigvalsh(centred)
    poles = -1.0 / values[values < -1e-3 * values.max()]
    assert len(poles) >= 3
    for gamma in poles:
        with pytest.raises(ParameterError, match="pole"):
            LSSVC(KERNEL, float(gamma)).fit(X, y)
        model = KreinRidgeClassifier(KERNEL, float(gamma)).fit(X, y)
        alpha, b = krein_ridge(K, np.where(y == 1, 1.0, -1.0), 1 / gamma, 1 / gamma, intercept=True)
        np.testing.assert_allclose(model.decision_function(X), K @ alpha + b, atol=1e-9)
        assert np.abs(model.decision_function(X)).max() < 3.0  # a smoother: never far beyond ±1


@pytest.mark.parametrize("intercept", [True, False])
def test_fixed_metric_values_are_refits_in_the_features_of_all_samples(intercept, moons):
    X, y, _, _ = moons
    K, sign, weights = (
        make_kernel(KERNEL)(X),
        np.where(y == 1, 1.0, -1.0),
        np.random.default_rng(0).uniform(0.5, 2, 100),
    )
    model = KreinRidgeClassifier(KERNEL, 4.0, gamma_negative=0.5, fit_intercept=intercept).fit(X, y, weights)
    # Explicit features of |K̃| (weighted centring), a ridge regression without sample i each.
    root = np.sqrt(weights)
    P = np.eye(100) - np.outer(root, root) / weights.sum() if intercept else np.eye(100)
    values, U = np.linalg.eigh(P @ np.diag(root) @ K @ np.diag(root) @ P)
    kept = np.abs(values) > 1e-10 * np.abs(values).max()
    values, U = values[kept], U[:, kept]
    Psi = (U * np.sqrt(np.abs(values))) / root[:, None]
    penalty = np.where(values > 0, 1 / 4.0, 1 / 0.5)
    A = np.column_stack([Psi, np.ones(100)]) if intercept else Psi
    D = np.append(penalty, 0.0) if intercept else penalty
    for i in (0, 17, 60, 99):
        rest = np.arange(100) != i
        w = np.linalg.solve(
            (A[rest].T * weights[rest]) @ A[rest] + np.diag(D), (A[rest].T * weights[rest]) @ sign[rest]
        )
        assert model.fixed_metric_values_[i] == pytest.approx(A[i] @ w, abs=1e-8)


def test_folds_are_refits_without_the_fold(moons):
    X, y, _, _ = moons
    grid = [0.1, 1.0, 10.0]
    model = KreinRidgeClassifier(KERNEL, grid, selection="folds", n_folds=5).fit(X, y)
    fold = np.empty(100, dtype=int)
    fold[np.argsort(y, kind="stable")] = np.arange(100) % 5
    errors = []
    for gamma in grid:
        squares = []
        for number in range(5):
            refit = KreinRidgeClassifier(KERNEL, gamma).fit(X[fold != number], y[fold != number])
            left = np.where(y == 1, 1.0, -1.0)[fold == number] - refit.decision_function(X[fold == number])
            squares.extend(left**2)
        errors.append(np.mean(squares))
    np.testing.assert_allclose(model.gamma_path_["squared_error"], errors, rtol=1e-8)
    assert model.gamma_ == grid[int(np.argmin(errors))]


@pytest.mark.parametrize("selection", ["folds", "fixed-metric"])
def test_both_gammas_are_chosen_from_all_pairs(selection, moons):
    X, y, new, y_new = moons
    model = KreinRidgeClassifier(KERNEL, "auto", gamma_negative="auto", selection=selection).fit(X, y)
    path = model.gamma_path_
    assert len(path["gamma"]) == 17 * 17
    best = int(np.argmin(path["squared_error"]))
    assert (model.gamma_, model.gamma_negative_) == (path["gamma"][best], path["gamma_negative"][best])
    assert model.score(new, y_new) > 0.85
    alone = KreinRidgeClassifier(KERNEL, model.gamma_, gamma_negative=model.gamma_negative_).fit(X, y)
    np.testing.assert_allclose(model.decision_function(new), alone.decision_function(new), atol=1e-10)


def test_a_best_value_at_the_end_of_the_grid_is_told(moons):
    with pytest.warns(GridEndWarning, match="gamma=0.001 is the largest of 3 values"):
        KreinRidgeClassifier(KERNEL, [1e-5, 1e-4, 1e-3]).fit(moons[0], moons[1])


def test_weights_repeat_samples(moons):
    X, y, new, _ = moons
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = KreinRidgeClassifier(KERNEL, 2.0).fit(X, y, counts)
    repeated = KreinRidgeClassifier(KERNEL, 2.0).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.decision_function(new), repeated.decision_function(new), atol=1e-8)


@pytest.mark.parametrize("intercept", [True, False])
def test_all_samples_as_landmarks_are_exact(intercept, moons):
    X, y, new, _ = moons
    weights = np.random.default_rng(0).uniform(0.5, 2, 100)
    options = {"gamma": 4.0, "gamma_negative": 0.5, "fit_intercept": intercept}
    exact = KreinRidgeClassifier(KERNEL, **options).fit(X, y, weights)
    lowrank = KreinRidgeClassifier(KERNEL, **options, strategy="lowrank", n_landmarks=100).fit(X, y, weights)
    np.testing.assert_allclose(lowrank.decision_function(new), exact.decision_function(new), atol=1e-5)
    np.testing.assert_allclose(lowrank.fixed_metric_values_, exact.fixed_metric_values_, atol=1e-5)


def test_few_landmarks_are_near():
    X, y = make_moons(900, noise=0.2, random_state=0)
    exact = KreinRidgeClassifier(KERNEL, "auto").fit(X[:600], y[:600])
    lowrank = KreinRidgeClassifier(KERNEL, "auto", strategy="lowrank", n_landmarks=120).fit(X[:600], y[:600])
    assert lowrank.dual_coef_.shape == (120,)
    assert lowrank.score(X[600:], y[600:]) > exact.score(X[600:], y[600:]) - 0.02
    assert ((lowrank.predict_proba(X[600:])[:, 1] - y[600:]) ** 2).mean() < 0.06


def test_in_a_grid_search(moons):
    X, y, new, y_new = moons
    search = GridSearchCV(KreinRidgeClassifier("tl1"), {"kernel__rho": [0.5, 1.0], "gamma": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.score(new, y_new) > 0.85


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"gamma": "loo"}, "no exact leave-one-out"),
        ({"gamma_negative": "loo"}, "no exact leave-one-out"),
        ({"gamma": -1.0}, "gamma=-1.0 is not accepted"),
        ({"gamma_negative": "some"}, "gamma_negative='some' is not accepted"),
        ({"selection": "loo"}, "selection='loo' is not accepted"),
        ({"n_folds": 1}, "n_folds=1 is not accepted"),
    ],
)
def test_wrong_parameters_are_refused(wrong, message, moons):
    with pytest.raises(ParameterError, match=message):
        KreinRidgeClassifier("rbf", **wrong).fit(moons[0], moons[1])


@pytest.mark.parametrize("strategy", ["exact", "lowrank"])
def test_asymmetric_kernels_are_refused(strategy, moons):
    with pytest.raises(AsymmetryError, match="ask-lsr"):
        KreinRidgeRegressor("sne(sigma=1.0)", strategy=strategy).fit(moons[0], moons[1].astype(float))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sigma", [0.84, 3.0])
def test_small_eigenvalues_do_no_harm_at_new_samples(sigma, weighted):
    """Their eigenvectors hold a part of the constant, which the centred matrix does not see and the kernel does."""
    rng = np.random.default_rng(1)
    X, new = rng.normal(size=(80, 1)), rng.normal(size=(50, 1))
    y, weights = np.sin(3 * X[:, 0]), rng.integers(1, 4, 80).astype(float) if weighted else None
    kernel = make_kernel("rbf", sigma=sigma)
    expected = LSSVR(kernel=kernel, gamma=1.0).fit(X, y, sample_weight=weights).predict(new)
    found = KreinRidgeRegressor(kernel=kernel, gamma=1.0).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(found.predict(new), expected, rtol=0, atol=1e-6)
    border = np.ones(80) if weights is None else weights
    assert abs(found.dual_coef_.sum()) < 1e-12 * border.sum() * np.abs(found.dual_coef_).max()
