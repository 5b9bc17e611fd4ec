"""Kernels keep the laws of kernels, with their defaults and with other parameters; scikit-learn's checks hold."""

from __future__ import annotations

import numpy as np
import pytest
from kernreg_asymmetric import (
    AsKRFF,
    AsKRFFClassifier,
    AsKRFFRegressor,
    LABRBFClassifier,
    LABRBFRegressor,
    ask_rff,
    cosh_gauss,
    lab_rbf,
    local_rbf,
    profile_product,
    shift_gauss,
    sinh_gauss,
    skew_laplace,
    tabulated,
)
from sklearn.utils.estimator_checks import parametrize_with_checks as sklearn_checks

from kernreg.testing import check_solver, kernel_checks, parametrize_with_checks

FAMILIES = [
    *(shift_gauss, sinh_gauss, cosh_gauss, skew_laplace, profile_product),
    *(ask_rff, local_rbf, lab_rbf),
]
VARIANTS = [
    shift_gauss(sigma=0.7, shift=-1.0),
    sinh_gauss(beta=-2.0, tau=3.0),
    cosh_gauss(beta=0.0),
    skew_laplace(above=0.2, below=3.0),
    tabulated(lambda gap: np.exp(-abs(gap)) * (gap > -1.0) * np.maximum(gap + 1.0, 0.0), 30.0),
    local_rbf(n_neighbors=2, side="row"),
    local_rbf(n_neighbors=4, side="both", factor=2.0),
    local_rbf(n_neighbors=100),  # more neighbours than there are
]


def rows(rng, n):
    return rng.normal(size=(n, 4))


@parametrize_with_checks(
    [*FAMILIES, *(check for kernel in VARIANTS for check in kernel_checks(kernel, samples=rows))],
)
def test_laws(check):
    check()


@pytest.mark.parametrize(
    "kernel",
    [shift_gauss(), sinh_gauss(), cosh_gauss(), skew_laplace(), local_rbf(n_neighbors=2), local_rbf(side="row")],
    ids=repr,
)
def test_asymmetric_kernels_are_asymmetric(kernel):
    X = np.random.default_rng(0).normal(size=(20, 3))
    K = kernel(X)
    assert not kernel.symmetric
    assert np.abs(K - K.T).max() > 0.05


def test_even_parameters_give_symmetric_matrices():
    X = np.random.default_rng(0).normal(size=(20, 3))
    for kernel in (shift_gauss(shift=0.0), sinh_gauss(beta=0.0), cosh_gauss(beta=0.0), skew_laplace(1.0, 1.0)):
        K = kernel(X)
        assert np.abs(K - K.T).max() < 1e-14


SOLVERS = [
    AsKRFF(n_frequencies=10),
    AsKRFF(n_frequencies=10, form="parts"),
    AsKRFFClassifier(n_frequencies=10),
    AsKRFFRegressor(n_frequencies=100),
    LABRBFRegressor(max_iter=5),
    LABRBFClassifier(max_iter=5),
]


#: Every expected failure of a check of scikit-learn, with its reason.
HELD_OUT = {
    f"check_sample_weight_equivalence_on_{kind}_data": "copies of a sample may be held out apart, and a weight may not"
    for kind in ("dense", "sparse")
}


def expected(estimator):
    return HELD_OUT if isinstance(estimator, LABRBFRegressor | LABRBFClassifier) else {}


@sklearn_checks(SOLVERS, expected_failed_checks=expected)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_solvers_keep_the_laws_of_solvers(solver):
    check_solver(solver)
