"""Scores of landmarks against dense formulas, and choices by them against the probabilities they are meant to have."""

from __future__ import annotations

import numpy as np
import pytest

import kernreg as kr
from kernreg.errors import DataError, ParameterError
from kernreg.kernels.builtin import linear, rbf, tl1
from kernreg.linalg.landmarks import selection
from kernreg.linalg.landmarks.lowrank_systems import SymmetricLowRank
from kernreg.linalg.landmarks.selection import default_landmarks, leverage_of_both, select_landmarks
from kernreg.linalg.randomness import generator
from kernreg.linalg.system_inputs import require_positive, targets_and_weights

rng = np.random.default_rng(5)
X = rng.normal(size=(40, 3))


class Told:
    """A generator whose choices are the first ones, and which keeps what it was asked."""

    def __init__(self):
        self.asked = []

    def choice(self, a, size, replace=True, p=None):
        self.asked.append((a, size, replace, p))
        return (np.arange(a) if np.ndim(a) == 0 else a)[:size]


def naive_ridge_scores(B, rank):
    B = B - B.mean(axis=0)
    gram = B.T @ B
    ridge = np.sort(np.linalg.eigvalsh(gram))[::-1][min(rank, len(gram)) - 1]
    return np.diag(B @ np.linalg.inv(gram + max(ridge, 1e-10 * np.linalg.norm(gram, 2)) * np.eye(len(gram))) @ B.T)


@pytest.mark.parametrize("rank", [1, 2, 5, 9])
def test_ridge_scores_are_those_of_the_formula(rank):
    B = rng.normal(size=(30, 5)) @ np.diag([5.0, 3.0, 2.0, 1.0, 0.5]) + 4.0
    np.testing.assert_allclose(selection._ridge_scores(B, rank), naive_ridge_scores(B, rank), rtol=1e-8)
    assert selection._ridge_scores(np.ones((4, 2)), rank).tolist() == [1.0] * 4


def test_the_ridge_is_no_less_than_rounding_errors_of_the_largest_eigenvalue():
    """Of two directions, the second is as large as the ridge: half of what it explains counts."""
    U = np.linalg.qr(np.column_stack([np.ones(12), rng.normal(size=(12, 2))]))[0][:, 1:]
    B = U * [1.0, 1e-5] @ np.linalg.qr(rng.normal(size=(4, 2)))[0].T
    expected = U[:, 0] ** 2 + 0.5 * U[:, 1] ** 2
    np.testing.assert_allclose(selection._ridge_scores(B, 3), expected, rtol=1e-4)
    np.testing.assert_allclose(selection._ridge_scores(B, 9), expected, rtol=1e-4)


def naive_leverage(K, chosen, symmetric):
    """Scores of all rows from the columns of pilots: of the part they explain, and of what they miss."""
    C, W = K[:, chosen], K[np.ix_(chosen, chosen)]
    if symmetric:
        values, vectors = np.linalg.eigh(W)
    else:
        _, values, right = np.linalg.svd(W)
        vectors = right.T
    F = C @ vectors / np.sqrt(np.abs(values))
    gram = F.T @ F
    ridge = np.median(np.linalg.eigvalsh(gram))
    scores = np.diag(F @ np.linalg.inv(gram + ridge * np.eye(len(gram))) @ F.T)
    if symmetric:
        scores = scores + np.abs(K.diagonal() - (F * F) @ np.sign(values)) / ridge
    return np.minimum(scores, 1.0)


@pytest.mark.parametrize("kernel", [rbf(sigma=1.0), tl1(rho=2.8)])
@pytest.mark.parametrize("pilots", [4, 7])
def test_leverage_scores_are_those_of_the_formula(kernel, pilots):
    found = selection._leverage(kernel, X, None, pilots, Told())
    expected = naive_leverage(kernel(X), np.arange(pilots), True)
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    assert (expected < 1.0).any()
    Z = X + 0.3 * X[::-1]
    between = selection._leverage(kernel, X, Z, pilots, Told())
    np.testing.assert_allclose(between, naive_leverage(kernel(X, Z), np.arange(pilots), False), rtol=1e-7)


