from __future__ import annotations

import numpy as np
import pytest

import kernreg as kr
from kernreg.errors import ParameterError
from kernreg.linalg.randomness import generator
from kernreg.solvers import LSSVC, LSSVR, AsKLSRegressor


@pytest.mark.parametrize(
    "machine",
    [
        LSSVR(kernel="rbf(sigma=2.0)", gamma=5.0),
        LSSVR(kernel="tl1(rho=6.0)", gamma=0.05),
        AsKLSRegressor(kernel="laplacian(sigma=2.0)", gamma=0.7),
    ],
)
def test_permutation_importance_is_that_of_refits(machine):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 3))
    y = 2 * X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=25)
    model = type(machine)(**machine.get_params(deep=False)).fit(X, y)
    found = model.permutation_importance(n_repeats=2, random_state=7)

    def r2(samples):
        predicted = np.empty(25)
        for i in range(25):
            rest = np.delete(np.arange(25), i)
            refit = type(machine)(**machine.get_params(deep=False)).fit(X[rest], y[rest])
            predicted[i] = refit.predict(samples[i : i + 1])[0]
        return 1 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum()

    assert abs(found.score - r2(X)) < 1e-9
    again = generator(7)
    for j in range(3):
        for repeat in range(2):
            changed = X.copy()
            changed[:, j] = X[again.permutation(25), j]
            assert abs(found.importances[j, repeat] - (found.score - r2(changed))) < 1e-9
    assert found.mean.argmax() == 0


def test_importance_of_classes():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 4))
    X[:, 2] += 3 * y
    found = LSSVC(kernel="rbf(sigma=3.0)").fit(X, y).permutation_importance()
    assert found.mean.argmax() == 2
    assert found.importances.shape == (4, 5)
    with pytest.raises(ParameterError, match="n_repeats"):
        LSSVC().fit(X, y).permutation_importance(0)


@pytest.mark.parametrize("spec", ["rbf(sigma=2.0)", "poly(degree=2)", "cauchy(sigma=2.0)", "sne(sigma=2.0)", "t"])
@pytest.mark.parametrize("outputs", [1, 2])
def test_slopes_are_those_of_differences(spec, outputs):
    rng = np.random.default_rng(0)
    X, Y, new = rng.normal(size=(30, 3)), rng.normal(size=(30, outputs)), rng.normal(size=(4, 3))
    model = AsKLSRegressor(kernel=spec, gamma=0.3).fit(X, Y[:, 0] if outputs == 1 else Y)
    found, h = model.decision_gradients(new), 1e-5
    for j in range(3):
        step = np.zeros(3)
        step[j] = h
        up, down = model.decision_views(new + step), model.decision_views(new - step)
        for view in ("source", "target"):
            np.testing.assert_allclose(found[view][:, j], (up[view] - down[view]) / (2 * h), atol=1e-7)


def test_kernels_without_a_known_derivative_are_refused():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ParameterError, match="permutation_importance"):
        LSSVR(kernel="laplacian(sigma=2.0)").fit(X, X[:, 0]).decision_gradients(X)


@pytest.mark.filterwarnings("ignore")  # values beyond the range are told
@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_slopes_for_widths_whose_square_leaves_the_range_are_refused(factor):
    X = np.random.default_rng(0).standard_normal((20, 2))
    model = LSSVR(kernel=kr.make_kernel("rbf", sigma=2.0 * factor)).fit(X * factor, X[:, 0])
    with pytest.raises(ParameterError, match="whose square is infinite or zero"):
        model.decision_gradients(X * factor)
