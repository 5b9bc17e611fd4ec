"""What decompositions need, counted array by array."""

from __future__ import annotations

import numpy as np
import pytest

import kernreg as kr
from kernreg.linalg.spectra.lanczos import Settings
from kernreg.linalg.spectra.memory import basis_sizes, of_pairs, of_triplets


def asked_for(small, k, block=None):
    """The columns of a block and of a basis that an iteration takes where memory does not matter."""
    return Settings(1.0, 1, np.random.default_rng(0), block=block).sizes(small, k)


@pytest.mark.parametrize("shape", [(1000, 800), (800, 1000), (60, 60)])
@pytest.mark.parametrize("block", [None, 3])
def test_a_basis_takes_a_quarter_of_the_budget_and_has_room_for_two_blocks(shape, block):
    small, k = min(shape), 10
    width, columns = asked_for(small, k, block)
    row = 8 * sum(shape)  # one vector of each side
    with kr.config_context(memory=4 * row * columns):
        assert basis_sizes(shape, k, block) == (width, columns)
    least = min(small, k + 2 * width)
    between = (least + columns) // 2
    with kr.config_context(memory=4 * row * between):
        assert basis_sizes(shape, k, block) == (width, max(between, least))
    with kr.config_context(memory=1):
        assert basis_sizes(shape, k, block) == (width, least)


@pytest.mark.parametrize("shape", [(30, 20), (20, 30)])
def test_triplets_by_lapack(shape):
    work = 5 * 20 * 20
    for held in (True, False):  # whatever it was, LAPACK holds it
        assert of_triplets(shape, 2, held=held, dense=True) == 8 * (2 * 600 + 50 * 20 + work)


@pytest.mark.parametrize("shape", [(1000, 800), (300, 2000)])
@pytest.mark.parametrize("held", [True, False])
def test_triplets_by_iterations(shape, held):
    block, columns = asked_for(min(shape), 10)
    vectors = sum(shape) * (columns + block + 10)
    matrix = shape[0] * shape[1] if held else 0
    with kr.config_context(memory="1GB"):
        assert of_triplets(shape, 10, held=held, dense=False) == 8 * (vectors + 8 * columns**2 + matrix)


@pytest.mark.parametrize(("k", "arrays"), [(100, 5.0), (80, 4.0), (50, 3.5), (10, 3.1)])
def test_pairs_by_lapack(k, arrays):
    for held in (True, False):
        assert of_pairs(100, k, held=held, dense=True) == 8 * arrays * 100**2


@pytest.mark.parametrize("held", [True, False])
def test_pairs_by_iterations(held):
    block, columns = asked_for(1000, 10)
    with kr.config_context(memory="1GB"):
        found = of_pairs(1000, 10, held=held, dense=False)
    assert found == 8 * (1000 * (columns + block) + 5 * columns**2 + 5 * 1000 * 10 + (1000**2 if held else 0))
