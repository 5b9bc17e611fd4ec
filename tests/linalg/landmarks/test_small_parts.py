"""Small systems of landmarks, what candidates are accepted, and how many are looked at."""

from __future__ import annotations

import numpy as np
import pytest

import kernreg as kr
from kernreg.errors import ParameterError
from kernreg.kernels.builtin import rbf, sne, tl1
from kernreg.linalg.landmarks import pivot_choice
from kernreg.linalg.landmarks.pivot_choice import candidates, choose_pivots, choose_pivots_of_both, filled
from kernreg.linalg.landmarks.pivoted_cholesky import (
    KernelMatrix,
    PivotedCholesky,
    RowProducts,
    _accept,
    pivoted_cholesky,
)
from kernreg.linalg.landmarks.sampled_matrix import SectionedMatrix, check_methods
from kernreg.linalg.landmarks.sketching import SignSketch
from kernreg.linalg.landmarks.small_systems import SmallSystem, eigenpairs

EPS = np.finfo(np.float64).eps
rng = np.random.default_rng(0)
X, Z = rng.normal(size=(30, 3)), rng.normal(size=(20, 3))


# small systems -------------------------------------------------------------------------------------------------------


def test_a_small_system_is_solved_refined_and_reported():
    M, shift, T = rng.normal(size=(5, 5)), rng.normal(size=5), rng.normal(size=(5, 2))
    M = M + M.T
    system = SmallSystem(M, 0.5, shift)
    x, residual = system.solve(T)
    dense = M + np.diag(shift)
    np.testing.assert_allclose(x, np.linalg.solve(dense, T), rtol=1e-11)
    assert residual <= 4 * EPS * np.linalg.cond(dense)
    values = np.abs(np.linalg.eigvalsh(dense))
    assert system.condition == pytest.approx(values.max() / values.min())
    report = system.report("primal", 40, residual, 7, 5)
    assert (report.strategy, report.method, report.size, report.gamma) == ("lowrank", "primal", 40, 0.5)
    assert (report.residual, report.landmarks, report.rank, report.trace_error) == (residual, 7, 5, None)
    assert report.condition == system.condition


def test_a_solution_by_an_inexact_spectrum_is_refined_once():
    M, T = np.diag([1.0, 2.0, 3.0]), np.ones((3, 1))
    values = np.array([1.0, 2.0, 3.0]) * (1.0 + 1e-5)
    x, residual = SmallSystem(M, 1.0, np.zeros(3), (values, np.eye(3))).solve(T)
    np.testing.assert_allclose(x[:, 0], [1.0, 0.5, 1 / 3], rtol=2e-10)
    assert residual == pytest.approx(1e-10, rel=1e-3)


@pytest.mark.parametrize("count", [1, 4, 9])
@pytest.mark.parametrize(("times", "pole"), [(0.9, True), (1.1, False)])
def test_an_eigenvalue_below_rounding_errors_is_a_pole_unless_the_matrix_is_definite(count, times, pole):
    values = np.full(count + 1, 8.0)
    values[0] = times * 4.0 * np.sqrt(count + 1) * EPS * 8.0
    if pole:
        with pytest.raises(ParameterError, match=r"gamma=0.5 is at a pole: 1/gamma = 2 cannot"):
            SmallSystem(np.diag(values), 0.5, np.zeros(count + 1))
    else:
        SmallSystem(np.diag(values), 0.5, np.zeros(count + 1))
    definite = SmallSystem(np.diag(values), 0.5, np.zeros(count + 1), (values, np.eye(count + 1)))
    assert definite.condition == pytest.approx(8.0 / values[0])


def test_systems_of_nothing_and_of_zeros():
    assert eigenpairs(np.zeros((0, 0)))[0].shape == (0,)
    x, residual = SmallSystem(np.zeros((0, 0)), 1.0, np.zeros(0)).solve(np.zeros((0, 2)))
    assert x.shape == (0, 2)
    assert residual == 0.0
    assert SmallSystem(np.zeros((1, 1)), 1.0, np.zeros(1), (np.zeros(1), np.eye(1))).condition == np.inf


# pivots --------------------------------------------------------------------------------------------------------------


class Chances:
    """A generator whose numbers are given."""

    def __init__(self, *numbers):
        self.numbers = np.array(numbers)

    def random(self, count):
        assert count == len(self.numbers)
        return self.numbers


