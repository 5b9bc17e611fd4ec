"""A kernel that says nothing about its samples is told, with a width that would."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import kernreg as kr
from kernreg.errors import UninformativeKernelWarning
from kernreg.kernels.indexed import precomputed
from kernreg.solvers import LSSVC, AsKLSClassifier


@pytest.fixture
def data():
    X = np.random.default_rng(0).normal(size=(300, 4))
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("solver", [LSSVC, AsKLSClassifier])
def test_a_matrix_near_the_identity_is_told_with_a_better_width(solver, data):
    X, y = data
    with pytest.warns(UninformativeKernelWarning, match=r"no two are alike.*sigma=") as heard:
        solver(kernel="rbf(sigma=0.001)").fit(X, y)
    assert len(heard) == 1
    assert heard[0].filename == __file__
    assert float(str(heard[0].message).split("sigma=")[2].split(";")[0]) == pytest.approx(np.median(pdist(X)), rel=0.01)


def test_a_constant_matrix_is_told(data):
    X, y = data
    with pytest.warns(UninformativeKernelWarning, match="is about 1 for every pair"):
        LSSVC(kernel="rbf(sigma=1e6)").fit(X, y)


def test_a_kernel_without_a_width_is_told_too(data):
    _, y = data
    with pytest.warns(UninformativeKernelWarning, match="Check its parameters"):
        LSSVC(kernel=precomputed(K=np.eye(300))).fit(np.arange(300), y)


def test_it_is_off_by_a_setting_and_silent_where_the_kernel_says_something(data):
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with kr.config_context(advice=False):
            LSSVC(kernel="rbf(sigma=0.001)").fit(X, y)
        for kernel in ("rbf", "laplacian", "tl1", "cauchy", "matern", "rational-quadratic", "linear", "poly"):
            LSSVC(kernel=kernel).fit(X, y)
        for kernel in ("sne", "t"):
            AsKLSClassifier(kernel=kernel).fit(X, y)
        LSSVC(kernel="rbf(sigma=0.001)").fit(X[:6], y[:6])  # too few to say
