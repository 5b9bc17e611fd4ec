from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from kernreg.errors import ParameterError
from kernreg.solvers import LSSVR, AsKLSRegressor
from kernreg.solvers.inference.robust import WEIGHTS


def contaminated(m=200, share=0.2, seed=0):
    """A sine with little noise, and outliers a hundred times as large, all to one side."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (m, 1))
    clean = np.sin(X[:, 0]) + 0.05 * rng.standard_normal(m)
    bad = rng.permutation(m) < share * m
    return X, clean, np.where(bad, clean + rng.uniform(3, 8, m), clean), bad


GRID = np.linspace(-2.9, 2.9, 200)[:, None]
TRUTH = np.sin(GRID[:, 0])


def error(model):
    return float(np.sqrt(np.mean((model.predict(GRID) - TRUTH) ** 2)))


@pytest.mark.parametrize("robust", ["hampel", "myriad"])
@pytest.mark.parametrize(
    "machine", [LSSVR(kernel="rbf(sigma=1.5)", gamma=3.0), AsKLSRegressor(kernel="laplacian(sigma=3.0)", gamma=2.0)]
)
def test_gross_outliers_are_forgotten(machine, robust):
    X, clean, y, bad = contaminated()
    with_clean = clone(machine).fit(X[~bad], clean[~bad])
    plain = clone(machine).fit(X, y)
    model = clone(machine).set_params(robust=robust).fit(X, y)
    assert error(plain) > 0.5
    assert error(model) < 2 * error(with_clean) < 0.1
    assert model.robust_weights_[bad].max() < 0.01
    assert np.median(model.robust_weights_[~bad]) > 0.5


@pytest.mark.parametrize("robust", sorted(WEIGHTS))
def test_the_weights_belong_to_the_residuals_of_the_fit_they_made(robust):
    X, _, y, _ = contaminated(80)
    model = LSSVR(kernel="rbf(sigma=1.5)", gamma=10.0, robust=robust).fit(X, y)
    again = LSSVR(kernel="rbf(sigma=1.5)", gamma=10.0).fit(X, y, sample_weight=model.robust_weights_)
    np.testing.assert_allclose(model.dual_coef_, again.dual_coef_, atol=1e-12)
    e = again.loo_residuals_
    r = np.abs(e) / (1.483 * np.median(np.abs(e - np.median(e))))
    formula = {
        "huber": lambda r: min(1.0, 1.345 / r),
        "hampel": lambda r: 1.0 if r <= 2.5 else (3.0 - r) / 0.5 if r <= 3.0 - 0.5e-4 else 1e-4,
        "logistic": lambda r: np.tanh(r) / r,
        "myriad": lambda r: 1 / (1 + r * r),
    }[robust]
    np.testing.assert_allclose(model.robust_weights_, [formula(value) for value in r], atol=5e-3)


def test_weights_of_the_user_multiply_and_zero_leaves_out():
    X, _, y, _ = contaminated(60)
    given = np.tile([1.0, 2.0, 0.0], 20)
    model = LSSVR(kernel="rbf(sigma=1.5)", gamma=10.0, robust="myriad").fit(X, y, sample_weight=given)
    kept = given > 0
    alone = LSSVR(kernel="rbf(sigma=1.5)", gamma=10.0, robust="myriad").fit(X[kept], y[kept], sample_weight=given[kept])
    np.testing.assert_allclose(model.predict(GRID), alone.predict(GRID), atol=1e-10)
    assert (model.robust_weights_[~kept] == 0).all()
    assert np.isfinite(model.predict_interval(GRID[:3], 0.8)).all()


def test_gamma_by_leave_one_out_and_several_outputs():
    X, clean, y, bad = contaminated()
    model = LSSVR(kernel="rbf(sigma=1.5)", gamma="loo", robust="hampel").fit(X, np.column_stack([y, clean]))
    assert np.sqrt(np.mean((model.predict(GRID)[:, 0] - TRUTH) ** 2)) < 0.1
    assert model.robust_weights_[bad].max() < 0.01


def test_what_is_not_accepted_is_said():
    X, _, y, _ = contaminated(30)
    with pytest.raises(ParameterError, match="'huber' or 'hampel'"):
        LSSVR(robust="tukey").fit(X, y)
    with pytest.raises(ParameterError, match="leave-one-out"):
        LSSVR(robust="huber", strategy="iterative").fit(X, y)
    model = LSSVR(robust="huber").fit(X, y)
    assert not hasattr(model.set_params(robust=None).fit(X, y), "robust_weights_")
