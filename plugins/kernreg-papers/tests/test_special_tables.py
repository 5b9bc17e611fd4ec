"""Tables with other measures, splits and data: documents, general data, timings, streams, plugins."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from kernreg_papers import Method, Outcome, Reported, Row, Selection, Table, find_table, run, write_report
from kernreg_papers.data.click_logs import click_rows, clicks
from kernreg_papers.data.splits import Split, make_split
from kernreg_papers.report.summary import summarise
from kernreg_papers.report.words import beyond
from kernreg_papers.runner.cells import cell_path, read_cell

from kernreg.datasets import make_documents


def scores(out, table, row, quick=True):
    return {
        method.name: read_cell(cell_path(out, quick, table.name, row, method.name, 0))["scores"]
        for method in table.methods
        if method.is_installed
    }


def test_documents_are_clustered(tmp_path):
    A, labels, _ = make_documents(n_documents=120, n_terms=60, within=0.3, random_state=0)
    A = sp.csr_array(A)
    np.savez(
        tmp_path / "acm_docterm.npz",
        format=b"csr", shape=A.shape, data=A.data, indices=A.indices, indptr=A.indptr, labels=labels,
    )  # fmt: skip
    rows = (Row("acm", "acm_docterm", options={"clusters": [3, 3]}),)
    table = dataclasses.replace(find_table("ksvd-table2"), rows=rows, reported={})
    assert run(table, tmp_path / "out", data=tmp_path, quick=True).failed == 0
    found = scores(tmp_path / "out", table, "acm")
    assert found["ksvd"]["nmi"] > 0.9
    assert found["tuned"]["coherence"] >= found["ksvd"]["coherence"]


@pytest.mark.parametrize("name", ["ksvd-table3", "ksvd-table5"])
def test_general_data_are_classified_and_regressed(tmp_path, name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)) * 10.0
    np.savez(tmp_path / "pima.npz", X=X, y=(X[:, 0] + X[:, 1] > 0).astype(np.int16))
    np.savez(tmp_path / "cholesterol.npz", X=X, y=X[:, 0] + rng.normal(size=200))
    table = find_table(name)
    done = run(table, tmp_path / "out", Selection(rows=("diabetes", "cholesterol")), data=tmp_path, quick=True)
    assert (done.made, done.failed) == (2 * len(table.methods), 0)
    first = table.measures[0]
    assert scores(tmp_path / "out", table, "diabetes")["tuned"].keys() == {first}
    assert scores(tmp_path / "out", table, "diabetes")["tuned"][first] > 0.8
    assert scores(tmp_path / "out", table, "cholesterol")["tuned"]["rmse"] < 0.6 * X[:, 0].std()
    text = write_report([table], tmp_path / "out", data=tmp_path, quick=True)[0].read_text()
    assert "**RMSE (less is better)**" in text
    assert text.count("| diabetes |") == 2  # its measure, and seconds


def test_times_to_an_accuracy_are_of_vectors_that_accurate(tmp_path):
    rng = np.random.default_rng(2)
    links = (rng.random((90, 90)) < 0.1) & ~np.eye(90, dtype=bool)
    np.savez(tmp_path / "cora.npz", edges=np.argwhere(links), labels=np.arange(90) % 3, n_nodes=90)
    table = find_table("ksvd-table4")
    assert run(table, tmp_path / "out", Selection(rows=("cora",)), data=tmp_path, quick=True).failed == 0
    for method in table.methods:
        cell = read_cell(cell_path(tmp_path / "out", True, table.name, "cora", method.name, 0))
        assert set(cell["scores"]) == {"seconds_0.1", "seconds_0.01"}
        assert cell["chosen"]["seconds_0.01"]["eta"] <= 0.01 < cell["chosen"]["eta_of_nothing"]


def test_generated_rows_do_not_depend_on_how_they_are_asked_for():
    numbers = np.arange(1000)
    whole = click_rows(numbers, 5000)
    assert (whole.sum(axis=1) == 39).all()
    assert abs(whole[300:310] - click_rows(numbers[300:310], 5000)).nnz == 0
    assert np.array_equal(clicks(numbers)[300:310], clicks(numbers[300:310]))
    assert 0.2 < clicks(numbers).mean() < 0.4


def test_streams_are_classified(tmp_path):
    table = dataclasses.replace(
        find_table("ksvd-table7"), quick_samples=4000, rows=(Row("c", "generated:clicks-4000"),)
    )
    assert run(table, tmp_path, quick=True).failed == 0
    assert scores(tmp_path, table, "c")["ksvd"]["auroc"] > 0.55


@pytest.fixture
def ranked():
    def method(split):
        return Outcome(np.full(len(split.X_test), split.y_train.mean()))

    methods = (Method("mean", "mean", method), Method("tuned", "kernreg tuned", method, requires="no_such_plugin"))
    return Table(
        "lower", "", "", (Row("blobs", "blobs"),), methods, {"rmse": {("blobs", "mean"): Reported(0.4, 0.2)}},
        measures=("rmse",), lower=("rmse",), trials=2, stratify=True,
        elsewhere={"rmse": {("blobs", "x"): Reported(0.3)}},
    )  # fmt: skip


def test_less_may_be_better_and_a_plugin_absent(ranked, folder, tmp_path):
    assert ranked.best_reported("rmse", "blobs") == Reported(0.3)
    done = run(ranked, tmp_path, data=folder)
    assert (done.made, done.failed) == (2, 0)
    summary = summarise(ranked, tmp_path, data=folder)
    assert summary.entries["rmse"]["blobs", "tuned"].state == "plugin not installed"
    assert beyond(summary) == ""
    there = dataclasses.replace(
        ranked, methods=(ranked.methods[0], dataclasses.replace(ranked.methods[1], requires=""))
    )
    run(there, tmp_path, data=folder)
    # The mean as a prediction has an error of √(0.6 · 0.4) = 0.49.
    assert "in 0 of 1 rows" in beyond(summarise(there, tmp_path, data=folder))


def test_stratified_and_unseen_parts_keep_the_classes(table, folder):
    from kernreg import datasets

    special = dataclasses.replace(table, stratify=True, train=0.4, unseen=0.3, scale="standard")
    split, y_test = make_split(special, special.rows[0], datasets.load("blobs", folder=folder), 3, False)
    assert (len(split.y_train), len(y_test), split.n_unseen) == (40, 60, 30)
    for part in (split.y_train, y_test[:30], y_test[30:]):
        assert abs(part.mean() - 0.4) < 0.06
    seen = np.concatenate([split.X_train, split.X_test[:30]])
    assert np.allclose(seen.mean(axis=0), 0.0)
    assert np.allclose(seen.std(axis=0), 1.0)


def test_a_row_may_be_a_subset_with_few_labels(tmp_path):
    rng = np.random.default_rng(0)
    A = sp.csr_array((rng.random((200, 12)) < 0.3).astype(float))
    np.savez(
        tmp_path / "adult_a9a.npz",
        format=b"csr", shape=A.shape, data=A.data, indices=A.indices, indptr=A.indptr,
        y=np.where(A.toarray()[:, 0] > 0, 1, -1), idx_a1a=np.arange(100),
    )  # fmt: skip
    table = find_table("scg-table5")
    done = run(
        table,
        tmp_path / "out",
        Selection(rows=("adult-a1a",), methods=("gaussian", "scg-ldk")),
        data=tmp_path,
        quick=True,
    )
    assert (done.made, done.failed) == (2, 0)
    cell = read_cell(cell_path(tmp_path / "out", True, table.name, "adult-a1a", "scg-ldk", 0))
    assert (cell["n_train"], cell["n_test"]) == (50, 50)
    assert cell["made_with"]["subset"] == "a1a"
    assert cell["scores"]["learning_seconds"] > 0


@pytest.mark.parametrize("name", ["scg-ldk", "tuned"])
def test_unseen_samples_choose_nothing(name):
    table = find_table("scg-table4")
    method = table.method(name)
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3)) + 2.0 * y[:, None]
    split = Split(X[:30], y[:30], X[30:], seed=1, n_unseen=15)
    moved = dataclasses.replace(split, X_test=np.concatenate([X[30:45], 50.0 + X[45:]]))
    first, second = (method.function(each, **method.settings_of(True)) for each in (split, moved))
    assert first.chosen == second.chosen
    np.testing.assert_array_equal(first.predicted[:15], second.predicted[:15])


def test_a_row_may_have_its_own_number_of_trials():
    table = find_table("scg-table5")
    assert table.trials_of(table.row("adult-a6a"), None, False) == 2
    assert table.trials_of(table.row("adult-a6a"), 7, False) == 7
    assert table.trials_of(table.row("adult-a6a"), None, True) == table.quick_trials
