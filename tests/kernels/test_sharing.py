"""Matrices shared between users: those of equal kernels and equal samples, and never those of others."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from kernreg.kernels import compose
from kernreg.kernels.builtin import linear, rbf
from kernreg.kernels.samples import SampleParts
from kernreg.kernels.sharing import current_store, digest, shared_matrices, unshared_matrices

COMPOSED = [compose("linear", np.tanh), rbf() + compose("linear", np.tanh)]


@pytest.mark.parametrize("k", COMPOSED, ids=repr)
def test_mapped_samples_are_told_apart_by_what_they_hold(k):
    # Sample sets come and go, and the memory of one is given to the next: addresses say nothing.
    rng = np.random.default_rng(0)
    with shared_matrices():
        for _ in range(200):
            X = rng.normal(size=(6, 3))
            assert np.array_equal(k(X), k._evaluate(k.check_samples(X), None, None, None))


@pytest.mark.parametrize("k", [*COMPOSED, linear()], ids=repr)
def test_equal_samples_share(k):
    X = np.random.default_rng(0).normal(size=(6, 3))
    with shared_matrices() as store:
        first, second = k(X), k(X.copy())
    assert (store.evaluated, store.reused) == (1, 1)
    assert np.array_equal(first, second)


def test_samples_that_hold_more_than_numbers_are_not_shared():
    class Words:
        shape = (2, 1)

    assert digest(Words()) is None
    assert digest(np.array([["a"], ["b"]], dtype=object)) is None
    assert digest(SampleParts((np.eye(2), np.array([[1.0], [2.0]], dtype=object)))) is None
    assert digest(sp.csc_array(np.eye(2))) is None  # a CSR array of the same three arrays would be another matrix


def test_fingerprints_see_values_shapes_types_and_parts():
    X = np.arange(6.0)
    sets = [
        X.reshape(2, 3),
        X.reshape(3, 2),
        X.reshape(2, 3).astype(np.float32),
        X.reshape(2, 3) + 1.0,
        sp.csr_array(X.reshape(2, 3)),
        SampleParts((X.reshape(2, 3),)),
        SampleParts((X.reshape(2, 3), X.reshape(2, 3))),
        np.arange(6),
    ]
    assert len({digest(samples) for samples in sets}) == len(sets)


def test_threads_may_share_a_store_that_drops_what_is_oldest(monkeypatch):
    from concurrent.futures import ThreadPoolExecutor
    from contextvars import copy_context

    from kernreg.kernels import sharing

    monkeypatch.setattr(sharing, "memory_budget", lambda: 4 * 8 * 40 * 40 * 5)  # five matrices
    samples = [np.random.default_rng(seed).normal(size=(40, 2)) for seed in range(60)]

    def work(number):
        return [rbf(sigma=1.0)(samples[(number + step) % 60]) for step in range(200)]

    with shared_matrices() as store, ThreadPoolExecutor(4) as pool:
        tasks = [pool.submit(copy_context().run, work, 15 * number) for number in range(4)]
        assert all(np.isfinite(K).all() for task in tasks for K in task.result())
    assert store.evaluated + store.reused == 800


def test_a_store_is_used_again_after_a_block_that_shares_nothing():
    with shared_matrices() as store:
        with unshared_matrices():
            assert current_store() is None
        assert current_store() is store
    assert current_store() is None
