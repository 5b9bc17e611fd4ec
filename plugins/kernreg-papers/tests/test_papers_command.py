"""kernreg papers list, run, report."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from kernreg_papers import names

from kernreg.cli.app import application


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KERNREG_DATA", raising=False)
    rng = np.random.default_rng(1)
    y = np.arange(40) % 2
    (tmp_path / "data").mkdir()
    np.savez(tmp_path / "data/sonar.npz", X=rng.normal(size=(40, 3)) + 3.0 * y[:, None], y=y)
    return lambda *arguments: CliRunner().invoke(application, ["papers", *arguments], prog_name="kernreg")


def test_list_tells_how_many_rows_have_data(call):
    found = {row["name"]: row for row in json.loads(call("list", "--data", "data", "--json").stdout)}
    assert tuple(found) == names()
    assert (found["ask-table4"]["rows"], found["ask-table4"]["with_data"]) == (8, 1)
    assert (found["scg-table5"]["trials"], found["ind-figure1"]["trials"]) == ([2, 3, 5], None)
    (line,) = [line for line in call("list").stdout.splitlines() if line.startswith("scg-table5")]
    assert line.rstrip().endswith("2 to 5")


def test_run_and_report(call, tmp_path):
    arguments = ("run", "ask-table4", "--quick", "--trials", "1", "--data", "data", "--row", "sonar", "--row", "pima")
    result = call(*arguments, "--method", "rbf", "--method", "t")
    assert result.exit_code == 0, result.output
    assert "cells run: 2, kept: 0, failed: 0; rows without data: 1;" in result.stdout
    assert "data not available: pima: pima.npz is not there" in result.stdout
    assert "cells run: 0, kept: 2" in call(*arguments, "--method", "rbf", "--method", "t").stdout
    assert call("report", "ask-table4", "--quick", "--data", "data").exit_code == 0
    text = (tmp_path / "papers-results/report-quick.md").read_text()
    assert "| pima | data not available [0.750 ± 0.017]" in text
    assert "| sonar | not run [0.732 ± 0.008]" in text
    assert (tmp_path / "papers-results/report-quick.html").read_text().startswith("<!doctype html>")


def test_nothing_but_missing_data_is_an_error(call):
    result = call("run", "ask-table3", "--row", "cora")
    assert result.exit_code != 0
    assert "no row has data; name their folder with --data or KERNREG_DATA" in result.stderr


def test_of_several_tables_those_are_run_that_have_the_row(call):
    arguments = ("run", "ksvd-table7", "ask-table4", "--quick", "--trials", "1", "--data", "data", "--method", "rbf")
    result = call(*arguments, "--row", "sonar")
    assert result.exit_code == 0, result.output
    assert "ksvd-table7" not in result.stdout
    assert "cells run: 1" in result.stdout
    assert call(*arguments, "--row", "nowhere").exit_code == 2


def test_a_report_of_no_folder_is_refused(call, tmp_path):
    result = call("report", "ask-table4", "--out", "nowhere")
    assert result.exit_code != 0
    assert "there is no folder nowhere" in result.stderr
    assert not (tmp_path / "nowhere").exists()


def test_an_unknown_table_is_refused(call):
    result = call("run", "ask-table5")
    assert result.exit_code == 2
    assert "there is no table 'ask-table5'" in result.stderr
