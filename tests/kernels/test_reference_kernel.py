"""Kernels of a sample's place in a reference set, as an author writes them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kernreg as kr
from kernreg.errors import EngineError, ParameterError
from kernreg.kernels import KernelFamily, Parameter, ReferenceKernel, positive
from kernreg.registry import isolated
from kernreg.testing import parametrize_with_checks
from tests.process_engine import ProcessEngine


class DensityKernel(ReferenceKernel):
    """<x, z> / (density(x)^2 density(z)), the density of a sample being the mean of exp(-|x - r|_1 / sigma)."""

    def describe(self, X, reference):
        X, reference = (side.toarray() if hasattr(side, "toarray") else side for side in (X, reference))
        apart = np.abs(X[:, None].astype(float) - reference).sum(axis=2)
        return np.exp(-apart / self.sigma).mean(axis=1)

    def compare(self, X, Z, of_X, of_Z):
        X, Z = (side.toarray() if hasattr(side, "toarray") else side for side in (X, Z))
        return np.einsum("id,jd->ij", X, Z) / (of_X[:, None] ** 2 * of_Z).astype(X.dtype)


density: KernelFamily = KernelFamily("density", DensityKernel, (Parameter("sigma", 1.0, positive),))


@parametrize_with_checks([density, density(sigma=3.0)])
def test_laws(check):
    check()


def by_hand(A, B, R, sigma):
    def share(x):
        return np.mean([np.exp(-np.abs(x - r).sum() / sigma) for r in R])

    return np.array([[x @ z / (share(x) ** 2 * share(z)) for z in B] for x in A])


def test_values_are_those_of_the_formula_bound_or_not():
    rng = np.random.default_rng(0)
    R, A, B = (rng.normal(size=(n, 3)) for n in (12, 5, 4))
    k = density(sigma=2.0)
    np.testing.assert_allclose(k(A, B), by_hand(A, B, B, 2.0))  # unbound, the second argument is the reference
    np.testing.assert_allclose(k(A), by_hand(A, A, A, 2.0))
    bound = k.bind(R)
    for X, Z in ((A, B), (A, R), (R, A), (R, R)):
        np.testing.assert_allclose(bound(X, Z), by_hand(X, Z, R, 2.0))
    np.testing.assert_allclose(bound.rows(R, None, 3, 7), by_hand(R[3:7], R, R, 2.0))
    np.testing.assert_allclose(bound.diagonal(R), np.diag(by_hand(R, R, R, 2.0)))


def test_the_reference_set_is_described_once(monkeypatch):
    R = np.random.default_rng(0).normal(size=(30, 2))
    k = density(sigma=1.0).bind(R)
    monkeypatch.setattr(DensityKernel, "describe", lambda *_: pytest.fail("described again"))
    k(R)
    for _ in k.blocks(R, block_rows=7):
        pass
    pickle.loads(pickle.dumps(k))(R)


def test_what_the_caller_does_to_the_reference_set_changes_nothing():
    R = np.random.default_rng(0).normal(size=(10, 2))
    k, new = density().bind(R), R[:3] + 1.0
    expected = k(new, new)
    R[:] = 0.0
    np.testing.assert_array_equal(k(new, new), expected)


def test_parameters_identity_and_pickles_of_bound_kernels():
    R = np.random.default_rng(0).normal(size=(10, 2))
    k = density(sigma=2.0).bind(R)
    assert k.set_params(sigma=3.0) == density(sigma=3.0).bind(R) != k
    assert k != density(sigma=2.0) != k
    assert k != density(sigma=2.0).bind(R[:9])
    assert pickle.loads(pickle.dumps(k)) == k
    assert (k.sigma, k.takes_reference, density().takes_reference) == (2.0, False, True)


def test_a_fitted_solver_is_saved_with_the_reference_set(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with isolated():
        kr.register("kernel", "density", density)
        model = kr.make_solver("ask-ls", kernel="density(sigma=2.0)").fit(X, X[:, 0] > 0)
        kr.save(model, tmp_path / "model.kern")
        loaded = kr.load(tmp_path / "model.kern")
    np.testing.assert_array_equal(loaded.decision_function(X + 0.1), model.decision_function(X + 0.1))


def test_other_engines_give_the_same_values():
    X = np.random.default_rng(0).normal(size=(20, 2))
    k = density(sigma=2.0).bind(X)
    with ProcessEngine() as engine, kr.config_context(engine=engine):
        there = k(X + 0.1, X)
    np.testing.assert_allclose(there, k(X + 0.1, X), rtol=1e-13)


class Careless(ReferenceKernel):
    """One number for all samples of the reference set, and a matrix of the wrong shape."""

    def describe(self, X, reference):
        return np.ones(1 if X is reference else len(X))

    def compare(self, X, Z, of_X, of_Z):
        return np.ones((1, 1))


careless: KernelFamily = KernelFamily("careless", Careless, ())


def test_wrong_shapes_are_told():
    X = np.eye(3)
    with pytest.raises(EngineError, match=r"describe of the kernel 'careless' returned shape \(1,\) for 3 samples"):
        careless().bind(X)
    with pytest.raises(EngineError, match=r"compare of the kernel 'careless' returned shape \(1, 1\) for 1 and 2"):
        careless().bind(X[:1])(X[:1], np.zeros((2, 3)))


def test_an_open_reference_set_is_told():
    with pytest.raises(ParameterError, match=r"has no reference set yet: bind it to one"):
        density().description  # noqa: B018 (looking at it is the test)
    with pytest.raises(ParameterError, match=r"use k\.bind\(Z\)\.scalar"):
        density().scalar([0.0], [1.0])


def test_rows_that_are_the_reference_set_among_others_are_those_of_the_matrix():
    rng = np.random.default_rng(0)
    A, R = rng.normal(size=(4, 3)), rng.normal(size=(6, 3))
    bound, both = density(sigma=2.0).bind(R), np.vstack([A, R])
    np.testing.assert_allclose(bound.rows(both, None, 4, 10), by_hand(R, both, R, 2.0))
    np.testing.assert_allclose(bound.T.rows(both, None, 4, 10), by_hand(both, R, R, 2.0).T)
