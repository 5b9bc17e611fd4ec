"""One file for each cell; what is there is not run again, what is damaged is."""

from __future__ import annotations

import dataclasses
import json
import signal
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest
from kernreg_papers import Method, Outcome, Row, Selection, Table, find_table, run
from kernreg_papers.data.splits import make_split, seed_of
from kernreg_papers.methods.samples.least_squares import classify
from kernreg_papers.runner.cells import cell_path, read_cell

from kernreg.errors import ParameterError


def test_a_cell_tells_scores_seed_settings_and_versions(table, folder, tmp_path):
    done = run(table, tmp_path / "out", data=folder)
    assert (done.made, done.kept, done.failed) == (12, 0, 0)
    assert [line.split(":")[0] for line in done.missing] == ["absent"]
    cell = json.loads((tmp_path / "out/full/tiny/blobs.near.001.json").read_text())
    assert cell["scores"]["accuracy"] > 0.9
    assert cell["made_with"]["seed"] == seed_of("tiny", "blobs", 1)
    assert cell["made_with"]["settings"] == {"shift": 0.0}
    assert (cell["n_train"], cell["n_test"]) == (60, 40)
    assert {"kernreg", "numpy", "scikit-learn", "python"} <= set(cell["versions"])
    assert len(cell["chosen"]["means"]) == 2


def test_the_score_is_that_of_the_test_samples(table, folder, tmp_path):
    run(table, tmp_path, Selection(rows=("noise",), methods=("one",)), data=folder)
    data = np.load(folder / "noise.npz")
    for trial in range(3):
        order = np.random.default_rng(seed_of("tiny", "noise", trial)).permutation(100)
        cell = read_cell(cell_path(tmp_path, False, "tiny", "noise", "one", trial))
        assert cell["scores"]["accuracy"] == pytest.approx((data["y"][order[60:]] == 1).mean())


def test_what_is_there_is_not_run_again(table, folder, tmp_path):
    run(table, tmp_path, Selection(trials=2), data=folder)
    again = run(table, tmp_path, data=folder)  # three trials now
    assert (again.made, again.kept) == (4, 8)


def test_a_killed_run_goes_on_where_it_stopped(folder, tmp_path):
    script = textwrap.dedent("""
        import os, signal, sys
        import numpy as np
        from kernreg_papers import Method, Outcome, Row, Table, run

        calls = 0

        def method(split):
            global calls
            calls += 1
            if calls == 3 and sys.argv[3] == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            return Outcome(np.ones(len(split.X_test), dtype=int))

        table = Table("killed", "", "", (Row("blobs", "blobs"),), (Method("m", "m", method),), {}, trials=5)
        done = run(table, sys.argv[2], data=sys.argv[1])
        print(done.made, done.kept)
    """)
    (tmp_path / "script.py").write_text(script)
    command = [sys.executable, str(tmp_path / "script.py"), str(folder), str(tmp_path / "out")]
    killed = subprocess.run([*command, "kill"], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list((tmp_path / "out").rglob("*.json"))) == 2
    assert subprocess.run([*command, "on"], capture_output=True, check=True, text=True).stdout.split() == ["3", "2"]


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b'{"format": 1',
        b"[]",
        b'{"format": 1, "made_with": {}, "scores": {"accuracy": NaN}, "seconds": 1}',
        b"\xff",
    ],
    ids=["empty", "cut", "list", "nan", "bytes"],
)
def test_a_damaged_cell_is_run_again(table, folder, tmp_path, damage):
    run(table, tmp_path, data=folder)
    path = cell_path(tmp_path, False, "tiny", "blobs", "near", 0)
    before = read_cell(path)
    path.write_bytes(damage)
    assert read_cell(path) is None
    done = run(table, tmp_path, data=folder)
    assert (done.made, done.kept) == (1, 11)
    assert read_cell(path)["scores"] == before["scores"]


def test_other_settings_are_another_result(table, folder, tmp_path):
    run(table, tmp_path, data=folder)
    near, one = table.methods
    moved = dataclasses.replace(table, methods=(dataclasses.replace(near, settings={"shift": 9.0}), one))
    done = run(moved, tmp_path, data=folder)
    assert (done.made, done.kept) == (6, 6)


def test_a_new_revision_of_a_method_is_another_result(table, folder, tmp_path):
    run(table, tmp_path, data=folder)
    first, other = table.methods
    changed = dataclasses.replace(table, methods=(dataclasses.replace(first, revision=1), other))
    assert run(changed, tmp_path, data=folder).made == 6  # three trials of two rows


def test_the_quick_profile_is_small_and_kept_apart(table, folder, tmp_path):
    run(table, tmp_path, data=folder, quick=True)
    cell = read_cell(cell_path(tmp_path, True, "tiny", "blobs", "near", 0))
    assert (cell["n_train"], cell["n_test"]) == (30, 20)
    assert run(table, tmp_path, data=folder).kept == 0


