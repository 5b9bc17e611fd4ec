"""Steps of block coordinate descent against dense formulas."""

from __future__ import annotations

import numpy as np
import pytest

from kernreg.errors import DataError
from kernreg.linalg.krylov import block_solves
from kernreg.linalg.krylov.block_solves import _by_nystrom, block_step

EPS32 = float(np.finfo(np.float32).eps)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    M = rng.normal(size=(10, 10)) * np.geomspace(3.0, 0.1, 10)
    return M @ M.T, rng.normal(size=(10, 2))


@pytest.mark.parametrize("rank", [None, 10, 11])
def test_a_whole_block_is_solved_exactly(problem, rank):
    K, g = problem
    expected = np.linalg.solve(K + 0.3 * np.eye(10), g)
    np.testing.assert_allclose(block_step(K.copy(), g, 0.3, rank, np.random.default_rng(0)), expected, rtol=1e-10)


@pytest.mark.parametrize(("below", "tenfolds"), [(0.5, 0), (5.0, 1), (50.0, 2)])
def test_a_shift_grows_tenfold_until_the_block_is_definite(below, tenfolds):
    """The lowest eigenvalue is so many times 1/γ below zero."""
    rng, kappa = np.random.default_rng(1), 1e-6
    Q, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    K = (Q * np.array([1.0, 0.8, 1.2, 0.9, 1.1, -below * kappa])) @ Q.T
    shift = kappa
    for _ in range(tenfolds):
        shift = 10.0 * max(shift, EPS32 * K.diagonal().mean())
    assert shift > below * kappa
    g = rng.normal(size=(6, 1))
    found = block_step(K.copy(), g, kappa, None, rng)
    np.testing.assert_allclose(found, np.linalg.solve(K + shift * np.eye(6), g), rtol=1e-6)


def test_a_shift_begins_at_rounding_errors_of_single_precision_where_kappa_is_less():
    K = np.diag([2.0, 2.0, 2.0, -1e-7])
    shift = 10.0 * EPS32 * K.diagonal().mean()
    found = block_step(K.copy(), np.ones((4, 1)), 1e-12, None, np.random.default_rng(0))
    np.testing.assert_allclose(found[:, 0], 1.0 / (K.diagonal() + shift), rtol=1e-8)


@pytest.mark.parametrize(("kappa", "lowest", "fine"), [(1e-5, 0.9e-3, True), (1e-5, 1.1e-3, False), (0.1, 9.0, True)])
def test_what_takes_more_than_a_thousandth_and_a_hundred_kappa_is_refused(kappa, lowest, fine):
    K = np.diag([1.0, 1.0, 1.0, 1.0])
    K[:2, :2] = [[1.0, 1.0 + lowest], [1.0 + lowest, 1.0]]
    if fine:
        assert np.isfinite(block_step(K, np.ones((4, 1)), kappa, None, np.random.default_rng(0))).all()
    else:
        with pytest.raises(DataError, match="positive definite"):
            block_step(K, np.ones((4, 1)), kappa, None, np.random.default_rng(0))


@pytest.mark.parametrize("rank", [3, 6])
@pytest.mark.parametrize("kappa", [0.02, 5.0])
def test_a_step_of_low_rank_is_that_of_its_definition(monkeypatch, problem, rank, kappa):
    K, g = problem
    monkeypatch.setattr(block_solves, "_POWER_STEPS", 400)  # the largest eigenvalue, exactly
    found = _by_nystrom(K, g, kappa, rank, np.random.default_rng(7))
    test = np.linalg.qr(np.random.default_rng(7).normal(size=(10, rank)))[0]
    picture = K @ test @ np.linalg.inv(test.T @ K @ test) @ test.T @ K
    values = np.sort(np.linalg.eigvalsh(picture))[-rank:]
    dense = picture + (kappa + values[0]) * np.eye(10)  # as large as the smallest eigenvalue of the picture
    largest = np.linalg.eigvals(np.linalg.solve(dense, K + kappa * np.eye(10))).real.max()
    np.testing.assert_allclose(found, np.linalg.solve(dense, g) / max(largest, 1.0), rtol=1e-6)


def test_a_picture_that_holds_all_there_is_leaves_only_kappa():
    rng = np.random.default_rng(0)
    M, g = rng.normal(size=(10, 2)), rng.normal(size=(10, 1))
    found = _by_nystrom(M @ M.T, g, 0.5, 5, rng)
    np.testing.assert_allclose(found, np.linalg.solve(M @ M.T + 0.5 * np.eye(10), g), rtol=1e-6)
    np.testing.assert_allclose(_by_nystrom(np.zeros((10, 10)), g, 0.5, 5, rng), 2.0 * g)
