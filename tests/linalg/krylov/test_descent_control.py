"""What guides block coordinate descent: momentum, estimates, and when it measures, starts anew and ends."""

from __future__ import annotations

import numpy as np
import pytest

import kernreg as kr
from kernreg.kernels.builtin import rbf
from kernreg.linalg.krylov import block_descent
from kernreg.linalg.krylov.block_descent import BlockSettings, _better, _Descent, _iterate, _one_pass
from kernreg.linalg.krylov.centred_operator import CentredOperator

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
KERNEL = rbf(sigma=1.0)


def descent(weights=None, kappa=0.1, **settings):
    return _Descent(KERNEL, X, Y, CentredOperator(KERNEL.operator(X), weights), kappa, BlockSettings(**settings))


@pytest.mark.parametrize(("asked", "block", "steps"), [(7, 7, 3), (5, 5, 4), (20, 20, 1), (99, 20, 1), (1, 1, 20)])
def test_blocks_are_a_partition_filled_up_from_its_beginning(asked, block, steps):
    made = descent(block=asked)
    assert (made.block, made.steps) == (block, steps)
    parts = made.blocks()
    assert [len(np.unique(part)) for part in parts[:-1]] == [block] * (steps - 1)
    assert len(parts) == steps
    assert all((np.diff(part) >= 0).all() and len(part) == block for part in parts)
    assert np.unique(np.concatenate(parts)).tolist() == list(range(20))
    if steps > 1:
        again = np.setdiff1d(parts[-1], np.setdiff1d(np.arange(20), np.concatenate(parts[:-1])))
        assert len(again) == steps * block - 20
        assert set(again) <= set(parts[0])


def test_by_default_a_block_has_ten_roots_of_samples_and_fits_an_eighth_of_the_budget():
    samples = rng.normal(size=(400, 2))
    centred = CentredOperator(KERNEL.operator(samples))

    def block(memory):
        with kr.config_context(memory=memory):
            return _Descent(KERNEL, samples, np.zeros((400, 1)), centred, 0.1, BlockSettings()).block

    assert block("1GB") == 200
    assert block(8 * 8 * 50**2) == 50
    assert block(1) == 1


@pytest.mark.parametrize(
    ("before", "now", "factor"),
    [
        (1.0, np.exp(-2 * 0.49 * 0.5), 0.25),  # a little less than half of the rate that μ promises
        (1.0, np.exp(-2 * 0.51 * 0.5), 1.0),
        (1.0, 1.0, 0.25),
        (1.0, 1.0 + 1e-9, 4.0),
        (1.0, 5.0, 4.0),
        (0.0, 0.0, 0.25),
    ],
)
def test_momentum_follows_the_rate_of_the_residual(before, now, factor):
    made = descent(block=5)
    made._mu, made.Z = 0.0625, made.Z + 1.0  # √(μν) is ½
    made.follow(before, now)
    assert made._mu == 0.0625 * factor
    assert np.array_equal(made._V, made.Z) == (factor > 1.0)  # forgotten where the residual grows
    made._mu = 0.2
    made.follow(1.0, 2.0)
    assert made._mu == 0.25  # no more than 1/ν, which is none


def test_a_new_start_forgets_the_momentum():
    made, Z = descent(block=5), rng.normal(size=(20, 3))
    assert made._mu == 0.25
    made._mu = 0.01
    made.restart(Z)
    assert np.array_equal(made.Z, Z)
    assert np.array_equal(made._V, Z)
    assert made._mu == 0.25
    assert made.Z is not Z
    assert made._V is not made.Z


