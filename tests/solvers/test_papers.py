"""Figures the papers print, where the data are at hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from kernreg.errors import ParameterError
from kernreg.kernels.builtin import tl1
from kernreg.kernels.indexed import adjacency
from kernreg.solvers import LSSVC, AsKLSClassifier


def load(data_directory, name):
    path = data_directory / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"the data folder has no {path.name}")
    return np.load(path)


@pytest.mark.parametrize(("name", "accuracy"), [("monks1", 73.4), ("monks3", 97.2)])
def test_tl1_on_monks(data_directory, name, accuracy):
    """Huang et al. 2017, table 1: TL1 with rho = 0.7 n; gamma = 0.1 is ours, the paper does not print it."""
    data = load(data_directory, name)
    X, y, n_train = data["X"], data["y"], int(data["n_train"])
    train = slice(0, n_train)
    low, high = X[train].min(axis=0), X[train].max(axis=0)
    X = (X - low) / (high - low)
    clf = LSSVC(kernel=tl1(rho=0.7 * X.shape[1]), gamma=0.1).fit(X[train], y[train])
    assert round(100 * clf.score(X[n_train:], y[n_train:]), 1) == accuracy


def test_gamma_one_is_a_pole_on_cora(data_directory):
    """He et al. 2023 use gamma = 1; the row-normalised graph then has no unique solution."""
    data = load(data_directory, "cora")
    n = int(data["n_nodes"])
    source, target = data["edges"].T
    graph = sp.csr_array((np.ones(len(source)), (source, target)), shape=(n, n))
    clf = AsKLSClassifier(kernel=adjacency(graph=graph), gamma=1.0)
    with pytest.raises(ParameterError, match=r"gamma=1 is at a pole.*singular value.*Use for example gamma="):
        clf.fit(np.arange(n), data["labels"])
