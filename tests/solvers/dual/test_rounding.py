"""Leave-one-out values that rounding has changed come with a warning, and others without one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning

from kernreg.kernels.indexed import precomputed
from kernreg.linalg import BlockSpectrum, SymmetricSpectrum, centre
from kernreg.linalg.exact.rounding import matrix_error
from kernreg.solvers import LSSVR, AsKLSRegressor


def low_rank(n=4, seed=274789):
    """A kernel matrix of rank 1 with targets and weights; its leave-one-out values at γ = 10^9.19 are off by 1.5e-6."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))[:, :1]
    rng.normal(size=(n, n))
    return x @ x.T, rng.normal(size=n), rng.uniform(0.2, 3.0, n)


@pytest.mark.parametrize(("solver", "gamma"), [(LSSVR, 10.0**9.19), (AsKLSRegressor, 5e8)])
def test_rounding_in_leave_one_out_values_is_told_when_they_are_asked_for(solver, gamma):
    K, y, weights = low_rank()
    model = solver(kernel=precomputed(K=K), gamma=gamma).fit(np.arange(4), y, sample_weight=weights)
    with pytest.warns(LinAlgWarning, match="rounding may have changed leave-one-out values"):
        _ = model.loo_score_


@pytest.mark.parametrize("solver", [LSSVR, AsKLSRegressor])
def test_rounding_in_leave_one_out_values_is_told_where_gamma_is_chosen_by_them(solver):
    K, y, weights = low_rank()
    with pytest.warns(LinAlgWarning, match="rounding may have changed leave-one-out values"):
        solver(kernel=precomputed(K=K), gamma=[5e8]).fit(np.arange(4), y, sample_weight=weights)


@pytest.mark.parametrize("solver", [LSSVR, AsKLSRegressor])
@pytest.mark.parametrize("gamma", [1e-3, 1.0, 1e5])
def test_nothing_is_said_where_rounding_does_not_matter(solver, gamma):
    K, y, weights = low_rank(30)  # a warning fails a test
    for given in (gamma, [gamma] * 5):  # by one inverse, and by a decomposition
        model = solver(kernel=precomputed(K=K), gamma=given).fit(np.arange(30), y, sample_weight=weights)
        assert np.isfinite(model.loo_residuals_).all()


def left_out(K, Y, weights, gammas, views):
    """Leave-one-out residuals as one array of views, and how far a change of K as large as rounding may move them."""
    kernel = centre(K, weights)
    T = kernel.targets(Y)
    if views == 1:
        spectrum = SymmetricSpectrum(kernel)
        solutions = spectrum.solve(T, gammas)
        residuals = spectrum.leave_one_out(solutions, gammas)
        errors = spectrum.rounding_errors(solutions, residuals, gammas)
        return residuals[None], errors, matrix_error(kernel, spectrum.scale)
    block = BlockSpectrum(kernel)
    A, C = block.solve(T, gammas)
    source, target = block.leave_one_out(T, A, C, gammas)
    errors = block.rounding_errors(A, C, source, target, gammas)
    error = matrix_error(kernel, float(block.values.max()))
    return np.stack([source, target]), errors, error


@pytest.mark.parametrize("views", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_estimate_bounds_what_a_small_change_of_the_matrix_does(views, weighted):
    rng = np.random.default_rng(5)
    n, gammas = 12, np.array([0.7, 40.0])
    K, Y = rng.normal(size=(n, n)), rng.normal(size=(n, 2))
    K = K @ K.T if views == 1 else K
    weights = rng.uniform(0.2, 3.0, n) if weighted else None
    root = np.ones(n) if weights is None else np.sqrt(weights)
    before, errors, error = left_out(K, Y, weights, gammas, views)
    nearest = 0.0
    for _ in range(200):
        E = rng.normal(size=(n, n))
        E = E + E.T if views == 1 else E
        E *= 1e-9 / np.linalg.norm(E, 2)  # in S K S: far above rounding, far below the smallest singular value
        after, _, _ = left_out(K + E / np.outer(root, root), Y, weights, gammas, views)
        share = np.abs(after - before).max(axis=0) / (errors * (1e-9 / error))
        assert share.max() <= 1.001
        nearest = max(nearest, float(share.max()))
    assert nearest > 0.1  # a bound that is met by random changes, not one of many digits too much
