"""What may be given as γ, how leave-one-out views are scored, and where a search goes on and ends."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kernreg.errors import ParameterError
from kernreg.solvers.dual.gamma import (
    Choice,
    beats,
    check_gamma,
    choose_gamma,
    default_gammas,
    end_of_grid,
    leave_one_out_score,
)
from kernreg.solvers.dual.solution import Candidate
from kernreg.solvers.dual.targets import ClassTargets, RealTargets

STEP = 10.0**0.2


@pytest.mark.parametrize(
    ("given", "value"),
    [(2, 2.0), (np.float32(0.5), 0.5), ("scale", 0.25), ("3*scale", 0.75), ("1e2 * scale", 25.0), (".5*scale", 0.125)],
)
def test_numbers_and_multiples_of_the_scale(given, value):
    found = check_gamma(given, lambda: 4.0)
    assert type(found) is float
    assert found == value


def test_without_a_size_the_scale_is_one_and_the_size_is_asked_for_once():
    asked = []

    def size():
        asked.append(1)
        return 4.0

    assert check_gamma("10*scale") == 10.0
    assert check_gamma([1.0, "scale", "2*scale"], size).tolist() == [1.0, 0.25, 0.5]
    assert check_gamma(("scale", 3), size).tolist() == [0.25, 3.0]
    assert len(asked) == 2
    assert check_gamma(3.0, size) == 3.0
    assert check_gamma([3.0], size).tolist() == [3.0]
    assert check_gamma("loo", size) is None
    assert len(asked) == 2


@pytest.mark.parametrize(
    "given",
    [
        *(0.0, -1.0, np.inf, np.nan, True, np.bool_(True), 5e-324, None, "auto", "scale*2", "2 scale", "-1*scale", 1j),
        *([], [1.0, 0.0], [1.0, np.inf], [1.0, np.nan], [1.0, 5e-324], [[1.0]], [[1.0], [1.0, 2.0]], [True], {1.0}),
        *(["a"], [1j], np.ones((2, 2)), np.array([True]), [1.0, -1.0], "0*scale"),
    ],
)
def test_what_is_no_gamma_is_refused(given):
    with pytest.raises(ParameterError, match="positive finite number, 'scale' or a multiple"):
        check_gamma(given)


@pytest.mark.parametrize("given", [[1, 2], (1.0, 2.0), np.array([1, 2]), np.array([1, 2], dtype=np.uint8)])
def test_grids_of_any_numbers_are_float64(given):
    grid = check_gamma(given)
    assert grid.dtype == np.float64
    assert grid.tolist() == [1.0, 2.0]
    assert check_gamma(1e300) == 1e300


def test_the_grid_begins_relative_to_the_scale():
    grid = default_gammas(4.0)
    assert len(grid) == 36
    np.testing.assert_allclose(grid[[0, 5, 35]] * 4.0, [1e-3, 1e-2, 1e4])
    np.testing.assert_allclose(default_gammas(0.0), 4.0 * grid)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 5.0])])
def test_views_are_scored_by_their_merged_decision_and_its_squared_error(weights):
    w = np.ones(3) if weights is None else weights
    data = SimpleNamespace(y=np.array([0, 1, 1]), weights=weights)
    views = {"source": np.array([[-1.0], [0.5], [-3.0]]), "target": np.array([[-1.0], [1.5], [1.0]])}
    score = leave_one_out_score(ClassTargets(np.array([0, 1])), data, lambda v: (v["source"] + v["target"]) / 2)
    decision, signs = np.array([-1.0, 1.0, -1.0]), np.array([-1.0, 1.0, 1.0])
    first, second = score(views)
    assert first == pytest.approx(w @ (decision == signs) / w.sum())
    assert second == pytest.approx(-(w @ (decision - signs) ** 2) / w.sum())
    for bad in (np.nan, np.inf):
        views["target"][1] = bad
        assert score(views) == (-np.inf, -np.inf)


def test_squared_errors_of_several_columns_are_averaged():
    y = np.array([[0.0, 1.0], [2.0, 5.0]])
    data = SimpleNamespace(y=y, weights=np.array([3.0, 1.0]))
    score = leave_one_out_score(RealTargets(flat=False), data, lambda views: views["decision"])
    _, second = score({"decision": y + np.array([[1.0, 3.0], [0.0, 2.0]])})
    assert second == pytest.approx(-(3.0 * 5.0 + 1.0 * 2.0) / 4.0)


def test_scores_that_overflow_are_the_worst():
    y = np.array([0.0, 1.0])
    score = leave_one_out_score(RealTargets(flat=True), SimpleNamespace(y=y, weights=None), lambda v: v["decision"])
    with np.errstate(over="ignore"):
        assert score({"decision": np.array([[1e200], [0.0]])}) == (-np.inf, -np.inf)


class Peak:
    """A system whose score is highest at one γ, with poles; it keeps what was asked."""

    def __init__(self, best, poles=(), scale=1.0):
        self.best, self.poles, self.scale, self.asked = np.log(best), poles, scale, []

    def candidates(self, gammas):
        self.asked.append(gammas)
        for gamma in gammas:
            pole = any(low <= gamma <= high for low, high in self.poles)
            yield Candidate(None if pole else {"decision": np.full((2, 1), gamma)}, error=gamma)

    def at(self, gamma):
        return SimpleNamespace(noted=lambda note: (gamma, note))

    def score(self, views):
        return -abs(np.log(views["decision"][0, 0]) - self.best), -1.0


def chosen(best, gammas=None, **more):
    system = Peak(best, **more)
    return system, choose_gamma(system, gammas, system.score)


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_a_best_value_inside_ends_the_search(scale):
    system, choice = chosen(1.0 / scale, scale=scale)
    assert len(system.asked) == 1
    assert choice.gamma == pytest.approx(1.0 / scale)
    assert choice.warning == ""
    assert choice.solution == (choice.gamma, "gamma chosen by leave-one-out from 36 values")
    assert choice.left_out["decision"].tolist() == [[choice.gamma]] * 2
    assert choice.left_out_error == choice.gamma
    assert choice.path["gamma"].tolist() == default_gammas(scale).tolist()
    assert choice.path["squared_error"].tolist() == [1.0] * 36
    assert choice.path["score"].argmax() == np.flatnonzero(choice.path["gamma"] == choice.gamma)[0]


@pytest.mark.parametrize(("place", "extended"), [(33, False), (34, True), (35, True), (2, False), (1, True), (0, True)])
def test_the_last_two_values_at_either_end_ask_for_ten_more(place, extended):
    grid = default_gammas(1.0)
    system, choice = chosen(grid[place])
    assert choice.gamma == grid[place]
    assert len(system.asked) == 1 + extended
    assert np.all(np.diff(choice.path["gamma"]) > 0.0)
    np.testing.assert_allclose(np.diff(np.log(choice.path["gamma"])), np.log(STEP))
    if extended:
        assert len(choice.path["gamma"]) == 46
        ends = choice.path["gamma"][[0, -1]]
        np.testing.assert_allclose(ends, [1e-3, 1e6] if place > 30 else [1e-5, 1e4])
        assert "46 values" in choice.solution[1]


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_a_search_ends_at_the_limits(scale):
    _, above = chosen(1e40 / scale, scale=scale)
    assert above.gamma * scale == pytest.approx(1e18)
    assert "the largest that rounding errors allow" in above.warning
    _, below = chosen(1e-40 / scale, scale=scale)
    assert below.gamma * scale == pytest.approx(1e-7)
    assert "this kernel says nothing about them" in below.warning


def test_a_scale_of_zero_is_that_of_one():
    _, above = chosen(1e40, scale=0.0)
    assert above.gamma == pytest.approx(1e18)


def test_poles_among_values_near_an_end_are_left_out():
    system, choice = chosen(1e4, poles=[(7e3, 2e4)])
    assert choice.gamma == pytest.approx(1e4 / STEP)  # the last value but one
    assert len(system.asked) == 2
    assert "at a pole and left out: 10000" in choice.solution[1]
    assert np.isneginf(choice.path["score"][35:37]).all()
    system, choice = chosen(1e4, poles=[(7e3, 1e9)])
    assert len(system.asked) == 2
    assert "the largest" in choice.warning  # of those that are no poles


def test_where_every_gamma_is_at_a_pole_the_system_explains_one():
    class Pole(Peak):
        def at(self, gamma):
            self.explained = gamma

    system = Pole(1.0, poles=[(0.0, np.inf)])
    with pytest.raises(ParameterError, match=r"every gamma in \[2.0, 3.0\] is at a pole"):
        choose_gamma(system, np.array([2.0, 3.0]), system.score)
    assert system.explained == 2.0


def test_one_given_value_needs_no_note_and_two_do():
    system = Peak(1.0)
    system.at = lambda gamma: gamma
    assert choose_gamma(system, np.array([3.0]), system.score).solution == 3.0
    _, choice = chosen(1.0, np.array([3.0, 1.5]))
    assert choice.solution == (1.5, "gamma chosen by leave-one-out from 2 values")


def test_a_solution_at_hand_is_not_computed_again():
    class AtHand(Peak):
        def candidates(self, gammas):
            for gamma in gammas:
                solution = SimpleNamespace(noted=lambda note, gamma=gamma: ("at hand", gamma))
                yield Candidate({"decision": np.full((2, 1), gamma)}, solution)

    system = AtHand(2.0)
    assert choose_gamma(system, np.array([1.0, 2.0, 3.0]), system.score).solution == ("at hand", 2.0)


def test_of_equal_scores_the_smaller_squared_error_is_taken():
    system = Peak(1.0)
    choice = choose_gamma(system, np.array([1.0, 2.0, 4.0]), lambda views: (0.0, -abs(views["decision"][0, 0] - 2.0)))
    assert choice.gamma == 2.0


GRID = np.array([1.0, 2.0, 4.0])


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("rescaled", [False, True])
def test_what_is_said_of_the_ends_of_a_grid(fitted, rescaled):
    def said(gamma, grid=GRID):
        return end_of_grid(gamma, grid, fitted=fitted, rescaled=rescaled)

    assert said(2.0) == said(4.0, GRID[1:]) == said(1.0, np.array([1.0, 1.0, 2.0])) == ""
    assert said(4.0)
    assert ("rounding errors" in said(4.0)) == fitted
    assert ("is the largest of the 3 usable values, and larger" in said(4.0)) != fitted
    if fitted:
        assert bool(said(1.0)) != rescaled
        assert ("about the mean" in said(1.0)) != rescaled
    else:
        assert "is the smallest of the 3 usable values, and smaller" in said(1.0)


def test_unless_it_is_said_a_grid_was_given():
    assert "extend the grid" in end_of_grid(1.0, GRID)
    assert "says nothing" in end_of_grid(1.0, GRID, fitted=True)
    system = Peak(1e-40)
    assert choose_gamma(system, None, system.score, rescaled=True).warning == ""


def test_nothing_to_note_leaves_a_choice_alone():
    choice = Choice(1.0, SimpleNamespace(noted=lambda note: f"noted {note}"))
    assert choice.noted("") is choice
    assert choice.noted("x").solution == "noted x"
    assert (choice.left_out, choice.path, choice.warning, choice.left_out_error) == (None, None, "", 0.0)


@pytest.mark.parametrize(
    ("score", "other", "better"),
    [
        ((0.9 + 1e-6, -2e6), (0.9, -1e6), True),  # what rounding leaves of scores is measured by these alone
        ((0.9 + 0.9e-11, -2.0), (0.9, -1.0), False),
        ((0.9 + 1.1e-11, -2.0), (0.9, -1.0), True),
        ((-1e6 + 0.9e-4, -2.0), (-1e6, -1.0), False),
        ((-1e6 + 1.1e-4, -2.0), (-1e6, -1.0), True),
        ((1.0, -1.0 + 1.1e-10), (1.0, -1.0), True),
        ((1.0, -1.0 + 0.9e-10), (1.0, -1.0), False),
        ((0.5, -9.0), (-np.inf, -np.inf), True),
        ((-np.inf, -np.inf), (0.5, -9.0), False),
        ((-np.inf, -np.inf), (-np.inf, -np.inf), False),
    ],
)
def test_a_score_is_better_by_more_than_rounding_errors_of_the_other(score, other, better):
    assert beats(score, other) == better
