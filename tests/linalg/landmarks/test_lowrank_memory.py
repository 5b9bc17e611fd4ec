"""Leave-one-out of AsK-LS on landmarks holds little of a block, and looks at fewer blocks where memory is scarce."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from kernreg import config_context, make_kernel
from kernreg.linalg.landmarks.lowrank_systems import BlockLowRank


@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_of_both_sides_keeps_the_budget(weighted):
    budget, n = 6_000_000, 2100
    X = np.random.default_rng(0).normal(size=(n, 3))
    weights = np.linspace(0.5, 1.5, n) if weighted else None
    with config_context(memory=budget, threads=4):
        problem = BlockLowRank(make_kernel("sne(sigma=2.0)"), X, np.sin(X[:, 0]), weights=weights, n_landmarks=150)
        problem.at(1.0, loo=True)
        tracemalloc.start()
        try:
            views, _ = problem.at(1.0, loo=True)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert most <= 1.5 * budget
    with config_context(memory=10**9):
        for view, ample in zip(views, problem.at(1.0, loo=True)[0], strict=True):
            np.testing.assert_array_equal(view.loo_residuals, ample.loo_residuals)
