"""gmm-kl: closed forms by integration, mixtures by scikit-learn and by draws, the variational formula term by term."""

from __future__ import annotations

import numpy as np
import pytest
from kernreg_structured import gmm_kl, kl_divergence
from kernreg_structured.mixtures import fitted
from scipy.integrate import quad
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm
from sklearn.mixture import GaussianMixture

import kernreg as kr
from kernreg.errors import DataError, ParameterError


def gaussian(bag, prior, variances):
    """Mean and covariance by the formula of the documentation."""
    mean = bag.mean(axis=0)
    scatter = sum(np.outer(x - mean, x - mean) for x in bag)
    return mean, (scatter + prior * np.diag(variances)) / (len(bag) + prior)


def closed(mean, covariance, other, table):
    apart = other - mean
    inverse = np.linalg.inv(table)
    logs = np.linalg.slogdet(table)[1] - np.linalg.slogdet(covariance)[1]
    return 0.5 * (np.trace(inverse @ covariance) + apart @ inverse @ apart - len(mean) + logs)


def test_one_feature_is_the_integral():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(7, 1)), 0.5 + 2.0 * rng.normal(size=(4, 1))
    f, g = (norm(m[0], np.sqrt(c[0, 0])) for m, c in (gaussian(side, 1.0, [2.0]) for side in (x, z)))
    expected = quad(lambda t: f.pdf(t) * (f.logpdf(t) - g.logpdf(t)), -30, 30, limit=200)[0]
    found = kl_divergence(x, z, variances=(2.0,))
    assert found.value == pytest.approx(expected, rel=1e-7)
    assert found.standard_error == 0.0
    k = gmm_kl(a=0.3, variances=(2.0,))
    assert k([x], [z])[0, 0] == pytest.approx(np.exp(-0.3 * expected), rel=1e-7)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_matrices_are_those_of_the_closed_form(covariance):
    rng = np.random.default_rng(1)
    X = [
        rng.normal(size=(int(rng.integers(1, 30)), 3)) @ rng.normal(size=(3, 3)) + rng.normal(size=3) for _ in range(20)
    ]
    variances = tuple(np.concatenate(X).var(axis=0))
    fits = [gaussian(x, 0.5, variances) for x in X]
    if covariance == "diagonal":
        fits = [(mean, np.diag(np.diag(table))) for mean, table in fits]
    expected = np.exp([[-0.01 * closed(*f, *g) for g in fits] for f in fits])
    k = gmm_kl(a=0.01, covariance=covariance, prior=0.5)
    np.testing.assert_allclose(k(X), expected, rtol=1e-10)
    np.testing.assert_allclose(k.bind(X).variances, variances, rtol=1e-12)
    np.testing.assert_array_equal(k(X).diagonal(), 1.0)


def test_a_bag_of_one_vector_and_a_constant_feature_have_a_covariance():
    X = [np.array([[1.0, 5.0]]), np.array([[2.0, 5.0], [4.0, 5.0]])]
    k = gmm_kl(prior=2.0).bind(X)
    variance = np.var([1.0, 2.0, 4.0])
    np.testing.assert_allclose(k.variances, [variance, variance / 2])  # of the constant one: the mean of (v, 0)
    _, table = gaussian(X[0], 2.0, k.variances)
    np.testing.assert_allclose(table, np.diag(k.variances) * 2 / 3)
    assert np.isfinite(k(X)).all()
    assert gmm_kl().bind([np.zeros((3, 1))]).variances == (1.0,)


def clusters(rng, shift):
    return np.vstack([rng.normal(size=(150, 2)) + shift, 0.5 * rng.normal(size=(250, 2)) - shift])


