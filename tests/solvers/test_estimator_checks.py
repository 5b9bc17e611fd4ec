"""scikit-learn's own checks and the conformance kit, for every solver in this package."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernreg.testing
from kernreg.solvers import (
    LSSVC,
    LSSVR,
    SCGLDK,
    SCGOSK,
    AsKLSClassifier,
    AsKLSRegressor,
    AsymmetricNystroem,
    CellsClassifier,
    CellsRegressor,
    FeatureRelevance,
    KernelPCA,
    KernelSVD,
)

SOLVERS = [
    LSSVC(),
    LSSVC(multi_class="one-vs-one"),
    LSSVC(gamma="loo"),
    LSSVR(),
    AsKLSClassifier(),
    AsKLSClassifier(ensembler="stack(method='logistic')"),
    AsKLSRegressor(),
    AsKLSRegressor(kernel="sne", gamma=1000.0, ensembler="source"),
    KernelPCA(),
    KernelPCA(kernel="tl1(rho=20.0)", n_components=2, order="value", fit_inverse_transform=True),
    KernelPCA(n_components=1, eigen_solver="operator"),
    KernelSVD(),
    KernelSVD(kernel="sne", svd_solver="operator"),
    KernelSVD(kernel="rbf(sigma=50.0)", n_components=1, compatibility="a1"),
    KernelSVD(kernel="rbf(sigma=50.0)", n_components=1, compatibility="a3", learning_iter=3),
    AsymmetricNystroem(),
    AsymmetricNystroem(kernel="sne(sigma=5.0)", n_components=1, n_landmarks=10, normalizers="estimate"),
    AsymmetricNystroem(kernel="rbf(sigma=5.0)", n_components=1, landmarks="leverage", orthogonalize=False),
    CellsClassifier(),
    CellsClassifier(cell_size=40, overlap=0.5, n_nearest=2),
    CellsClassifier("ask-ls", cell_size=15, partition="kmeans"),
    CellsRegressor(),
    CellsRegressor("ls-svr(gamma=10.0)", cell_size=15, partition="kmeans", n_nearest=2),
    FeatureRelevance(max_iter=5),
    FeatureRelevance("rbf", batch_size=12, batches="random", max_iter=5),
    SCGLDK(),
    SCGLDK(strategy="lowrank", n_landmarks=2),
    SCGOSK(),
    SCGOSK(method="vertex"),
]

REPETITION_CHANGES_LEAVE_ONE_OUT = {
    "check_sample_weight_equivalence_on_dense_data": "leaving out one of two equal samples is not leaving out both, "
    "so a weight of two and a repetition may choose another gamma or learn another ensembler",
    "check_sample_weight_equivalence_on_sparse_data": "the same",
}
REPETITION_CHANGES_PROBABILITIES = {
    "check_sample_weight_equivalence_on_dense_data": "probabilities are calibrated on leave-one-out decisions, and "
    "leaving out one of two equal samples is not leaving out both; decisions and classes are the same",
    "check_sample_weight_equivalence_on_sparse_data": "the same",
}
REPETITION_CHANGES_NORMALISERS = {
    "check_sample_weight_equivalence_on_dense_data": "a repeated sample counts twice in the normalisers of sne, a "
    "weight leaves them as they are",
    "check_sample_weight_equivalence_on_sparse_data": "the same",
}
REPETITION_CHANGES_CELLS = {
    "check_sample_weight_equivalence_on_dense_data": "cells are of so many samples, whatever their weights, and γ is "
    "chosen by leave-one-out",
    "check_sample_weight_equivalence_on_sparse_data": "the same",
}

#: Every expected failure of a check of scikit-learn, with its reason.
EXPECTED = {
    repr(LSSVC()): REPETITION_CHANGES_PROBABILITIES,
    repr(LSSVC(multi_class="one-vs-one")): REPETITION_CHANGES_PROBABILITIES,
    repr(AsKLSClassifier()): REPETITION_CHANGES_LEAVE_ONE_OUT,
    repr(AsKLSRegressor()): REPETITION_CHANGES_LEAVE_ONE_OUT,
    repr(LSSVC(gamma="loo")): REPETITION_CHANGES_LEAVE_ONE_OUT,
    repr(AsKLSClassifier(ensembler="stack(method='logistic')")): REPETITION_CHANGES_LEAVE_ONE_OUT,
    repr(CellsClassifier()): REPETITION_CHANGES_LEAVE_ONE_OUT,
    repr(CellsClassifier(cell_size=40, overlap=0.5, n_nearest=2)): REPETITION_CHANGES_CELLS,
    repr(CellsClassifier("ask-ls", cell_size=15, partition="kmeans")): REPETITION_CHANGES_CELLS,
    repr(CellsRegressor()): REPETITION_CHANGES_LEAVE_ONE_OUT,
    repr(CellsRegressor("ls-svr(gamma=10.0)", cell_size=15, partition="kmeans", n_nearest=2)): REPETITION_CHANGES_CELLS,
    repr(AsKLSRegressor(kernel="sne", gamma=1000.0, ensembler="source")): REPETITION_CHANGES_NORMALISERS,
}


@parametrize_with_checks(SOLVERS, expected_failed_checks=lambda solver: EXPECTED.get(repr(solver), {}))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")  # of targets that the checks make without noise
@pytest.mark.filterwarnings("ignore:the best kernel has one vector")  # of classes that the checks draw at random
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@kernreg.testing.parametrize_with_checks(SOLVERS)
def test_laws_of_solvers(check):
    check()
