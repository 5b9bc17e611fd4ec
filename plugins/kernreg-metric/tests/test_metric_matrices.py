"""Alignment and HSIC, against their definitions written as loops, and scikit-learn's centring."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from kernreg_metric import centred_alignment, hsic, ideal_kernel, kernel_alignment
from sklearn.preprocessing import KernelCenterer

from kernreg.errors import AsymmetryError, DataError, ParameterError


@pytest.fixture
def kernels():
    rng = np.random.default_rng(4)
    A, B = rng.normal(size=(9, 5)), rng.normal(size=(9, 3))
    return A @ A.T + 0.3, B @ B.T


def naive_alignment(K, L):
    def inner(P, Q):
        return sum(P[i][j] * Q[i][j] for i in range(len(P)) for j in range(len(P)))

    return inner(K, L) / (inner(K, K) * inner(L, L)) ** 0.5


def test_alignment_is_the_cosine_of_its_definition(kernels):
    K, L = kernels
    assert kernel_alignment(K, L) == pytest.approx(naive_alignment(K, L), rel=1e-13)
    assert kernel_alignment(K, K) == pytest.approx(1.0, rel=1e-13)
    assert kernel_alignment(K, -K) == pytest.approx(-1.0, rel=1e-13)


def test_alignment_takes_asymmetric_matrices():
    rng = np.random.default_rng(0)
    K, L = rng.normal(size=(2, 6, 6))
    assert kernel_alignment(K, L) == pytest.approx(naive_alignment(K, L), rel=1e-12)


@pytest.mark.parametrize("factor", [1e-200, 1e-3, 7.0, 1e200])
def test_alignment_does_not_depend_on_scale(kernels, factor):
    K, L = kernels
    for measure in (kernel_alignment, centred_alignment):
        assert measure(factor * K, L) == pytest.approx(measure(K, L), rel=1e-12)


def test_centred_alignment_is_that_of_matrices_centred_by_scikit_learn(kernels):
    K, L = kernels
    centred = [KernelCenterer().fit_transform(M.copy()) for M in (K, L)]
    assert centred_alignment(K, L) == pytest.approx(naive_alignment(*centred), rel=1e-12)


def test_a_constant_changes_the_alignment_but_not_the_centred_one(kernels):
    K, L = kernels
    assert centred_alignment(K + 50.0, L) == pytest.approx(centred_alignment(K, L), rel=1e-10)
    assert abs(kernel_alignment(K + 50.0, L) - kernel_alignment(K, L)) > 0.01


def test_biased_hsic_is_the_trace_formula(kernels):
    K, L = kernels
    n = len(K)
    J = np.eye(n) - np.ones((n, n)) / n
    assert hsic(K, L) == pytest.approx(np.trace(K @ J @ L @ J) / (n - 1) ** 2, rel=1e-12)


def test_unbiased_hsic_is_the_mean_over_quadruples(kernels):
    K, L = (M[:7, :7] for M in kernels)
    terms = [K[i, j] * (L[i, j] + L[q, r] - 2.0 * L[i, q]) for i, j, q, r in permutations(range(7), 4)]
    assert hsic(K, L, "unbiased") == pytest.approx(np.mean(terms), rel=1e-11)


def test_unbiased_hsic_is_right_on_average_for_independent_variables():
    rng = np.random.default_rng(1)
    values = {"biased": [], "unbiased": []}
    for _ in range(400):
        x, y = rng.normal(size=(2, 12, 1))
        K, L = (np.exp(-((v - v.T) ** 2)) for v in (x, y))
        for estimator, found in values.items():
            found.append(hsic(K, L, estimator))
    mean, spread = np.mean(values["unbiased"]), np.std(values["unbiased"]) / 20.0
    assert abs(mean) < 3.0 * spread
    assert np.mean(values["biased"]) > 10.0 * spread
    assert min(values["biased"]) >= 0.0


def test_dependent_variables_have_larger_hsic():
    x = np.random.default_rng(2).normal(size=(40, 1))
    K = np.exp(-((x - x.T) ** 2))
    L = np.exp(-((x**2 - (x**2).T) ** 2))
    other = np.random.default_rng(3).normal(size=(40, 1))
    M = np.exp(-((other - other.T) ** 2))
    assert hsic(K, L, "unbiased") > 5.0 * abs(hsic(K, M, "unbiased"))


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_ideal_kernels_are_positive_semi_definite_and_as_defined(classes):
    y = np.random.default_rng(classes).integers(0, classes, 20)
    y[:classes] = np.arange(classes)
    T = ideal_kernel(y)
    for i in range(20):
        for j in range(20):
            assert T[i, j] == (1.0 if y[i] == y[j] else -1.0 / (classes - 1))
    for kind in ("simplex", "indicator"):
        assert np.linalg.eigvalsh(ideal_kernel(y, kind))[0] > -1e-12


def test_ideal_kernel_of_two_classes_is_the_product_of_signs():
    y = np.array([1, -1, -1, 1])
    np.testing.assert_array_equal(ideal_kernel(y, unlabelled=None), np.outer(y, y))


def test_ideal_kernel_knows_nothing_of_unlabelled_samples():
    T = ideal_kernel(["a", "?", "b"], unlabelled="?")
    np.testing.assert_array_equal(T, [[1, 0, -1], [0, 0, 0], [-1, 0, 1]])


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: kernel_alignment(np.ones((2, 3)), np.ones((2, 3))), DataError, "K has shape (2, 3)"),
        (lambda: kernel_alignment(np.eye(2), np.eye(3)), DataError, "K has shape (2, 2) and L (3, 3)"),
        (lambda: kernel_alignment(np.zeros((2, 2)), np.eye(2)), DataError, "K is zero everywhere"),
        (lambda: centred_alignment(np.eye(2), np.full((2, 2), 3.0)), DataError, "L is constant"),
        (lambda: kernel_alignment([["a"]], [[1.0]]), DataError, "K is not an array of numbers"),
        (lambda: kernel_alignment([[np.nan]], [[1.0]]), DataError, "K has infinite entries or NaN"),
        (lambda: hsic([[1.0, 2.0], [0.0, 1.0]], np.eye(2)), AsymmetryError, "K is asymmetric"),
        (lambda: hsic(np.eye(3), np.eye(3), "unbiased"), DataError, "at least 4 samples, these are 3"),
        (lambda: hsic([[1.0]], [[1.0]]), DataError, "at least 2 samples"),
        (lambda: hsic(np.eye(4), np.eye(4), "fair"), ParameterError, "give 'biased' or 'unbiased'"),
        (lambda: ideal_kernel([0, 0]), DataError, "one class only"),
        (lambda: ideal_kernel([0, 1], "perfect"), ParameterError, "give 'simplex' or 'indicator'"),
    ],
)
def test_wrong_input_is_named(call, error, said):
    with pytest.raises(error) as raised:
        call()
    assert said in str(raised.value)
