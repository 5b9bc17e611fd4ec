"""Weights of features: derivatives against refits, features that matter found, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler

import kernreg as kr
from kernreg.errors import DataError, ParameterError
from kernreg.solvers import FeatureRelevance
from kernreg.solvers.relevance.loss import left_out_errors, loss

KERNELS = ("laplacian(sigma=1.0)", "rbf(sigma=1.0)", "matern(sigma=1.0, nu=0.5)", "matern(sigma=1.0, nu=2.5)",
           "cauchy(sigma=1.0)", "rational-quadratic(sigma=1.0)")  # fmt: skip


def problem(n=600, d=8, seed=0):
    """Two features that matter, one on a thousandth of the scale, and others that do not."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2
    X[:, 1] *= 1e-3
    return X, y


def refitted_errors(kernel, X, Y, gamma):
    """Every sample left out, one fit for each."""
    K = kernel(X)
    errors = np.empty_like(Y)
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        solution = np.linalg.solve(K[np.ix_(rest, rest)] + np.eye(len(X) - 1) / gamma, Y[rest])
        errors[i] = Y[i] - K[i, rest] @ solution
    return errors


@pytest.mark.parametrize("spec", KERNELS)
def test_errors_and_slopes_are_those_of_refits(spec):
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((14, 3)), rng.standard_normal((14, 2))
    X[3] = X[5]  # a pair at distance zero
    kernel = kr.make_kernel(spec)
    assert np.allclose(left_out_errors(kernel(X), Y, 5.0), refitted_errors(kernel, X, Y, 5.0), rtol=1e-9, atol=1e-11)
    found = loss(kernel, X, Y, 5.0)

    def value(logs):
        return (refitted_errors(kernel, X * np.exp(logs[:-1]), Y, 5.0 * np.exp(logs[-1])) ** 2).mean()

    steps = 1e-5 * np.eye(4)
    slopes = [(value(step) - value(-step)) / 2e-5 for step in steps]
    assert found.value == pytest.approx(value(np.zeros(4)), rel=1e-10)
    assert np.allclose(np.append(found.by_weights, found.by_gamma), slopes, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("kernel", ["laplacian", "rbf", "matern"])
@pytest.mark.parametrize("batches", ["near", "random"])
def test_features_that_matter_are_found_on_any_scale(kernel, batches):
    X, y = problem()
    scaler = FeatureRelevance(kernel, batch_size=150, batches=batches).fit(X, y)
    sizes = scaler.weights_ * X.std(axis=0)
    assert sizes[:2].min() > 1.5 * sizes[2:].max()
    assert scaler.solver_report_.kept
    assert scaler.solver_report_.held_out_error < 0.8 * scaler.solver_report_.equal_error
    assert all(value == 1.0 for name, value in scaler.kernel_.get_params().items() if name == "sigma")


def test_a_chain_predicts_better_with_it():
    X, y = problem()
    labels = np.where(y > np.median(y), "high", "low")
    chain = kr.make_chain("relevance(kernel='rbf', batch_size=150)", "ls-svm(kernel='rbf(sigma=1.0)', gamma=10.0)")
    equal = kr.make_chain(StandardScaler(), "ls-svm(gamma='loo')")
    assert cross_val_score(chain, X, labels, cv=3).mean() > cross_val_score(equal, X, labels, cv=3).mean() + 0.05


def test_where_nothing_is_learned_the_weights_stay_equal():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 20)) * np.arange(1, 21), rng.standard_normal(120)
    scaler = FeatureRelevance("rbf").fit(X, y)
    assert not scaler.solver_report_.kept
    assert scaler.solver_report_.held_out_error == scaler.solver_report_.equal_error
    assert np.ptp(scaler.weights_ * X.std(axis=0)) < 0.1 * scaler.weights_.max() * X.std(axis=0).max()


def test_several_outputs_and_classes_of_any_kind_are_learned_from():
    X, y = problem(300)
    both = FeatureRelevance("rbf", max_iter=20).fit(X, np.column_stack([y, -5.0 * y, np.ones(len(y))]))
    one = FeatureRelevance("rbf", max_iter=20).fit(X, y)
    assert np.allclose(both.weights_, one.weights_, rtol=1e-6)
    codes = np.digitize(y, [0.0, 1.0])
    named = FeatureRelevance(max_iter=5).fit(X, np.array(["a", "b", "c"])[codes])
    assert np.array_equal(named.weights_, FeatureRelevance(max_iter=5).fit(X, codes).weights_)


