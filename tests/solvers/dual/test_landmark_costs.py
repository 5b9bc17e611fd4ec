"""How many landmarks there are, and which way to solve on them is counted to cost less."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import kernreg as kr
from kernreg.linalg.landmarks.selection import default_landmarks
from kernreg.solvers import LSSVR, AsKLSRegressor
from kernreg.solvers.dual import landmark_costs as costs
from kernreg.solvers.dual.strategy import Settings
from kernreg.solvers.dual.training import check_training_set

X = np.random.default_rng(0).normal(size=(50, 7))


def training_set(machine, samples=X):
    return check_training_set(machine, machine.resolve_kernel(), samples, X[:, 0], None)


def passes(machine, symmetric):
    return costs.landmark_passes(symmetric, training_set(machine), Settings.of(machine))


@pytest.mark.parametrize(
    ("gamma", "values"), [(1.0, 0), ("scale", 0), ([1.0], 1), ([1.0, 2.0, 3.0], 3), ("loo", costs._GAMMAS)]
)
def test_operations_for_each_pair_of_landmarks_grow_with_the_values_of_gamma_that_are_tried(gamma, values):
    definite, other = LSSVR("rbf(sigma=2.0)", gamma), LSSVR("tl1(rho=2.8)", gamma)
    asymmetric = AsKLSRegressor("rbf(sigma=2.0)", gamma)
    assert passes(definite, True) == (5 if values else 3)  # one pass serves every γ
    assert passes(other, True) == 3 + 4 * values
    assert passes(asymmetric, False) == 6 + 12 * values


def test_matrices_of_two_views_are_more():
    assert (costs.matrices_held(True), costs.matrices_held(False)) == (12, 33)


def test_landmarks_are_as_many_as_asked_for_given_or_affordable():
    def count(**params):
        return costs.landmark_count(900, 3.0, Settings.of(LSSVR(**params)), 12)

    assert count(n_landmarks=7) == 7
    assert count(n_landmarks=7, landmarks=np.arange(3)) == 7
    assert count(landmarks=np.arange(3)) == 3
    with kr.config_context(memory=1_000_000):
        assert count() == count(landmarks="uniform") == default_landmarks(900, 3.0, 12)
        assert count() != default_landmarks(900, 3.0, 48)


def operations(m, k, columns, value, symmetric, definite):
    """Return the operations of normal equations and of the sketched way, term by term as the module says."""
    sides = 1 if symmetric else 2
    eigenpairs = costs._DECOMPOSED * (k**3 + k**3 if symmetric else 2 * k**3 + (2 * k) ** 3)
    normal = sides * 3 * m * k * k + eigenpairs
    iterations = costs._ITERATIONS if definite else 2 * costs._ITERATIONS
    each_pass = m * k * (value + costs._COLUMN * columns)
    sketch = m * k * (4 * value + costs._SCATTER)
    one_side = (1 + iterations) * each_pass + sketch + costs._FACTORISED * k**3
    return normal, sides * one_side + (0.0 if definite else eigenpairs)


@pytest.mark.parametrize(("symmetric", "definite"), [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize(
    ("m", "columns", "value"), [(400_000, 7, 300.0), (1_000_000, 1, 160.0), (2_000_000, 60, 500.0)]
)
def test_the_sketched_way_is_taken_from_where_it_costs_less(m, columns, value, symmetric, definite):
    def is_less(k):
        normal, sketched = operations(m, k, columns, value, symmetric, definite)
        return sketched < normal

    turn = next(k for k in range(100, 100_000) if is_less(k))
    found = [costs.cheaper(m, k, columns, value, symmetric=symmetric, definite=definite) for k in (turn - 1, turn)]
    assert found == ["lowrank", "sketched"]
    if symmetric and definite:
        assert [costs.cheaper(m, k, columns, value) for k in (turn - 1, turn)] == found


def test_a_way_that_costs_the_same_is_not_preferred(monkeypatch):
    for name in ("_DECOMPOSED", "_FACTORISED", "_COLUMN", "_SCATTER"):
        monkeypatch.setattr(costs, name, 0.0)
    monkeypatch.setattr(costs, "_ITERATIONS", 1.0)
    assert costs.cheaper(10, 4, 1, 2.0) == "lowrank"  # 3 · 10 · 4² and 10 · 4 · (2 · 2 + 4 · 2)
    assert costs.cheaper(10, 5, 1, 2.0) == "sketched"


@pytest.mark.parametrize(
    ("machine", "samples", "symmetric", "features", "definite"),
    [
        (LSSVR("rbf(sigma=2.0)", 1.0), X, True, 7, True),
        (LSSVR("rbf(sigma=2.0)", 1.0), X[:, :1], True, 1, True),
        (AsKLSRegressor("rbf(sigma=2.0)", 1.0), X, False, 7, False),
        (AsKLSRegressor("rbf(sigma=2.0)", 1.0), (X[:, :4], X[:, 3:]), False, 4, False),
    ],
)
def test_what_is_counted_is_that_of_the_samples(monkeypatch, machine, samples, symmetric, features, definite):
    seen = []
    monkeypatch.setattr(costs, "cheaper", lambda *args, **more: seen.append((args, more)) or "lowrank")
    data, settings = training_set(machine, samples), Settings.of(machine.set_params(n_landmarks=10))
    costs.cheaper_on_landmarks(symmetric, data, X[:, :3], settings)
    value = costs._VALUE + features * costs._BY_BLAS
    assert seen == [((50, 10, 3, value), {"symmetric": symmetric, "definite": definite})]


@pytest.mark.parametrize("shapes", [((50, 2), (50, 9)), ((50, 9), (50, 2)), ((50,), (50, 9)), ((50, -9), (50,))])
def test_of_two_sides_the_one_with_more_features_counts(monkeypatch, shapes):
    seen = []
    monkeypatch.setattr(costs, "cheaper", lambda *args, **more: seen.append(args[3]))
    kernel = SimpleNamespace(family=SimpleNamespace(of="dot"), definite=None)
    data = SimpleNamespace(X=tuple(SimpleNamespace(shape=shape) for shape in shapes), kernel=kernel)
    costs.cheaper_on_landmarks(False, data, X[:, :1], Settings.of(LSSVR(n_landmarks=10)))
    data.X = SimpleNamespace(shape=(50,))
    costs.cheaper_on_landmarks(False, data, X[:, :1], Settings.of(LSSVR(n_landmarks=10)))
    assert seen == [costs._VALUE + 9 * costs._BY_BLAS, costs._VALUE + costs._BY_BLAS]
