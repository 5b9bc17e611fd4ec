"""The Fisher score: scatter matrices in explicit feature spaces, optimality, new samples, wrong input."""

from __future__ import annotations

import numpy as np
import pytest
from kernreg_metric import FisherScore, conformal
from kernreg_metric.fisher import scatter_forms

import kernreg
from kernreg.errors import AsymmetryError, DataError, ParameterError


def blobs(n=45, seed=0, classes=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, 3)) + 1.2 * y[:, None], y


def scatter_traces(features, y):
    """tr S_b and tr S_w as sums over classes and samples."""
    mean = features.mean(axis=0)
    between = within = 0.0
    for c in np.unique(y):
        part = features[y == c]
        centre = part.mean(axis=0)
        between += len(part) * np.sum((centre - mean) ** 2)
        within += sum(np.sum((row - centre) ** 2) for row in part)
    return between, within


def test_the_quadratic_forms_are_traces_of_scatter_matrices():
    X, y = blobs()
    q = np.random.default_rng(1).normal(size=45)
    B, W = scatter_forms(X @ X.T, y)
    between, within = scatter_traces(q[:, None] * X, y)  # features of q(x) q(z) ⟨x, z⟩
    assert q @ B @ q == pytest.approx(between, rel=1e-12)
    assert q @ W @ q == pytest.approx(within, rel=1e-12)


@pytest.mark.parametrize("method", ["ascent", "eigen"])
def test_the_score_is_that_of_the_learned_kernel(method):
    X, y = blobs()
    known = np.where(np.arange(45) % 5 == 0, -1, y)
    labelled = known >= 0
    learner = FisherScore("rbf(sigma=3.0)", method=method).fit(X, known)
    K = learner.kernel_(X[labelled])
    values, vectors = np.linalg.eigh(K)
    between, within = scatter_traces(vectors * np.sqrt(np.maximum(values, 0.0)), y[labelled])
    assert learner.score_ == pytest.approx(between / within, rel=1e-8)
    assert learner.solver_report_.objective == learner.score_
    K0 = kernreg.make_kernel("rbf(sigma=3.0)")(X[labelled])
    values, vectors = np.linalg.eigh(K0)
    between, within = scatter_traces(vectors * np.sqrt(np.maximum(values, 0.0)), y[labelled])
    assert learner.initial_score_ == pytest.approx(between / within, rel=1e-8)
    assert learner.score_ > 1.05 * learner.initial_score_
    assert np.trace(K) == pytest.approx(np.trace(K0), rel=1e-10)


def test_eigen_has_the_largest_score_of_all():
    X, y = blobs()
    learner = FisherScore("rbf(sigma=3.0)", method="eigen", ridge=1e-12, n_cores=6).fit(X, y)
    K0 = kernreg.make_kernel("rbf(sigma=3.0)")(X)
    E = np.hstack([np.ones((45, 1)), K0[:, learner.cores_]])
    B, W = scatter_forms(K0, y)

    def score(alpha):
        q = E @ alpha
        return (q @ B @ q) / (q @ W @ q)

    assert score(learner.coefficients_) == pytest.approx(learner.score_, rel=1e-8)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 1e-1, 10.0):
        for _ in range(50):
            other = learner.coefficients_ + size * np.abs(learner.coefficients_).max() * rng.normal(size=7)
            assert score(other) <= learner.score_ * (1.0 + 1e-9)


def test_ascent_climbs_and_more_steps_climb_higher():
    X, y = blobs()
    scores = [FisherScore("rbf(sigma=3.0)", max_iter=steps).fit(X, y).score_ for steps in (1, 10, 100, 1000)]
    best = FisherScore("rbf(sigma=3.0)", method="eigen", ridge=1e-10).fit(X, y).score_
    assert "nearly vanishes" in FisherScore("rbf(sigma=3.0)", step=0.3).fit(X, y).solver_report_.note
    assert FisherScore("rbf(sigma=3.0)").fit(X, y).initial_score_ < scores[0] < scores[1] < scores[2] < scores[3] < best


def test_new_samples_are_in_the_same_formula():
    X, y = blobs()
    learner = FisherScore("rbf(sigma=2.0)", basis="laplacian(sigma=1.5)", n_cores=4).fit(X, y)
    new = blobs(6, seed=7)[0]
    k0, k1 = kernreg.make_kernel("rbf(sigma=2.0)"), kernreg.make_kernel("laplacian(sigma=1.5)")
    q = [
        learner.coefficients_[0]
        + sum(a * k1.scalar(x, X[c]) for a, c in zip(learner.coefficients_[1:], learner.cores_, strict=True))
        for x in new
    ]
    expected = [[q[i] * q[j] * k0.scalar(new[i], new[j]) for j in range(6)] for i in range(6)]
    np.testing.assert_allclose(learner.kernel_(new), expected, rtol=1e-10)
    assert learner.kernel_.definite


def test_cores_are_labelled_samples():
    X, y = blobs()
    known = np.where(np.arange(45) < 15, -1, y)
    learner = FisherScore(n_cores=0.5).fit(X, known)
    assert len(learner.cores_) == 15
    assert learner.cores_.min() >= 15
    assert len(FisherScore(n_cores=1.0).fit(X, known).cores_) == 30
    assert len(FisherScore(n_cores=1).fit(X, known).cores_) == 1


@pytest.mark.parametrize(
    ("parameters", "error", "said"),
    [
        ({"n_cores": 46}, DataError, "there are 45 labelled samples"),
        ({"n_cores": 0}, ParameterError, "n_cores=0"),
        ({"n_cores": 1.5}, ParameterError, "n_cores=1.5"),
        ({"method": "newton"}, ParameterError, "give 'ascent' or 'eigen'"),
        ({"step": 0.0}, ParameterError, "step=0.0"),
        ({"ridge": -1.0}, ParameterError, "ridge=-1.0"),
        ({"max_iter": 0}, ParameterError, "max_iter=0"),
        ({"kernel": "sne(sigma=3.0)"}, AsymmetryError, "symmetrize"),
        ({"basis": 3}, ParameterError, "is not a kernel"),
    ],
)
def test_wrong_parameters_are_named(parameters, error, said):
    X, y = blobs()
    with pytest.raises(error) as raised:
        FisherScore(**parameters).fit(X, y)
    assert said in str(raised.value)


def test_classes_without_scatter_are_refused():
    with pytest.raises(DataError, match="scatter is zero"):
        FisherScore().fit([[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("y", "said"), [(np.full(45, -1), "no labels"), (np.ones(45), "one class"), (None, "requires y")]
)
def test_wrong_labels_are_named(y, said):
    with pytest.raises(DataError, match=said):
        FisherScore().fit(blobs()[0], y)


def test_wrong_coefficients_of_the_family_are_named():
    with pytest.raises(ParameterError, match="2 coefficients and 2 cores"):
        conformal("rbf", [[0.0], [1.0]], [1.0, 2.0])([[0.0]])
    with pytest.raises(ParameterError, match="a finite 1-D numeric array"):
        conformal("rbf", [[0.0]], [[1.0, 2.0]])
