"""Fitted models own their data: what the caller does to X, y and weights afterwards changes no prediction."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

import kernreg as kr
from kernreg.registry import get_registry

MORE = {"bicluster": {"n_clusters": 2}, "simple-npk": {"n_neighbors": 5}}
SOLVERS = sorted({entry.name for entry in get_registry("solver").entries()})


def results(model, X):
    names = ("decision_function", "predict_proba", "predict", "transform")
    found = [getattr(model, name)(X) for name in names if hasattr(model, name)]
    return [*found, model.kernel_(X[:5], X)] if hasattr(model, "kernel_") else found


@pytest.mark.filterwarnings("ignore")  # what a solver says of these samples is not the matter
@pytest.mark.parametrize("form", ["sparse", "float32"])  # dense: the law "own samples"
@pytest.mark.parametrize("name", SOLVERS)
def test_the_callers_samples_may_change_after_fit(name, form):
    X, y = make_blobs(40, 4, centers=2, random_state=0, cluster_std=2.0)
    X = np.abs(X)
    given = sp.csr_array(X) if form == "sparse" else X.astype(np.float32)
    new = X[:7].astype(np.float32) if form == "float32" else X[:7].copy()
    try:
        model = kr.make_solver(name, **MORE.get(name, {})).fit(given, y)
    except (TypeError, ValueError) as error:
        pytest.skip(f"{name} does not take these samples: {error}")
    twin = kr.make_solver(name, **MORE.get(name, {})).fit(given.copy(), y.copy())
    (given.data if form == "sparse" else given)[:] = 7.0
    y[:] = 1 - y
    assert results(model, new)
    for got, expected in zip(results(model, new), results(twin, new), strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", ["ask-ls", "ask-lsr", "ksvd"])
def test_both_sides_of_a_pair_may_change(name):
    rng = np.random.default_rng(0)
    X, Z, y = rng.normal(size=(30, 3)), rng.normal(size=(30, 3)), np.arange(30) % 2
    model = kr.make_solver(name, kernel="rbf(sigma=2.0)").fit((X, Z), y)
    new = (X[:4].copy(), Z[:4].copy())
    ask = model.decision_views if hasattr(model, "decision_views") else lambda pair: model.transform(pair[0])
    before = ask(new)
    X[:], Z[:] = 0.0, 0.0
    np.testing.assert_equal(ask(new), before)


def test_weights_and_indices_may_change():
    K, y = np.eye(20) + 0.1, np.arange(20) % 2
    rows, weights = np.arange(20), np.linspace(1.0, 2.0, 20)
    model = kr.make_solver("ls-svm", kernel=kr.make_kernel("precomputed", K=K)).fit(rows, y, sample_weight=weights)
    score, decision = model.loo_score_, model.decision_function([0, 1, 2])
    rows[:], weights[:] = 0, 5.0
    model._loo = None
    assert model.loo_score_ == score
    np.testing.assert_array_equal(model.decision_function([0, 1, 2]), decision)


def test_samples_that_validation_copies_are_not_copied_twice(monkeypatch):
    from kernreg.solvers import samples, tables

    seen = []
    monkeypatch.setattr(tables, "validate_data", lambda *args, **options: seen.append(options) or args[1])
    samples.check_samples(None, np.eye(3), kr.make_kernel("rbf"), reset=True)
    samples.check_samples(None, np.eye(3), kr.make_kernel("rbf"), reset=False)
    assert [options["copy"] for options in seen] == [True, False]  # scikit-learn copies where memory is shared
