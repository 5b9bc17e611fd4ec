"""Products of a matrix with its own transpose, taken apart into blocks where OpenBLAS would crash on the whole."""

from __future__ import annotations

import numpy as np
import pytest

import kernreg as kr
from kernreg.engine import gram as module
from kernreg.engine.gram import gram
from kernreg.kernels import spectrum, symmetrize
from kernreg.linalg.landmarks.features import symmetric_features

N = 61
X = np.random.default_rng(0).normal(size=(N, 3))


@pytest.fixture(params=[7, 16, 64])
def large(request, monkeypatch):
    """Everything is large, in blocks that do not divide it; the last is larger than it."""
    monkeypatch.setattr(module, "LARGEST", 0)
    monkeypatch.setattr(module, "_HIGH", request.param)


@pytest.mark.usefixtures("large")
def test_a_gram_matrix_is_symmetric_to_the_bit():
    A = np.random.default_rng(2).standard_normal((N, 9))
    for each in (A, np.asfortranarray(A), A.T.copy().T, A.astype(np.float32)):
        found = gram(each)
        assert np.allclose(found, A @ A.T, rtol=1e-13, atol=1e-5 if each.dtype == np.float32 else 1e-13)
        assert np.array_equal(found, found.T)
        assert found.dtype == each.dtype


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("how", ["left", "right"])
def test_symmetrised_kernels_are_the_same_in_blocks(how):
    K = kr.make_kernel("sne(sigma=2.0)")(X)
    found = symmetrize(kr.make_kernel("sne(sigma=2.0)"), how)(X)
    np.testing.assert_allclose(found, K @ K.T if how == "left" else K.T @ K, rtol=1e-12)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("taken", ["symmetrize", "spectrum", "features"])
def test_large_products_go_through_it(taken, monkeypatch):
    from kernreg.kernels.combinations import reference, symmetrized
    from kernreg.linalg.landmarks import features

    seen = []
    for each in (reference, symmetrized, features):
        monkeypatch.setattr(each, "gram", lambda A: seen.append(A.shape) or gram(A))
    if taken == "features":
        symmetric_features(kr.make_kernel("rbf(sigma=2.0)"), X, np.arange(10), True).moments(np.ones((N, 1)), None)
    else:
        (symmetrize("sne", "right") if taken == "symmetrize" else spectrum("tanh", "clip")).bind(X)(X)
    assert seen
