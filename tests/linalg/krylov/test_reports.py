"""What iterative solves say of themselves: residuals, warnings on either side of a tolerance, poles that are near."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernreg.errors import DataError
from kernreg.kernels.indexed import precomputed
from kernreg.linalg.krylov.centred_operator import CentredOperator
from kernreg.linalg.krylov.cg_and_minres import CheckedResult
from kernreg.linalg.krylov.dual_systems import _report, _timed, worst_residual

EPS = np.finfo(np.float64).eps
CENTRED = SimpleNamespace(size=7, form="separable")
NOTHING = np.zeros((7, 1))


def report(residual, *, tol=1e-3, poles=(), timed_out=False, note="as usual", gamma=0.25):
    """The report of an iteration that ended so, and what was warned of."""
    result = CheckedResult("minres", NOTHING, NOTHING, NOTHING, 12, note, timed_out)
    preconditioner = SimpleNamespace(rank=5, trace_error=0.125)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        made = _report(result, residual, preconditioner, CENTRED, gamma, tol, np.array(poles))
    assert all(one.category is ConvergenceWarning for one in heard)
    assert not heard or str(heard[0].message) == made.note
    return made, len(heard)


def test_a_report_says_what_ran():
    made, told = report(1e-3)
    assert (made.strategy, made.method, made.size, made.gamma, made.residual) == ("iterative", "minres", 7, 0.25, 1e-3)
    assert (made.iterations, made.converged, made.rank, made.form, made.trace_error) == (
        12,
        True,
        5,
        "separable",
        0.125,
    )
    assert (made.note, told) == ("as usual", 0)
    assert np.isnan(made.condition)


@pytest.mark.parametrize(("timed_out", "bound"), [(True, "max_seconds"), (False, "max_iter")])
def test_a_residual_above_the_tolerance_is_a_warning(timed_out, bound):
    made, told = report(1.01e-3, timed_out=timed_out)
    assert (made.converged, told) == (False, 1)
    assert made.note.startswith("minres stopped after 12 iterations at relative residual 1.0e-03, tol=1.0e-03; raise")
    assert f"raise {bound}, tol or the preconditioner's rank (5)" in made.note
    assert "pole" not in made.note


@pytest.mark.parametrize(("away", "told"), [(0.9e-3, True), (1.1e-3, False), (-0.9e-3, True), (-1.1e-3, False)])
def test_a_pole_within_a_thousandth_of_it_is_named(away, told):
    made, _ = report(1.0, poles=[100.0, 4.0 * (1.0 + away), -4.0])
    assert ("1/gamma = 4 is close to a pole of the system, about" in made.note) == told
    assert not told or f"about {4.0 * (1.0 + away):.6g}: change" in made.note


def test_the_worst_residual_is_that_of_a_column_and_no_less_than_rounding():
    rest, T = np.array([[3.0, 0.0], [4.0, 1.0]]), np.array([[10.0, 0.0], [0.0, 0.0]])
    assert worst_residual(rest, 0.0 * rest, 2.0, T) == 1.0  # a column of zeros counts as one of norm 1
    assert worst_residual(rest[:, :1], rest[:, :1], 2.0, T[:, :1]) == 0.5
    large = np.array([[1e16], [0.0]])
    assert worst_residual(rest[:, :1], large, 8.0, T[:, :1]) == pytest.approx(EPS * 8.0 * 1e16 / 10.0)
    assert worst_residual(rest[:, :0], rest[:, :0], 2.0, T[:, :0]) == 0.0


def test_an_iteration_ends_where_another_two_laps_would_not_fit():
    class Clock:
        def __init__(self):
            self.asked = []

        def lap(self):
            return 3.0

        def over(self, reserve):
            self.asked.append(reserve)
            return len(self.asked) == 2

    clock, seen = Clock(), []
    watch = _timed(lambda *said: seen.append(said), clock)
    assert [watch(1, 0.5), watch(2, 0.25)] == [False, True]
    assert clock.asked == [6.0, 6.0]
    assert seen == [(1, 0.5), (2, 0.25)]
    assert _timed(None, Clock())(1, 0.5) is False


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 0.5, 4.0])])
def test_centred_products_are_those_of_the_matrix(weights):
    rng = np.random.default_rng(0)
    K, V, Y = rng.normal(size=(4, 4)), rng.normal(size=(4, 2)), rng.normal(size=(4, 2))
    centred = CentredOperator(precomputed(K=K).operator(np.arange(4)), weights)
    root = np.ones(4) if weights is None else np.sqrt(weights)
    border = root / np.linalg.norm(root)
    PS = (np.eye(4) - np.outer(border, border)) * root
    np.testing.assert_allclose(centred.product(V), PS @ K @ PS.T @ V, atol=1e-13)
    np.testing.assert_allclose(centred.adjoint(V), PS @ K.T @ PS.T @ V, atol=1e-13)
    np.testing.assert_allclose(centred.raw(V, adjoint=True), K.T @ V, atol=1e-13)
    np.testing.assert_allclose(centred.targets(Y), PS @ Y, atol=1e-13)
    assert not centred.targets(np.full((4, 1), 0.1)).any() or weights is not None
    nearly = np.full((4, 1), 1e6)
    nearly[0] += 1e-6
    assert centred.targets(nearly).any()
    assert (centred.size, centred.form) == (4, "blocks")


def test_a_matrix_that_is_not_square_is_refused():
    with pytest.raises(DataError, match=r"shape \(4, 3\); training needs a square one"):
        CentredOperator(precomputed(K=np.ones((4, 4))).operator(np.arange(4), np.arange(3)))
