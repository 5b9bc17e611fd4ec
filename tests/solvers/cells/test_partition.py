"""Partitions against naive walks down the tree, sample by sample."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from kernreg.solvers.cells.partition import grow
from kernreg.solvers.cells.splits import Split, k_means, leading_direction

KINDS = ["tree", "kmeans"]


@pytest.fixture
def X():
    rng = np.random.default_rng(3)
    return np.concatenate([rng.normal(size=(150, 4)) * [3, 1, 1, 0.5], rng.normal(4.0, 1.0, (90, 4)) * [1, 1, 0, 0]])


def functions(partition, number):
    rows = range(partition.starts[number], partition.starts[number + 1])
    return [(partition.slopes[r], partition.offsets[r], int(partition.below[r])) for r in rows]


def walked(partition, x):
    """The cell of one sample: at each split to the part with the largest function."""
    place = 0
    while place >= 0:
        place = max(functions(partition, place), key=lambda part: part[0] @ x + part[1])[2]
    return -1 - place


def outside(parts, j, x):
    """How far a sample is outside of one part of a split."""
    slope, offset, _ = parts[j]
    gaps = [((a - slope) @ x + b - offset) / np.linalg.norm(a - slope) for i, (a, b, _) in enumerate(parts) if i != j]
    return max(0.0, *gaps)


def distances(partition, x, place=0, square=0.0):
    """The distance of one sample from every cell."""
    if place < 0:
        return {-1 - place: np.sqrt(square)}
    parts, found = functions(partition, place), {}
    for j, (_, _, below) in enumerate(parts):
        found |= distances(partition, x, below, square + outside(parts, j, x) ** 2)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_routing_equals_the_walk_down_the_tree(X, kind):
    partition, cells = grow(X, 20, kind, 0)
    new = np.random.default_rng(0).normal(size=(200, 4)) * 3
    assert partition.route(new)[0][:, 0].tolist() == [walked(partition, x) for x in new]
    assert partition.route(new)[1].max() == 0.0
    assert np.array_equal(partition.route(X)[0][:, 0], cells)


@pytest.mark.parametrize("kind", KINDS)
def test_all_cells_ordered_by_naive_distance(X, kind):
    partition, _ = grow(X, 40, kind, 0)
    new = np.random.default_rng(1).normal(size=(50, 4)) * 3
    cells, found = partition.route(new, n_nearest=partition.n_cells)
    for x, own, far in zip(new, cells, found, strict=True):
        expected = distances(partition, x)
        assert sorted(own) == sorted(expected)
        assert far == pytest.approx([expected[cell] for cell in own], abs=1e-10)
        assert np.all(np.diff(far) >= 0.0)
        assert own[0] == walked(partition, x)


@pytest.mark.parametrize("kind", KINDS)
def test_two_nearest_begin_with_the_own_cell(X, kind):
    partition, cells = grow(X, 20, kind, 0)
    near, far = partition.route(X, n_nearest=2)
    assert np.array_equal(near[:, 0], cells)
    assert np.all(near[:, 1] != cells)
    for x, cell, distance in zip(X, near[:, 1], far[:, 1], strict=True):
        assert distances(partition, x)[cell] == pytest.approx(distance, abs=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cell_size", [7, 50, 239, 240])
def test_cells_are_small_enough_and_none_is_empty(X, kind, cell_size):
    partition, cells = grow(X, cell_size, kind, 0)
    sizes = np.bincount(cells, minlength=partition.n_cells)
    assert sizes.max() <= cell_size
    assert sizes.min() >= 1
    assert partition.n_cells == 1 or cell_size < 240


def test_cells_of_a_tree_are_of_about_equal_size(X):
    for cell_size in (10, 33, 100):
        partition, cells = grow(X, cell_size, "tree", 0)
        sizes = np.bincount(cells)
        assert partition.n_cells == ceil(240 / cell_size)
        assert sizes.max() - sizes.min() <= 2


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_samples_make_the_same_cells(kind):
    dense = np.random.default_rng(0).poisson(0.3, (300, 40)).astype(float)
    (one, cells), (other, same) = grow(dense, 50, kind, 0), grow(sp.csr_array(dense), 50, kind, 0)
    assert np.array_equal(cells, same)
    assert np.allclose(one.slopes, other.slopes, atol=1e-9)
    assert np.array_equal(other.route(sp.csr_array(dense))[0][:, 0], cells)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_samples_stay_together_while_something_else_tells_samples_apart(kind):
    X = np.repeat(np.random.default_rng(0).integers(0, 3, (20, 2)), 10, axis=0).astype(float)
    _, cells = grow(X, 60, kind, 0)
    for row in np.unique(X, axis=0):
        assert len(set(cells[(row == X).all(axis=1)])) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_samples_that_are_all_the_same_are_dealt_out(kind):
    partition, cells = grow(np.ones((100, 3)), 30, kind, 0)
    assert np.bincount(cells).max() <= 30
    assert set(partition.route(np.ones((5, 3)))[0][:, 0]) == {0}
    for _, near, reach in partition.neighbours(np.ones((100, 3)), cells, 0.5):
        assert reach == 0.0
        assert len(near) == 13


def naive_neighbours(partition, X, cells, share):
    """From the top down: each part keeps the nearest samples outside of it that the part above it knows."""
    found = {}

    def below(place):
        return {-1 - place} if place < 0 else set().union(*(below(p) for _, _, p in functions(partition, place)))

    def visit(place, known):
        if place < 0:
            own = set(np.flatnonzero(cells == -1 - place))
            found[-1 - place] = sorted(i for i in known if i not in own)
            return
        parts = functions(partition, place)
        for j, (_, _, under) in enumerate(parts):
            own = [i for i in known if cells[i] in below(under)]
            others = [(known[i] + outside(parts, j, X[i]) ** 2, i) for i in known if i not in set(own)]
            others = sorted(others)[: ceil(share * len(own))]
            visit(under, {**dict.fromkeys(own, 0.0), **{i: square for square, i in others}})

    visit(0, dict.fromkeys(range(len(X)), 0.0))
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.2, 1.0])
def test_neighbours_equal_the_naive_search(X, kind, share):
    partition, cells = grow(X, 30, kind, 0)
    expected = naive_neighbours(partition, X, cells, share)
    found = {cell: near.tolist() for cell, near, _ in partition.neighbours(X, cells, share)}
    assert found == expected


def test_neighbours_in_one_dimension_are_those_next_to_the_border():
    x = np.arange(40.0)[:, None]
    partition, cells = grow(x, 10, "tree", 0)
    for cell, near, reach in partition.neighbours(x, cells, 0.2):
        own = np.flatnonzero(cells == cell)
        beside = {own.min() - 2, own.min() - 1, own.max() + 1, own.max() + 2}
        assert len(near) == 2
        assert set(near) <= beside
        assert 0.5 <= reach <= 1.5 * np.sqrt(2.0)


def test_leading_direction_is_that_of_principal_components(X):
    for data in (X, X[:3], np.random.default_rng(0).normal(size=(20, 50))):
        expected = PCA(1, svd_solver="full").fit(data).components_[0]
        assert abs(leading_direction(data) @ expected) == pytest.approx(1.0)
        assert abs(leading_direction(sp.csr_array(data)) @ expected) == pytest.approx(1.0)


def test_k_means_finds_what_scikit_learn_finds():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 3)) + 20 * np.eye(3)[i] for i in range(3)])
    found = k_means(X, 3, np.random.default_rng(0))
    expected = KMeans(3, n_init=5, random_state=0).fit(X).cluster_centers_
    assert np.allclose(found[np.lexsort(found.T)], expected[np.lexsort(expected.T)])


def test_distance_from_a_voronoi_cell_of_two_centres():
    centres = np.array([[0.0, 0.0], [4.0, 0.0]])
    split = Split(centres, -0.5 * (centres**2).sum(axis=1))
    assert split.distances(np.array([[3.0, 7.0], [1.5, -1.0]])).tolist() == [[1.0, 0.0], [0.0, 0.5]]


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_decides(X, kind):
    big = np.random.default_rng(0).normal(size=(5000, 3))
    first, again, other = (grow(big, 500, kind, seed)[1] for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    "change",
    [
        lambda p: {"below": np.where(p.below == 1, 0, p.below)},  # a circle
        lambda p: {"below": np.where(p.below == -1, -2, p.below)},  # a cell twice
        lambda p: {"below": p.below[:-1]},
        lambda p: {"n_cells": p.n_cells + 1},
        lambda p: {"n_cells": 2**62},  # more than any memory holds
        lambda p: {"starts": p.starts[:-1]},
        lambda p: {"slopes": p.slopes[0]},
        lambda p: {"offsets": p.offsets.astype(np.float32)},
    ],
)
def test_a_partition_that_leads_nowhere_is_not_sound(X, change):
    partition, _ = grow(X, 40, "kmeans", 0)
    partition_of_one, _ = grow(X, 400, "kmeans", 0)
    assert partition.is_sound()
    assert partition_of_one.is_sound()
    assert not replace(partition, **change(partition)).is_sound()