@pytest.mark.parametrize("weights", [None, rng.uniform(0.3, 2.0, 20)])
def test_estimates_and_measurements_are_those_of_the_definition(weights):
    made = descent(weights, block=5)
    assert made.estimate == 1.0
    made.Z = rng.normal(size=(20, 3))
    root = np.ones(20) if weights is None else np.sqrt(weights)
    border = root / np.linalg.norm(root)
    K, P = root[:, None] * KERNEL(X) * root, np.eye(20) - np.outer(border, border)
    b = (border @ made.Z[:, :2]) / (border @ made.Z[:, 2])
    np.testing.assert_allclose(made.intercept(made.Z), b)
    A = made.Z[:, :2] - made.Z[:, 2:] * b
    np.testing.assert_allclose(made.combined(made.Z), A, atol=1e-12)
    np.testing.assert_allclose(border @ A, 0.0, atol=1e-12)
    full = root[:, None] * Y - K @ A - 0.1 * A
    sizes = np.linalg.norm(P @ (root[:, None] * Y), axis=0)
    solution, intercept, residual = made.measure(made.Z)
    np.testing.assert_allclose(solution, A, atol=1e-12)
    np.testing.assert_allclose(intercept, border @ full / np.linalg.norm(root), rtol=1e-10)
    assert residual == pytest.approx((np.linalg.norm(P @ full, axis=0) / sizes).max(), rel=1e-10)
    squares = []
    for B in made.blocks():  # what a step sees before it is taken
        g = (K @ made.Z + 0.1 * made.Z - root[:, None] * np.column_stack([Y, np.ones(20)]))[B]
        now = (border @ made.Z[:, :2]) / (border @ made.Z[:, 2])
        squares.append(((g[:, :2] - g[:, 2:] * now) ** 2).sum(axis=0))
        made.step(B)
    assert made.estimate == pytest.approx((np.sqrt(4.0 * np.mean(squares, axis=0)) / sizes).max(), rel=1e-10)


def test_without_solutions_there_is_no_intercept():
    assert descent().intercept(np.zeros((20, 3))).tolist() == [0.0, 0.0]


class Told:
    """A descent whose estimates, and what is measured then, are given for each pass."""

    def __init__(self, estimates, measured=None):
        self.estimates, self.results = list(estimates), list(estimates if measured is None else measured)
        self.Z, self.done, self.calls = "start", 0, []

    def blocks(self):
        return [0]

    def step(self, B):
        self.done += 1
        self.Z = f"after {self.done}"

    @property
    def estimate(self):
        return self.estimates[self.done - 1] if self.done else 1.0

    def measure(self, Z):
        self.calls.append(("measure", Z))
        return Z, None, self.results[int(Z.split()[1]) - 1] if Z != "start" else 1.0

    def restart(self, Z):
        self.calls.append(("restart", Z))

    def follow(self, before, now):
        self.calls.append(("follow", before, now))


class Clock:
    """Time that runs out after so many questions; a pass takes a second."""

    def __init__(self, seconds=None, questions=10**9):
        self.seconds, self.left, self.reserves = seconds, questions, []

    def lap(self):
        return 1.0

    def over(self, reserve=0.0):
        self.reserves.append(reserve)
        self.left -= 1
        return self.left < 0


def run(told, clock=None, **settings):
    return _iterate(told, BlockSettings(**({"tol": 1e-3, "max_iter": 100} | settings)), clock or Clock())


def test_an_estimate_within_the_tolerance_is_measured_and_ends_it():
    told = Told([0.5, 0.1, 1e-3, 1e-9])
    stop = run(told)
    assert told.calls == [("measure", "after 3")]
    assert (stop.passes, stop.estimate, stop.measured[2], stop.solution) == (3, 1e-3, 1e-3, "after 3")


def test_an_estimate_that_was_too_good_asks_for_half_of_it():
    told = Told([8e-4, 5e-4, 3.9e-4, 1e-4], measured=[2e-3, 9e9, 1.5e-3, 1e-4])
    stop = run(told)
    assert [call[1] for call in told.calls if call[0] == "measure"] == ["after 1", "after 3", "after 4"]
    assert (stop.passes, stop.measured[2]) == (4, 1e-4)


