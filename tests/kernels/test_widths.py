"""Widths given as words: what number they become, when, and who keeps it."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist
from sklearn.datasets import load_iris
from sklearn.svm import SVC

import kernreg as kr
from kernreg import kernel
from kernreg.errors import ParameterError
from kernreg.jit import exp
from kernreg.kernels import width
from kernreg.kernels.builtin import chi2, laplacian, rbf, sne, tl1
from kernreg.solvers import LSSVC, AsKLSClassifier, KernelPCA, KernelSVD

EUCLIDEAN = ("rbf", "sne", "t", "cauchy", "matern", "rational-quadratic")


@pytest.fixture
def X():
    return np.random.default_rng(3).normal(1.5, 2.0, size=(40, 5)) * np.array([1.0, 3.0, 0.5, 1.0, 2.0])


@pytest.mark.parametrize("name", EUCLIDEAN)
def test_scale_of_a_euclidean_statistic_is_that_of_scikit_learn(name, X):
    bound = kr.make_kernel(name).bind(X)
    assert bound.sigma == pytest.approx(np.sqrt(X.shape[1] * X.var()), rel=1e-14)


def test_rbf_with_its_default_is_the_kernel_of_svc_with_its_default(X):
    y = X[:, 0] > 1.0
    machine = SVC(kernel=rbf().bind(X)).fit(X, y)
    assert np.allclose(machine.decision_function(X), SVC().fit(X, y).decision_function(X), atol=1e-9)


def test_scale_of_the_l1_distance_is_d_standard_deviations(X):
    assert laplacian().bind(X).sigma == pytest.approx(X.shape[1] * X.std(), rel=1e-14)
    assert tl1(rho="scale").bind(X).rho == pytest.approx(X.shape[1] * X.std(), rel=1e-14)
    assert tl1().bind(X).rho == pytest.approx(4 * X.shape[1] * X.std(), rel=1e-14)


@pytest.mark.parametrize(
    "form", [sp.csr_array, lambda A: sp.csr_array(A).astype(np.float32), np.float32, np.asfortranarray]
)
def test_sparse_and_other_forms_of_samples_have_the_same_scale(form):
    A = np.random.default_rng(0).random((60, 200)) * (np.random.default_rng(1).random((60, 200)) < 0.05)
    assert rbf().bind(form(A)).sigma == pytest.approx(np.sqrt(200 * A.var()), rel=1e-6)


def test_median_is_the_median_distance_of_different_samples(X):
    assert rbf(sigma="median").bind(X).sigma == pytest.approx(np.median(pdist(X)), rel=1e-12)
    assert laplacian(sigma="median").bind(X).sigma == pytest.approx(np.median(pdist(X, "cityblock")), rel=1e-12)
    repeated = np.vstack([X] * 20)  # equal samples do not count
    assert rbf(sigma="median").bind(repeated).sigma == pytest.approx(np.median(pdist(X)), rel=1e-12)
    many = np.random.default_rng(0).normal(size=(5000, 3))
    assert rbf(sigma="median").bind(many) == rbf(sigma="median").bind(many)
    assert rbf(sigma="median").bind(many).sigma == pytest.approx(np.median(pdist(many[:2000])), rel=0.05)


def test_other_sums_of_terms_have_their_mean_as_scale(X):
    H = np.abs(X)
    i, j = np.triu_indices(len(H), 1)
    values = ((H[i] - H[j]) ** 2 / (H[i] + H[j])).sum(axis=1)
    assert chi2().bind(H).sigma == pytest.approx(values.mean(), rel=1e-12)
    assert chi2(sigma="0.5*median").bind(H).sigma == pytest.approx(0.5 * np.median(values), rel=1e-12)


def test_samples_that_are_all_the_same_have_the_width_one():
    same = np.ones((5, 2))
    for word in ("scale", "median"):
        assert rbf(sigma=word).bind(same).sigma == 1.0
    assert rbf(sigma="3*scale").bind(same[:0]).sigma == 3.0


@pytest.mark.parametrize(
    "given", ["wide", "scale*2", "-1*scale", "0*scale", "x*scale", "inf*scale", "", 0.0, -1, np.nan, True]
)
def test_what_is_no_width_is_refused_with_what_is_accepted(given):
    with pytest.raises(
        ParameterError, match=r"sigma=.*accepted is a finite number > 0, 'scale' or 'median', or a multiple"
    ):
        rbf(sigma=given)


def test_equal_words_are_equal_kernels_and_specs_read_back():
    assert rbf() == rbf(sigma="scale") == kr.make_kernel("rbf(sigma='1*scale')")
    assert rbf(sigma=" 2 * scale") == rbf(sigma="2.0*scale") != rbf(sigma="2*median")
    k = rbf(sigma="2*median")
    assert kr.make_kernel(repr(k)) == k == pickle.loads(pickle.dumps(k))


def test_an_unresolved_kernel_takes_its_reference_set(X):
    Z = 3.0 * X[:11]
    for name in (*EUCLIDEAN, "laplacian", "tl1"):
        k = kr.make_kernel(name)
        assert np.array_equal(k(X, Z), k.bind(Z)(X, Z))
        assert np.array_equal(k(X), k.bind(X)(X))
        assert np.array_equal(np.vstack([block for _, block in k.blocks(X, Z, block_rows=7)]), k(X, Z))
        assert np.allclose(k.operator(X, Z) @ np.eye(11), k(X, Z), rtol=1e-12)
        assert np.allclose(k.diagonal(X), np.diag(k(X)), rtol=1e-12)
        assert np.array_equal(k.T(X, Z), k(Z, X).T)
        assert np.array_equal(k.bind(X).T(X, Z), k.bind(X)(Z, X).T)


def test_combinations_resolve_every_part(X):
    k = (0.5 * rbf() + laplacian(sigma="median") * rbf(sigma=2.0)).bind(X)
    assert "'scale'" not in repr(k)
    assert "median" not in repr(k)
    assert np.array_equal(k(X[:3], X), (0.5 * rbf() + laplacian(sigma="median") * rbf(sigma=2.0))(X[:3], X))


def test_what_has_no_width_yet_says_so(X):
    with pytest.raises(ParameterError, match=r"takes sigma from samples and has seen none: bind it to some first"):
        rbf().scalar(X[0], X[1])


def test_solvers_resolve_on_the_training_samples_and_keep_the_number(X, tmp_path):
    y = X[:, 0] > 1.0
    new = 10.0 * X
    for solver in (
        LSSVC(),
        AsKLSClassifier(kernel="sne"),
        KernelPCA(kernel="laplacian"),
        KernelSVD(kernel="sne(sigma='2*scale')"),
    ):
        model = solver.fit(X, y)
        number = next(iter(model.kernel_.get_params(deep=False).values()))
        assert isinstance(number, float)
        kr.save(model, tmp_path / "model.kern")
        again = kr.load(tmp_path / "model.kern")
        assert again.kernel_ == model.kernel_
        ask = "predict" if hasattr(model, "predict") else "transform"
        assert np.array_equal(getattr(model, ask)(new), getattr(again, ask)(new))
        assert "scale" in repr(solver.get_params()["kernel__sigma"])  # the parameter stays a word
    refit = LSSVC().fit(X, y).fit(new, y)
    assert refit.kernel_.sigma == pytest.approx(10.0 * LSSVC().fit(X, y).kernel_.sigma)


def test_chains_and_grids_mix_words_and_numbers(X):
    y = (X[:, 0] > 1.0).astype(int)
    result = kr.tune(LSSVC(), {"kernel__sigma": ["0.5*scale", "scale", 3.0], "gamma": [0.1, 1.0]}, X, y)
    assert set(result.table["kernel__sigma"]) == {"0.5*scale", "scale", 3.0}
    chain = kr.make_chain("kpca(n_components=3)", "ls-svm", kernel="rbf(sigma='2*scale')")
    assert json.loads(json.dumps(chain.spec()))["kernel"] == "rbf(sigma='2*scale')"
    assert chain.fit(X, y).score(X, y) > 0.7


def test_a_kernel_of_ones_own_offers_it_in_one_word(X):
    @kernel(of="sqeuclidean", symmetric=True)
    def bump(d2, sigma="scale"):
        """exp(-|x - y| / sigma)²."""
        return exp(-d2 / sigma / sigma)

    assert bump.widths == ("sigma",)
    assert np.allclose(bump()(X), rbf()(X), rtol=1e-13)

    @kernel(of="l1", parameters={"reach": width})
    def cone(l1, reach=2.0):
        """max(reach - |x - y|₁, 0)."""
        return max(reach - l1, 0.0)

    assert cone().reach == 2.0
    assert cone(reach="median").bind(X).reach == pytest.approx(np.median(pdist(X, "cityblock")))


def test_defaults_learn_where_a_width_of_one_does_not():
    X, y = load_iris(return_X_y=True)
    X = 100.0 * X
    assert LSSVC().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    assert sne().bind(X).sigma > 100.0


def test_weighted_scale_is_that_of_repeated_samples_in_every_form(X):
    A = X * (np.random.default_rng(1).random(X.shape) < 0.3)
    times = np.random.default_rng(2).integers(0, 4, size=len(A))
    repeated = np.sqrt(A.shape[1] * np.repeat(A, times, axis=0).var())
    for form in (np.asarray, sp.csr_array):
        assert rbf().resolve_widths(form(A), times.astype(float)).sigma == pytest.approx(repeated, rel=1e-12)


@pytest.mark.parametrize("word", ["scale", "median"])
@pytest.mark.parametrize("size", [1e-6, 1e-3, 1e6])
def test_widths_follow_the_unit_of_the_samples(word, size, X):
    for k in (rbf(sigma=word), laplacian(sigma=word)):
        assert k.bind(size * X).sigma == pytest.approx(size * k.bind(X).sigma, rel=1e-12)


@pytest.mark.parametrize("size", [1e-30, 1e-20, 1.0, 1e20, 1e30])
@pytest.mark.parametrize("word", ["median", "scale"])
@pytest.mark.parametrize("sparse", [False, True])
def test_widths_of_float32_samples_are_those_of_the_same_numbers_in_float64(size, word, sparse, X):
    samples = (np.abs(X) * size).astype(np.float32)
    given = sp.csr_array(samples) if sparse else samples
    for name in ("rbf", "laplacian", "chi2", "matern"):
        expected = kr.make_kernel(name, sigma=word).bind(samples.astype(float)).sigma
        assert kr.make_kernel(name, sigma=word).bind(given).sigma == pytest.approx(expected, rel=1e-9)
        assert expected / size > 0.1


@pytest.mark.parametrize("value", [0.1, 0.3, 1 / 3, 1e5 + 0.1])
@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array])
@pytest.mark.parametrize("weights", [None, [0.0, 1.0, 2.0, 3.0, 1.0, 1.0, 0.1]])
def test_widths_of_samples_that_are_all_the_same_are_one(value, form, weights):
    samples = np.full((7, 3), value)
    if weights is not None:
        samples[0] = 7.0  # which does not count
    for name in ("rbf", "laplacian", "matern"):
        assert kr.make_kernel(name, sigma="scale").resolve_widths(form(samples), weights).sigma == 1.0
        assert kr.make_kernel(name, sigma="3*scale").resolve_widths(form(samples), weights).sigma == 3.0
