"""Targets become columns of numbers, and decision values become classes again."""

from __future__ import annotations

import numpy as np
import pytest

from kernreg.errors import DataError
from kernreg.solvers.dual.targets import ClassTargets, LabelTargets, RealTargets, pairwise_votes, predicted_codes

TWO, THREE = np.array(["a", "b"]), np.array(["a", "b", "c"])


@pytest.mark.parametrize(
    ("classes", "pairwise", "columns"), [(2, False, 1), (2, True, 1), (3, False, 3), (3, True, 3), (5, True, 10)]
)
def test_columns_of_classes(classes, pairwise, columns):
    y = np.arange(classes).repeat(2)
    targets = ClassTargets.of(y, pairwise=pairwise)
    assert targets.columns == columns == sum(problem.Y.shape[1] for problem in targets.problems(y))
    assert targets.fitted["_pairwise"] == targets.pairwise == (pairwise and classes > 2)
    assert targets.fitted["classes_"].tolist() == list(range(classes))
    assert targets.fitted["_labels"] is None
    assert targets.is_flat(columns) == (columns == 1)
    assert targets.outputs == [targets]


def test_pairs_of_classes_have_the_samples_of_both():
    y = np.array(["c", "a", "b", "a", "c"])
    found = [(p.rows.tolist(), p.Y.tolist()) for p in ClassTargets.of(y, pairwise=True).problems(y)]
    assert found == [
        ([1, 2, 3], [[-1.0], [1.0], [-1.0]]),
        ([0, 1, 3, 4], [[1.0], [-1.0], [-1.0], [1.0]]),
        ([0, 2, 4], [[1.0], [-1.0], [1.0]]),
    ]


def test_one_against_the_rest_has_a_column_for_each_of_three_classes_and_one_for_two():
    (problem,) = ClassTargets(THREE).problems(np.array(["b", "c", "a"]))
    assert problem.rows is None
    assert problem.Y.tolist() == [[-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0], [1.0, -1.0, -1.0]]
    assert ClassTargets(THREE).values(np.array(["b", "c", "a"])).tolist() == problem.Y.tolist()
    assert ClassTargets(TWO).values(np.array(["b", "a"])).tolist() == [1.0, -1.0]
    assert ClassTargets(TWO).for_ensemblers(np.array(["b", "a"])).tolist() == [1, -1]
    assert ClassTargets(THREE).for_ensemblers(np.array(["b", "c", "a"])).tolist() == [1, 2, 0]


def test_two_classes_are_enough_and_one_is_not():
    assert ClassTargets.of(np.array([3, 1, 3])).classes.tolist() == [1, 3]
    assert not ClassTargets.of(THREE).pairwise
    with pytest.raises(DataError, match=r"one class only \(3, 2 samples\)"):
        ClassTargets.of(np.array([3, 3]))
    with pytest.raises(ValueError, match="continuous"):
        ClassTargets.of(np.array([0.1, 0.7, 0.3]))
    with pytest.raises(ValueError, match="continuous"):
        LabelTargets.of(np.array([[0.1, 0.7], [0.3, 0.2]]))


def test_shapes_of_decision_values():
    view = np.arange(6.0).reshape(2, 3)
    assert ClassTargets(TWO).shaped(view[:, :1]).tolist() == [0.0, 3.0]
    assert ClassTargets(THREE).shaped(view) is view
    assert ClassTargets(THREE, pairwise=True).shaped(view).tolist() == pairwise_votes(view, 3).tolist()
    assert RealTargets(flat=True).shaped(view).tolist() == [0.0, 3.0]
    assert RealTargets(flat=False).shaped(view[:, :1]).shape == (2, 1)


def test_accuracy_is_weighted():
    decision, y = np.array([1.0, -1.0, 2.0]), np.array(["b", "a", "a"])
    assert ClassTargets(TWO).score(decision, y, None) == pytest.approx(2 / 3)
    assert ClassTargets(TWO).score(decision, y, np.array([1.0, 1.0, 6.0])) == 0.25
    assert RealTargets(flat=True).score(np.array([0.0, 2.0]), np.array([0.0, 1.0]), None) == pytest.approx(-1.0)
    weights = np.array([3.0, 1.0])  # the mean is 0.25: squares 1 of 3 · 0.25² + 0.75²
    assert RealTargets(flat=True).score(np.array([0.0, 2.0]), np.array([0.0, 1.0]), weights) == pytest.approx(-1 / 3)


def naive_votes(decisions, classes):
    votes = []
    for row in decisions:
        won, sums, values = [0] * classes, [0.0] * classes, iter(row)
        for i in range(classes):
            for j in range(i + 1, classes):
                value = next(values)
                won[j if value > 0 else i] += 1
                sums[j] += value
                sums[i] -= value
        votes.append([w + s / (3 * (abs(s) + 1)) for w, s in zip(won, sums, strict=True)])
    return np.array(votes)


