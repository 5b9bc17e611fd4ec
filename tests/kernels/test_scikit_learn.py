"""Kernels inside scikit-learn: as the kernel of an estimator, in a grid, in a pipeline."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel, polynomial_kernel, rbf_kernel, sigmoid_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from kernreg.errors import ParameterError
from kernreg.kernels.builtin import chi2, laplacian, poly, rbf, sne, tanh_

X, y = make_moons(120, noise=0.2, random_state=0)


def test_values_agree_with_scikit_learn():
    P = np.random.default_rng(0).random((20, 5))
    np.testing.assert_allclose(rbf(sigma=2.0)(P), rbf_kernel(P, gamma=0.25), rtol=1e-12)
    np.testing.assert_allclose(laplacian(sigma=2.0)(P), laplacian_kernel(P, gamma=0.5), rtol=1e-12)
    np.testing.assert_allclose(
        poly(degree=3, c=1.5)(P), polynomial_kernel(P, degree=3, gamma=1.0, coef0=1.5), rtol=1e-12
    )
    np.testing.assert_allclose(tanh_(c=0.2, t=0.1)(P), sigmoid_kernel(P, gamma=0.2, coef0=0.1), rtol=1e-12)
    np.testing.assert_allclose(chi2(sigma=2.0)(P), chi2_kernel(P, gamma=0.5), rtol=1e-12)
    np.testing.assert_allclose(rbf(sigma=np.sqrt(2.0))(P), RBF(1.0)(P), rtol=1e-12)


def test_svc_with_a_kernel_equals_its_own():
    ours, theirs = SVC(kernel=rbf(sigma=0.5)).fit(X, y), SVC(kernel="rbf", gamma=4.0).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert clone(ours).kernel == rbf(sigma=0.5)


def test_grid_search_over_kernels():
    kernels = [rbf(sigma=0.5), rbf(sigma=50.0), poly(degree=2)]
    search = GridSearchCV(SVC(), {"kernel": kernels, "C": [1.0, 10.0]}, cv=3).fit(X, y)
    assert search.best_params_["kernel"] == rbf(sigma=0.5)
    assert search.best_score_ > 0.9
    assert list(search.cv_results_["param_kernel"][:2]) == [rbf(sigma=0.5), rbf(sigma=50.0)]


@pytest.mark.parametrize("kernel", [rbf(sigma=0.5), 2.0 * rbf(sigma=0.5), sne().bind(X)])
def test_parameters_inside_a_kernel_cannot_be_set_by_scikit_learn_and_the_error_says_what_to_do(kernel):
    parameter = "kernel__kernel__sigma" if kernel.name == "scale" else "kernel__sigma"
    estimator = SVC(kernel=kernel)
    with pytest.raises(ParameterError, match=r"immutable.*\{'kernel': \["):
        estimator.set_params(**{parameter: 1.0})
    with pytest.raises(ParameterError, match="Search over whole kernels"):
        GridSearchCV(estimator, {parameter: [0.5, 1.0]}, cv=2).fit(X, y)


def test_parameters_of_the_estimator_can_still_be_set():
    estimator = SVC(kernel=rbf(sigma=0.5)).set_params(C=3.0, kernel=rbf(sigma=0.25))
    assert (estimator.C, estimator.kernel) == (3.0, rbf(sigma=0.25))
    assert estimator.get_params()["kernel__sigma"] == 0.25


def test_kernel_ridge_with_a_precomputed_matrix():
    train, test = X[:80], X[80:]
    ours = KernelRidge(kernel="precomputed", alpha=0.1).fit(rbf(sigma=0.5)(train), y[:80])
    theirs = KernelRidge(kernel="rbf", gamma=4.0, alpha=0.1).fit(train, y[:80])
    np.testing.assert_allclose(ours.predict(rbf(sigma=0.5)(test, train)), theirs.predict(test), rtol=1e-9)
