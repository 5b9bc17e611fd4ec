"""Commands on files that do not fit the memory budget: read in blocks, with the answers of files that do."""

from __future__ import annotations

import json

import numpy as np
import pytest

import kernreg as kr
from kernreg.kernels.base import Kernel

rng = np.random.default_rng(0)
X = rng.normal(size=(8000, 4)) * [1.0, 10.0, 1.0, 0.1] + [0.0, 5.0, 0.0, 0.0]
y = np.where(np.sin(X[:, 0]) + X[:, 1] / 10 > 0.5, "yes", "no")
SMALL = 400_000  # of samples of 256 kB: more than an eighth


@pytest.fixture
def table(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {name: X[:, i] for i, name in enumerate("abcd")}
    pq.write_table(pa.table({**columns, "who": y}), tmp_path / "big.parquet", row_group_size=3000)
    return tmp_path / "big.parquet"


def succeed(result):
    assert result.exit_code == 0, result.output
    return result.stdout


def test_fit_and_predict_from_parquet_are_those_in_memory(run, table, tmp_path):
    solver = "ls-svm(gamma=1.0, strategy='lowrank', n_landmarks=40)"
    arguments = ["fit", str(table), "--target", "who", "--solver", solver, "-o"]
    told = []
    with kr.config_context(memory=SMALL):
        told.append(json.loads(succeed(run(*arguments, str(tmp_path / "blocks.kern"), "--json"))))
    told.append(json.loads(succeed(run(*arguments, str(tmp_path / "whole.kern"), "--json"))))
    for each in told:
        assert each["cleaning"] == ["features standardised (--no-scale to switch off)"]
        assert (each["samples"], each["features"]) == (8000, 4)
    models = [kr.load(tmp_path / name) for name in ("blocks.kern", "whole.kern")]
    assert "in blocks" in models[0].steps_[-1][1].solver_report_.note
    assert "in blocks" not in models[1].steps_[-1][1].solver_report_.note
    np.testing.assert_allclose(models[0].decision_function(X), models[1].decision_function(X), rtol=1e-6, atol=1e-7)
    with kr.config_context(memory=SMALL):
        blocks = succeed(run("predict", str(tmp_path / "blocks.kern"), str(table), "--views")).splitlines()
        succeed(run("predict", str(tmp_path / "blocks.kern"), str(table), "-o", str(tmp_path / "p.csv")))
    assert blocks[0] == "prediction,decision"
    assert [line.split(",")[0] for line in blocks[1:]] == models[1].predict(X).tolist()
    decisions = [float(line.split(",")[1]) for line in blocks[1:]]
    np.testing.assert_allclose(decisions, models[1].decision_function(X), rtol=1e-6, atol=1e-7)
    assert (tmp_path / "p.csv").read_text().splitlines()[1:] == [line.split(",")[0] for line in blocks[1:]]


def test_columns_are_chosen_by_name(run, table, tmp_path):
    solver = "ls-svm(gamma=1.0, strategy='lowrank', n_landmarks=40)"
    with kr.config_context(memory=SMALL):
        told = run(
            "fit", str(table), "-t", "who", "--drop", "c", "-s", solver, "-o", str(tmp_path / "m.kern"), "--json"
        )
        assert json.loads(succeed(told))["features"] == 3
        assert kr.load(tmp_path / "m.kern").feature_names_in_.tolist() == ["a", "b", "d"]
        assert len(succeed(run("predict", str(tmp_path / "m.kern"), str(table))).splitlines()) == 8001
        refused = run("fit", str(table), "-t", "who", "--impute", "mean", "-o", str(tmp_path / "n.kern"))
    assert refused.exit_code == 2
    assert "needs all numbers at once" in refused.stderr


@pytest.mark.parametrize("name", ["K.npy", "K.zarr", "K"])
def test_gram_goes_on_after_an_interrupt(run, tmp_path, monkeypatch, name):
    if name == "K.zarr":
        pytest.importorskip("zarr")
    np.save(tmp_path / "x.npy", X[:900])
    original = Kernel.blocks

    def interrupted(self, *args, **options):
        for number, found in enumerate(original(self, *args, **options)):
            if number == 40:
                raise KeyboardInterrupt
            yield found

    arguments = [
        "gram",
        str(tmp_path / "x.npy"),
        "-k",
        "rbf(sigma=2)",
        "-o",
        str(tmp_path / name),
        "--block-rows",
        "9",
    ]
    with kr.config_context(memory=100_000):  # 29 kB of samples, 6 MB of values
        monkeypatch.setattr(Kernel, "blocks", interrupted)
        stopped = run(*arguments)
        assert stopped.exit_code != 0
        assert "stopped after 360 of 900 rows; continue with --resume" in stopped.stderr
        monkeypatch.setattr(Kernel, "blocks", original)
        again = run(*arguments)
        assert again.exit_code == 2
        assert "continue with resume=True (--resume)" in again.stderr.replace("\n", " ")
        assert "900 × 900 float64 written" in succeed(run(*arguments, "--resume"))
    K = kr.make_kernel("rbf(sigma=2)")(X[:900])
    if name == "K.npy":
        found = np.load(tmp_path / name)
    elif name == "K.zarr":
        found = pytest.importorskip("zarr").open_array(str(tmp_path / name), mode="r")[:]
    else:
        index = json.loads((tmp_path / name / "index.json").read_text())
        assert index["complete"]
        found = np.vstack([np.load(tmp_path / name / block["file"]) for block in index["blocks"]])
    np.testing.assert_allclose(found, K, rtol=1e-13)


def test_gram_replaces_an_array_of_its_own_and_no_other(run, tmp_path):
    zarr = pytest.importorskip("zarr")
    np.save(tmp_path / "x.npy", X[:50])
    arguments = ["gram", str(tmp_path / "x.npy"), "-k", "linear", "-o", str(tmp_path / "K.zarr")]
    zarr.create_array(str(tmp_path / "K.zarr"), shape=(3, 3), dtype="f8")
    refused = run(*arguments)
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    succeed(run(*arguments, "--force"))
    succeed(run(*arguments))


def test_embed_reads_blocks(run, table, tmp_path):
    arguments = ["embed", str(table), "-t", "who", "-s", "nystrom(n_components=2, n_landmarks=50)", "-o"]
    with kr.config_context(memory=SMALL):
        succeed(run(*arguments, str(tmp_path / "blocks.csv")))
    succeed(run(*arguments, str(tmp_path / "whole.csv")))
    found = [np.genfromtxt(tmp_path / f, delimiter=",", skip_header=1)[:, :4] for f in ("blocks.csv", "whole.csv")]
    np.testing.assert_allclose(*found, rtol=1e-6, atol=1e-7 * np.abs(found[1]).max())
