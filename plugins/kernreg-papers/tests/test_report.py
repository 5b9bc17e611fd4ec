"""The report holds our numbers, the paper's, and never one that was not measured."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from kernreg_papers import run, write_report
from kernreg_papers.report.summary import summarise
from kernreg_papers.runner.cells import cell_path, read_cell


def test_mean_and_deviation_are_those_of_the_cells(table, folder, tmp_path):
    run(table, tmp_path, data=folder)
    cells = [read_cell(cell_path(tmp_path, False, "tiny", "noise", "near", trial)) for trial in range(3)]
    values = [cell["scores"]["accuracy"] for cell in cells]
    entry = summarise(table, tmp_path, data=folder).entries["accuracy"]["noise", "near"]
    assert (entry.mean, entry.std) == pytest.approx((np.mean(values), np.std(values, ddof=1)))
    assert entry.near is None  # the paper says nothing here


def test_without_data_or_runs_there_is_no_number(table, folder, tmp_path):
    entries = summarise(table, tmp_path, data=folder).entries["accuracy"]
    assert {entry.state for (row, _), entry in entries.items() if row != "absent"} == {"not run"}
    assert entries["absent", "near"].state == "data not available"
    text = write_report([table], tmp_path, data=folder)[0].read_text()
    assert "| absent | data not available [0.500] | data not available |" in text
    assert "Friedman" not in text
    assert "Wilcoxon" not in text
    assert "numbers are within" not in text


def test_a_table_whose_data_nobody_has_is_reported_too(table, tmp_path):
    lost = replace(table, rows=tuple(replace(row, data="") for row in table.rows))
    assert lost.wanted_trials == table.wanted_trials
    assert "data not available" in write_report([lost], tmp_path)[0].read_text()


def test_ours_stand_beside_the_papers(table, folder, tmp_path):
    run(table, tmp_path, data=folder)
    markdown, page = (path.read_text() for path in write_report([table], tmp_path, data=folder))
    near = summarise(table, tmp_path, data=folder).entries["accuracy"]["blobs", "near"]
    word = " near" if near.near else ""
    assert f"| blobs | {near.mean:.3f} ± {near.std:.3f} ×{near.trials} [0.990 ± 0.020]{word} |" in markdown
    assert re.search(r"\d+ cells, \d+\.\d minutes of one process", markdown)
    assert ("Not within the paper's deviation" in markdown) == (not near.near)
    assert f"{int(abs(near.mean - 0.99) <= 0.02)} of 1 numbers are within" in markdown
    assert "- the means are shifted" in markdown
    assert "Wilcoxon signed-rank test of the two over 2 rows" in markdown
    assert "always &lt;one&gt;" in page
    assert "<one>" not in page
    assert "paper 0.990 ± 0.020" in page
    assert not re.search(r'(src|href)="(?!#|data:)', page)  # self-contained


def test_the_quick_profile_claims_nothing(table, folder, tmp_path):
    run(table, tmp_path, data=folder, quick=True)
    path, _ = write_report([table], tmp_path, data=folder, quick=True)
    assert path.name == "report-quick.md"
    assert "not comparable" in path.read_text()
    assert "numbers are within" not in path.read_text()
