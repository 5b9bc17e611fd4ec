"""Cross-validation from one decomposition is cross-validation by refits."""

from __future__ import annotations

import numpy as np
import pytest
from kernreg_papers.methods.fold_validation import make_folds, out_of_fold, quality, targets

from kernreg import make_kernel
from kernreg.solvers import LSSVC, AsKLSClassifier


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_decisions_are_those_of_refits(symmetric, n_classes):
    rng = np.random.default_rng(0)
    m, gammas = 45, np.array([0.05, 0.7])
    K = rng.normal(size=(m, m)) + 3.0 * np.eye(m)
    K = (K + K.T) / 2.0 if symmetric else K
    y = np.arange(m) % n_classes
    Y, folds = targets(y), make_folds(y, 5, 3)
    before = K.copy()
    found, excluded = out_of_fold(K, Y, gammas, folds, symmetric=symmetric)
    np.testing.assert_array_equal(K, before)
    assert not excluded.any()
    for gamma, decisions in zip(gammas, found, strict=True):
        expected = np.empty_like(Y)
        for fold in folds:
            rest = np.setdiff1d(np.arange(m), fold)
            solver = LSSVC if symmetric else AsKLSClassifier
            model = solver(kernel=make_kernel("precomputed", K=K), gamma=float(gamma)).fit(rest, y[rest])
            views = [model.decision_function(fold)] if symmetric else list(model.decision_views(fold).values())
            expected[fold] = np.mean([view.reshape(len(fold), -1) for view in views], axis=0)
        np.testing.assert_allclose(decisions, expected, rtol=1e-7, atol=1e-7)


def test_a_pole_is_told():
    K = np.diag([-1.0, -1.0, 2.0, 3.0, 2.5, 0.7])
    K -= K.mean(axis=0)
    K = K - K.mean(axis=1)[:, None]
    K = (K + K.T) / 2.0
    pole = -1.0 / np.linalg.eigvalsh(K)[0]
    Y = targets([0, 1, 0, 1, 0, 1])
    folds = [np.array([0, 1]), np.array([2, 3]), np.array([4, 5])]
    decisions, excluded = out_of_fold(K, Y, np.array([0.1, pole]), folds, symmetric=True)
    assert excluded.tolist() == [False, True]
    assert np.isnan(decisions).all(axis=(1, 2)).tolist() == [False, True]


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_pole_of_the_rest_alone_leaves_no_decision_of_its_fold(symmetric):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        m = [12, 30, 60][seed % 3]
        K = rng.normal(size=(m, m))
        K = (K + K.T) / 2.0 if symmetric else K
        y = np.arange(m) % 2
        folds = make_folds(y, 5, seed)
        rest = np.setdiff1d(np.arange(m), folds[0])
        J = np.eye(len(rest)) - 1.0 / len(rest)
        centred = J @ K[np.ix_(rest, rest)] @ J
        poles = -np.linalg.eigvalsh(centred) if symmetric else np.linalg.svd(centred, compute_uv=False)
        kappa = np.sort(poles[poles > 1e-3])[len(rest) // 4]
        decisions, excluded = out_of_fold(K, targets(y), 1.0 / np.array([kappa]), folds, symmetric=symmetric)
        assert not excluded.any()
        assert np.isnan(decisions[0, folds[0]]).all()
        assert np.isfinite(decisions[0, rest]).all()


def test_folds_hold_every_sample_once_and_no_more_than_the_smallest_class_allows():
    y = np.array([0] * 20 + [1] * 4)
    folds = make_folds(y, 10, 0)
    assert len(folds) == 4
    assert sorted(np.concatenate(folds).tolist()) == list(range(24))
    assert all(y[fold].sum() == 1 for fold in folds)


def test_quality_counts_signs_or_the_largest():
    assert quality(np.array([[0.5], [-2.0]]), np.array([[1.0], [1.0]])) == (0.5, -4.625)
    Y = targets([0, 1, 2])
    assert quality(Y, Y) == (1.0, 0.0)
    assert quality(np.full((3, 3), np.nan), Y) == (-np.inf, -np.inf)