def test_whole_numbers_of_many_values_are_regression_unless_said_otherwise():
    X, y = problem(300)
    whole = np.round(100.0 * y)
    auto = FeatureRelevance("rbf", max_iter=3).fit(X, whole).weights_
    assert np.array_equal(auto, FeatureRelevance("rbf", max_iter=3, task="regression").fit(X, whole).weights_)
    few = np.round(2.0 * y)
    auto = FeatureRelevance("rbf", max_iter=3).fit(X, few).weights_
    assert np.array_equal(auto, FeatureRelevance("rbf", max_iter=3, task="classification").fit(X, few).weights_)


def test_constant_features_have_no_weight_and_change_nothing():
    X, y = problem(200)
    wider = np.insert(X, 3, 7.0, axis=1)
    weights = FeatureRelevance("rbf", max_iter=10).fit(wider, y).weights_
    assert weights[3] == 0.0
    assert np.array_equal(np.delete(weights, 3), FeatureRelevance("rbf", max_iter=10).fit(X, y).weights_)


def test_samples_keep_their_dtype_and_are_multiplied(tmp_path):
    X, y = problem(200)
    scaler = FeatureRelevance(max_iter=5).fit(X.astype(np.float32), y)
    assert scaler.transform(X.astype(np.float32)).dtype == np.float32
    assert np.array_equal(scaler.transform(X), X * scaler.weights_)
    assert scaler.get_feature_names_out().tolist() == [f"x{k}" for k in range(8)]
    kr.save(scaler, tmp_path / "scaler.kern")
    assert np.array_equal(kr.load(tmp_path / "scaler.kern").transform(X), scaler.transform(X))


def test_a_width_that_is_a_number_is_that_of_the_kernel_the_weights_are_for():
    X, y = problem(200)
    one, two = (FeatureRelevance(f"laplacian(sigma={sigma})", max_iter=20).fit(X, y) for sigma in (1.0, 2.5))
    assert two.kernel_ == kr.make_kernel("laplacian(sigma=2.5)")
    assert np.allclose(two.weights_, 2.5 * one.weights_, rtol=1e-6)


def test_only_some_samples_of_many_are_looked_at_and_the_same_ones_each_time():
    X, y = problem(60_000, 3)
    first, second = (FeatureRelevance(batch_size=100, max_iter=3).fit(X, y).weights_ for _ in range(2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, FeatureRelevance(batch_size=100, max_iter=3, random_state=1).fit(X, y).weights_)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kernel": "linear"}, "l1 or the Euclidean"),
        ({"kernel": "sne"}, "symmetric"),
        ({"kernel": kr.make_kernel("rbf") + kr.make_kernel("laplacian")}, "l1 or the Euclidean"),
        ({"batch_size": 2}, "batch_size=2"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"batches": "far"}, "'near' or 'random'"),
        ({"task": "ranking"}, "task='ranking'"),
    ],
)
def test_parameters_that_cannot_be_are_named(given, words):
    with pytest.raises(ParameterError, match=words):
        FeatureRelevance(**given).fit(*problem(50))


def test_samples_and_targets_that_say_nothing_are_refused():
    import scipy.sparse as sp

    X, y = problem(50)
    for samples, targets, words in (
        (X, None, "y is None"),
        (X, np.ones(50), "one class"),
        (X, np.full(50, 0.5), "constant"),
        (X[:3], y[:3], "at least 5 samples"),
        (sp.csr_array(X), y, "sparse"),
        (X, np.array([["a", "b"]] * 25 + [["b", "a"]] * 25), "2 columns of labels"),
    ):
        with pytest.raises((DataError, ValueError), match=words):
            FeatureRelevance().fit(samples, targets)
    with pytest.raises(DataError, match="numbers"):
        FeatureRelevance(task="regression").fit(X, np.array(["a", "b"] * 25))


@pytest.mark.parametrize("value", [3.7, 0.1, -1e8, 0.0])
def test_a_constant_feature_has_no_weight(value):
    """Its deviation is a rounding error, and one divided by that would be a large weight."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    X[:, 1] = value
    scaler = FeatureRelevance(max_iter=3).fit(X, X[:, 0] + 0.1 * rng.standard_normal(30))
    assert scaler.weights_[1] == 0.0
    assert np.abs(scaler.transform(X)).max() < 1e3