def test_a_failure_is_written_down_and_tried_again(folder, tmp_path):
    def method(split):
        raise ParameterError("at a pole")

    table = Table("failing", "", "", (Row("blobs", "blobs"),), (Method("m", "m", method),), {}, trials=1)
    assert run(table, tmp_path, data=folder).failed == 1
    assert "at a pole" in read_cell(cell_path(tmp_path, False, "failing", "blobs", "m", 0))["error"]
    assert run(table, tmp_path, data=folder).failed == 1


def test_two_processes_give_the_results_of_one(folder, tmp_path):
    settings = {"kernel": "rbf", "gamma": [1.0, 10.0], "grid": {"sigma": [0.5, 1.0]}}
    table = Table("two", "", "", (Row("noise", "noise"),), (Method("rbf", "rbf", classify, settings),), {}, trials=2)
    for jobs in (1, 2):
        run(table, tmp_path / str(jobs), data=folder, jobs=jobs)
    for trial in range(2):
        one, two = (read_cell(cell_path(tmp_path / str(j), False, "two", "noise", "rbf", trial)) for j in (1, 2))
        assert one["scores"] == two["scores"]
        assert one["chosen"] == two["chosen"]


def test_scaling_uses_training_samples_only(table, folder):
    from kernreg import datasets

    split, y_test = make_split(table, table.rows[0], datasets.load("blobs", folder=folder), 0, False)
    assert (split.X_train.min(), split.X_train.max(), len(y_test)) == (0.0, 1.0, 40)
    assert not hasattr(split, "y_test")


def test_wrong_names_are_refused(table, folder, tmp_path):
    with pytest.raises(ParameterError, match="no row 'blob'; it has blobs, noise, absent"):
        run(table, tmp_path, Selection(rows=("blob",)), data=folder)
    with pytest.raises(ParameterError, match="trials=0"):
        run(table, tmp_path, Selection(trials=0), data=folder)
    with pytest.raises(ParameterError, match="no such cell"):
        dataclasses.replace(table, reported={"accuracy": {("blobs", "far"): Outcome()}})


def test_warnings_are_part_of_the_result(folder, tmp_path):
    def method(split):
        for _ in range(3):
            warnings.warn("ill-conditioned", UserWarning, stacklevel=1)
        return Outcome(np.ones(len(split.X_test), dtype=int))

    table = Table("warning", "", "", (Row("blobs", "blobs"),), (Method("m", "m", method),), {}, trials=1)
    assert run(table, tmp_path, data=folder).made == 1
    cell = read_cell(cell_path(tmp_path, False, "warning", "blobs", "m", 0))
    assert cell["warnings"] == ["UserWarning: ill-conditioned"]


def test_rows_that_are_too_large_for_a_method_are_left_out_of_the_full_run(tmp_path, table, folder):
    near, one = table.methods
    small = dataclasses.replace(table, methods=(dataclasses.replace(near, too_large=("blobs",)), one))
    assert run(small, tmp_path, Selection(rows=("blobs",), trials=1), data=folder).made == 1
    assert run(small, tmp_path, Selection(rows=("blobs",), trials=1), data=folder, quick=True).made == 2
    with pytest.raises(ParameterError, match="absent-row"):
        dataclasses.replace(table, methods=(dataclasses.replace(near, too_large=("absent-row",)), one))


def test_a_result_of_an_earlier_version_is_used_again(tmp_path):
    """The file was written when the papers were a part of kernreg itself, and under other names of modules."""
    place = cell_path(tmp_path / "out", True, "ask-table4", "sonar", "rbf", 0)
    place.parent.mkdir(parents=True)
    place.write_bytes((Path(__file__).parent / "earlier_cell.json").read_bytes())
    np.savez(tmp_path / "sonar.npz", X=np.zeros((4, 2)), y=[0, 1, 0, 1])  # is looked for, and not used
    part = Selection(rows=("sonar",), methods=("rbf",), trials=1)
    done = run(find_table("ask-table4"), tmp_path / "out", part, data=tmp_path, quick=True)
    assert (done.made, done.kept, done.failed) == (0, 1, 0)


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"9" * 10_000,
        b'{"format": 1, "made_with": {}, "scores": {"a": 1' + b"0" * 400 + b'}, "seconds": 1}',
        b'{"format": 1, "made_with": {}, "scores": {"a": NaN}, "seconds": 1}',
        b'{"format": 1, "made_with": {}, "scores": {"a": 1}, "seconds": 1, "versions": 5}',
        b"\xff\xfe",
    ],
    ids=range(7),
)
def test_hostile_results_count_as_missing(content, tmp_path):
    from kernreg_papers.runner.cells import read_cell

    (tmp_path / "cell.json").write_bytes(content)
    assert read_cell(tmp_path / "cell.json") is None
    assert read_cell(tmp_path) is None
