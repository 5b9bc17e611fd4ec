"""When two sample sets are the same: then a kernel matrix is that of one set, with its self-terms and symmetry."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from kernreg.kernels.builtin import sne
from kernreg.kernels.samples import identical_pairs, same_samples


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_equal_rows_in_the_same_order_are_the_same_samples(form):
    A = np.random.default_rng(0).normal(size=(6, 4)) * (np.arange(24).reshape(6, 4) % 3 > 0)
    other = A.copy()
    other[2, 1] += 1.0
    fewer = A.copy()
    fewer[1] = 0.0
    assert same_samples(form(A), form(A.copy()))
    assert not same_samples(form(A), form(other))
    assert not same_samples(form(A), form(fewer))
    assert not same_samples(form(A), form(A[::-1].copy()))
    assert not same_samples(form(A), form(A[:5]))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_copy_of_the_samples_leaves_out_the_same_self_terms(form):
    A = np.abs(np.random.default_rng(0).normal(size=(6, 4)))
    k = sne(sigma=1.0, self_term=False)
    assert np.array_equal(k(form(A), form(A.copy())), k(form(A)))
    assert not k(form(A)).diagonal().any()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_pairs_of_equal_rows_are_found_whatever_zeros_are_stored(form):
    A, B = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0]]), np.array([[2.0, 0.0], [0.0, 1.0]])
    X, Z = form(A), form(B)
    if sp.issparse(X):
        X = sp.csr_array(
            (np.array([0.0, 1.0, 2.0, -0.0, 1.0]), np.array([0, 1, 0, 1, 1]), np.array([0, 2, 4, 5])), X.shape
        )
    rows, columns = identical_pairs(X, Z)
    assert sorted(zip(rows.tolist(), columns.tolist(), strict=True)) == [(0, 1), (1, 0), (2, 1)]