def test_a_kernel_of_zeros_has_equal_scores():
    assert selection._leverage(linear(), 0.0 * X, None, 4, Told()).tolist() == [1.0] * 40


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([1.0, 3.0], [0.9 * 0.25 + 0.05, 0.9 * 0.75 + 0.05]),
        ([0.0, 2.0, 0.0, 0.0], [0.025, 0.925, 0.025, 0.025]),
        ([0.0, 0.0], [0.5, 0.5]),
    ],
)
def test_a_tenth_of_a_mixed_choice_is_uniform(scores, expected):
    told = Told()
    assert selection._mixed_choice(np.array(scores), 2, told).tolist() == [0, 1]
    ((n, size, replace, p),) = told.asked
    assert (n, size, replace) == (len(scores), 2, False)
    np.testing.assert_allclose(p, expected)


@pytest.mark.parametrize(("scores", "expected"), [([1.0, 3.0], [0.25, 0.75]), ([0.0, 0.0], [0.5, 0.5])])
def test_a_weighted_choice_follows_the_scores(scores, expected):
    told = Told()
    selection._weighted_choice(np.array(scores), 1, told)
    ((n, size, replace, p),) = told.asked
    assert (n, size, replace) == (2, 1, False)
    np.testing.assert_allclose(p, expected)


def test_a_score_of_zero_can_be_chosen_where_others_are_too_few():
    assert len(selection._weighted_choice(np.array([1.0, 0.0, 0.0]), 3, np.random.default_rng(0))) == 3


@pytest.mark.parametrize(
    ("n", "p", "method", "size"),
    [
        (100, 3, "leverage", 50),
        (50, 3, "leverage", 50),
        (100, 7, "leverage", 70),
        (100, 1, "entropy", 5),
        (100, 3, "entropy", 12),
        (4, 1, "entropy", 4),
    ],
)
def test_candidates_are_as_many_as_the_method_takes(monkeypatch, n, p, method, size):
    monkeypatch.setattr(selection, "_POOL", 50)
    pool = selection._pool(n, p, method, np.random.default_rng(0))
    assert len(pool) == len(np.unique(pool)) == size
    assert np.all(np.diff(pool) > 0)
    if size == n:
        told = Told()
        assert selection._pool(n, p, method, told).tolist() == list(range(n))
        assert not told.asked


@pytest.mark.parametrize(("n_landmarks", "pilots"), [(10, 100), (220, 110)])
def test_leverage_takes_a_hundred_pilots_or_half_of_the_landmarks(monkeypatch, n_landmarks, pilots):
    seen = []

    def leverage(kernel, X, Z, pilots, rng):
        seen.append(pilots)
        return np.ones(len(X))

    monkeypatch.setattr(selection, "_leverage", leverage)
    samples = rng.normal(size=(300, 2))
    select_landmarks(rbf(sigma=1.0), samples, n_landmarks, "leverage", random_state=0)
    select_landmarks(rbf(sigma=1.0), X, 5, "leverage", random_state=0)
    assert seen == [pilots, 40]  # no more than there are


@pytest.mark.parametrize("copies", [2, 5])
def test_fewer_different_samples_than_landmarks_are_filled_up(copies):
    samples = np.repeat([[0.0], [1.0], [2.0]], copies, axis=0)
    chosen = selection._plus_plus(rbf(sigma=1.0), samples, 5, np.random.default_rng(0))
    assert len(chosen) == len(np.unique(chosen)) == 5
    assert set(samples[chosen].ravel().tolist()) == {0.0, 1.0, 2.0}


def test_by_default_landmarks_are_bounded_by_samples_operations_and_memory(monkeypatch):
    monkeypatch.setattr(selection, "_FEWEST", 10)
    n = 400
    root = int(np.sqrt(n) * np.log(n))
    monkeypatch.setattr(selection, "_MOST", 1000)
    with kr.config_context(memory="1GB"):
        assert default_landmarks(n) == root == 119
        monkeypatch.setattr(selection, "_MOST", 50)
        assert default_landmarks(n) == 50
        monkeypatch.setattr(selection, "_OPERATIONS", 3.0 * n * 30**2)
        assert default_landmarks(n, 3.0) == default_landmarks(n) == 30
        assert default_landmarks(n, 12.0) == 15
        assert default_landmarks(n, 3000.0) == 10
        assert default_landmarks(7) == 7
        assert default_landmarks(1) == default_landmarks(1, 1e9) == 1
    with kr.config_context(memory=8 * 8 * 20**2):
        assert default_landmarks(n) == default_landmarks(n, matrices=8) == 20
        assert default_landmarks(n, matrices=32) == 10
    with kr.config_context(memory=1):
        assert default_landmarks(n) == 1


