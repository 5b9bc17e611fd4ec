"""What a new user types first: solvers with their defaults, beside scikit-learn's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import kernreg as kr
from kernreg.errors import GridEndWarning, ParameterError
from kernreg.kernels.builtin import laplacian, poly, rbf, sne, tl1
from kernreg.kernels.indexed import precomputed
from kernreg.solvers import LSSVC, LSSVR, AsKLSClassifier

SETS = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
SYMMETRIC = ("rbf", "laplacian", "cauchy", "matern", "rational-quadratic", "tl1")
ASYMMETRIC = ("sne", "t")


def score(model, X, y, folds):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridEndWarning)
        return cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=folds).mean()


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("gamma", [None, "loo"])
def test_classifiers_are_as_good_as_svc(name, gamma):
    X, y = SETS[name](return_X_y=True)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    peer = score(SVC(), X, y, folds)
    settings = {} if gamma is None else {"gamma": gamma}
    assert score(kr.make_solver("ls-svm", **settings), X, y, folds) >= peer - 0.011
    # Two of the six kernels for each set and way to gamma: every kernel with every way.
    for kernel in SYMMETRIC[list(SETS).index(name) :: len(SETS)]:
        assert score(kr.make_solver("ls-svm", kernel=kernel, **settings), X, y, folds) >= peer - 0.05, kernel
    if gamma is None:  # which is "loo" to ask-ls
        assert score(kr.make_solver("ask-ls"), X, y, folds) >= peer - 0.011
        for kernel in ASYMMETRIC:
            assert score(kr.make_solver("ask-ls", kernel=kernel), X, y, folds) >= peer - 0.05, kernel


def test_regression_is_as_good_as_svr_of_standardised_targets():
    X, y = load_diabetes(return_X_y=True)
    folds = KFold(3, shuffle=True, random_state=0)
    peer = score(SVR(), X, (y - y.mean()) / y.std(), folds)
    for kernel in SYMMETRIC:
        assert score(kr.make_solver("ls-svr", kernel=kernel), X, y, folds) >= peer - 0.01, kernel
    for kernel in ASYMMETRIC:
        assert score(kr.make_solver("ask-lsr", kernel=kernel), X, y, folds) >= peer - 0.05, kernel


@pytest.mark.parametrize("kernel", [rbf(), laplacian(sigma=2.0), tl1(), poly(), tl1() + 3.0 * poly(degree=2)])
def test_scale_is_one_over_the_median_of_the_largest_values(kernel):
    X = np.random.default_rng(0).normal(size=(90, 4))
    y = (X[:, 0] > 0).astype(int)
    model = LSSVC(kernel=kernel).fit(X, y)
    assert model.gamma_ == pytest.approx(1.0 / np.median(np.abs(kernel.bind(X)(X)).max(axis=1)), rel=1e-12)
    assert LSSVC(kernel=kernel, gamma="10*scale").fit(X, y).gamma_ == pytest.approx(10.0 * model.gamma_)
    for strategy in ("iterative", "lowrank"):
        assert LSSVC(kernel=kernel, strategy=strategy).fit(X, y).gamma_ == pytest.approx(model.gamma_, rel=1e-12)


def test_a_kernel_times_a_number_is_the_same_machine():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    plain, large = (LSSVC(kernel=k).fit(X, y) for k in (rbf(), 1e4 * rbf()))
    np.testing.assert_allclose(large.decision_function(X), plain.decision_function(X), atol=1e-10)


def test_scale_heeds_weights_and_rows_without_values():
    X = np.random.default_rng(1).normal(size=(40, 3))
    y = np.arange(40) % 2
    weights = np.arange(40) % 3 + 1
    weighted = LSSVC("linear").fit(X, y, sample_weight=weights)
    repeated = LSSVC("linear").fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.gamma_ == pytest.approx(repeated.gamma_, rel=1e-12)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)
    K = np.zeros((40, 40))
    K[:5, :5] = 4.0
    assert LSSVC(precomputed(K=K)).fit(np.arange(40), y).gamma_ == 0.25


def test_at_most_two_hundred_rows_tell_the_size():
    X = np.random.default_rng(2).normal(size=(450, 3))
    rows = np.linspace(0, 449, 200).astype(int)
    expected = np.median(np.abs(X @ X.T)[rows].max(axis=1))
    assert LSSVR("linear").fit(X, X[:, 0]).gamma_ == pytest.approx(1.0 / expected)


@pytest.mark.parametrize("gamma", ["scale*2", "-1*scale", "scal", "1e*scale", ["scale", "x"]])
def test_other_words_are_refused(gamma):
    with pytest.raises(ParameterError, match=r"is not accepted; give a positive finite number, 'scale'"):
        LSSVC(gamma=gamma).fit(np.eye(4), [0, 1, 0, 1])


def test_words_and_numbers_may_be_mixed():
    X, y = load_iris(return_X_y=True)
    model = LSSVC(tl1(rho=20.0), gamma=["0.1*scale", 0.3, "scale"]).fit(X, y)
    size = np.median(np.abs(tl1(rho=20.0)(X)).max(axis=1))
    np.testing.assert_allclose(model.loo_path_["gamma"], [0.1 / size, 0.3, 1.0 / size])


@pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")
def test_ask_ls_chooses_gamma_unless_told():
    X, y = load_iris(return_X_y=True)
    model = AsKLSClassifier(sne()).fit(X, y)
    assert len(model.loo_path_["gamma"]) >= 36
    assert model.gamma_ in model.loo_path_["gamma"]