def test_candidates_are_accepted_with_the_share_of_them_that_is_left():
    """The second has 3/4 of itself left beside the first, the third nothing."""
    H = np.array([[4.0, 2.0, 4.0], [2.0, 4.0, 2.0], [4.0, 2.0, 4.0]])
    nothing = np.full(3, 1e-12)
    for chance, taken in ((0.74, [0, 1]), (0.76, [0])):
        accepted, L = _accept(H, nothing, 3, Chances(0.99, chance, 0.0))
        assert accepted.tolist() == taken
        np.testing.assert_allclose(L @ L.T, H[np.ix_(taken, taken)], atol=1e-14)
        assert not np.triu(L, 1).any()
    assert _accept(H, nothing, 1, Chances(0.5, 0.5, 0.5))[0].tolist() == [0]
    accepted, L = _accept(H, np.full(3, 4.0), 3, Chances(0.0, 0.0, 0.0))  # no more than rounding
    assert accepted.shape == (0,)
    assert L.shape == (0, 0)


def test_what_is_left_of_the_trace():
    found = PivotedCholesky(np.zeros(1), np.zeros((3, 1)), np.array([1.0, 0.5, 0.0]), 6.0)
    assert found.trace_error == 0.25
    assert PivotedCholesky(np.zeros(0), np.zeros((3, 0)), np.zeros(3), 0.0).trace_error == 0.0
    assert PivotedCholesky(np.zeros(0), np.zeros((3, 0)), np.full(3, 3.0), 8.0).trace_error == 1.0


@pytest.mark.parametrize("candidates_at_once", [None, 1, 5])
def test_factors_reproduce_their_columns_and_what_is_left(candidates_at_once):
    K = rbf(sigma=1.0)(X)
    for matrix, dense in ((KernelMatrix(rbf(sigma=1.0), X), K), (RowProducts(X), X @ X.T)):
        found = pivoted_cholesky(matrix, 8, candidates=candidates_at_once, random_state=3)
        rest = dense - found.factor @ found.factor.T
        np.testing.assert_allclose(rest[:, found.pivots], 0.0, atol=1e-12)
        np.testing.assert_allclose(found.left, np.maximum(rest.diagonal(), 0.0), atol=1e-12)
        assert found.trace == pytest.approx(dense.trace())
        assert len(found.pivots) == (8 if dense is K else 3)


@pytest.mark.parametrize(
    ("n", "p", "width", "memory", "size"),
    [
        (100, 5, 1, 4 * 8 * 5 * 40, 40),
        (100, 5, 3, 4 * 8 * 15 * 40, 40),
        (100, 5, 1, 4 * 8 * 5 * 100, 100),
        (100, 5, 1, 4 * 8 * 5 * 99, 99),
        (100, 5, 1, 1, 10),
        (8, 5, 1, 1, 8),
    ],
)
def test_candidates_are_as_many_as_fit_and_twice_as_many_as_landmarks(n, p, width, memory, size):
    with kr.config_context(memory=memory):
        pool = candidates(n, p, width, np.random.default_rng(0))
    assert len(np.unique(pool)) == size
    assert (np.diff(pool) > 0).all()


def test_pivots_are_filled_up():
    assert filled(np.array([4, 2]), 6, 2, rng).tolist() == [4, 2]
    found = filled(np.array([4, 2]), 6, 5, np.random.default_rng(0))
    assert found[:2].tolist() == [4, 2]
    assert len(np.unique(found)) == 5


@pytest.mark.parametrize(
    ("kernel", "second", "numbers"),
    [(rbf(sigma=1.0), None, 1), (tl1(rho=2.0), None, 3), (sne(sigma=1.0), None, 5), (rbf(sigma=1.0), X + 1.0, 5)],
)
def test_how_many_numbers_a_candidate_takes(monkeypatch, kernel, second, numbers):
    """p of a definite kernel, as many and two for each landmark of another one, four of an asymmetric one."""
    asked = []
    original = pivot_choice.candidates
    monkeypatch.setattr(
        pivot_choice, "candidates", lambda n, p, width, rng: asked.append((n, p, width)) or original(n, p, width, rng)
    )
    found = choose_pivots(kernel.anchored(X, second), X, second, 4, np.random.default_rng(0))
    assert asked == [(30, 4, numbers)]
    assert len(found.indices) == 4
    assert (np.diff(found.indices) > 0).all()
    assert 0.0 < found.trace_error < 1.0


