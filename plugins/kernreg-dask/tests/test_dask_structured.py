"""Structured samples (time series, bags of vectors, mixed tables) on the cluster: the same as here."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import kernreg as kr

pytest.importorskip("kernreg_structured", reason="the kernels of structured samples are in kernreg-structured")

Y = np.arange(60) % 2


def samples(kernel):
    rng = np.random.default_rng(5)
    if kernel == "gak":
        return [np.cumsum(rng.normal(size=rng.integers(8, 20)) + 0.5 * kind) for kind in Y]
    if kernel == "gmm-kl":
        return [(1.0 + kind) * rng.standard_normal((rng.integers(4, 12), 2)) for kind in Y]
    table = pd.DataFrame({"a": Y + rng.normal(size=60), "b": pd.Categorical(rng.choice(list("uvw"), 60))})
    table.loc[::7, "a"] = np.nan
    return table


def cut(X, rows):
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


@pytest.mark.parametrize(
    ("kernel", "solver", "strategy"),
    [
        ("gak", "ls-svm", "exact"),
        ("gmm-kl", "ask-ls", "exact"),
        ("gower", "ls-svm", "exact"),
        ("gower", "ls-svm", "lowrank"),
        ("gmm-kl", "ask-ls", "lowrank"),
    ],
)
def test_matrices_and_decisions_are_those_of_this_process(engine, kernel, solver, strategy):
    X = samples(kernel)
    options = {"kernel": kernel, "gamma": 1.0, "strategy": strategy}
    if strategy == "lowrank":
        options["n_landmarks"] = 15

    def results():
        model = kr.make_solver(solver, **options).fit(cut(X, slice(40)), Y[:40])
        return kr.make_kernel(kernel)(X), model.decision_function(cut(X, slice(40, 60)))

    matrix, decisions = results()
    with kr.config_context(engine=engine):
        matrix_there, decisions_there = results()
    assert np.array_equal(matrix_there, matrix)
    np.testing.assert_allclose(decisions_there, decisions, rtol=1e-9, atol=1e-9)
    assert np.isfinite(decisions).all()
