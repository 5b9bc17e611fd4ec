"""The commands that work on data, against the same work done in Python."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

import kernreg as kr
from kernreg.chain import make_chain
from kernreg.chain.toml import to_toml
from kernreg.cli.models.tune import parse_grid


@pytest.fixture
def iris(tmp_path):
    """Iris as CSV with text classes; X, labels and the path."""
    found = load_iris()
    labels = found.target_names[found.target]
    path = tmp_path / "iris.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sepal length", "sepal width", "petal length", "petal width", "species"])
        for row, label in zip(found.data.tolist(), labels.tolist(), strict=True):
            writer.writerow([*row, label])
    return found.data, labels, path


def succeed(result):
    assert result.exit_code == 0, result.output
    return result.stdout


def test_fit_then_predict_equals_python(run, iris, tmp_path):
    X, labels, path = iris
    model = str(tmp_path / "model.kern")
    told = json.loads(
        succeed(
            run(
                "fit",
                str(path),
                "-t",
                "species",
                "-s",
                "ask-ls(gamma=0.4)",
                "-k",
                "sne(sigma=2)",
                "-o",
                model,
                "--json",
            )
        )
    )
    expected = kr.make_solver("ask-ls", gamma=0.4, kernel="sne(sigma=2)").fit(X, labels)
    assert told["samples"] == 150
    assert told["loo_score"] == pytest.approx(expected.loo_score_)
    rows = list(csv.DictReader(io.StringIO(succeed(run("predict", model, str(path), "--views")))))
    assert [row["prediction"] for row in rows] == expected.predict(X).tolist()
    views = expected.decision_views(X)
    np.testing.assert_array_equal([float(row["source:setosa"]) for row in rows], views["source"][:, 0])
    assert "petal" not in rows[0]
    output = tmp_path / "predictions.csv"
    succeed(run("predict", model, str(path), "-o", str(output)))
    assert output.read_text().splitlines()[:2] == ["prediction", "setosa"]


def test_predict_finds_columns_by_name(run, iris, tmp_path):
    X, _, path = iris
    model = str(tmp_path / "model.kern")
    succeed(run("fit", str(path), "-t", "species", "-k", "rbf(sigma=2)", "-o", model))
    shuffled = tmp_path / "new.csv"
    lines = ["note,petal width,petal length,sepal width,sepal length"]
    lines += [f"x{i},{a[3]},{a[2]},{a[1]},{a[0]}" for i, a in enumerate(X[:9])]
    shuffled.write_text("\n".join(lines) + "\n")
    expected = kr.load(model)
    with pytest.warns(UserWarning, match="feature names"):
        wanted = expected.predict(X[:9]).tolist()
    assert succeed(run("predict", model, str(shuffled))).splitlines()[1:] == wanted
    without = tmp_path / "without.csv"
    without.write_text("sepal length,sepal width\n1,2\n")
    refused = run("predict", model, str(without))
    assert refused.exit_code == 2
    assert "petal length" in refused.stderr


def test_evaluate_prints_one_line_for_each_combination(run, iris):
    _, _, path = iris
    arguments = [
        "evaluate",
        str(path),
        "-t",
        "species",
        "-s",
        "ls-svm",
        "-s",
        "ask-ls(gamma=0.4)",
        "-k",
        "rbf(sigma=2)",
    ]
    found = json.loads(succeed(run(*arguments, "--cv", "3", "--json")))
    assert [row["solver"] for row in found["results"]] == ["ls-svm", "ask-ls(gamma=0.4)"]
    assert all(row["accuracy"] > 0.9 for row in found["results"])
    text = succeed(run(*arguments, "--cv", "3"))
    assert "ask-ls(gamma=0.4)" in text
    assert "accuracy" in text
    failing = run("evaluate", str(path), "-t", "species", "-s", "ls-svm", "-k", "sne", "--cv", "2")
    assert failing.exit_code == 2
    assert "asymmetric" in failing.stdout
    assert "asymmetric" in failing.stderr
    unread = run("evaluate", str(path), "-t", "species", "-s", "ls-svm", "-k", "rbf", "-k", "rbf(", "--cv", "2")
    assert (unread.exit_code, unread.stdout) == (2, "")


@pytest.mark.filterwarnings("ignore:leave-one-out takes gamma", "ignore:gamma=.* is so large")  # there is no noise
def test_evaluate_of_a_regression(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    path = tmp_path / "curve.csv"
    path.write_text("a,b,y\n" + "".join(f"{a},{b},{np.sin(a) + b}\n" for a, b in X))
    found = json.loads(succeed(run("evaluate", str(path), "-t", "y", "-k", "rbf(sigma=2)", "--cv", "3", "--json")))
    assert found["task"] == "regression"
    assert found["results"][0]["r2"] > 0.8
    refused = run("evaluate", str(path), "-t", "y", "-s", "ls-svm")
    assert refused.exit_code == 2
    assert "use 'ls-svr'" in refused.stderr


@pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")
def test_tune_equals_python(run, iris, tmp_path):
    X, labels, path = iris
    table, model = tmp_path / "table.csv", tmp_path / "best.kern"
    arguments = ["tune", str(path), "-t", "species", "-k", "rbf", "-g", "kernel__sigma=1,3", "-g", "gamma=0.1:10:3"]
    found = json.loads(succeed(run(*arguments, "-o", str(model), "--table", str(table), "--json")))
    expected = kr.tune("ls-svm", {"kernel__sigma": [1, 3], "gamma": [0.1, 1.0, 10.0]}, X, labels)
    assert found["parameters"] == {
        "kernel__sigma": expected.best_params["kernel__sigma"],
        "gamma": expected.best_params["gamma"],
    }
    assert found["score"] == pytest.approx(expected.best_score)
    assert len(table.read_text().splitlines()) == 7
    assert kr.load(model).gamma == expected.best_params["gamma"]
    for wrong in ("gamma", "gamma=1:2", "=3", "gamma=-1:2:3"):
        assert run("tune", str(path), "-t", "species", "-g", wrong).exit_code == 2


def test_a_wrong_word_among_numbers_of_a_grid_is_the_one_that_is_named(run, iris):
    refused = run("tune", str(iris[2]), "-t", "species", "-k", "rbf", "-g", "kernel__sigma=wide,1,2", "-g", "gamma=1")
    assert "sigma='1'" not in refused.stdout + refused.stderr
    assert parse_grid(("kernel__sigma=wide,1,'x',None",)) == {"kernel__sigma": ["wide", 1, "x", None]}


@pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")
def test_tune_without_a_grid_searches_widths_and_gamma(run, iris):
    X, labels, path = iris
    found = json.loads(succeed(run("tune", str(path), "-t", "species", "--json")))
    expected = kr.tune("ls-svm", None, StandardScaler().fit_transform(X), labels)
    assert found["parameters"] == expected.best_params
    assert list(found["parameters"]) == ["kernel__sigma", "gamma"]
    assert found["combinations"] == len(expected.table)


@pytest.mark.parametrize("wrong", ["gamma=1:2:inf", "gamma=1:inf:3", "gamma=1:2:nan", "gamma=1:2:2.5"])
def test_a_range_without_end_is_refused(run, iris, wrong):
    refused = run("tune", str(iris[2]), "-t", "species", "-g", wrong)
    assert refused.exit_code == 2
    assert "a range is low:high:count" in refused.stderr


def test_embed_writes_coordinates_and_pictures(run, iris, tmp_path):
    X, labels, path = iris
    arguments = ["embed", str(path), "-t", "species", "-s", "ksvd(n_components=2)", "-k", "sne(sigma=2)"]
    rows = list(csv.DictReader(io.StringIO(succeed(run(*arguments)))))
    expected = kr.make_solver("ksvd", n_components=2, kernel="sne(sigma=2)").fit(X)
    np.testing.assert_allclose(
        [float(row["right1"]) for row in rows], expected.transform_right(X)[:, 1], rtol=1e-8, atol=1e-12
    )
    assert [row["species"] for row in rows] == labels.tolist()
    pytest.importorskip("matplotlib").use("Agg")
    picture = tmp_path / "iris.png"
    succeed(run(*arguments, "-o", str(picture)))
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_gram_streams_to_a_file_and_to_a_folder(run, iris, tmp_path):
    X, _, path = iris
    K = kr.make_kernel("sne(sigma=2)")(X)
    file, folder = tmp_path / "K.npy", tmp_path / "K"
    succeed(run("gram", str(path), "-t", "species", "-k", "sne(sigma=2)", "-o", str(file), "--block-rows", "64"))
    np.testing.assert_array_equal(np.load(file, mmap_mode="r"), K)
    succeed(run("gram", str(path), "-t", "species", "-k", "sne(sigma=2)", "-o", str(folder), "--block-rows", "64"))
    index = json.loads((folder / "index.json").read_text())
    assert index["shape"] == [150, 150]
    assert len(index["blocks"]) == 3
    np.testing.assert_array_equal(np.vstack([np.load(folder / block["file"]) for block in index["blocks"]]), K)


@pytest.mark.parametrize("solver", ["kpca", "ksvd"])
def test_embed_cleans_a_table_as_fit_does(run, tmp_path, solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) * [1.0, 1000.0]
    towns = np.where(rng.random(30) < 0.5, "Bonn", "Ulm")
    path = tmp_path / "people.csv"
    rows = [f"p{i},{x!r},{z!r},{town}" for i, (x, z), town in zip(range(30), X.tolist(), towns, strict=True)]
    path.write_text("\n".join(["name,a,b,town", *rows]))
    result = run("embed", str(path), "--id", "name", "-s", f"{solver}(n_components=2)")
    assert "features standardised" in result.stderr
    assert "one-hot encoded: town" in result.stderr
    lines = succeed(result).splitlines()
    table = np.column_stack([StandardScaler().fit_transform(X), towns == "Bonn", towns == "Ulm"]).astype(float)
    expected = kr.make_solver(solver, n_components=2).fit(table)
    both = [expected.transform(table)] + ([expected.transform_right(table)] if solver == "ksvd" else [])
    assert lines[0] == ("left0,left1,right0,right1" if solver == "ksvd" else "component0,component1")
    np.testing.assert_allclose(np.loadtxt(lines[1:], delimiter=","), np.hstack(both), atol=1e-9)
    as_they_are = run("embed", str(path), "--features", "a,b", "--no-scale", "-s", f"{solver}(n_components=2)")
    expected = kr.make_solver(solver, n_components=2).fit(X)
    found = np.loadtxt(succeed(as_they_are).splitlines()[1:], delimiter=",")
    np.testing.assert_allclose(found[:, :2], expected.transform(X), atol=1e-9)


def test_columns_can_be_left_out_of_a_matrix_and_of_biclusters(run, tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 3))
    path, file = tmp_path / "t.csv", tmp_path / "K.npy"
    rows = [f"p{i}," + ",".join(map(repr, row)) for i, row in enumerate(X.tolist())]
    path.write_text("\n".join(["name,a,b,c", *rows]))
    succeed(run("gram", str(path), "-k", "linear", "--id", "name", "--drop", "c", "-o", str(file)))
    np.testing.assert_allclose(np.load(file), X[:, :2] @ X[:, :2].T)
    succeed(
        run("gram", str(path), "-k", "linear", "--features", "b", "--against", str(path), "-o", str(file), "--force")
    )
    np.testing.assert_allclose(np.load(file), np.outer(X[:, 1], X[:, 1]))
    groups = succeed(run("bicluster", str(path), "-n", "2", "--drop", "name"))
    assert [line.split(",")[1] for line in groups.splitlines() if line.startswith("column")] == ["a", "b", "c"]


def test_bicluster_finds_planted_groups(run, tmp_path):
    rng = np.random.default_rng(0)
    rows, columns = np.repeat([0, 1, 2], 20), np.repeat([0, 1, 2], 10)
    A = (rng.random((60, 30)) < np.where(rows[:, None] == columns[None, :], 0.8, 0.05)).astype(int)
    path = tmp_path / "words.csv"
    header = ",".join([*(f"w{j}" for j in range(30)), "group"])
    path.write_text(header + "\n" + "".join(",".join(map(str, [*a, g])) + "\n" for a, g in zip(A, rows, strict=True)))
    found = json.loads(succeed(run("bicluster", str(path), "-n", "3", "-t", "group", "--json")))
    assert found["nmi"] > 0.9
    assert set(found["column_labels"]) == {f"w{j}" for j in range(30)}
    assert "row,0," in succeed(run("bicluster", str(path), "-n", "3", "-t", "group"))


def test_run_fits_the_chain_in_a_file(run, iris, tmp_path):
    X, labels, _ = iris
    chain = make_chain("kpca(n_components=3)", "ls-svm(gamma=10.0)", kernel="rbf(sigma=2.0)")
    text = to_toml(chain.spec()).replace(
        "\n[[steps]]", '\n[run]\ndata = "iris.csv"\ntarget = "species"\n\n[[steps]]', 1
    )
    described = tmp_path / "chain.toml"
    described.write_text(text)
    model = tmp_path / "chain.kern"
    found = json.loads(succeed(run("run", str(described), "-o", str(model), "--cv", "3", "--json")))
    assert found["chain"] == ["kpca", "lssvm"]
    assert found["accuracy"] > 0.9
    np.testing.assert_array_equal(kr.load(model).decision_function(X), chain.fit(X, labels).decision_function(X))
    shown = succeed(run("show", str(model)))
    assert "kpca(n_components=" in shown
    assert re.search(r"needs +kernreg \S+: .*ls-svm", shown)
    assert "sha256" not in shown
    described.write_text("kernreg_chain = 1\nsteps = = 2\n")
    refused = run("run", str(described))
    assert refused.exit_code == 2
    assert "chain.toml" in refused.stderr
    assert "line 2" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "{path}", "-t", "nothing", "-o", "m.kern"], "nothing"),
        (["fit", "{path}", "-t", "species", "-s", "kpca", "-o", "m.kern"], "makes no predictions"),
        (["fit", "{path}", "-t", "species", "-s", "ls-svm(kernel='rbf')", "-o", "m.kern"], ""),
        (["fit", "missing.csv", "-t", "species", "-o", "m.kern"], "missing.csv"),
        (["predict", "{path}", "{path}"], "iris.csv"),
        (["show", "{path}"], "iris.csv"),
        (["embed", "{path}", "-t", "species", "-s", "ls-svm"], "no coordinates"),
    ],
)
def test_refusals_say_what_is_wrong(run, iris, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*(argument.format(path=iris[2]) for argument in arguments))
    if not message:  # a kernel given in the spec alone is fine
        assert result.exit_code == 0, result.output
        return
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "m.kern").exists()


def test_svmlight_samples_may_lack_the_last_features_of_the_model(run, tmp_path):
    train, new, model = tmp_path / "train.svm", tmp_path / "new.svm", tmp_path / "model.kern"
    train.write_text("1 1:1 4:2\n-1 2:1\n1 1:2 3:1\n-1 2:2 4:1\n")
    new.write_text("1 1:1.5\n-1 2:1.5\n")
    succeed(run("fit", str(train), "--solver", "ls-svm", "--kernel", "linear", "-o", str(model)))
    rows = list(csv.DictReader(io.StringIO(succeed(run("predict", str(model), str(new))))))
    assert [row["prediction"] for row in rows] == ["1", "-1"]


def test_what_a_model_file_says_is_shown_as_it_is(run, tmp_path):
    model = tmp_path / "model.kern"
    kr.save(kr.make_ensembler("average", weights={"[/red][bold]": 1.0}), model)
    assert "[/red][bold]" in succeed(run("show", str(model)))
