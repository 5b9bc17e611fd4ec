"""Centring and what goes with it, block by block against whole matrices."""

from __future__ import annotations

import numpy as np
import pytest

from kernreg.errors import DataError
from kernreg.linalg.exact import centring
from kernreg.linalg.exact.centring import asymmetric_part, asymmetry, centre, induced_norms, mirror, weighted_border
from kernreg.linalg.exact.report import SolveReport, relative, unit_if_zero

rng = np.random.default_rng(9)
K = rng.normal(size=(13, 13)) + np.arange(13.0)
Y = rng.normal(size=(13, 2))
WEIGHTS = rng.uniform(0.2, 3.0, 13)


@pytest.fixture(params=[4, 5, 13, 100])
def rows(request, monkeypatch):
    """Matrices of 13 rows in several blocks, the last one whole or not, and in one."""
    monkeypatch.setattr(centring, "_ROWS", request.param)
    monkeypatch.setattr(centring, "_CACHED_ROWS", request.param)
    return request.param


@pytest.mark.parametrize("weights", [None, WEIGHTS, np.full(13, 4.0)])
def test_a_centred_matrix_and_its_parts_are_those_of_the_definition(rows, weights):
    w = np.ones(13) if weights is None else weights
    S, norm = np.diag(np.sqrt(w)), np.sqrt(w.sum())
    u = np.sqrt(w) / norm
    P = np.eye(13) - np.outer(u, u)
    found = centre(K, weights)
    np.testing.assert_allclose(found.matrix, P @ S @ K @ S @ P, atol=1e-12)
    np.testing.assert_allclose(found.left, u @ S @ K @ S)
    np.testing.assert_allclose(found.right, S @ K @ S @ u)
    np.testing.assert_allclose(found.border, u)
    assert found.norm == pytest.approx(norm)
    assert found.size == 13
    assert (found.root is None) == (weights is None)
    np.testing.assert_allclose(found.targets(Y), P @ S @ Y, atol=1e-12)
    np.testing.assert_allclose(found.coefficients(Y), S @ Y)
    np.testing.assert_allclose(found.mean(Y), np.average(Y, axis=0, weights=w))
    for columns in (Y, Y[:, :1]):
        np.testing.assert_allclose(found.product(columns), found.matrix @ columns, atol=1e-12)
        np.testing.assert_allclose(found.adjoint(columns), found.matrix.T @ columns, atol=1e-12)
    mean_of = np.average(Y - K @ (S @ Y), axis=0, weights=w)
    np.testing.assert_allclose(found.source_intercept(Y, Y), mean_of, atol=1e-11)
    mean_of = np.average(Y - K.T @ (S @ Y), axis=0, weights=w)
    np.testing.assert_allclose(found.target_intercept(Y, Y), mean_of, atol=1e-11)


def test_only_a_matrix_that_can_be_is_overwritten():
    def overwritten(given, overwrite=True):
        before = given.copy()
        centre(given, overwrite=overwrite)
        return not np.array_equal(before, given)

    assert overwritten(K.copy())
    assert not overwritten(K.copy(), overwrite=False)
    assert not overwritten(np.asfortranarray(K))
    assert not overwritten(K.astype(np.float32))
    locked = K.copy()
    locked.flags.writeable = False
    assert not overwritten(locked)
    unasked = K.copy()
    centre(unasked)
    assert np.array_equal(unasked, K)
    for wrong in (K[:, :5], K[0], K[None]):
        with pytest.raises(DataError, match="needs a square one"):
            centre(wrong)


def test_targets_that_are_constant_up_to_rounding_are_zero_and_others_are_not():
    kernel = centre(K)
    nearly = np.full((13, 1), 1e6)
    nearly[3] += 1e-4
    T = kernel.targets(np.hstack([np.full((13, 1), 0.1), nearly, Y[:, :1]]))
    assert not T[:, 0].any()
    assert np.abs(T[3, 1]) == pytest.approx(1e-4 * 12 / 13, rel=1e-4)
    assert T[:, 2].any()


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_border_has_norm_one(weights):
    root, border, norm = weighted_border(13, weights)
    assert np.linalg.norm(border) == pytest.approx(1.0)
    if weights is None:
        assert root is None
        assert norm == pytest.approx(np.sqrt(13.0))
    else:
        np.testing.assert_allclose(root, np.sqrt(weights))
        np.testing.assert_allclose(border * norm, root)


@pytest.mark.parametrize(("i", "j"), [(0, 12), (12, 0), (3, 4), (4, 3), (7, 6), (12, 11)])
def test_asymmetry_is_found_wherever_it_is(rows, i, j):
    M = K @ K.T
    M[i, j] += 7.0
    gap, largest = asymmetric_part(M)
    assert gap == pytest.approx(7.0)
    assert largest == np.abs(M).max()
    assert asymmetry(M) == gap / largest
    assert asymmetry(np.zeros((3, 3))) == asymmetry(np.zeros((0, 0))) == 0.0
    M[5, 5] = -1e6
    assert asymmetric_part(M)[1] == 1e6


@pytest.mark.parametrize("from_lower", [True, False])
def test_one_triangle_is_copied_onto_the_other(rows, from_lower):
    M = K.copy()
    mirror(M, from_lower=from_lower)
    kept = np.tril(K) if from_lower else np.triu(K)
    assert np.array_equal(M, kept + kept.T - np.diag(K.diagonal()))


@pytest.mark.parametrize("shape", [(13, 13), (13, 4), (4, 13)])
def test_norms_are_largest_sums(rows, shape):
    M = rng.normal(size=shape)
    np.testing.assert_allclose(induced_norms(M), (np.abs(M).sum(axis=0).max(), np.abs(M).sum(axis=1).max()))
    assert induced_norms(np.empty((0, 0))) == (0.0, 0.0)


def test_residuals_are_relative_to_right_hand_sides_that_are_not_zero():
    r, T = np.array([[3.0, 0.5], [4.0, 0.0]]), np.array([[0.0, 0.0], [10.0, 0.0]])
    assert relative(r, T) == 0.5
    assert relative(r[:, 1:], T[:, 1:]) == 0.5
    assert relative(2.0 * r, T) == 1.0
    assert relative(np.empty((2, 0)), np.empty((2, 0))) == 0.0
    assert unit_if_zero(np.array([0.0, 0.25])).tolist() == [1.0, 0.25]


def test_notes_of_a_report_are_joined():
    report = SolveReport("exact", "lu", 4, 1.0, 0.0, 1.0)
    assert (report.refinements, report.damped, report.note) == (0, False, "")
    assert report.noted("").note == ""
    assert report.noted("one").note == report.noted("one").noted("").note == "one"
    assert report.noted("one").noted("two").note == "one; two"


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 3.0, 300)])
@pytest.mark.parametrize("value", [1.0, 15.87, 1e-9, 1e12])
def test_what_rounding_leaves_of_a_constant_is_nothing(value, weights):
    assert not centre(np.full((300, 300), value), weights).matrix.any()


def test_a_kernel_that_hardly_varies_is_not_nothing():
    rng = np.random.default_rng(4)
    K = 1.0 + 1e-10 * np.cov(rng.normal(size=(50, 80)))
    assert np.linalg.norm(centre(K).matrix) > 1e-11