def test_the_rate_is_taken_from_windows_of_three_estimates():
    told = Told(np.geomspace(1.0, 0.1, 8))
    run(told, max_iter=8)
    follows = [call[1:] for call in told.calls if call[0] == "follow"]
    assert follows == [(told.estimates[0], told.estimates[2]), (told.estimates[3], told.estimates[5])]


@pytest.mark.parametrize(("runaway", "restarts"), [(999.0, 0), (1001.0, 1), (np.nan, 1), (np.inf, 1)])
def test_momentum_that_runs_away_starts_anew_from_the_best(runaway, restarts):
    told = Told([1.0, 0.5, runaway, 0.4])
    stop = run(told, max_iter=4)
    assert [call for call in told.calls if call[0] == "restart"] == [("restart", "after 2")] * restarts
    assert [call for call in told.calls if call[0] == "follow"] == ([] if restarts else [("follow", 1.0, runaway)])
    assert stop.passes == 4


def test_a_large_best_estimate_allows_more():
    told = Told([900.0, 5e5, 1e6])
    run(told, max_iter=3)
    assert [call[0] for call in told.calls].count("restart") == 1  # the third is more than a thousand times the first


def test_without_progress_it_ends(monkeypatch):
    monkeypatch.setattr(block_descent, "_PATIENCE", 4)
    assert run(Told([1.0, 0.5] + [0.496] * 50)).passes == 6  # less than a hundredth better is no progress
    assert run(Told([1.0, 0.5, 0.494] + [0.494] * 50)).passes == 7
    assert run(Told([1.0, 0.5] + [0.496] * 50), max_iter=3).passes == 3


@pytest.mark.parametrize(("last", "kept"), [(0.59, "after 3"), (0.61, "after 2")])
def test_the_last_iterate_is_kept_unless_the_best_was_twice_as_good(last, kept):
    told = Told([1.0, 0.3, last])
    stop = run(told, max_iter=3)
    assert stop.solution == kept
    assert stop.measured[0] == kept
    assert stop.estimate == 0.3


@pytest.mark.parametrize(("seconds", "measured"), [(None, True), (2.0, True), (1.9, False)])
def test_at_the_end_it_is_measured_where_a_pass_is_no_more_than_half_of_the_time(seconds, measured):
    told, clock = Told([1.0, 0.9, 0.8]), Clock(seconds, 2)
    stop = run(told, clock, max_seconds=seconds)
    assert stop.passes == 2
    assert (stop.measured is not None) == measured
    assert clock.reserves == [0.0, 1.0 if seconds == 2.0 else 0.0, 1.0 if seconds == 2.0 else 0.0]
    stopped = run(Told([1.0]), Clock(seconds, 0), max_seconds=seconds)
    assert stopped.passes == 0
    assert (stopped.measured is not None) == (seconds is None)


def test_passes_are_watched():
    seen = []
    run(Told([0.5, 0.25, 1e-3]), watch=lambda done, ratio: seen.append((done, ratio)))
    assert seen == [(1, 500.0), (2, 250.0), (3, 1.0)]


def test_a_pass_is_left_when_time_is_over():
    told = Told([1.0] * 9)
    told.blocks = lambda: [0, 1, 2]
    assert not _one_pass(told, Clock(10.0, 2), 3.0)
    assert told.done == 2
    assert _one_pass(told, Clock(10.0), 3.0)
    clock = Clock(10.0)
    _one_pass(told, clock, 5.0)
    _one_pass(told, clock, 5.1)  # a reserve of more than half of the time would leave none
    assert clock.reserves == [5.0] * 3 + [0.0] * 3


def test_the_smaller_residual_is_the_better():
    one, two, same = (0, 0, 1.0), (1, 0, 2.0), (2, 0, 1.0)
    assert _better(None, two) is two
    assert _better(one, two) is one
    assert _better(two, one) is one
    assert _better(one, same) is same
