from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from kernreg.linalg.spectra.centred_pairs import TwoSidedOperator, centre_both_sides
from kernreg.linalg.spectra.partial import singular_triplets
from kernreg.solvers.decompositions.completeness import missed


def centred(G):
    n, m = G.shape
    return (np.eye(n) - np.ones((n, n)) / n) @ G @ (np.eye(m) - np.ones((m, m)) / m)


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (3, 7), (40, 40)])
def test_centring_in_place_and_by_products_is_multiplication_by_both_projections(shape):
    G = np.random.default_rng(0).standard_normal(shape) + 3.0
    expected = centred(G)
    operator = TwoSidedOperator(aslinearoperator(G.copy()))
    np.testing.assert_allclose(operator @ np.eye(shape[1]), expected, atol=1e-13)
    np.testing.assert_allclose(operator.T @ np.eye(shape[0]), expected.T, atol=1e-13)
    np.testing.assert_allclose(operator @ np.ones(shape[1]), expected @ np.ones(shape[1]), atol=1e-13)
    np.testing.assert_allclose(operator.T @ np.arange(shape[0]), expected.T @ np.arange(shape[0]), atol=1e-12)
    columns = centre_both_sides(G)
    np.testing.assert_allclose(G, expected, atol=1e-13)
    assert columns.shape == (shape[1],)


def test_the_operator_says_how_products_are_made():
    class Named(type(aslinearoperator(np.eye(2)))):
        form = "separable"

    assert TwoSidedOperator(Named(np.eye(2))).form == "separable"
    assert TwoSidedOperator(aslinearoperator(np.eye(2))).form == "blocks"


def repeated(seed, n=400):
    """A permuted diagonal matrix with few different values, each many times, and the values in order."""
    rng = np.random.default_rng(seed)
    values = np.sort(rng.choice(np.linspace(0.2, 1.0, rng.integers(3, 8)), size=n))[::-1]
    return sp.csr_array(sp.diags_array(values).tocsr()[rng.permutation(n)]), values


def test_what_a_vector_iteration_missed_is_found_and_nothing_else_is():
    verdicts = set()
    for seed in range(12):
        A, values = repeated(seed)
        _, found, V, _ = singular_triplets(A, 15, method="arpack", tol=1e-5)
        complete = bool(np.abs(found - values[:15]).max() < 1e-6)
        more = missed(A.dot, A.T.tocsr().dot, V, float(found[-1]), np.random.default_rng(seed))
        verdicts.add((complete, more is None))
        assert complete == (more is None)
        if more is not None:
            assert np.abs(V.T @ more).max() < 1e-10
            assert np.linalg.norm(A @ more[:, 0]) > found[-1] * (1 + 1e-8)
    assert (False, False) in verdicts  # the iteration does miss some: else this tests nothing


@pytest.mark.parametrize("m", [1, 2, 5])
def test_small_matrices_are_looked_at_as_a_whole(m):
    A = np.diag(np.arange(m, 0.0, -1.0))
    assert missed(A.dot, A.T.dot, np.eye(m)[:, :1], float(m), np.random.default_rng(0)) is None
    if m > 1:
        found = missed(A.dot, A.T.dot, np.eye(m)[:, 1:2], m - 1.0, np.random.default_rng(0))
        assert abs(found[0, 0]) > 1 - 1e-12