def test_rows_and_columns_are_pivots_of_one_another(monkeypatch):
    monkeypatch.setattr(pivot_choice, "_PILOTS", 3)
    G, asked = rng.normal(size=(30, 20)), []

    def block(rows, columns):
        asked.append((len(rows), len(columns)))
        return G[np.ix_(rows, columns)]

    rows, columns = choose_pivots_of_both(block, G.shape, (9, 7), 1, np.random.default_rng(0))
    assert asked == [(30, 8), (4, 20), (30, 4), (9, 20)]
    assert (len(np.unique(rows.indices)), len(np.unique(columns.indices))) == (9, 7)
    np.testing.assert_allclose(columns.indices, np.sort(columns.indices))
    assert 0.0 <= rows.trace_error < 1.0
    left = G[rows.indices][:, columns.indices]
    rest = G[rows.indices] - left @ np.linalg.lstsq(left, G[rows.indices], rcond=None)[0]
    assert columns.trace_error == pytest.approx((rest**2).sum() / (G[rows.indices] ** 2).sum(), rel=1e-8)


# sections ------------------------------------------------------------------------------------------------------------


def test_how_many_values_a_section_stands_for():
    def looked_at(kernel, second, normalizers="auto"):
        matrix = SectionedMatrix(kernel, X, second, normalizers)
        return matrix.evaluations(4, 3), matrix.evaluations(3, 3), matrix.evaluations_before

    assert looked_at(rbf(sigma=1.0), None) == (12 + 90 + 120, 9 + 90, 0)
    assert looked_at(rbf(sigma=1.0), Z) == (12 + 90 + 80, 9 + 90 + 60, 0)
    assert looked_at(sne(sigma=1.0), Z, "exact") == (12 + 90 + 80, 9 + 90 + 60, 600)
    assert looked_at(sne(sigma=1.0), Z, "estimate") == (12 + 90 + 80 + 80, 9 + 90 + 60 + 60, 0)
    assert looked_at(sne(sigma=1.0).T, Z, "estimate") == (12 + 90 + 80 + 90, 9 + 90 + 60 + 90, 0)


def test_errors_of_landmarks_are_those_of_the_worse_side():
    matrix = SectionedMatrix(sne(sigma=1.0), X, Z)
    matrix.landmarks((5, 5), ("uniform", "uniform"), 2, 0)
    assert matrix.trace_error is None
    matrix.landmarks((5, 5), ("rpcholesky", "uniform"), 2, 0)
    first = matrix.trace_error
    matrix.landmarks((5, 5), ("uniform", "rpcholesky"), 2, 0)
    second = matrix.trace_error
    matrix.landmarks((5, 5), ("rpcholesky", "rpcholesky"), 2, 0)
    assert matrix.trace_error == max(first, second) > min(first, second)


def test_landmarks_of_a_symmetric_matrix_are_shared_where_they_are_named_alike():
    matrix = SectionedMatrix(rbf(sigma=1.0), X)

    def shared(sizes, methods):
        rows, columns = matrix.landmarks(sizes, methods, 2, 0)
        return np.array_equal(rows, columns)

    assert shared((6, 6), ("uniform", "uniform"))
    assert shared((6, 6), ("rpcholesky", "rpcholesky"))
    assert not shared((6, 5), ("uniform", "uniform"))
    assert not shared((6, 6), ("uniform", "leverage"))
    assert not shared((6, 6), ("uniform", np.arange(6)))


def test_words_and_indices_for_both_sides():
    assert check_methods("uniform", True) == check_methods("uniform", False) == ("uniform", "uniform")
    assert check_methods(("uniform", [1, 2]), False) == ("uniform", [1, 2])
    assert check_methods([1, 2], True) == ([1, 2], [1, 2])
    with pytest.raises(ParameterError, match="two sample sets"):
        check_methods([1, 2], False)
    with pytest.raises(ParameterError, match="accepted are"):
        check_methods("best", True)


@pytest.mark.parametrize(("columns", "oversampling", "rows"), [(10, 4, 16), (32, 4, 16), (33, 4, 17), (100, 4.0, 50)])
def test_rows_of_a_segment(columns, oversampling, rows):
    sketch = SignSketch.of(columns, oversampling, 0)
    assert (sketch.segment_rows, sketch.rows) == (rows, 8 * rows)
    assert [part.rows for part in sketch.parts(4)] == [2 * rows] * 4
    assert [list(part.segments) for part in sketch.parts(2)] == [[0, 1, 2, 3], [4, 5, 6, 7]]