def test_mixtures_are_those_of_scikit_learn():
    bag = clusters(np.random.default_rng(2), 3.0)
    ours = fitted(bag, 2, 1e-9, np.ones(2), False, 0)
    theirs = GaussianMixture(2, tol=1e-12, reg_covar=0.0, max_iter=500, random_state=0).fit(bag)
    order, other = np.argsort(ours.log_weights), np.argsort(theirs.weights_)
    np.testing.assert_allclose(np.exp(ours.log_weights[order]), theirs.weights_[other], rtol=1e-5)
    np.testing.assert_allclose(ours.means[order], theirs.means_[other], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(ours.covariances[order], theirs.covariances_[other], rtol=1e-3, atol=1e-4)


def density(mixture, points):
    parts = [
        w + multivariate_normal(m, c).logpdf(points)
        for w, m, c in zip(mixture.log_weights, mixture.means, mixture.covariances, strict=True)
        if np.isfinite(w)
    ]
    return logsumexp(parts, axis=0)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_draws_and_variational_values_agree_with_draws_of_numpy(covariance):
    rng = np.random.default_rng(3)
    x, z = clusters(rng, 2.0), clusters(rng, 1.4)
    options = {"components": 2, "covariance": covariance, "variances": (1.0, 1.0)}
    f, g = (fitted(side, 2, 1.0, np.ones(2), covariance == "diagonal", 0) for side in (x, z))
    chosen = rng.choice(2, 200_000, p=np.exp(f.log_weights))
    points = np.empty((200_000, 2))
    for a in range(2):
        some = chosen == a
        points[some] = rng.multivariate_normal(f.means[a], f.covariances[a], int(some.sum()))
    samples = density(f, points) - density(g, points)
    truth, error = samples.mean(), samples.std() / np.sqrt(len(samples))
    drawn = kl_divergence(x, z, divergence="monte-carlo", draws=20_000, **options)
    assert drawn.standard_error == pytest.approx(samples.std() / np.sqrt(20_000), rel=0.1)
    assert abs(drawn.value - truth) < 5.0 * np.hypot(drawn.standard_error, error)
    variational = kl_divergence(x, z, **options)
    assert np.isnan(variational.standard_error)
    assert variational.value == pytest.approx(truth, rel=0.1)
    # The formula of Hershey & Olsen, term by term.
    expected = 0.0
    for a in range(2):
        own, other = (
            logsumexp(
                [s.log_weights[b] - closed(f.means[a], f.covariances[a], s.means[b], s.covariances[b]) for b in (0, 1)]
            )
            for s in (f, g)
        )
        expected += np.exp(f.log_weights[a]) * (own - other)
    assert variational.value == pytest.approx(expected, rel=1e-10)


def test_standard_errors_are_what_they_say():
    rng = np.random.default_rng(4)
    x, z = clusters(rng, 1.0), clusters(rng, 0.5)
    options = {"components": 2, "divergence": "monte-carlo", "draws": 400, "variances": (1.0, 1.0)}
    # Another seed also fits anew; these two bags have one optimum, which all find.
    found = [kl_divergence(x, z, **options, seed=seed) for seed in range(60)]
    spread = np.std([each.value for each in found])
    assert 0.4 < spread / np.mean([each.standard_error for each in found]) < 1.3


def test_bags_with_fewer_vectors_than_components():
    X = [np.array([[0.0, 1.0]]), np.array([[0.0, 1.0], [0.0, 1.0]]), np.random.default_rng(0).normal(size=(9, 2))]
    for divergence in ("variational", "monte-carlo"):
        K = gmm_kl(a=0.1, components=4, divergence=divergence, draws=100)(X)
        assert np.isfinite(K).all()
        np.testing.assert_allclose(K.diagonal(), 1.0, rtol=1e-12)


def test_ask_ls_tells_bags_apart_by_their_spread_and_is_saved(tmp_path):
    rng = np.random.default_rng(5)
    X = [rng.normal(size=(int(rng.integers(10, 30)), 2)) * (1.0 + i % 2) for i in range(60)]
    y = np.arange(60) % 2
    for spec in ("gmm-kl(a=0.3)", "gmm-kl(a=0.3, components=2, divergence='monte-carlo', draws=200)"):
        model = kr.make_solver("ask-ls", kernel=spec).fit(X[:40], y[:40])
        assert model.score(X[40:], y[40:]) > 0.9
        kr.save(model, tmp_path / "m.kern")
        loaded = kr.load(tmp_path / "m.kern")
        np.testing.assert_allclose(loaded.decision_function(X), model.decision_function(X), rtol=1e-12)


def test_errors():
    with pytest.raises(DataError, match="is empty"):
        gmm_kl()([np.zeros((2, 2)), np.zeros((0, 2))])
    with pytest.raises(DataError, match="same features"):
        gmm_kl()([np.zeros((2, 2)), np.zeros((2, 3))])
    with pytest.raises(DataError, match="bags of vectors"):
        gmm_kl()([[1.0, 2.0]])
    with pytest.raises(DataError, match="variances has 3"):
        gmm_kl(variances=(1.0, 1.0, 1.0))([np.zeros((2, 2))])
    with pytest.raises(ParameterError, match="one of 'variational', 'monte-carlo'"):
        gmm_kl(divergence="exact")
    with pytest.raises(ParameterError, match="components"):
        gmm_kl(components=0)


@pytest.mark.parametrize("value", [0.1, 0.3, 1e5 + 0.1])
def test_a_constant_feature_has_the_usual_variance_whatever_its_value(value):
    rng = np.random.default_rng(0)
    first = [rng.normal(size=7) for _ in range(3)]
    found = gmm_kl().bind([np.column_stack([x, np.full(7, value)]) for x in first]).variances
    assert found[0] == pytest.approx(np.concatenate(first).var())
    assert found[1] == pytest.approx(found[0] / 2)  # the mean of the variances


@pytest.mark.parametrize("size", [1e-200, 1e-160, 1e160, 1e200])
def test_vectors_whose_variances_are_no_numbers_are_refused(size):
    bags = [size * np.random.default_rng(seed).normal(size=(4, 2)) for seed in range(3)]
    with pytest.raises(DataError, match="scale the features"):
        gmm_kl()(bags)
