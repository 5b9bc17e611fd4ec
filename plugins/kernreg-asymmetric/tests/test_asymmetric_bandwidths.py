"""Local and learned bandwidths against naive formulas, finite differences and refits."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from kernreg_asymmetric import LABRBFClassifier, LABRBFRegressor, ask_rff, lab_rbf, local_rbf
from kernreg_asymmetric.bandwidths.adaptation import LeaveOneOutError, Sample, kernel_values
from kernreg_asymmetric.bandwidths.descent import Objective, State, best_ridge, common_width, descend
from kernreg_asymmetric.bandwidths.freedom import choose, learn
from kernreg_asymmetric.bandwidths.growth import Plan, stage_sizes, with_worst
from kernreg_asymmetric.bandwidths.overlap import overlap_slopes, overlaps
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


def naive_left_out(data, supports, log_squares, log_ridge):
    """Leave-one-out residuals by leaving out: weights of the rest as they were."""
    S = overlaps(data.X[supports], log_squares)
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
    return data, np.arange(0, 30, 5), rng.normal(size=(6, 3)) - 1.0


def differences(function, place, step=1e-6):
    """The gradient by central differences."""
    slopes = np.empty_like(place)
    for i in np.ndindex(place.shape):
        ahead, behind = place.copy(), place.copy()
        ahead[i] += step
        behind[i] -= step
        slopes[i] = (function(ahead) - function(behind)) / (2.0 * step)
    return slopes


def test_left_out_residuals_are_those_of_refits(problem):
    data, supports, log_squares = problem
    solved = LeaveOneOutError(data, supports).solve(log_squares, -3.0)
    np.testing.assert_allclose(solved.left_out, naive_left_out(data, supports, log_squares, -3.0), atol=1e-9)


@pytest.mark.parametrize("equal", [False, True])
def test_the_gradient_is_that_of_differences(problem, equal):
    data, supports, log_squares = problem
    if equal:
        log_squares = np.tile(log_squares[0], (6, 1))
    loss = LeaveOneOutError(data, supports)
    _, by_width, by_ridge, _ = loss(log_squares, -3.0)
    np.testing.assert_allclose(by_width, differences(lambda eta: loss(eta, -3.0)[0], log_squares), atol=1e-7)
    by_differences = differences(lambda ridge: loss(log_squares, float(ridge[0]))[0], np.array([-3.0]))
    np.testing.assert_allclose(by_ridge, by_differences[0], atol=1e-7)


@pytest.mark.parametrize("shared", [False, True])
def test_the_gradient_of_the_objective_is_that_of_differences(problem, shared):
    data, supports, log_squares = problem
    objective = Objective(data, supports, shared=shared)
    place = np.append(log_squares[0] if shared else log_squares.ravel(), -3.0)
    by_differences = differences(lambda parameters: objective(parameters)[0], place)
    np.testing.assert_allclose(objective(place)[1], by_differences, rtol=1e-5, atol=1e-5)


def test_the_objective_is_the_error_and_what_bandwidths_deviate(problem):
    data, supports, log_squares = problem
    errors = np.square(naive_left_out(data, supports, log_squares, -3.0)).sum(axis=1)
    means = log_squares.mean(axis=0)
    expected = 15.0 * np.log(data.share @ errors) + np.sum((means - means.mean()) ** 2) / (2.0 * 0.5**2)
    expected += np.sum((log_squares - means) ** 2) / (2.0 * 0.25**2)
    value, _ = Objective(data, supports, shared=False)(np.append(log_squares.ravel(), -3.0))
    np.testing.assert_allclose(value, expected, rtol=1e-9)


def test_slopes_of_overlaps_are_those_of_differences():
    rng = np.random.default_rng(0)
    centres, log_squares, weights = rng.normal(size=(5, 2)), rng.normal(size=(5, 2)), rng.normal(size=(5, 5))
    weights += weights.T
    for eta in (log_squares, np.tile(log_squares[0], (5, 1))):

        def value(rows):
            return 0.5 * np.sum(weights * np.log(overlaps(centres, rows)))

        np.testing.assert_allclose(overlap_slopes(centres, eta, weights), differences(value, np.array(eta)), atol=1e-7)


def test_overlaps_are_positive_semi_definite_and_the_kernel_where_widths_are_equal():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(25, 3))
    assert np.linalg.eigvalsh(overlaps(centres, rng.normal(size=(25, 3)))).min() > -1e-12
    equal = np.tile(rng.normal(size=3), (25, 1))
    np.testing.assert_allclose(overlaps(centres, equal), kernel_values(centres, centres, equal), atol=1e-12)


def test_the_start_is_the_best_of_common_widths(problem):
    data, supports, _ = problem
    state = common_width(data, supports)
    loss = LeaveOneOutError(data, supports)
    losses = []
    for log_square in np.unique(state.log_squares) + np.array([-1.4, 0.0, 1.4]):
        same = np.full((6, 3), log_square)
        losses.append(min(loss.value(loss.solve(same, ridge)) for ridge in np.linspace(-25.0, 3.0, 57)))
    assert losses[1] <= min(losses) + 1e-3


def test_the_best_ridge_has_the_error_of_refits(problem):
    data, supports, log_squares = problem
    error, log_ridge = best_ridge(data, supports, log_squares[0])
    same = np.tile(log_squares[0], (6, 1))
    for other in (log_ridge - 1.0, log_ridge + 1.0):
        assert data.share @ np.square(naive_left_out(data, supports, same, other)).sum(axis=1) >= error - 1e-6
    np.testing.assert_allclose(
        data.share @ np.square(naive_left_out(data, supports, same, log_ridge)).sum(axis=1), error, rtol=1e-5
    )


def test_descent_ends_below_its_start(problem):
    data, supports, _ = problem
    start = common_width(data, supports)
    for shared in (True, False):
        end = descend(data, start, 20, shared=shared)
        objective = Objective(data, supports, shared=False)
        before, after = (
            objective(np.append(state.log_squares.ravel(), max(state.log_ridge, -18.0)))[0] for state in (start, end)
        )
        assert after < before
        assert (np.ptp(end.log_squares, axis=0) == 0.0).all() == shared


def test_centres_are_added_where_residuals_are_worst(problem):
    data, _, _ = problem
    supports = np.array([3, 8, 20, 29])
    state = common_width(data, supports)
    grown = with_worst(data, state, 6)
    errors = np.square(naive_left_out(data, supports, state.log_squares, state.log_ridge)).sum(axis=1)
    errors[supports] = 0.0
    assert grown.supports[:4].tolist() == supports.tolist()
    assert set(grown.supports[4:]) == set(np.argsort(-errors)[:2])


def sample(X, y):
    return Sample(X, ((y - y.mean()) / y.std())[:, None], np.full(len(y), 1.0 / len(y)))


def test_centres_have_bandwidths_of_their_own_only_where_held_out_samples_gain():
    x, y = varying(200)
    plan = Plan(stage_sizes(20, 2), 30, 4)
    choice = choose(sample(x, y), plan, np.random.default_rng(0))
    assert choice.freedom == 1
    assert choice.errors[1] < choice.errors[0]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    state, choice = learn(sample(X, rng.normal(size=200)), plan, np.random.default_rng(0))
    assert choice.freedom == 0
    assert isinstance(state, State)
    np.testing.assert_allclose(state.log_squares, np.tile(choice.by_feature, (20, 1)))


def test_noise_alone_is_predicted_as_little():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(240, 13)), rng.normal(size=(4000, 13))
    model = LABRBFRegressor().fit(X, rng.normal(size=240))
    assert np.var(model.predict(new)) < 0.15  # of noise of variance one


def varying(n=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 1.0, (n, 1))
    return x, np.sin(1.0 / (0.05 + 0.4 * x[:, 0]))


def test_few_adaptive_gaussians_beat_as_many_of_a_common_width():
    x, y = varying()
    new, expected = varying(2000, seed=1)
    model = LABRBFRegressor(n_supports=25).fit(x, y)
    chosen = x[np.argsort(y)[np.linspace(0, len(y) - 1, 25).astype(int)]]
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
        {"folds": 1},
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


@pytest.mark.parametrize("features", [1, 2, 4])
@pytest.mark.parametrize(
    "kernel",
    [
        lab_rbf(centres=np.eye(3), theta=np.ones((3, 3))),
        ask_rff(frequencies=np.eye(3), phases=np.ones((1, 3)), weights=np.ones((1, 3))),
    ],
)
def test_samples_of_other_features_than_those_learned_on_are_refused(kernel, features):
    """One feature is not taken for all three."""
    for pair in ((np.ones((2, features)),), (np.ones((2, features)), np.eye(3)), (np.eye(3), np.ones((2, features)))):
        with pytest.raises(DataError, match="features"):
            kernel(*pair)


@pytest.mark.parametrize("side", ["column", "row", "both"])
@pytest.mark.parametrize("size", [1e-30, 1e-22, 1.0, 1e22, 1e30])
def test_local_bandwidths_of_float32_samples_of_any_size(X, side, size):
    samples = (X * size).astype(np.float32)
    k = local_rbf(n_neighbors=4, side=side)
    exact = k.bind(X)(X)
    for K in (k(samples), k.bind(samples)(samples), k.bind(samples)(samples, samples[:7])):
        assert K.dtype == np.float32
        np.testing.assert_allclose(K, exact[:, : K.shape[1]], rtol=0, atol=1e-6)
    if side == "both":
        assert np.array_equal(k(samples), k(samples).T)


def test_local_bandwidths_of_a_float32_reference_serve_float64_samples(X):
    single = X.astype(np.float32)
    exact = local_rbf(n_neighbors=4).bind(single.astype(float))
    k = local_rbf(n_neighbors=4).bind(single)
    for A, B in ((single.astype(float), single), (single, single.astype(float)), (X[:5], single)):
        np.testing.assert_allclose(k(A, B), exact(A.astype(float), B.astype(float)), rtol=1e-12)


@pytest.mark.parametrize("seed", [0, 5])
def test_predictions_of_parts_are_those_of_all_as_far_as_coefficients_allow(seed):
    rng = np.random.default_rng(seed)
    samples = rng.normal(size=(300, 3))
    samples[:5] += 1e3 * rng.normal(size=(5, 3))  # expanded squares are off where samples are far apart
    machine = LABRBFRegressor().fit(samples, np.sin(samples[:, 0]))
    expected = machine.kernel_(samples, machine.centres_) @ np.ravel(machine.dual_coef_) + machine.intercept_
    allowed = 16 * np.finfo(float).eps * np.abs(machine.dual_coef_).sum()
    assert np.abs(machine.predict(samples) - expected).max() <= allowed
    parts = np.concatenate([machine.predict(samples[i : i + 7]) for i in range(0, 300, 7)])
    assert np.abs(parts - machine.predict(samples)).max() <= allowed / 8


@pytest.mark.parametrize("value", [0.0, 3.3])
def test_constant_targets(value):
    X = np.random.default_rng(2).normal(size=(30, 3))
    model = LABRBFRegressor().fit(X, np.full(30, value))  # without a RuntimeWarning
    np.testing.assert_allclose(model.predict(X), value, rtol=1e-12)
