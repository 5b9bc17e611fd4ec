"""The Gaussian process behind LS-SVM regression, against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, Kernel, Matern, RationalQuadratic

import kernreg as kr
from kernreg.errors import ParameterError
from kernreg.solvers import LSSVR


def samples(outputs=None):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(40, 3)), rng.normal(size=(15, 3))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=40)
    return X, y if outputs is None else np.column_stack([y, rng.normal(size=40)]), new


KERNELS = [
    ("rbf(sigma=1.7)", RBF(1.7 / np.sqrt(2))),
    ("matern(sigma=1.7, nu=2.5)", Matern(1.7, nu=2.5)),
    ("matern(sigma=1.7, nu=0.5)", Matern(1.7, nu=0.5)),
    ("rational-quadratic(sigma=1.7, alpha=0.8)", RationalQuadratic(1.7, alpha=0.8)),
]


@pytest.mark.parametrize("outputs", [None, 2])
@pytest.mark.parametrize(("spec", "theirs"), KERNELS, ids=[spec for spec, _ in KERNELS])
def test_a_mean_of_zero_is_scikit_learns(spec, theirs, outputs):
    X, y, new = samples(outputs)
    ours = LSSVR(kernel=spec, gamma=8.0).fit(X, y).gaussian_process(mean="zero")
    peer = GaussianProcessRegressor(theirs, alpha=1 / 8.0, optimizer=None).fit(X, y)
    mean, std = ours.predict(new, return_std=True)
    expected, deviation = peer.predict(new, return_std=True)
    np.testing.assert_allclose(mean, expected, atol=1e-8)
    np.testing.assert_allclose(std, deviation if outputs is None else deviation[:, 0], atol=1e-8)
    _, cov = ours.predict(new, return_cov=True)
    covariance = peer.predict(new, return_cov=True)[1]
    np.testing.assert_allclose(cov, covariance if outputs is None else covariance[:, :, 0], atol=1e-8)
    value, gradient = peer.log_marginal_likelihood(peer.kernel_.theta, eval_gradient=True)
    assert abs(ours.log_marginal_likelihood - value) < 1e-8
    slopes = ours.gradient()
    for place, name in enumerate(peer.kernel_.hyperparameters):
        mine = slopes["kernel__alpha" if name.name == "alpha" else "kernel__sigma"]
        assert abs(mine - gradient[place]) < 1e-8 * max(1.0, abs(gradient[place]))


class Contrasts(Kernel):
    """Covariances of contrasts of the samples, by their numbers: what a free mean cannot change."""

    hyperparameters = ()

    def __init__(self, covariance):
        self.covariance = covariance

    def __call__(self, X, Y=None, eval_gradient=False):
        rows = X[:, 0].astype(int)
        return self.covariance[np.ix_(rows, rows if Y is None else Y[:, 0].astype(int))]

    def diag(self, X):
        return self.covariance.diagonal()[X[:, 0].astype(int)]

    def is_stationary(self):
        return False


def test_a_flat_mean_is_scikit_learns_on_contrasts():
    X, y, new = samples()
    gamma, m, n = 8.0, len(X), len(new)
    model = LSSVR(kernel="rbf(sigma=1.7)", gamma=gamma).fit(X, y)
    both = np.vstack([X, new])
    K = np.exp(-((both[:, None] - both) ** 2).sum(axis=2) / 1.7**2)
    noisy = K + np.diag(np.append(np.full(m, 1 / gamma), np.zeros(n)))
    # Contrasts of targets, and each new value minus the mean of the targets.
    Q = np.linalg.qr(np.column_stack([np.ones(m), np.eye(m)[:, 1:]]))[0][:, 1:]
    C = np.zeros((m + n, m - 1 + n))
    C[:m, : m - 1], C[:m, m - 1 :] = Q, -1.0 / m
    C[m + np.arange(n), m - 1 + np.arange(n)] = 1.0
    rows, later = np.arange(m - 1)[:, None], m - 1 + np.arange(n)[:, None]
    peer = GaussianProcessRegressor(Contrasts(C.T @ noisy @ C), alpha=0.0, optimizer=None).fit(rows, Q.T @ y)
    expected, deviation = peer.predict(later, return_std=True)
    mean, std = model.predict(new, return_std=True)
    np.testing.assert_allclose(mean, model.predict(new), atol=1e-12)
    np.testing.assert_allclose(mean, expected + y.mean(), atol=1e-8)
    np.testing.assert_allclose(std, deviation, atol=1e-8)
    value = peer.log_marginal_likelihood(peer.kernel_.theta) - 0.5 * np.log(m)
    assert abs(model.gaussian_process().log_marginal_likelihood - value) < 1e-8


def test_weights_are_precisions_and_the_formula_of_the_book():
    X, y, new = samples()
    weights = np.random.default_rng(1).uniform(0.2, 3.0, 40)
    process = LSSVR(kernel="laplacian(sigma=3.0)", gamma=5.0).fit(X, y, sample_weight=weights).gaussian_process()
    both = np.vstack([X, new])
    K = np.exp(-np.abs(both[:, None] - both).sum(axis=2) / 3.0)
    Ky = K[:40, :40] + np.diag(1 / (5.0 * weights))
    inverse, one = np.linalg.inv(Ky), np.ones(40)
    s = one @ inverse @ one
    P = inverse - np.outer(inverse @ one, one @ inverse) / s
    evidence = -0.5 * (y @ P @ y + np.linalg.slogdet(Ky)[1] + np.log(s) + 39 * np.log(2 * np.pi))
    assert abs(process.log_marginal_likelihood - evidence) < 1e-9
    k = K[40:, :40]
    r = 1 - k @ inverse @ one
    variance = 1 - np.einsum("ij,jk,ik->i", k, inverse, k) + r * r / s
    np.testing.assert_allclose(process.predict(new, return_std=True)[1] ** 2, variance, atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_are_those_of_differences(weighted):
    X, y, _ = samples(2)
    weights = np.linspace(0.5, 2.0, 40) if weighted else None

    def value(sigma, gamma, factor):
        kernel = factor * kr.make_kernel("rbf", sigma=sigma)
        return LSSVR(kernel=kernel, gamma=gamma).fit(X, y, sample_weight=weights).gaussian_process()

    slopes, h = value(1.5, 4.0, 2.0).gradient(), 1e-5
    for place, name in enumerate(("kernel__k__sigma", "gamma", "kernel__factor")):
        at = [np.array([1.5, 4.0, 2.0]) for _ in range(2)]
        at[0][place] *= np.exp(h)
        at[1][place] *= np.exp(-h)
        up, down = (value(*each).log_marginal_likelihood for each in at)
        names = [key for key in slopes if key.endswith(name.rpartition("__")[2])]
        assert len(names) == 1
        assert abs(slopes[names[0]] - (up - down) / (2 * h)) < 1e-5 * max(1.0, abs(slopes[names[0]]))


@pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")
def test_evidence_over_gamma_is_that_of_single_fits_and_tune_takes_the_best():
    X, y, _ = samples()
    weights = np.linspace(0.5, 2.0, 40)
    grid = {"kernel__sigma": [1.0, 2.0, 4.0], "gamma": [0.5, 5.0, 50.0, 500.0]}
    found = kr.tune("ls-svr", grid, X, y, sample_weight=weights, criterion="evidence")
    single = {}
    for sigma in grid["kernel__sigma"]:
        for gamma in grid["gamma"]:
            model = LSSVR(kernel=f"rbf(sigma={sigma})", gamma=gamma).fit(X, y, sample_weight=weights)
            single[sigma, gamma] = model.gaussian_process().log_marginal_likelihood
    rows = found.table.to_dict("records")
    assert len(rows) == 12
    for row in rows:
        assert abs(row["score"] - single[row["kernel__sigma"], row["gamma"]]) < 1e-8
    best = max(single, key=single.get)
    assert (found.best_params["kernel__sigma"], found.best_params["gamma"]) == best
    assert abs(found.best_score - single[best]) < 1e-9
    default = kr.tune("ls-svr(gamma='loo')", {"kernel__sigma": [1.0, 2.0, 4.0]}, X, y, criterion="evidence")
    assert default.best_score >= kr.tune("ls-svr", grid, X, y, criterion="evidence").best_score - 0.05


def test_kernels_that_are_no_covariances_are_refused_with_a_reason():
    X, y, _ = samples()
    for spec in ("tl1(rho=3.0)", "tanh"):
        with pytest.raises(ParameterError, match=r"positive definite.*predict_interval"):
            LSSVR(kernel=spec, gamma=0.05).fit(X, y).predict(X, return_std=True)
    with pytest.raises(ParameterError, match="no combination"):
        kr.tune("ls-svr(kernel='tl1(rho=3.0)', gamma=0.05)", {"gamma": [0.01, 0.05]}, X, y, criterion="evidence")
    with pytest.raises(ParameterError, match="no evidence"):
        kr.tune("ask-lsr", None, X, y, criterion="evidence")
    with pytest.raises(ParameterError, match="'loo' or 'evidence'"):
        kr.tune("ls-svr", None, X, y, criterion="aic")
    with pytest.raises(ParameterError, match="lowrank"):
        LSSVR(strategy="lowrank", n_landmarks=10).fit(X, y).predict(X, return_std=True)
    with pytest.raises(ParameterError, match="mean="):
        LSSVR().fit(X, y).gaussian_process(mean="linear")
