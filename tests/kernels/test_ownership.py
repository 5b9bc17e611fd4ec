"""Kernels own their arrays: what the caller does to his changes neither values, nor the hash, nor shared matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg.kernels import centered, spectrum, symmetrize
from kernreg.kernels.combinations.learned import corrected, projected
from kernreg.kernels.indexed import precomputed
from kernreg.kernels.ownership import frozen, unwritable
from kernreg.kernels.sharing import shared_matrices

RNG = np.random.default_rng(0)
X = RNG.normal(size=(8, 3))


def held(array):
    return precomputed(K=array), np.arange(8)


GRAPH = {"eigenvalues": [0.9, 0.6], "degrees": np.full(8, 4.0), "radii": np.ones(8), "n_neighbors": 3}
MADE = {
    "precomputed": (held, RNG.normal(size=(8, 8))),
    "precomputed sparse": (held, sp.random_array((8, 8), density=0.5, format="csr", rng=RNG)),
    "adjacency": (lambda A: (kr.make_kernel("adjacency", graph=A), np.arange(8)), np.abs(RNG.normal(size=(8, 8)))),
    "projected samples": (lambda S: (projected("rbf(sigma=2.0)", samples=S, factor=np.ones((8, 2))), X), X.copy()),
    "projected factor": (lambda F: (projected("rbf(sigma=2.0)", samples=X, factor=F), X), RNG.normal(size=(8, 2))),
    "corrected": (lambda Q: (corrected("rbf(sigma=2.0)", samples=X, correction=Q), X), np.eye(8)),
    "neighbour spectrum": (
        lambda w: (kr.make_kernel("neighbour-spectrum", samples=X, vectors=np.eye(8)[:, :2], weights=w, **GRAPH), X),
        np.array([0.5, 0.25]),
    ),
    "centered": (lambda R: (centered("rbf(sigma=2.0)").bind(R), X[:5]), X.copy()),
    "spectrum": (lambda R: (spectrum("tl1(rho=2.0)").bind(R), X[:5]), X.copy()),
    "symmetrize": (lambda R: (symmetrize("sne(sigma=2.0)", "left").bind(R), X[:5]), X.copy()),
    "sne": (lambda R: (kr.make_kernel("sne(sigma=2.0)").bind(R), X[:5]), X.copy()),
    "sum": (lambda R: ((centered("rbf(sigma=2.0)") + kr.make_kernel("linear")).bind(R), X[:5]), X.copy()),
    "sparse centered": (lambda R: (centered("rbf(sigma=2.0)").bind(R), X[:5]), sp.csr_array(X)),
}


@pytest.mark.parametrize("name", MADE)
def test_values_and_hash_stay_when_the_callers_array_changes(name):
    make, array = MADE[name]
    array = array.copy()
    kernel, samples = make(array)
    expected = make(array.copy())[0]
    values = np.array(kernel(samples))
    (array.data if sp.issparse(array) else array)[...] *= 7.0
    np.testing.assert_array_equal(kernel(samples), values)
    assert kernel == expected  # hashed only now, as it was made
    assert hash(kernel) == hash(expected)


def test_shared_matrices_do_not_return_that_of_an_array_as_it_was():
    K = np.eye(4)
    with shared_matrices():
        before = precomputed(K=K)(np.arange(4))
        K[:] = 2.0
        after = precomputed(K=K)(np.arange(4))
    assert (before == np.eye(4)).all()
    assert (after == 2.0).all()


def test_the_array_a_kernel_shows_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        precomputed(K=np.eye(3)).K[0, 0] = 5.0


def test_an_array_that_nobody_can_write_to_is_not_copied(tmp_path):
    K = np.eye(4)
    K.flags.writeable = False
    assert precomputed(K=K).K is K
    view = np.eye(4)[:3, :3]
    view.flags.writeable = False
    assert not unwritable(view)
    assert not np.shares_memory(frozen(view), view)
    np.save(tmp_path / "K.npy", np.eye(4))
    mapped = np.load(tmp_path / "K.npy", mmap_mode="r")
    assert np.shares_memory(precomputed(K=mapped).K, mapped)
    shared = np.load(tmp_path / "K.npy", mmap_mode="r+")
    shared.flags.writeable = False
    assert not np.shares_memory(precomputed(K=shared).K, shared)
