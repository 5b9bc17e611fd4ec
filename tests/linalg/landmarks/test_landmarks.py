"""Landmarks: how many, which, repeatable, and better than chance where they claim to be."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg.errors import ParameterError
from kernreg.jit import exp
from kernreg.kernels import kernel
from kernreg.kernels.builtin import rbf, sne, tl1
from kernreg.kernels.indexed import precomputed
from kernreg.linalg.landmarks import selection
from kernreg.linalg.landmarks.selection import METHODS, choose_landmarks, default_landmarks

KERNEL = rbf(sigma=1.0)


@pytest.fixture(scope="module")
def samples():
    """Many samples in one place, few in nine others: a uniform choice sees little of the latter."""
    rng = np.random.default_rng(0)
    centres = np.vstack([np.zeros((1, 3)), rng.normal(size=(9, 3)) * 12])
    sizes = [400, *[8] * 9]
    return np.vstack([c + 0.3 * rng.normal(size=(n, 3)) for c, n in zip(centres, sizes, strict=True)])


@pytest.mark.parametrize("method", METHODS)
def test_indices_are_different_ascending_and_repeatable(samples, method):
    chosen = choose_landmarks(KERNEL, samples, 30, method, random_state=4)
    assert chosen.shape == (30,)
    assert (np.diff(chosen) > 0).all()
    assert 0 <= chosen[0] < chosen[-1] < len(samples)
    assert np.array_equal(chosen, choose_landmarks(KERNEL, samples, 30, method, random_state=4))


@pytest.mark.parametrize("method", ["uniform", "kmeans++", "leverage", "rpcholesky"])
def test_another_seed_gives_other_landmarks(samples, method):
    first, second = (choose_landmarks(KERNEL, samples, 30, method, random_state=s) for s in (0, 1))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("method", METHODS)
def test_all_samples_can_be_landmarks(samples, method):
    assert np.array_equal(choose_landmarks(KERNEL, samples[:50], 50, method, random_state=0), np.arange(50))


def typical(samples, method, measure, p=40):
    return np.median([measure(choose_landmarks(KERNEL, samples, p, method, random_state=seed)) for seed in range(5)])


@pytest.mark.parametrize("method", ["kmeans++", "entropy", "leverage", "rpcholesky"])
def test_methods_that_look_at_the_samples_see_more_of_the_small_clusters(samples, method):
    cluster = np.repeat(np.arange(10), [400, *[8] * 9])

    def seen(chosen):
        return len(np.unique(cluster[chosen]))

    assert typical(samples, "uniform", seen) <= 7
    assert typical(samples, method, seen) >= 9


@pytest.mark.parametrize("method", ["kmeans++", "leverage", "rpcholesky"])
def test_nystrom_error_is_below_that_of_a_uniform_choice(samples, method):
    K = KERNEL(samples)

    def error(chosen):
        C = K[:, chosen]
        return np.trace(K - C @ np.linalg.pinv(C[chosen], rcond=1e-12) @ C.T)

    assert typical(samples, method, error) < 0.7 * typical(samples, "uniform", error)


def test_entropy_of_the_choice_is_not_below_that_of_random_subsets(samples):
    chosen = choose_landmarks(KERNEL, samples, 25, "entropy", random_state=0)
    rng = np.random.default_rng(1)

    def information_potential(subset):
        return KERNEL(samples[subset]).sum()

    rivals = [information_potential(rng.choice(len(samples), 25, replace=False)) for _ in range(200)]
    assert information_potential(chosen) <= min(rivals)


def test_swaps_are_bounded(samples, monkeypatch):
    many = choose_landmarks(KERNEL, samples, 25, "entropy", random_state=0)
    monkeypatch.setattr(selection, "_SWAPS", 0)
    few = choose_landmarks(KERNEL, samples, 25, "entropy", random_state=0)
    assert not np.array_equal(few, many)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel", [sne(sigma=1.0), tl1(rho=2.0)], ids=["asymmetric", "indefinite"])
def test_any_kernel(samples, kernel, method):
    assert len(choose_landmarks(kernel, samples, 15, method, random_state=0)) == 15


@pytest.mark.parametrize("method", METHODS)
def test_sparse_samples(samples, method):
    dense = choose_landmarks(KERNEL, samples, 15, method, random_state=0)
    assert np.array_equal(dense, choose_landmarks(KERNEL, sp.csr_array(samples), 15, method, random_state=0))


def test_a_pool_bounds_the_candidates(samples, monkeypatch):
    monkeypatch.setattr(selection, "_POOL", 30)
    chosen = choose_landmarks(KERNEL, samples, 30, "leverage", random_state=0)
    assert len(chosen) == 30


@pytest.mark.parametrize(("method", "size"), [("entropy", 2000), ("leverage", 20_000)])
def test_a_pool_is_smaller_where_its_kernel_matrix_is_held(method, size):
    pool = selection._pool(50_000, 10, method, np.random.default_rng(0))
    assert len(np.unique(pool)) == size
    assert len(selection._pool(50_000, 1000, method, np.random.default_rng(0))) == max(size, 4000)
    assert np.array_equal(selection._pool(1500, 10, method, np.random.default_rng(0)), np.arange(1500))


def test_the_choice_by_entropy_is_that_of_the_steepest_swaps():
    """By brute force: the member without which the sum is smallest goes, then the best candidate comes."""
    K = np.random.default_rng(1).random((30, 30))
    chosen = set(np.linspace(0, 29, 7).astype(int).tolist())

    def total(rows):
        return K[np.ix_(sorted(rows), sorted(rows))].sum()

    while True:
        rest = min((chosen - {out} for out in chosen), key=total)
        swapped = min((rest | {new} for new in set(range(30)) - chosen), key=total)
        if not total(swapped) < total(chosen):
            break
        chosen = swapped
    assert selection._entropy(K, 7).tolist() == sorted(chosen)


def test_duplicated_samples_do_not_end_the_choice():
    X = np.zeros((50, 2))
    for method in METHODS:
        chosen = choose_landmarks(KERNEL, X, 10, method, random_state=0)
        assert len(np.unique(chosen)) == 10


def test_index_kernels_have_no_features_for_kmeans():
    K = np.random.default_rng(0).normal(size=(30, 30))
    kernel, X = precomputed(K=K), np.arange(30)
    assert len(choose_landmarks(kernel, X, 5, "leverage", random_state=0)) == 5
    with pytest.raises(ParameterError, match="needs features"):
        choose_landmarks(kernel, X, 5, "kmeans++", random_state=0)


def test_given_indices_are_taken(samples):
    assert choose_landmarks(KERNEL, samples, method=[7, 3, 5]).tolist() == [3, 5, 7]


@pytest.mark.parametrize("wrong", [[0, 0], [-1, 2], [0, 1000], [0.5, 1.0], [[0, 1]], []])
def test_wrong_indices_are_refused(samples, wrong):
    with pytest.raises(ParameterError, match="indices"):
        choose_landmarks(KERNEL, samples, method=wrong)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_landmarks": 0}, "from 1 to"),
        ({"n_landmarks": 100_000}, "from 1 to"),
        ({}, "from 1 to"),
        ({"n_landmarks": 3, "method": "best"}, "'entropy'"),
        ({"n_landmarks": 3, "method": [1, 2]}, "give only one of the two"),
        ({"n_landmarks": 3, "random_state": "seed"}, "random_state"),
    ],
)
def test_errors_say_what_is_accepted(samples, arguments, message):
    with pytest.raises(ParameterError, match=message):
        choose_landmarks(KERNEL, samples, **arguments)


def test_a_choice_by_scores_does_not_depend_on_their_unit():
    scores = np.random.default_rng(0).gamma(0.1, size=200)
    chosen = [selection._weighted_choice(unit * scores, 20, np.random.default_rng(1)) for unit in (1.0, 1e-9, 1e9)]
    assert np.array_equal(chosen[0], chosen[1])
    assert np.array_equal(chosen[0], chosen[2])
    assert scores[chosen[0]].mean() > 2.0 * scores.mean()
    assert len(set(selection._weighted_choice(np.zeros(200), 20, np.random.default_rng(1)))) == 20


def test_random_state_of_scikit_learn(samples):
    first, second = (choose_landmarks(KERNEL, samples, 9, random_state=np.random.RandomState(3)) for _ in range(2))
    assert np.array_equal(first, second)


def test_leverage_between_two_sample_sets_takes_no_kernel_for_symmetric(samples):
    # K(X, Z) of a symmetric kernel is not symmetric: the scores are those of the same function, not declared so.
    @kernel(of="sqeuclidean", symmetric=False)
    def undeclared(d2, sigma=1.0):
        """exp(-|x - y|² / sigma²)."""
        return exp(-d2 / sigma / sigma)

    Z = samples[::-1] + 0.5
    chosen, same = (
        choose_landmarks(k, samples, 30, "leverage", Z=Z, random_state=0)
        for k in (rbf(sigma=2.0), undeclared(sigma=2.0))
    )
    assert np.array_equal(chosen, same)


def test_default_landmarks_grow_with_samples_within_operations_and_memory():
    with kr.config_context(memory="8GB"):
        assert [default_landmarks(n) for n in (10, 500, 3000, 20_000, 50_000)] == [10, 500, 500, 1400, 2419]
        assert 2500 <= default_landmarks(200_000) <= 5000
        assert default_landmarks(200_000, 5) < default_landmarks(200_000)
        for n in (10**6, 10**7):
            assert 3 * n * default_landmarks(n) ** 2 <= max(5e12, 3 * n * 500**2)
    with kr.config_context(memory="6.4MB"):
        assert default_landmarks(200_000) == 316
