"""Descriptions: numbers as the papers print them, every method runs."""

from __future__ import annotations

import numpy as np
import pytest

from kernreg.errors import ParameterError
from kernreg.papers import Reported, find_table, run, table_names
from kernreg.papers.description import numbers

PRINTED = [
    ("ind-table1", "accuracy", "monk1", "tl1-fixed", Reported(0.734)),
    ("ind-table1", "accuracy", "spambase", "tl1", Reported(0.942)),
    ("ind-table1", "accuracy", "dbworld", "poly", Reported(0.856)),
    ("ask-table4", "accuracy", "heart", "rbf", Reported(0.837, 0.032)),
    ("ask-table4", "accuracy", "monks2", "sne", Reported(0.866, 0.016)),
    ("ask-table4", "accuracy", "spambase", "t", Reported(0.922, 0.018)),
]


@pytest.mark.parametrize(("name", "measure", "row", "method", "number"), PRINTED)
def test_numbers_are_the_papers(name, measure, row, method, number):
    assert find_table(name).reported[measure][row, method] == number


@pytest.mark.parametrize("name", table_names())
def test_a_description_is_complete(name):
    table = find_table(name)
    assert table.name == name
    assert table.protocol
    assert table.differences
    assert [method.name for method in table.methods if method.ours][-1] == "tuned"
    for measure in table.measures:
        printed = {method for _, method in table.reported[measure]}
        assert printed >= {method.name for method in table.methods if not method.ours}


def test_unknown_tables_are_refused():
    with pytest.raises(ParameterError, match="Did you mean 'ask-table4'"):
        find_table("ask-table-4")
    with pytest.raises(ParameterError, match="has 1 numbers; there are 2 columns"):
        numbers("a b", "row 1.0")
    with pytest.raises(ParameterError, match="'1,0'"):
        numbers("a", "row 1,0")


@pytest.mark.parametrize("name", ["ind-table1", "ask-table4"])
def test_every_method_of_a_tabular_table_runs(tmp_path, name):
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    np.savez(tmp_path / "sonar.npz", X=rng.normal(size=(60, 3)) + 3.0 * y[:, None], y=y)
    table = find_table(name)
    done = run(table, tmp_path / "out", data=tmp_path, quick=True, trials=1, rows=("sonar",))
    assert (done.made, done.failed) == (len(table.methods), 0)
