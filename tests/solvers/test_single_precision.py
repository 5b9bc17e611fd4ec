"""float32 samples: fits are those of the same numbers in float64; where predictions need more it is told."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning
from sklearn.base import is_classifier

import kernreg as kr
from kernreg.registry import get_registry
from kernreg.solvers import warn_if_single_is_coarse

SOLVERS = {entry.name for entry in get_registry("solver").entries()}
MACHINES = [
    name
    for name in ("ls-svr", "ask-lsr", "ls-svm", "ask-ls", "krein-ridge-regressor", "krein-ridge", "krein-svm")
    if name in SOLVERS
]
rng = np.random.default_rng(3)
X = np.round(rng.standard_normal((200, 2)) * 1024) / 1024  # float32 holds the same numbers
NEW = np.round(rng.standard_normal((50, 2)) * 1024) / 1024
TARGET = np.sin(X[:, 0]) - 0.5 * X[:, 1] + 0.1 * rng.standard_normal(200)


def fitted(name, dtype, **params):
    solver = kr.make_solver(name, kernel="rbf(sigma=2.0)", **params)
    y = (TARGET > 0).astype(int) if is_classifier(solver) else TARGET
    return solver.fit(X.astype(dtype), y)


@pytest.mark.parametrize("name", MACHINES)
def test_a_fit_is_that_of_the_same_numbers_in_float64(name):
    params = {"C": 10.0} if name == "krein-svm" else {"gamma": 100.0}
    single, double = (fitted(name, dtype, **params) for dtype in (np.float32, np.float64))
    assert single.dual_coef_.dtype == np.float32
    np.testing.assert_allclose(
        single.dual_coef_, double.dual_coef_, rtol=1e-6, atol=1e-6 * abs(double.dual_coef_).max()
    )
    ask = "decision_function" if hasattr(single, "decision_function") else "predict"
    expected, found = getattr(double, ask)(NEW), getattr(single, ask)(NEW.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-4 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["ls-svr", "ask-lsr"])
def test_leave_one_out_values_are_those_of_float64(name):
    single, double = (fitted(name, dtype, gamma=10.0) for dtype in (np.float32, np.float64))
    for view, values in double.loo_views_.items():
        np.testing.assert_allclose(single.loo_views_[view], values, rtol=0, atol=1e-9 * np.abs(values).max())


@pytest.mark.parametrize("name", [name for name in MACHINES if name != "krein-svm"])
def test_coefficients_that_cancel_are_told(name):
    with pytest.warns(LinAlgWarning, match=r"float32.* leaves a relative error of about .*Give float64") as heard:
        fitted(name, np.float32, gamma=1e8)
    assert {warning.filename for warning in heard} == {__file__}  # where fit was called
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(name, np.float64, gamma=1e8)


def test_nothing_is_said_of_float64_pairs_and_nothing():
    k, a, y = kr.make_kernel("rbf(sigma=2.0)"), np.full((200, 1), 1e12), np.ones((200, 1))
    warn_if_single_is_coarse(k, X, a, y, stacklevel=1)
    warn_if_single_is_coarse(k, (X, X), a, y, stacklevel=1)
    warn_if_single_is_coarse(k, X.astype(np.float32), a, np.zeros((200, 1)), stacklevel=1)
    with pytest.warns(LinAlgWarning, match="at gamma=7 cancel"):
        warn_if_single_is_coarse(k, X.astype(np.float32), a, y, stacklevel=1, gamma=7.0)