@pytest.mark.parametrize("classes", [3, 4])
def test_votes_of_pairs_with_ties_settled_by_sums(classes):
    decisions = np.random.default_rng(0).normal(size=(20, classes * (classes - 1) // 2))
    decisions[0] = 0.0  # a value of zero is a vote for the first of the two
    found = pairwise_votes(decisions, classes)
    np.testing.assert_allclose(found, naive_votes(decisions, classes), atol=1e-14)
    assert found[0].tolist() == list(range(classes - 1, -1, -1))
    assert pairwise_votes(decisions.astype(np.float32), classes).dtype == np.float32


def test_the_class_of_decision_values():
    assert predicted_codes(np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 2.0]])).tolist() == [0, 1, 0]
    assert predicted_codes(np.array([-1.0, 0.0, 1e-300])).tolist() == [0, 0, 1]
    assert predicted_codes(np.array([[-1.0], [1.0]])).tolist() == [0, 1]
    assert ClassTargets(THREE).predicted(np.array([[0.0, 2.0, 1.0]])).tolist() == ["b"]


@pytest.mark.parametrize(
    ("classes", "indicator"),
    [
        ([[0, 1], [0, 1]], True),
        ([[False, True]], True),
        ([[0.0, 1.0], [0.0, 1.0]], True),
        ([["n", "y"], ["n", "y"]], False),
        ([[0, 1], [0, 2]], False),
        ([[0, 2], [0, 1], [0, 1]], False),
        ([[0, 1, 2], [0, 1, 2]], False),
    ],
)
def test_two_numbers_that_all_columns_share_are_an_indicator_matrix(classes, indicator):
    targets = LabelTargets([np.array(each) for each in classes])
    assert targets.indicator == indicator
    kept = targets.fitted["classes_"]
    if indicator:
        assert kept.tolist() == list(range(len(classes)))
    else:
        assert [each.tolist() for each in kept] == classes
    assert (targets.fitted["_pairwise"], targets.pairwise) == (False, False)
    assert [each.tolist() for each in targets.fitted["_labels"]] == classes


def test_labels_in_several_columns_are_scored_together_and_split_by_their_columns():
    y = np.array([["a", "x"], ["b", "y"], ["c", "x"], ["a", "y"]])
    targets = LabelTargets.of(y)
    assert targets.columns == 4
    (problem,) = targets.problems(y)
    assert problem.Y[0].tolist() == [1.0, -1.0, -1.0, -1.0]
    assert problem.Y[1].tolist() == [-1.0, 1.0, -1.0, 1.0]
    assert targets.for_ensemblers(y).tolist() == targets.values(y).tolist() == problem.Y.tolist()
    first, second = targets.parts(problem.Y)
    assert (first.shape, second.shape) == ((4, 3), (4,))
    assert targets.predicted(problem.Y).tolist() == y.tolist()
    wrong = problem.Y.copy()
    wrong[2, 3] = 1.0
    assert targets.score(wrong, y, None) == 0.75
    assert targets.score(wrong, y, np.array([1.0, 1.0, 2.0, 4.0])) == 0.75
    assert targets.score(wrong, y, np.array([1.0, 1.0, 6.0, 0.0])) == 0.25
    assert targets.shaped(wrong) is wrong
    assert not targets.is_flat(1)


def test_columns_of_an_indicator_matrix_may_be_of_one_class_but_not_all():
    targets = LabelTargets.of(np.array([[0, 1, 0], [1, 1, 0]]))
    assert targets.indicator
    assert targets.columns == 3
    with pytest.raises(DataError, match="one class only"):
        LabelTargets.of(np.array([["a", "x"], ["b", "x"]]))


def test_real_targets_keep_their_shape():
    y = np.arange(6).reshape(3, 2)
    (problem,) = RealTargets(flat=False).problems(y)
    assert problem.rows is None
    assert problem.Y.tolist() == y.tolist()
    assert problem.Y.dtype == np.float64
    assert RealTargets(flat=True).problems(y[:, 0])[0].Y.shape == (3, 1)
    assert RealTargets(flat=True).for_ensemblers(y[:, 0]).dtype == np.float64
    assert RealTargets(flat=True).values(y[:, 0]).tolist() == [0.0, 2.0, 4.0]
    for flat in (True, False):
        assert RealTargets(flat=flat).is_flat(1) is flat
        assert RealTargets(flat=flat).fitted == {"_flat": flat}
    assert RealTargets(flat=True).columns is None
    assert RealTargets(flat=True).pairwise is False
