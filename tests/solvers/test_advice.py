"""What is said about a fit: true where it is said, and not said for fits that nobody keeps."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning

import kernreg as kr
from kernreg.kernels.indexed import precomputed
from kernreg.solvers import LSSVC, AsKLSClassifier, tune
from kernreg.solvers.advice import advise, collecting


@pytest.mark.parametrize("solver", [LSSVC, AsKLSClassifier])
def test_a_kernel_that_hardly_varies_is_solved_to_the_last_digit(solver):
    """tanh(x·y + 15) is 1 up to rounding: what is left of it after centring is a millionth of a millionth."""
    rng = np.random.default_rng(0)
    X = rng.random((80, 5))
    y = (X[:, 0] > 0.5).astype(int)
    with warnings.catch_warnings(), kr.config_context(advice=False):
        warnings.simplefilter("error")
        model = solver(kernel="tanh(c=1.0, t=15.0)", gamma=[0.5, 5.0]).fit(X, y)
    assert model.solver_report_.residual < 1e-12
    assert model.solver_report_.condition < 1.0 + 1e-6
    fitted = model.decision_function(X)
    assert np.allclose(fitted, np.where(y == 1, 1.0, -1.0).mean(), atol=1e-6)  # there is nothing to learn from it


def test_tune_warns_of_the_fit_it_keeps_only():
    y = np.arange(40) % 2
    constant = precomputed(K=np.full((40, 40), 2.0))
    telling = precomputed(K=np.eye(40) + np.where(y[:, None] == y, 1.0, 0.0))
    with kr.config_context(advice=False), pytest.warns(LinAlgWarning, match="coefficients cancel") as heard:
        alone = tune(LSSVC(), {"kernel": [constant], "gamma": [1e12]}, np.arange(40), y)
    assert len(heard) == 1
    with warnings.catch_warnings(), kr.config_context(advice=False):
        warnings.simplefilter("error")
        both = tune(LSSVC(), {"kernel": [constant, telling], "gamma": [1e12]}, np.arange(40), y)
    assert both.best_params["kernel"] == telling
    for table in (alone.table, both.table):
        assert table["warning"].iloc[0] == str(heard[0].message)
    assert both.table["warning"].isna().tolist() == [False, True]


def test_collecting_ends_with_its_block():
    with collecting() as heard:
        advise("one", UserWarning, stacklevel=1)
    assert heard == ["one"]
    with pytest.warns(UserWarning, match="two"):
        advise("two", UserWarning, stacklevel=1)
