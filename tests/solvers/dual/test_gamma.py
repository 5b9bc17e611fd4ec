"""γ is chosen for what is predicted: by the merged leave-one-out decision, on a grid that goes on until it turns."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import kernreg as kr
from kernreg.datasets import make_directed_communities
from kernreg.errors import GridEndWarning
from kernreg.kernels.indexed import adjacency, precomputed
from kernreg.solvers import LSSVC, LSSVR, AsKLSClassifier, AsKLSRegressor
from kernreg.solvers.dual.gamma import choose_gamma
from kernreg.solvers.dual.solution import Candidate


def asymmetric(seed=0, m=120):
    """Return a kernel whose source side is told by small γ and whose target side is noise, and classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(m) % 2
    signs = 2.0 * y - 1.0
    return precomputed(K=0.2 * np.outer(signs, rng.normal(size=m)) + rng.normal(size=(m, m))), y


@pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")
@pytest.mark.parametrize("ensembler", ["average", "source", "stack", "best"])
def test_gamma_is_that_of_the_merged_decision(ensembler):
    kernel, y = asymmetric()
    grid = [0.003, 0.01, 0.035, 0.1]
    each = [AsKLSClassifier(kernel, gamma=g, ensembler=ensembler).fit(np.arange(120), y).loo_score_ for g in grid]
    model = AsKLSClassifier(kernel, gamma=grid, ensembler=ensembler).fit(np.arange(120), y)
    assert model.loo_path_["score"].tolist() == pytest.approx(each)
    assert model.loo_score_ == max(each)


@pytest.mark.filterwarnings("ignore")  # the end of what rounding errors allow is right here
def test_smooth_function_without_noise_is_followed_to_rounding_errors():
    x = np.linspace(-4.0, 4.0, 200)[:, None]
    new = np.linspace(-3.9, 3.9, 333)[:, None]

    def truth(x):
        return np.sin(x[:, 0]) + 0.5 * np.cos(3 * x[:, 0])

    def error(gamma):
        model = LSSVR("rbf(sigma=2.0)", gamma=gamma).fit(x, truth(x))
        return np.sqrt(np.mean((model.predict(new) - truth(new)) ** 2)), model

    best = min(error(float(g))[0] for g in np.logspace(-3, 12, 46))
    chosen, model = error("loo")
    assert chosen <= 1.2 * best
    assert model.gamma_ > 1e8
    assert np.all(np.diff(model.loo_path_["gamma"]) > 0)


@pytest.mark.parametrize(("grid", "which"), [([1e-9, 1e-8, 1e-7], "largest"), ([1e5, 1e6, 1e7], "smallest")])
def test_the_end_of_a_grid_is_told(grid, which):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = X[:, 0] + 0.5 * rng.normal(size=100)
    with pytest.warns(GridEndWarning, match=f"is the {which} of the 3 usable values"):
        LSSVR("rbf(sigma=2.0)", gamma=grid).fit(X, y)
    LSSVR("rbf(sigma=2.0)", gamma=grid[:2]).fit(X, y)  # two values have no inside
    LSSVR("rbf(sigma=2.0)", gamma="loo").fit(X, y)


def test_targets_that_a_kernel_says_nothing_about_are_told():
    rng = np.random.default_rng(1)
    K = rng.normal(size=(60, 60))
    y = rng.normal(size=60)
    with pytest.warns(GridEndWarning, match="this kernel says nothing about them"):
        LSSVR(precomputed(K=-K @ K.T / 60), gamma="loo").fit(np.arange(60), y)


@pytest.mark.parametrize("ensembler", ["stack", "stack(method='logistic')"])
def test_views_that_are_multiplied_are_not_taken_for_a_mean(ensembler):
    A, y = make_directed_communities(90, 2, within=0.2, random_state=0)
    model = AsKLSClassifier(adjacency(graph=A), ensembler=ensembler).fit(np.arange(60), y[:60])  # without a warning
    assert model.gamma_ < 1e-3
    assert model.score(np.arange(60, 90), y[60:]) > 0.9
    assert kr.tune(model, {"gamma": "loo"}, np.arange(60), y[:60]).best_params["gamma"] < 1e-3


@pytest.mark.parametrize("ensembler", ["stack", "stack(alpha=1e-6)", "best"])
@pytest.mark.parametrize("machine", [AsKLSClassifier, AsKLSRegressor])
def test_an_ensembler_does_not_learn_targets_from_the_mean_of_the_others(ensembler, machine):
    rng = np.random.default_rng(3)
    K, y = rng.normal(size=(100, 100)), np.arange(100) % 2
    model = machine(precomputed(K=K), gamma=1e-9, ensembler=ensembler).fit(np.arange(100), y)
    # For so small a γ every leave-one-out value is the mean of the others, from which y_i could be told exactly.
    assert model.loo_score_ < (0.7 if machine is AsKLSClassifier else 0.1)


def test_tune_returns_the_score_of_the_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = (X[:, 0] + 0.7 * rng.normal(size=90) > 0).astype(int)
    solver = AsKLSClassifier("sne", ensembler="stack")
    result = kr.tune(solver, {"kernel__sigma": [1.0, 2.0], "gamma": [0.1, 3.0]}, X, y)
    assert result.best_score == result.best_estimator.loo_score_


