"""Local and learned bandwidths against naive formulas, finite differences and refits."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from kernreg_asymmetric import LABRBFClassifier, LABRBFRegressor, lab_rbf, local_rbf
from kernreg_asymmetric.bandwidths.adaptation import LeaveOneOutError, Sample, kernel_values, overlaps
from kernreg_asymmetric.bandwidths.growth import common_width, spread_over_targets, with_worst
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestNeighbors

import kernreg
from kernreg.errors import DataError, ParameterError
from kernreg.solvers import LSSVC, AsKLSClassifier


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(40, 3))


def neighbour_widths(reference, samples, k):
    """By scikit-learn; samples of the reference are their own first neighbour."""
    own = (cdist(samples, reference) == 0.0).any(axis=1)
    distances, _ = NearestNeighbors(n_neighbors=k + 1).fit(reference).kneighbors(samples)
    return np.where(own, distances[:, k], distances[:, k - 1])


@pytest.mark.parametrize("side", ["column", "row", "both"])
def test_local_widths_are_distances_to_neighbours(X, side):
    new = np.random.default_rng(1).normal(size=(9, 3))
    k = local_rbf(n_neighbors=4, side=side, factor=1.5).bind(X)
    for A, B in ((X, X), (new, X), (X, new), (new, new)):
        a, b = neighbour_widths(X, A, 4), neighbour_widths(X, B, 4)
        scale = {
            "column": np.outer(np.ones(len(A)), b * b),
            "row": np.outer(a * a, np.ones(len(B))),
            "both": np.outer(a, b),
        }
        expected = np.exp(-(cdist(A, B) ** 2) / (1.5**2 * scale[side]))
        np.testing.assert_allclose(k(A, B), expected, atol=1e-12)


def test_row_and_column_widths_are_each_others_transpose(X):
    row, column = (local_rbf(n_neighbors=3, side=side).bind(X) for side in ("row", "column"))
    np.testing.assert_allclose(row(X), column(X).T, atol=1e-14)
    assert not row.symmetric
    assert local_rbf(side="both").bind(X).symmetric


def test_copies_are_no_neighbours_and_lonely_samples_have_width_one(X):
    twice = np.vstack([X, X])
    np.testing.assert_allclose(local_rbf(n_neighbors=2, side="row").bind(twice)(X, X[:5]).shape, (40, 5))
    k = local_rbf(n_neighbors=1).bind(np.array([[0.0], [0.0], [2.0]]))
    np.testing.assert_allclose(k.widths, [2.0, 2.0, 2.0])
    assert local_rbf().bind(np.zeros((2, 1))).widths.tolist() == [1.0, 1.0]


def test_a_bound_local_kernel_survives_pickle_engines_and_model_files(X, tmp_path):
    k = local_rbf(n_neighbors=3).bind(X)
    new = X[:7] + 0.1
    assert pickle.loads(pickle.dumps(k)) == k
    assert np.array_equal(pickle.loads(pickle.dumps(k))(new, X), k(new, X))
    np.testing.assert_allclose(k.operator(new, X) @ np.ones(40), k(new, X).sum(axis=1))
    np.testing.assert_allclose(k(sp.csr_array(new), sp.csr_array(X)), k(new, X), atol=1e-12)
    assert k.set_params(n_neighbors=5) == local_rbf(n_neighbors=5).bind(X)
    y = X[:, 0] > 0
    for solver in (
        AsKLSClassifier(kernel="local-rbf(n_neighbors=5, factor=2.0)"),
        LSSVC(kernel="local-rbf(side='both')"),
    ):
        model = solver.fit(X, y)
        kernreg.save(model, tmp_path / "model.kern")
        assert np.array_equal(
            kernreg.load(tmp_path / "model.kern").decision_function(new), model.decision_function(new)
        )
        assert model.score(X, y) > 0.9


def test_a_file_with_wrong_widths_is_refused(X):
    with pytest.raises(
        ParameterError, match=r"description is float64 of shape \(3,\); needed is float64 of shape \(40\)"
    ):
        local_rbf().__kernreg_rebind__({"reference": X, "description": np.ones(3)})


# Learned bandwidths -------------------------------------------------------------------------------------------


def naive_left_out(data, supports, log_squares, log_ridge, S):
    """Leave-one-out residuals by leaving out: weights of the rest as they were."""
    K = np.exp(-np.einsum("sij,ij->si", (data.X[:, None] - data.X[supports]) ** 2, np.exp(log_squares)))
    found = np.empty_like(data.Y)
    for s in range(len(data.Y)):
        rest = np.delete(np.arange(len(data.Y)), s)
        # Unknowns α and b of the weighted ridge problem, by its normal equations.
        A = np.column_stack([K[rest], np.ones(len(rest))])
        G = (A * data.share[rest, None]).T @ A
        G[:-1, :-1] += np.exp(log_ridge) * S
        solution = np.linalg.solve(G, (A * data.share[rest, None]).T @ data.Y[rest])
        found[s] = data.Y[s] - (K[s] @ solution[:-1] + solution[-1])
    return found


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 2.0, 30)
    data = Sample(rng.normal(size=(30, 3)), rng.normal(size=(30, 2)), weights / weights.sum())
    supports, log_squares = np.arange(0, 30, 5), rng.normal(size=(6, 3)) - 1.0
    return data, supports, log_squares, overlaps(data.X[supports], rng.normal(size=(6, 3)))


def test_left_out_residuals_are_those_of_refits(problem):
    data, supports, log_squares, S = problem
    solved = LeaveOneOutError(data, supports, S).solve(log_squares, -3.0)
    np.testing.assert_allclose(solved.left_out, naive_left_out(data, supports, log_squares, -3.0, S), atol=1e-9)


def test_the_gradient_is_that_of_differences(problem):
    data, supports, log_squares, S = problem
    loss = LeaveOneOutError(data, supports, S)
    _, by_width, by_ridge, _ = loss(log_squares, -3.0)
    step = 1e-6
    for i, j in np.ndindex(log_squares.shape):
        ahead, behind = log_squares.copy(), log_squares.copy()
        ahead[i, j] += step
        behind[i, j] -= step
        difference = (loss(ahead, -3.0)[0] - loss(behind, -3.0)[0]) / (2.0 * step)
        np.testing.assert_allclose(by_width[i, j], difference, atol=1e-7)
    difference = (loss(log_squares, -3.0 + step)[0] - loss(log_squares, -3.0 - step)[0]) / (2.0 * step)
    np.testing.assert_allclose(by_ridge, difference, atol=1e-7)


def test_overlaps_are_positive_semi_definite_and_the_kernel_where_widths_are_equal():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(25, 3))
    assert np.linalg.eigvalsh(overlaps(centres, rng.normal(size=(25, 3)))).min() > -1e-12
    equal = np.tile(rng.normal(size=3), (25, 1))
    np.testing.assert_allclose(overlaps(centres, equal), kernel_values(centres, centres, equal), atol=1e-12)


def test_the_start_is_the_best_of_common_widths(problem):
    data, supports, _, _ = problem
    state = common_width(data, data, supports)
    losses = []
    for log_square in np.unique(state.log_squares) + np.array([-1.4, 0.0, 1.4]):
        same = np.full((6, 3), log_square)
        loss = LeaveOneOutError(data, supports, overlaps(data.X[supports], same))
        losses.append(min(loss.value(loss.solve(same, ridge)) for ridge in np.linspace(-25.0, 3.0, 57)))
    assert losses[1] <= min(losses) + 1e-3


def test_centres_are_added_where_residuals_are_worst(problem):
    data, _, _, _ = problem
    supports = spread_over_targets(data.Y, 4)
    state = common_width(data, data, supports)
    grown = with_worst(data, data, state, 6)
    S = overlaps(data.X[supports], state.log_squares)
    errors = np.square(naive_left_out(data, supports, state.log_squares, state.log_ridge, S)).sum(axis=1)
    errors[supports] = 0.0
    assert grown.supports[:4].tolist() == supports.tolist()
    assert set(grown.supports[4:]) == set(np.argsort(-errors)[:2])


def varying(n=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 1.0, (n, 1))
    return x, np.sin(1.0 / (0.05 + 0.4 * x[:, 0]))


def test_few_adaptive_gaussians_beat_as_many_of_a_common_width():
    x, y = varying()
    new, expected = varying(2000, seed=1)
    model = LABRBFRegressor(n_supports=25).fit(x, y)
    chosen = x[spread_over_targets(y[:, None], 25)]
    best = -np.inf
    for sigma in np.geomspace(0.02, 1.0, 12):
        K, K_new = (np.exp(-(cdist(A, chosen) ** 2) / sigma**2) for A in (x, new))
        coefficients = np.linalg.lstsq(np.column_stack([K, np.ones(len(K))]), y, rcond=1e-10)[0]
        residuals = expected - np.column_stack([K_new, np.ones(len(K_new))]) @ coefficients
        best = max(best, 1.0 - residuals @ residuals / np.sum((expected - expected.mean()) ** 2))
    assert len(model.support_) <= 25
    assert 1.0 - model.score(new, expected) < 0.5 * (1.0 - best)
    assert model.theta_.max() > 2.0 * model.theta_.min()


def test_irrelevant_features_get_wide():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    model = LABRBFRegressor(n_supports=0.1).fit(X, np.sin(2.0 * X[:, 0]))
    medians = np.median(model.theta_, axis=0)
    assert medians[0] > 10.0 * medians[1:].max()


def test_predictions_are_those_of_the_learned_kernel(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = LABRBFRegressor(max_iter=20).fit(X, y)
    np.testing.assert_allclose(
        model.predict(X), (model.kernel_(X, model.centres_) @ model.dual_coef_ + model.intercept_)[:, 0], atol=1e-7
    )
    np.testing.assert_allclose(model.centres_, X[model.support_])
    classifier = LABRBFClassifier(max_iter=20).fit(X, np.array(["a", "b", "c"])[y])
    assert classifier.score(X, np.array(["a", "b", "c"])[y]) > 0.95
    assert AsKLSClassifier(kernel=classifier.kernel_).fit(X, y).score(X, y) > 0.95
    for fitted in (model, classifier):
        kernreg.save(fitted, tmp_path / "model.kern")
        loaded = kernreg.load(tmp_path / "model.kern")
        assert np.array_equal(loaded.predict(X), fitted.predict(X))
        assert loaded.solver_report_ == fitted.solver_report_


def test_the_kernel_takes_the_bandwidths_of_the_nearest_centre():
    rng = np.random.default_rng(0)
    C, T, A, B = rng.normal(size=(4, 2)), rng.random((4, 2)), rng.normal(size=(5, 2)), rng.normal(size=(6, 2))
    theta = T[cdist(B, C).argmin(axis=1)]
    expected = [[np.exp(-np.sum((t * (x - z)) ** 2)) for z, t in zip(B, theta, strict=True)] for x in A]
    np.testing.assert_allclose(lab_rbf(centres=C, theta=T)(A, B), expected, atol=1e-12)


def test_several_outputs_weights_of_zero_and_float32():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2])
    model = LABRBFRegressor(max_iter=20).fit(X, Y)
    assert model.predict(X).shape == (120, 2)
    assert model.score(X, Y) > 0.95
    spoiled = np.vstack([X, 100.0 + X[:5]])
    weights = np.r_[np.ones(120), np.zeros(5)]
    same = LABRBFRegressor(max_iter=20).fit(spoiled, np.vstack([Y, Y[:5]]), sample_weight=weights)
    np.testing.assert_allclose(same.predict(X), model.predict(X), atol=1e-9)
    assert model.predict(X.astype(np.float32)).dtype == np.float32


def test_parameters_in_a_grid_search_and_wrong_ones():
    x, y = varying(120)
    search = GridSearchCV(LABRBFRegressor(max_iter=10), {"n_supports": [2, 20]}, cv=3).fit(x, y)
    assert search.best_params_ == {"n_supports": 20}
    for wrong in (
        {"n_supports": 0},
        {"n_supports": 1.5},
        {"stages": 0},
        {"max_iter": 1.5},
        {"validation_fraction": 1.0},
    ):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            LABRBFRegressor(**wrong).fit(x, y)
    with pytest.raises(DataError, match="at least 4"):
        LABRBFRegressor().fit(x[:3], y[:3])
    with pytest.raises(TypeError, match="dense tables only"):
        LABRBFRegressor().fit(sp.csr_array(x), y)


@pytest.mark.parametrize("size", [1.0, 1e3, 1e8, 1e20, 1e150, 1e200])
def test_lab_rbf_of_samples_far_from_the_origin_is_that_of_their_differences(size):
    rng = np.random.default_rng(0)
    centres, theta = rng.normal(size=(3, 4)), 0.3 + rng.random((3, 4))
    X = size * rng.normal(size=(7, 4))
    X[3:] = X[0] + rng.normal(size=(4, 4))
    K = lab_rbf(centres=centres, theta=theta)(X)
    C, T, rows = (array.astype(np.longdouble) for array in (centres, theta, X))
    width = [T[np.argmin(((C - z) ** 2).sum(axis=1))] for z in rows]
    exact = [[np.exp(-((t * (x - z)) ** 2).sum()) for z, t in zip(rows, width, strict=True)] for x in rows]
    np.testing.assert_allclose(K, np.array(exact, dtype=float), rtol=0, atol=1e-12)