def test_rows_and_columns_by_one_another(monkeypatch):
    monkeypatch.setattr(selection, "_FEWEST_PILOTS", 4)
    G, asked = rng.normal(size=(30, 20)), []

    def block(rows, columns):
        asked.append((len(rows), len(columns)))
        return G[np.ix_(rows, columns)]

    rows, columns = leverage_of_both(block, G.shape, (9, 7), 1, random_state=0)
    assert (len(np.unique(rows)), len(np.unique(columns))) == (9, 7)
    assert np.all(np.diff(rows) > 0)
    assert np.all(np.diff(columns) > 0)
    assert asked == [(30, 4), (4, 20), (30, 4), (4, 20)]
    del asked[:]
    leverage_of_both(block, G.shape, (9, 7), 2, random_state=0)
    assert asked == [(30, 7), (8, 20), (30, 7), (8, 20)]  # four pilots for each direction, no more than wanted


def test_how_many_landmarks_are_accepted():
    for n in (1, 40):
        assert len(select_landmarks(rbf(sigma=1.0), X, n, "uniform", random_state=0).indices) == n
    for n in (0, 41, None):
        with pytest.raises(ParameterError, match="from 1 to 40"):
            select_landmarks(rbf(sigma=1.0), X, n)
    assert select_landmarks(rbf(sigma=1.0), X, None, [39, 0]).indices.tolist() == [0, 39]
    assert select_landmarks(rbf(sigma=1.0), X, 2, [39, 0]).indices.dtype == np.intp
    for wrong in ([40], [-1, 3], [1, 1], [[1]], [], [1.0]):
        with pytest.raises(ParameterError, match="landmark"):
            select_landmarks(rbf(sigma=1.0), X, None, wrong)
    with pytest.raises(ParameterError, match="n_landmarks=3, and 2"):
        select_landmarks(rbf(sigma=1.0), X, 3, [0, 1])


@pytest.mark.parametrize(
    ("room", "sizes"), [(1, [1, 1, 1, 1, 1]), (2, [2, 2, 1]), (4, [4, 1]), (100, [5]), (0, [1] * 5)]
)
def test_residuals_of_as_many_gamma_as_fit_are_held_together(monkeypatch, room, sizes):
    Y = rng.normal(size=(40, 2))
    problem = SymmetricLowRank(rbf(sigma=1.0), X, Y, n_landmarks=10, random_state=0)
    seen, original = [], SymmetricLowRank._at
    monkeypatch.setattr(
        SymmetricLowRank, "_at", lambda self, gammas, **more: seen.append(len(gammas)) or original(self, gammas, **more)
    )
    with kr.config_context(memory=64 * Y.size * room + 1):
        assert len(list(problem.path([0.1, 0.2, 0.3, 0.4, 0.5]))) == 5
    assert seen == sizes


# What systems take -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.inf, np.nan])
def test_gamma_is_positive_and_finite(gamma):
    with pytest.raises(ParameterError, match="finite number above zero"):
        require_positive(gamma)
    require_positive(1e-300)


def test_targets_are_columns_and_weights_positive():
    Y, weights = targets_and_weights(3, [1, 2, 3], [1, 2, 3])
    assert (Y.shape, Y.dtype, weights.dtype) == ((3, 1), np.float64, np.float64)
    assert targets_and_weights(3, np.ones((3, 2)), None)[0].shape == (3, 2)
    assert targets_and_weights(3, [1, 2, 3], None)[1] is None
    for wrong in (np.ones(2), np.ones((3, 1, 1)), 1.0, [1.0, np.nan, 2.0], [1.0, np.inf, 2.0]):
        with pytest.raises(DataError, match="targets"):
            targets_and_weights(3, wrong, None)
    for wrong in ([1.0, 1.0], [1.0, 0.0, 1.0], [1.0, -1.0, 1.0], [1.0, np.inf, 1.0], [[1.0, 1.0, 1.0]]):
        with pytest.raises(DataError, match="weights must be 3 positive"):
            targets_and_weights(3, np.ones(3), wrong)


def test_random_states_are_repeatable_and_wrong_ones_refused():
    assert generator(3).integers(1 << 30) == generator(3).integers(1 << 30)
    once = generator(np.random.RandomState(3)).integers(1 << 30)
    assert once == generator(np.random.RandomState(3)).integers(1 << 30)
    mine = np.random.default_rng(0)
    assert generator(mine) is mine
    for wrong in (-1, "seed", 1.5):
        with pytest.raises(ParameterError, match="non-negative integer"):
            generator(wrong)
