"""Sums in a fixed tree: any order of arrival, any number of threads, any chunks of a power of two of blocks."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernreg.engine import TreeSum, combined
from kernreg.errors import ParameterError


def naive_tree(values):
    """The left branch takes the largest power of two below the number of values."""
    if len(values) == 1:
        return values[0]
    half = 1
    while 2 * half < len(values):
        half *= 2
    return naive_tree(values[:half]) + naive_tree(values[half:])


def numbers(count):
    return list(np.random.default_rng(count).normal(size=(count, 3)) * 10.0 ** np.arange(3))


@given(st.integers(1, 70), st.randoms(use_true_random=False))
def test_the_order_of_arrival_changes_no_bit(count, random):
    values, order = numbers(count), list(range(count))
    random.shuffle(order)
    tree = TreeSum(count)
    for number in order:
        tree.add(number, values[number])
    assert np.array_equal(tree.total, naive_tree(values))
    assert np.array_equal(combined(values, "add"), naive_tree(values))


@given(st.integers(1, 200), st.integers(0, 5))
def test_chunks_of_a_power_of_two_are_branches(count, level):
    values, size = numbers(count), 1 << level
    chunks = [combined(values[start : start + size], "add") for start in range(0, count, size)]
    assert np.array_equal(combined(chunks, "add"), combined(values, "add"))


def test_threads_add_to_one_sum():
    values = numbers(64)
    tree = TreeSum(64)

    def enter(first):
        for number in range(first, 64, 4):
            tree.add(number, values[number])

    threads = [threading.Thread(target=enter, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(tree.total, naive_tree(values))


def test_results_are_not_written_to():
    values = numbers(9)
    copies = [value.copy() for value in values]
    combined(values, "add")
    assert all(np.array_equal(value, copy) for value, copy in zip(values, copies, strict=True))


def test_numbers_and_different_types_are_added():
    assert combined([1.5, 2, 3.0], "add") == 6.5
    mixed = combined([np.ones(2, dtype=np.float32), np.ones(2, dtype=np.float32), np.full(2, 1e-12)], "add")
    assert mixed.dtype == np.float64


def test_in_order_few_sums_wait():
    tree = TreeSum(1000)
    for number, value in enumerate(numbers(1000)):
        tree.add(number, value)
        assert len(tree._waiting) <= 10


def test_other_ways_to_combine_are_refused():
    with pytest.raises(ParameterError, match="combine='multiply'; accepted are 'concatenate', 'add'"):
        combined([1.0], "multiply")
