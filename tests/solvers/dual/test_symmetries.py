"""What must not change the result, or must change it in a known way."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kernreg.kernels.indexed import precomputed
from kernreg.solvers import LSSVR, AsKLSRegressor

seeds = st.integers(0, 2**32 - 1)
gammas = st.floats(-1.5, 0.0).map(
    lambda exponent: 10.0**exponent
)  # 1/γ at or above the largest singular values: no poles


def problem(seed, m=14):
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(m + 3, m + 3))
    return K / (1.5 * np.linalg.norm(K, 2)), rng.normal(size=m), np.arange(m), np.arange(m, m + 3)


def views(K, y, gamma, train, new):
    return AsKLSRegressor(kernel=precomputed(K=K), gamma=gamma).fit(train, y).decision_views(new)


def close(left, right):
    np.testing.assert_allclose(left, right, rtol=0, atol=1e-10)


@settings(max_examples=25)
@given(seeds, gammas)
def test_transposed_kernel_exchanges_the_views(seed, gamma):
    K, y, train, new = problem(seed)
    one, other = views(K, y, gamma, train, new), views(K.T.copy(), y, gamma, train, new)
    close(one["source"], other["target"])
    close(one["target"], other["source"])


@settings(max_examples=25)
@given(seeds, gammas, st.floats(-5, 5))
def test_constant_added_to_the_kernel_changes_nothing(seed, gamma, constant):
    K, y, train, new = problem(seed)
    one, other = views(K, y, gamma, train, new), views(K + constant, y, gamma, train, new)
    close(one["source"], other["source"])
    close(one["target"], other["target"])


ordinary = st.floats(-5, 5).filter(lambda number: number == 0.0 or abs(number) > 1e-100)  # smaller targets are refused


@settings(max_examples=25)
@given(seeds, gammas, ordinary, ordinary)
def test_predictions_are_affine_in_the_targets(seed, gamma, slope, offset):
    K, y, train, new = problem(seed)
    for solver, matrix in ((AsKLSRegressor, K), (LSSVR, K + K.T)):
        model = solver(kernel=precomputed(K=matrix), gamma=gamma)
        plain = model.fit(train, y).predict(new)
        close(model.fit(train, slope * y + offset).predict(new), slope * plain + offset)


@settings(max_examples=25)
@given(seeds, gammas)
def test_order_of_samples_does_not_matter(seed, gamma):
    K, y, train, new = problem(seed)
    order = np.random.default_rng(seed).permutation(len(train))
    for solver, matrix in ((AsKLSRegressor, K), (LSSVR, K @ K.T)):
        model = solver(kernel=precomputed(K=matrix), gamma=gamma)
        plain = model.fit(train, y).predict(new)
        residuals = model.loo_residuals_
        close(model.fit(train[order], y[order]).predict(new), plain)
        close(model.loo_residuals_, residuals[order])


@settings(max_examples=25)
@given(seeds, gammas, st.floats(0.1, 5))
def test_common_weight_multiplies_gamma(seed, gamma, weight):
    K, y, train, new = problem(seed)
    K = K / 5
    weighted = AsKLSRegressor(kernel=precomputed(K=K), gamma=gamma).fit(train, y, sample_weight=weight)
    plain = AsKLSRegressor(kernel=precomputed(K=K), gamma=gamma * weight).fit(train, y)
    close(weighted.predict(new), plain.predict(new))
