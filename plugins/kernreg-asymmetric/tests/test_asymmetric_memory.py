"""Random features and local bandwidths keep the memory budget, or say before what they take; it changes no result."""

from __future__ import annotations

import re
import tracemalloc
import warnings

import numpy as np
import pytest
from kernreg_asymmetric import AsKRFF, AsKRFFClassifier, AsKRFFRegressor, local_rbf

from kernreg import config_context
from kernreg.errors import MemoryBudgetWarning

BUDGET = 4_000_000
ALLOWED = 1.25 * BUDGET + 4e6
SPEC = "shift-gauss(sigma=1.5, shift=0.4)"


def samples(n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, np.sin(X[:, 0])


def peak(run):
    """Return the bytes allocated at most, and those that were told."""
    with config_context(memory=BUDGET), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        tracemalloc.start()
        try:
            run()
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    told = [w for w in heard if w.category is MemoryBudgetWarning]
    assert all(warning.filename == __file__ for warning in told)
    numbers = [float(re.search(r"needs about ([0-9.]+) MB", str(w.message))[1]) * 1e6 for w in told]
    assert len(numbers) <= 1
    return most, sum(numbers)


@pytest.mark.parametrize("machine", [AsKRFFRegressor, AsKRFFClassifier])
@pytest.mark.parametrize("weighted", [False, True])
def test_fits_and_answers_keep_the_budget(machine, weighted):
    X, y = samples(4500)
    y = y if machine is AsKRFFRegressor else np.digitize(y, [-0.5, 0.5])
    model = machine(SPEC, 64, gamma=[0.01, 0.1])
    most, told = peak(lambda: model.fit(X, y, np.linspace(0.5, 1.5, 4500) if weighted else None))
    assert not told
    assert most <= ALLOWED
    most, told = peak(lambda: model.predict(X))
    assert not told
    assert most <= ALLOWED


def test_distances_to_neighbours_keep_the_budget():
    X, _ = samples(6000)
    local_rbf(n_neighbors=3).bind(X[:200])  # compiled
    with config_context(memory=40_000_000):
        tracemalloc.start()
        try:
            bound = local_rbf(n_neighbors=3).bind(X)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert most <= 1.5 * 40e6  # a block of distances, and no copy of it
    apart = np.sqrt(((X[:50, None] - X) ** 2).sum(axis=2))
    np.testing.assert_allclose(bound.widths[:50], np.sort(apart, axis=1)[:, 3], rtol=1e-12)


@pytest.mark.parametrize("gamma", ["loo", [0.01, 0.1, 1.0], 0.1])
@pytest.mark.parametrize("outputs", [1, 3])
def test_a_small_budget_finds_the_same(gamma, outputs):
    X, y = samples(900)
    Y = np.column_stack([y * number for number in range(1, outputs + 1)])
    models = []
    for memory in (1_500_000, 10**9):
        with config_context(memory=memory):
            models.append(AsKRFFRegressor(SPEC, 40, gamma=gamma).fit(X, Y))
    small, ample = models
    assert small.gamma_ == pytest.approx(ample.gamma_, rel=1e-9)
    with config_context(memory=1_500_000):
        np.testing.assert_allclose(small.predict(X), ample.predict(X), atol=1e-8)
        np.testing.assert_allclose(small.kernel_(X[:300]), ample.kernel_(X[:300]), atol=1e-12)


@pytest.mark.parametrize(("frequencies", "n"), [(150, 500), (250, 100)])
def test_matrices_of_many_frequencies_are_told_before(frequencies, n):
    X, y = samples(n)
    most, told = peak(lambda: AsKRFFRegressor(SPEC, frequencies, gamma=1.0).fit(X, y))
    assert 0.75 * (most - 4e6) <= told <= 4.0 * most
    with config_context(memory=BUDGET), warnings.catch_warnings():
        warnings.simplefilter("error", MemoryBudgetWarning)
        with pytest.raises(MemoryBudgetWarning, match=f"AsK-LS on {frequencies} random frequencies needs about"):
            AsKRFFRegressor(SPEC, frequencies, gamma=1.0).fit(X, y)


@pytest.mark.parametrize("method", ["transform", "transform_right"])
def test_features_beyond_the_budget_are_told_before_and_take_no_more(method):
    X, _ = samples(1500)
    features = AsKRFF(SPEC, 500).fit(X)
    most, told = peak(lambda: getattr(features, method)(X))
    assert told == 8 * 1500 * 1000
    assert told <= most <= told + ALLOWED
    most, told = peak(lambda: getattr(features, method)(X[:400]))
    assert not told
    assert most <= ALLOWED


def test_the_kernel_of_many_frequencies_keeps_the_budget():
    X, _ = samples(600)
    kernel = AsKRFF(SPEC, 2000).fit(X).kernel_
    most, told = peak(lambda: kernel(X))
    assert not told
    assert most <= ALLOWED
