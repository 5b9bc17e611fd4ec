"""A learner keeps the memory budget, or says before it starts how much it takes."""

from __future__ import annotations

import re
import tracemalloc
import warnings

import numpy as np
import pytest

from kernreg import config_context, make_solver
from kernreg.errors import MemoryBudgetWarning

BUDGET = 6_000_000
#: Learner, parameters, samples: none fits the budget.
BEYOND = [
    ("ldk", {"n_constraints": 900, "max_iter": 1, "tol": 0.9}, 400),
    ("fisher-score", {"max_iter": 2}, 400),
    ("fisher-score", {"method": "eigen"}, 400),
    ("ideal-regularized", {}, 520),
    ("simple-npk", {"loss": "squared-hinge", "max_iter": 2}, 300),
]


def problem(n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, (X[:, 0] > 0).astype(int)


def measured(run):
    """Return the bytes allocated at most, and what was said of memory."""
    tracemalloc.start()
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            run()
        return tracemalloc.get_traced_memory()[1], [w for w in heard if w.category is MemoryBudgetWarning]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("name", "params", "n"), BEYOND)
def test_what_does_not_fit_is_told_before(name, params, n):
    def fit(count):
        X, y = problem(count)
        return make_solver(name, **params).fit(X, y)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit(30)  # compiled code and imports are not what is measured
    with config_context(memory=BUDGET):
        most, heard = measured(lambda: fit(n))
        assert [w.filename for w in heard] == [__file__]
        told = float(re.search(r"needs about ([0-9.]+) MB", str(heard[0].message))[1]) * 1e6
        assert told > BUDGET
        assert told / 3 < most <= 1.25 * told
        with warnings.catch_warnings():
            warnings.simplefilter("error", MemoryBudgetWarning)
            tracemalloc.start()
            try:
                with pytest.raises(MemoryBudgetWarning):
                    fit(n)
                assert tracemalloc.get_traced_memory()[1] < BUDGET / 2
            finally:
                tracemalloc.stop()


@pytest.mark.parametrize(("name", "params"), [("ideal-regularized", {}), ("simple-npk", {}), ("fisher-score", {})])
def test_what_fits_is_not_told(name, params):
    X, y = problem(200)
    with config_context(memory=BUDGET):
        most, heard = measured(lambda: make_solver(name, **params).fit(X, y))
    assert most <= 1.15 * BUDGET
    assert not heard


def test_the_closed_form_keeps_the_budget_by_products():
    X, y = problem(600)
    make_solver("simple-npk").fit(*problem(30))
    with config_context(memory=BUDGET):
        most, heard = measured(lambda: make_solver("simple-npk").fit(X, y))
        found = make_solver("simple-npk").fit(X, y)
    assert most <= 1.15 * BUDGET + 4e6
    assert not heard
    whole = make_solver("simple-npk").fit(X, y)
    np.testing.assert_allclose(found.kernel_(X), whole.kernel_(X), atol=1e-6 * np.abs(whole.kernel_(X)).max())
