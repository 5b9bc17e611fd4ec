"""Samples that each kind of kernel accepts."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(20240501)


@pytest.fixture(scope="session")
def samples():
    """samples(kind, n, d, seed): n random rows of the kind a kernel accepts, one of them twice."""

    def make(kind, n, d=5, seed=0):
        rng = np.random.default_rng(seed)
        if kind == "real":
            X = rng.normal(size=(n, d))
        elif kind == "gaussians":
            X = np.hstack([rng.normal(size=(n, d)), 0.5 + rng.random((n, d))])
        else:
            X = rng.random((n, d)) * (rng.random((n, d)) < 0.8)
            X[:, 0] += 0.1
            if kind == "distribution":
                X /= X.sum(axis=1, keepdims=True)
        X[n // 2] = X[0]
        return X

    return make
