"""Ideal regularisation: the closed forms as matrices, the optimum in feature space, new samples, wrong input."""

from __future__ import annotations

import numpy as np
import pytest
from kernreg_metric import IdealRegularized, ideal_kernel, kernel_alignment
from scipy.linalg import expm, sqrtm

import kernreg
from kernreg.errors import AsymmetryError, DataError, ParameterError

DIVERGENCES = ("von-neumann", "logdet", "frobenius")


def blobs(n=24, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 4)) + 0.7 * y[:, None], y


@pytest.mark.parametrize("ideal", ["simplex", "indicator"])
@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("gamma", [0.05, 0.9])
def test_the_matrix_is_the_closed_form(divergence, ideal, gamma):
    X, y = blobs()
    known = np.where(np.arange(24) % 5 == 0, -1, y)
    learner = IdealRegularized("rbf(sigma=1.0)", gamma, divergence=divergence, ideal=ideal).fit(X, known)
    K0, T = kernreg.make_kernel("rbf(sigma=1.0)")(X), ideal_kernel(known, ideal)
    strength = gamma / np.linalg.eigvals(T @ K0).real.max()
    assert gamma * learner.scale_ == pytest.approx(strength, rel=1e-10)
    root = sqrtm(K0).real
    expected = {
        "von-neumann": lambda: root @ expm(strength * root @ T @ root) @ root,
        "logdet": lambda: np.linalg.inv(np.linalg.inv(K0) - strength * T),
        "frobenius": lambda: K0 + strength * K0 @ T @ K0,
    }[divergence]()
    np.testing.assert_allclose(learner.kernel_(X), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_no_metric_nearby_has_a_lower_objective(divergence):
    """With the linear kernel the features are the samples and W is 4 × 4: the objective as it is written."""
    X, y = blobs()
    gamma = 0.6
    learner = IdealRegularized("linear", gamma, divergence=divergence).fit(X, y)
    T = ideal_kernel(y)
    W = learner.kernel_(np.eye(4))  # k(e_i, e_j)

    def objective(W):
        values, vectors = np.linalg.eigh(W)
        logarithm = (vectors * np.log(values)) @ vectors.T
        near = {
            "von-neumann": lambda: np.trace(W @ logarithm - W + np.eye(4)),
            "logdet": lambda: np.trace(W) - np.log(values).sum() - 4,
            "frobenius": lambda: 0.5 * np.sum((W - np.eye(4)) ** 2),
        }[divergence]()
        return near - gamma * learner.scale_ * np.sum(T * (X @ W @ X.T))

    assert learner.solver_report_.objective == pytest.approx(objective(W), rel=1e-9)
    rng = np.random.default_rng(1)
    for size in (1e-3, 1e-2, 1e-1):
        for _ in range(20):
            step = rng.normal(size=(4, 4))
            assert objective(W + size * (step + step.T)) > objective(W) + 0.1 * size**2


def test_new_samples_are_in_the_same_formula():
    X, y = blobs()
    learner = IdealRegularized("linear", 2.0).fit(X, y)
    W = learner.kernel_(np.eye(4))
    new = np.random.default_rng(5).normal(size=(6, 4))
    np.testing.assert_allclose(learner.kernel_(new), new @ W @ new.T, rtol=1e-10)
    np.testing.assert_allclose(learner.transform(new), new @ W @ X.T, rtol=1e-10)


def test_the_direction_the_labels_support_most_is_stretched_by_the_function_of_gamma():
    X, y = blobs()
    for divergence, stretch in (("von-neumann", np.exp(0.5)), ("logdet", 2.0), ("frobenius", 1.5)):
        learner = IdealRegularized("rbf(sigma=2.0)", 0.5, divergence=divergence).fit(X, y)
        assert learner.stretches_.max() == pytest.approx(stretch, rel=1e-12)
        assert learner.stretches_.min() >= 1.0
        assert len(learner.stretches_) == 2  # three corners of a simplex span a plane


def test_alignment_with_the_labels_grows_with_gamma():
    X, y = blobs(60)
    T = ideal_kernel(y)
    found = [kernel_alignment(IdealRegularized("rbf(sigma=2.0)", g).fit(X, y).kernel_(X), T) for g in (0.1, 1.0, 4.0)]
    assert kernel_alignment(kernreg.make_kernel("rbf(sigma=2.0)")(X), T) < found[0] < found[1] < found[2]


def test_a_singular_matrix_is_no_obstacle_and_the_result_is_definite():
    X, y = blobs()
    X[7] = X[3]
    learner = IdealRegularized("rbf(sigma=50.0)", 3.0).fit(X, y)
    K = learner.kernel_(X)
    assert np.isfinite(K).all()
    assert learner.kernel_.definite
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * np.abs(K).max()


@pytest.mark.parametrize(
    ("parameters", "error", "said"),
    [
        ({"gamma": 0.0}, ParameterError, "gamma=0.0"),
        ({"gamma": 1.0, "divergence": "logdet"}, ParameterError, "above 0 and below 1"),
        ({"gamma": 1000.0}, ParameterError, "above 0 and below 600"),
        ({"divergence": "kl"}, ParameterError, "give 'von-neumann' or 'logdet' or 'frobenius'"),
        ({"ideal": "best"}, ParameterError, "give 'simplex' or 'indicator'"),
        ({"kernel": "sne(sigma=3.0)"}, AsymmetryError, "symmetrize"),
        ({"kernel": "tl1(rho=6.0)"}, DataError, "indefinite"),
    ],
)
def test_wrong_parameters_are_named(parameters, error, said):
    X, y = blobs()
    with pytest.raises(error) as raised:
        IdealRegularized(**parameters).fit(X, y)
    assert said in str(raised.value)


def test_a_kernel_blind_to_the_classes_is_refused():
    with pytest.raises(ParameterError, match="does not tell the classes apart"):
        IdealRegularized("linear").fit(np.zeros((6, 2)), [0, 1, 0, 1, 0, 1])


@pytest.mark.parametrize(
    ("y", "said"), [(np.full(24, -1), "no labels"), (np.ones(24), "one class"), (None, "requires y")]
)
def test_wrong_labels_are_named(y, said):
    with pytest.raises(DataError, match=said):
        IdealRegularized().fit(blobs()[0], y)
