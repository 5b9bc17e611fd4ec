"""Tables that lie in memory in columns, as those of pandas do, give the fits of tables in rows, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_regressor

import kernreg as kr
from kernreg.registry import get_registry

NEEDED = {
    "bicluster": {"n_clusters": 2},
    "simple-npk": {"n_neighbors": 5},
    "cells": {"cell_size": 20, "n_nearest": 2},
    "cells-regression": {"cell_size": 20, "n_nearest": 2},
    "relevance": {"max_iter": 3},
}
SOLVERS = sorted({entry.name for entry in get_registry("solver").entries()})
SEVERAL_OUTPUTS = ["ls-svr", "ask-lsr", "krein-ridge-regressor", "ask-rff-lsr", "lab-rbf"]
rng = np.random.default_rng(4)
X = np.abs(rng.normal(size=(80, 4)))
score = X[:, 0] - 0.5 * X[:, 1] + 0.3 * rng.normal(size=80)


def results(model):
    names = ("predict", "decision_function", "predict_proba", "transform")
    return {name: getattr(model, name)(X) for name in names if hasattr(model, name)}


@pytest.mark.filterwarnings("ignore")  # what a solver says of these samples is not the matter
@pytest.mark.parametrize("name", SOLVERS)
def test_samples_in_columns(name):
    solver = kr.make_solver(name, **NEEDED.get(name, {}))
    y = score if is_regressor(solver) else (score > np.median(score)).astype(int)
    expected = results(solver.fit(X, y))
    assert expected
    np.testing.assert_equal(results(solver.fit(np.asfortranarray(X), y)), expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SEVERAL_OUTPUTS)
def test_targets_in_columns(name):
    if name not in SOLVERS:
        pytest.skip(f"the plugin with {name} is not installed")
    Y = np.column_stack([score, score**2, np.sin(score)])
    expected = results(kr.make_solver(name).fit(X, Y))
    np.testing.assert_equal(results(kr.make_solver(name).fit(X, np.asfortranarray(Y))), expected)
