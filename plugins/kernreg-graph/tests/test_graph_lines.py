"""The memory of lines: nothing is computed twice while it fits, and nothing is wrong when it does not."""

from __future__ import annotations

import numpy as np
import pytest
from kernreg_graph.lines import CHUNK, Lines, fixed_width

MATRIX = np.random.default_rng(0).normal(size=(90, 90))


def counted(memory):
    solved = {"rows": [], "columns": []}

    def rows(nodes):
        solved["rows"] += nodes.tolist()
        return MATRIX[nodes]

    def columns(nodes):
        solved["columns"] += nodes.tolist()
        return MATRIX[:, nodes].T

    return Lines(90, rows, columns, memory), solved


def test_lines_that_fit_are_computed_once():
    lines, solved = counted(memory=90 * 90 * 8)
    nodes = np.arange(90)
    for _ in range(2):
        for start in range(0, 90, 40):
            lines.block(nodes[:40], nodes[start : start + 40])
    assert sorted(solved["rows"]) == list(range(40))
    assert sorted(solved["columns"]) == list(range(80, 90))  # the last tile is narrow: ten columns are fewer


def test_the_fewer_lines_are_computed():
    lines, solved = counted(memory=0)
    lines.block(np.arange(90), np.array([3, 3, 5]))
    lines.block(np.array([7, 7]), np.arange(90))
    assert solved == {"rows": [7], "columns": [3, 5]}


@pytest.mark.parametrize("kept", [0, 1, 7, 1000])
def test_values_do_not_depend_on_the_memory(kept):
    lines, _ = counted(memory=kept * 90 * 8)
    rng = np.random.default_rng(1)
    for _ in range(30):
        rows, columns = rng.integers(0, 90, rng.integers(0, 60)), rng.integers(0, 90, rng.integers(0, 60))
        np.testing.assert_array_equal(lines.block(rows, columns), MATRIX[np.ix_(rows, columns)])
        assert len(lines._known) <= kept


def test_fixed_width_always_asks_for_as_many():
    widths = []

    def solve(nodes):
        widths.append(len(nodes))
        return MATRIX[nodes]

    np.testing.assert_array_equal(fixed_width(solve)(np.array([4, 2, 9])), MATRIX[[4, 2, 9]])
    fixed_width(solve)(np.arange(CHUNK))
    assert widths == [CHUNK, CHUNK]
