"""The matrices of a batch: as few as need be, and told where they are more than the memory budget."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pytest

from kernreg import config_context
from kernreg.errors import MemoryBudgetWarning
from kernreg.solvers import FeatureRelevance

BUDGET = 5_000_000


def fitted(batch_size, n=520):
    X = np.random.default_rng(0).normal(size=(n, 3))
    tracemalloc.start()
    try:
        FeatureRelevance("rbf", batch_size=batch_size, max_iter=1).fit(X, np.sin(X[:, 0]))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.filterwarnings("error::kernreg.errors.MemoryBudgetWarning")
def test_small_batches_keep_the_budget():
    with config_context(memory=BUDGET):
        fitted(300)  # compiled code and imports are not what is measured
        assert fitted(300) <= 1.15 * BUDGET + 4e6


def test_large_batches_are_told_before():
    with config_context(memory=BUDGET):
        with pytest.warns(MemoryBudgetWarning, match="in batches of 500 samples needs about") as heard:
            most = fitted(500)
        told = float(re.search(r"about ([0-9.]+) MB", str(heard[0].message))[1]) * 1e6
        assert heard[0].filename == __file__
        assert 0.6 * told < most <= 1.15 * told + 4e6
        with pytest.warns(MemoryBudgetWarning, match="in batches of 400 samples"):  # there are no more
            fitted(600, n=400)


def test_neighbourhoods_do_not_depend_on_the_budget():
    X = np.random.default_rng(0).normal(size=(3000, 40))
    scalers = []
    for memory in (2_000_000, 10**9):
        with config_context(memory=memory):
            scalers.append(FeatureRelevance("laplacian", batch_size=100, max_iter=2).fit(X, np.sin(X[:, 0])))
    np.testing.assert_allclose(scalers[0].weights_, scalers[1].weights_, rtol=1e-12)