def test_single_samples_of_a_class_are_merged_too():
    X = np.random.default_rng(0).normal(size=(21, 3))
    y = np.array(["a", "b"] * 10 + ["rare"])
    model = AsKLSClassifier("sne(sigma=2.0)", gamma=[0.3, 3.0], ensembler="stack").fit(X, y)
    assert np.isfinite(model.loo_score_)
    assert LSSVC("rbf(sigma=2.0)", gamma=[0.3, 3.0]).fit(X, y).predict_proba(X).shape == (21, 3)


@pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")
@pytest.mark.parametrize("weighted", [False, True])
def test_few_values_by_inverses_are_scored_as_many_by_a_decomposition(weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=80), [-0.5, 0.5])
    weights = rng.uniform(0.5, 2.0, 80) if weighted else None
    many = LSSVC("laplacian(sigma=4.0)", gamma=[0.1, 1.0, 3.0, 10.0, 30.0, 100.0]).fit(X, y, weights)
    few = LSSVC("laplacian(sigma=4.0)", gamma=[1.0, 3.0, 10.0]).fit(X, y, weights)
    assert few.solver_report_.method == "cholesky"
    assert many.solver_report_.method == "eigh"
    assert few.loo_path_["score"].tolist() == pytest.approx(many.loo_path_["score"][1:4].tolist())
    assert few.loo_path_["squared_error"].tolist() == pytest.approx(many.loo_path_["squared_error"][1:4].tolist())
    plain = LSSVC("laplacian(sigma=4.0)", gamma=few.gamma_).fit(X, y, weights)
    assert np.allclose(few.decision_function(X), plain.decision_function(X), atol=1e-12)
    assert np.allclose(few.loo_views_["decision"], plain.loo_views_["decision"], atol=1e-10)


@pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")
def test_few_values_at_which_a_kernel_is_indefinite_are_decomposed():
    X = np.random.default_rng(0).uniform(size=(60, 4))
    y = X[:, 0] > X[:, 1]
    few = LSSVC("tl1(rho=0.5)", gamma=[0.5, 5.0, 50.0]).fit(X, y)
    many = LSSVC("tl1(rho=0.5)", gamma=[0.5, 5.0, 50.0, 0.1, 0.2]).fit(X, y)
    assert few.loo_path_["squared_error"].tolist() == pytest.approx(many.loo_path_["squared_error"][:3].tolist())


class _Scored:
    """A system whose views are the number of the γ they belong to."""

    def candidates(self, gammas):
        for gamma in gammas:
            yield Candidate({"decision": np.full((3, 1), gamma)})

    def at(self, gamma):
        return SimpleNamespace(noted=lambda note: gamma)


@pytest.mark.parametrize("rounding", [0.0, 1e-15, -1e-15])
def test_of_scores_equal_but_for_rounding_the_first_gamma_is_taken(rounding):
    grid = np.array([1.0, 2.0, 4.0])
    choice = choose_gamma(_Scored(), grid, lambda views: (0.5, -0.3 + rounding * views["decision"][0, 0]))
    assert (choice.gamma, choice.solution) == (1.0, 1.0)


def test_scores_count_before_errors_and_both_beyond_rounding():
    scores = {1.0: (0.5, -0.1), 2.0: (0.75, -0.3), 4.0: (0.75, -0.3 + 1e-8), 8.0: (0.75, -0.3 + 1e-8 + 1e-12)}
    assert choose_gamma(_Scored(), np.array(list(scores)), lambda views: scores[views["decision"][0, 0]]).gamma == 4.0


def test_where_larger_values_change_nothing_the_smallest_of_them_is_taken_and_told():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))  # well conditioned: 1/γ stops to matter
    y = K @ rng.normal(size=30)
    with pytest.warns(GridEndWarning, match="every larger one is as good: the targets look free of noise"):
        model = LSSVR(precomputed(K=K), gamma="loo").fit(np.arange(30), y)
    assert model.gamma_ < 1e14
    larger = model.loo_path_["gamma"] > model.gamma_
    assert np.ptp(model.loo_path_["squared_error"][larger]) < 1e-9 * model.loo_path_["squared_error"].min()


@pytest.mark.parametrize("machine", [LSSVR, AsKLSRegressor])
def test_two_samples_are_enough_to_leave_one_out(machine):
    fitted = machine(kernel="rbf(sigma=1.0)", gamma=[0.1, 1.0]).fit([[0.0], [1.0]], [0.0, 1.0])
    assert fitted.gamma_ in (0.1, 1.0)


@pytest.mark.filterwarnings("ignore::kernreg.errors.UninformativeKernelWarning")
@pytest.mark.parametrize("solver", ["ls-svr", "ask-lsr"])
@pytest.mark.parametrize("m", [2, 30, 300])
def test_samples_that_are_all_the_same_give_the_mean_everywhere(solver, m):
    """The centred matrix is rounding errors, and a γ fitted to these would make much of nothing."""
    rng = np.random.default_rng(m)
    X, y = np.repeat(rng.normal(size=(1, 3)), m, axis=0), rng.normal(size=m)
    model = kr.make_solver(solver, kernel="rbf(sigma=1.5)", gamma="loo").fit(X, y)
    np.testing.assert_allclose(model.predict([X[0], X[0] + 1.0]), y.mean(), rtol=1e-12)
