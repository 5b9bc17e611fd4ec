"""Which points a picture of embeddings shows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kernreg.errors import DataError, ParameterError
from kernreg.plotting import EmbeddingDisplay


@pytest.fixture
def sides():
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 4)), rng.normal(size=(20, 4)), np.arange(30) % 3, np.arange(20) % 2


def points(ax):
    return {group.get_label(): np.asarray(group.get_offsets()) for group in ax.collections}


def test_both_sides_are_drawn_by_class(sides):
    left, right, y, z = sides
    display = EmbeddingDisplay(left, right, left_labels=y, right_labels=z).plot(components=(1, 3))
    assert len(display.axes_) == 2
    for c in range(3):
        np.testing.assert_array_equal(points(display.axes_[0])[str(c)], left[y == c][:, [1, 3]])
    for c in range(2):
        np.testing.assert_array_equal(points(display.axes_[1])[str(c)], right[z == c][:, [1, 3]])
    assert display.axes_[0].get_xlabel() == "component 1"
    assert [ax.get_title() for ax in display.axes_] == ["left embedding", "right embedding"]


def test_names_of_classes_and_sides(sides):
    left, right, y, _ = sides
    display = EmbeddingDisplay(left, right, left_labels=y, names=("documents", "terms")).plot(
        class_names=["a", "b", "c"]
    )
    assert set(points(display.axes_[0])) == {"a", "b", "c"}
    assert len(display.axes_[1].collections) == 1
    assert display.axes_[1].get_title() == "terms embedding"
    with pytest.raises(ParameterError, match="2 names are given for 3 classes"):
        EmbeddingDisplay(left, left_labels=y).plot(class_names=["a", "b"])


def test_an_estimator_with_two_sides_gives_two_panels(sides):
    left, right, y, _ = sides
    double = SimpleNamespace(transform=lambda X: X + 1, transform_right=lambda Z: Z - 1)
    display = EmbeddingDisplay.from_estimator(double, left, right)
    np.testing.assert_array_equal(display.left, left + 1)
    np.testing.assert_array_equal(display.right, right - 1)
    both_roles = EmbeddingDisplay.from_estimator(double, left, left_labels=y)
    np.testing.assert_array_equal(both_roles.right, left - 1)
    np.testing.assert_array_equal(both_roles.right_labels, y)
    single = EmbeddingDisplay.from_estimator(SimpleNamespace(transform=lambda X: X), left, left_labels=y)
    assert len(single.axes_) == 1


def test_one_component_is_drawn_against_the_sample(sides):
    left, *_ = sides
    display = EmbeddingDisplay(left[:, :1]).plot()
    np.testing.assert_array_equal(
        np.asarray(display.axes_[0].collections[0].get_offsets()), np.column_stack([np.arange(30), left[:, 0]])
    )


def test_many_classes_get_their_own_colours(sides):
    left, *_ = sides
    display = EmbeddingDisplay(left, left_labels=np.arange(30) % 15).plot()
    shades = {tuple(group.get_facecolor()[0]) for group in display.axes_[0].collections}
    assert len(shades) == 15


def test_wrong_input_is_refused(sides):
    left, right, y, _ = sides
    with pytest.raises(
        ParameterError, match=r"components=\(0, 4\) is not accepted; the embedding has components 0 … 3"
    ):
        EmbeddingDisplay(left).plot(components=(0, 4))
    with pytest.raises(DataError, match=r"right_labels has shape \(30,\); give one label for each of the 20 points"):
        EmbeddingDisplay(left, right, right_labels=y)
    with pytest.raises(DataError, match=r"left has shape \(30,\)"):
        EmbeddingDisplay(left[:, 0])
