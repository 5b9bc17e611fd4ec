"""Descriptions: numbers as the papers print them, every method runs."""

from __future__ import annotations

import numpy as np
import pytest
from kernreg_papers import Reported, Selection, find_table, run, table_names
from kernreg_papers.description import numbers
from kernreg_papers.runner.cells import cell_path, read_cell

from kernreg.errors import ParameterError

PRINTED = [
    ("ind-table1", "accuracy", "monk1", "tl1-fixed", Reported(0.734)),
    ("ind-table1", "accuracy", "spambase", "tl1", Reported(0.942)),
    ("ind-table1", "accuracy", "dbworld", "poly", Reported(0.856)),
    ("ask-table4", "accuracy", "heart", "rbf", Reported(0.837, 0.032)),
    ("ask-table4", "accuracy", "monks2", "sne", Reported(0.866, 0.016)),
    ("ask-table4", "accuracy", "spambase", "t", Reported(0.922, 0.018)),
    ("ask-table3", "micro_f1", "cora", "ask-stacked", Reported(0.753, 0.013)),
    ("ask-table3", "macro_f1", "citeseer", "ask-stacked", Reported(0.579, 0.012)),
    ("ask-table3", "micro_f1", "am-computer", "ask-stacked", Reported(0.868, 0.002)),
    ("ind-table2", "accuracy", "splice-10", "tl1", Reported(0.919)),
    ("ind-table2", "accuracy", "qsar-50", "rbf", Reported(0.867)),
    ("scg-table3", "accuracy", "breast", "scg-ldk", Reported(0.975, 0.011)),
    ("scg-table3", "accuracy", "iris", "scg-osk", Reported(0.978, 0.018)),
    ("ksvd-table1", "micro_f1", "cora", "ksvd", Reported(0.792)),
    ("ksvd-table1", "macro_f1", "citeseer", "svd", Reported(0.632)),
    ("ksvd-table1", "l2", "cora", "ksvd", Reported(17.4)),
    ("ksvd-table2", "coherence", "dblp", "svd", Reported(-0.06)),
    ("ksvd-table3", "rmse", "cholesterol", "sne-a3", Reported(44.40)),
    ("ksvd-table4", "seconds_0.01", "pubmed", "nystrom", Reported(0.590)),
    ("ksvd-table5", "auroc", "ionosphere", "ksvd", Reported(0.8374)),
    ("scg-table3", "learning_seconds", "breast", "ldk", Reported(252.14)),
    ("scg-table4", "unseen", "wine", "scg-ldk", Reported(0.98, 0.014)),
    ("scg-table5", "accuracy", "adult-a4a", "scg-ldk", Reported(0.824, 0.008)),
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
    for measure in set(table.measures) - set(table.unmarked) if table.reported else ():
        printed = {method for _, method in table.reported[measure]}
        assert printed >= {method.name for method in table.methods if not method.ours}


def test_the_papers_best_counts_columns_that_are_not_run():
    assert find_table("scg-table3").best_reported("accuracy", "protein") == Reported(0.791, 0.064)
    assert find_table("ask-table3").best_reported("micro_f1", "citeseer") == Reported(0.609, 0.014)
    assert find_table("ind-table1").best_reported("accuracy", "monk1") == Reported(0.852)


def test_unknown_tables_are_refused():
    with pytest.raises(ParameterError, match="Did you mean 'ask-table4'"):
        find_table("ask-table-4")
    with pytest.raises(ParameterError, match="has 1 numbers; there are 2 columns"):
        numbers("a b", "row 1.0")
    with pytest.raises(ParameterError, match="'1,0'"):
        numbers("a", "row 1,0")


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("ind-table1", "sonar"),
        ("ask-table4", "sonar"),
        ("ind-table2", "sonar-50"),
        ("scg-table3", "sonar"),
        ("scg-table4", "sonar"),
    ],
)
def test_every_method_of_a_tabular_table_runs(tmp_path, name, row):
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    np.savez(tmp_path / "sonar.npz", X=rng.normal(size=(60, 3)) + 3.0 * y[:, None], y=y)
    table = find_table(name)
    done = run(table, tmp_path / "out", Selection(rows=(row,), trials=1), data=tmp_path, quick=True)
    assert (done.made, done.failed) == (sum(method.is_installed for method in table.methods), 0)


@pytest.mark.parametrize("name", ["ask-table3", "ksvd-table1"])
def test_every_method_of_a_graph_table_runs(tmp_path, name):
    rng = np.random.default_rng(2)
    n = 90
    labels = np.arange(n) % 3
    links = (rng.random((n, n)) < np.where(labels[:, None] == labels, 0.25, 0.02)) & ~np.eye(n, dtype=bool)
    np.savez(tmp_path / "cora.npz", edges=np.argwhere(links), labels=labels, n_nodes=n)
    table = find_table(name)
    done = run(table, tmp_path / "out", Selection(rows=("cora",), trials=1), data=tmp_path, quick=True)
    assert (done.made, done.failed) == (len(table.methods), 0)
    scores = {
        method.name: read_cell(cell_path(tmp_path / "out", True, table.name, "cora", method.name, 0))["scores"]
        for method in table.methods
    }
    assert scores["tuned"]["micro_f1"] > 0.9  # three communities that are easy to see
    if name == "ask-table3":
        assert scores["ask-stacked"]["micro_f1"] > 0.8
