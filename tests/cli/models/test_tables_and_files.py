"""Tables cleaned by the model, and files that no command destroys."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kernreg as kr


def write(path, header, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture
def iris(tmp_path):
    found = load_iris()
    rows = [[*row, found.target_names[label]] for row, label in zip(found.data.tolist(), found.target, strict=True)]
    return write(tmp_path / "iris.csv", ["a", "b", "c", "d", "species"], rows)


@pytest.fixture
def people(tmp_path):
    """Two hundred rows: an id, an age with gaps, a town, a size on another scale, and a class that depends on them."""
    rng = np.random.default_rng(0)
    town, age, size = rng.choice(["Ghent", "Leuven", "Mons"], 200), rng.normal(40, 10, 200), rng.normal(0, 5000, 200)
    label = np.where((town == "Mons") ^ (age > 40), "yes", "no")
    ages = ["" if n % 20 == 3 else repr(a) for n, a in enumerate(age.tolist())]
    rows = zip([f"p{n}" for n in range(200)], ages, town, size.tolist(), label, strict=True)
    return write(tmp_path / "people.csv", ["who", "age", "town", "size", "label"], rows)


def ok(result):
    assert result.exit_code == 0, result.output + result.stderr
    return result.stdout


def refused(result, *words):
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith(("Error: ", "Usage: "))
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr


# Outputs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", ["same", "hard", "symbolic", "detour"])
@pytest.mark.parametrize(
    "command",
    [
        ["predict", "{model}", "{data}"],
        ["embed", "{data}", "-t", "species", "-k", "rbf(sigma=2)"],
        ["fit", "{data}", "-t", "species", "-k", "rbf(sigma=2)"],
        ["tune", "{data}", "-t", "species", "-k", "rbf"],
        ["gram", "{data}", "-t", "species", "-k", "rbf(sigma=2)"],
        ["bicluster", "{data}", "-t", "species", "-n", "2"],
        ["run", "{chain}", "--data", "{data}", "-t", "species"],
    ],
    ids=lambda command: command[0],
)
def test_no_output_may_be_an_input(run, iris, tmp_path, command, link):
    if command[0] == "gram":  # which writes .npy
        array = tmp_path / "iris.npy"
        np.save(array, np.eye(3))
        command, iris = ["gram", "{data}", "-k", "linear"], array
    model, chain = tmp_path / "m.kern", tmp_path / "chain.toml"
    kr.save(kr.make_solver("ls-svm"), model)
    chain.write_text('kernreg_chain = 1\n[[steps]]\nname = "m"\nsolver = "ls-svm"\n')
    before = iris.read_bytes()
    output = {"same": iris, "detour": tmp_path / "." / ".." / tmp_path.name / iris.name}.get(link)
    if output is None:
        output = tmp_path / f"link{iris.suffix}"
        (os.link if link == "hard" else os.symlink)(iris, output)
    arguments = [part.format(data=iris, model=model, chain=chain) for part in command]
    refused(run(*arguments, "-o", str(output), "--force"), "same file as the input")
    assert iris.read_bytes() == before


def test_the_model_is_no_output_of_predict(run, iris, tmp_path):
    model = tmp_path / "m.kern"
    ok(run("fit", str(iris), "-t", "species", "-k", "rbf(sigma=2)", "-o", str(model)))
    refused(run("predict", str(model), str(iris), "-o", str(model), "--force"), "same file")
    refused(run("tune", str(iris), "-t", "species", "-o", str(model), "--table", str(model)), "same file")
    assert kr.load(model)


def test_a_file_that_kernreg_did_not_write_needs_force(run, iris, tmp_path):
    notes, model = tmp_path / "notes.txt", tmp_path / "m.kern"
    notes.write_text("mine\n")
    fit = ["fit", str(iris), "-t", "species", "-k", "rbf(sigma=2)"]
    refused(run(*fit, "-o", str(notes)), "--force")
    assert notes.read_text() == "mine\n"
    ok(run(*fit, "-o", str(model)))
    ok(run(*fit, "-o", str(model)))  # a model file of kernreg
    predict = ["predict", str(model), str(iris), "-o", str(notes)]
    refused(run(*predict), "--force")
    ok(run(*predict, "--force"))
    assert notes.read_text().startswith("prediction\n")
    refused(run(*predict), "--force")  # a table does not say who wrote it


def test_a_folder_of_blocks_may_be_written_again_and_no_other(run, iris, tmp_path):
    folder = tmp_path / "K"
    gram = ["gram", str(iris), "-t", "species", "-k", "rbf(sigma=2)", "-o", str(folder)]
    ok(run(*gram))
    ok(run(*gram))
    (folder / "mine.txt").write_text("mine")
    refused(run(*gram), "--force")
    ok(run(*gram, "--force"))
    assert (folder / "mine.txt").read_text() == "mine"


def test_folders_of_outputs_are_checked_before_fitting(run, iris, tmp_path, monkeypatch):
    def fit(*_, **__):
        raise AssertionError("fitted")

    monkeypatch.setattr("kernreg.solvers.dual.ls_svm.LSSVC.fit", fit)
    monkeypatch.setattr("kernreg.solvers.decompositions.kpca.KernelPCA.fit", fit)
    here, model = str(iris), str(tmp_path / "none" / "m.kern")
    refused(run("fit", here, "-t", "species", "-o", model), "no folder")
    refused(run("fit", here, "-t", "species", "-o", str(iris / "m.kern")), "no folder")
    refused(run("fit", here, "-t", "species", "-o", str(tmp_path)), "is a folder")
    refused(run("tune", here, "-t", "species", "-k", "rbf", "--table", model), "no folder")
    refused(run("embed", here, "-t", "species", "-o", model), "no folder")
    monkeypatch.setattr("os.access", lambda path, mode, **_: not mode & os.W_OK)
    refused(run("fit", here, "-t", "species", "-o", str(tmp_path / "m.kern")), "not writable")


# Errors -----------------------------------------------------------------------------------------------------


def test_every_error_is_one_message(run, iris, tmp_path, monkeypatch):
    refused(run("predict", str(tmp_path / "none.kern"), str(iris)), "none.kern")
    refused(run("show", str(tmp_path / "none.kern")), "none.kern")
    refused(run("predict", str(tmp_path), str(iris)), str(tmp_path))
    refused(run("show", str(tmp_path)), str(tmp_path))
    refused(run("fit", str(tmp_path), "-t", "y", "-o", str(tmp_path / "m.kern")), str(tmp_path))
    wrong = tmp_path / "wrong.csv"
    wrong.write_bytes(b"a,b\n1,\xff\n")
    refused(run("evaluate", str(wrong), "-t", "b"), "UTF-8")
    refused(run("evaluate", str(iris), "-t", "species", "--cv", "100"), "100")  # said by scikit-learn
    refused(run("evaluate", str(tmp_path / "none.csv"), "-t", "b", "--drop", "a"), "none.csv")

    def full(*_):
        raise OSError(28, "No space left on device", "m.kern")

    monkeypatch.setattr("kernreg.persistence.save", full)
    refused(run("fit", str(iris), "-t", "species", "-k", "rbf(sigma=2)", "-o", str(tmp_path / "m.kern")), "No space")


# Tables -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_evaluate_is_as_good_as_a_standardised_svc(run, tmp_path, load):
    found = load()
    rows = [[*row, label] for row, label in zip(found.data.tolist(), found.target.tolist(), strict=True)]
    path = write(tmp_path / "data.csv", [*(f"x{i}" for i in range(found.data.shape[1])), "target"], rows)
    width = float(np.sqrt(found.data.shape[1]))  # the width "scale" of standardised features
    told = json.loads(ok(run("evaluate", str(path), "-t", "target", "-k", f"rbf(sigma={width})", "--scale", "--json")))
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=1, random_state=0)
    reference = cross_val_score(make_pipeline(StandardScaler(), SVC()), found.data, found.target, cv=folds).mean()
    assert told["results"][0]["accuracy"] > reference - 0.01


def test_features_are_standardised_unless_the_kernel_has_numbers(run, iris, tmp_path):
    model = str(tmp_path / "m.kern")
    data = load_iris()
    told = json.loads(ok(run("fit", str(iris), "-t", "species", "-k", "laplacian", "-o", model, "--json")))
    assert told["cleaning"] == ["features standardised (--no-scale to switch off)"]
    Z = StandardScaler().fit_transform(data.data)
    expected = kr.make_solver("ls-svm(gamma='loo')", kernel="laplacian").fit(Z, data.target_names[data.target])
    rows = list(csv.DictReader(io.StringIO(ok(run("predict", model, str(iris), "--views")))))
    np.testing.assert_allclose([float(row["decision:setosa"]) for row in rows], expected.decision_function(Z)[:, 0])
    text = ok(run("fit", str(iris), "-t", "species", "-k", "rbf(sigma=2)", "-o", model))
    assert "features not scaled" in text
    assert type(kr.load(model)).__name__ == "LSSVC"
    text = ok(run("evaluate", str(iris), "-t", "species", "-k", "rbf(sigma=2)", "--scale", "--cv", "2"))
    assert "standardised" in text
    assert "standardised" not in ok(run("evaluate", str(iris), "-t", "species", "-k", "laplacian", "--no-scale"))


@pytest.mark.filterwarnings("ignore::kernreg.errors.UnknownCategoryWarning")
def test_text_gaps_and_names_of_rows(run, people, tmp_path):
    model = tmp_path / "m.kern"
    fit = ["fit", str(people), "-t", "label", "-k", "rbf(sigma=2)", "--scale", "-o", str(model)]
    refused(run(*fit), "'who'", "200 different values", "--drop")
    refused(run(*fit, "--id", "who"), "'age'", "10 of 200", "--impute median")
    text = ok(run(*fit, "--id", "who", "--impute", "median"))
    assert "text columns one-hot encoded: town" in text
    rows = list(csv.DictReader(io.StringIO(ok(run("predict", str(model), str(people), "--id", "who")))))
    assert list(rows[0]) == ["who", "prediction"]
    assert rows[7]["who"] == "p7"
    given = list(csv.DictReader(io.StringIO(people.read_text())))
    assert np.mean([a["prediction"] == b["label"] for a, b in zip(rows, given, strict=True)]) > 0.9
    appended = list(csv.DictReader(io.StringIO(ok(run("predict", str(model), str(people), "--append")))))
    assert [{**row, "prediction": ""} for row in appended] == [{**row, "prediction": ""} for row in given]
    new = write(tmp_path / "new.csv", ["town", "size", "age"], [["Namur", 12, ""], ["Mons", 5, 70]])
    assert len(ok(run("predict", str(model), str(new))).splitlines()) == 3
    cleaning = ["--scale", "--drop", "who", "--impute", "mean"]
    found = json.loads(ok(run("evaluate", *fit[1:6], *cleaning, "--json")))
    assert found["results"][0]["accuracy"] > 0.85


@pytest.mark.filterwarnings("always::kernreg.errors.UnknownCategoryWarning")
def test_text_that_the_model_was_not_fitted_with_is_told(run, people, tmp_path):
    ok(run("fit", str(people), "-t", "label", "--drop", "who", "--impute", "mean", "-o", str(tmp_path / "m.kern")))
    new = tmp_path / "new.csv"
    new.write_text("age,town,size\n40,Mons,1\n41,mons,2\n42,Ghent,3\n43,,4\n")
    told = run("predict", str(tmp_path / "m.kern"), str(new))
    assert len(ok(told).splitlines()) == 5
    assert "row 2, column 'town': the model was not fitted with 'mons' (2 of 4 rows" in told.stderr
    assert "none of Ghent, Leuven, Mons" in told.stderr
    new.write_text("age,town,size\n40,Mons,1\n")
    assert run("predict", str(tmp_path / "m.kern"), str(new)).stderr == ""


def test_appended_columns_are_not_called_like_predictions(run, iris, tmp_path):
    ok(run("fit", str(iris), "-t", "species", "-o", str(tmp_path / "m.kern")))
    ok(run("predict", str(tmp_path / "m.kern"), str(iris), "--append", "-o", str(tmp_path / "p.csv")))
    refused(
        run("predict", str(tmp_path / "m.kern"), str(tmp_path / "p.csv"), "--append"), "'prediction' of its own", "--id"
    )
    ok(run("predict", str(tmp_path / "m.kern"), str(tmp_path / "p.csv"), "--id", "species"))


def test_columns_are_chosen_by_name(run, people, tmp_path):
    model = tmp_path / "m.kern"
    fit = ["fit", str(people), "-t", "label", "-s", "ls-svm(gamma=1.0)", "--no-scale", "-o", str(model)]
    ok(run(*fit, "--features", "size,town"))
    assert kr.load(model).feature_names_in_.tolist() == ["size", "town"]
    refused(run("fit", str(people), "-t", "label", "--features", "sise", "-o", str(model)), "no column 'sise'")
    refused(run("predict", str(model), str(people), "--id", "name"), "no column 'name'")
    gap = write(tmp_path / "gap.csv", ["town", "size"], [["Mons", ""]])
    refused(run("predict", str(model), str(gap)), "--impute")


def test_tune_keeps_the_cleaning(run, people, tmp_path):
    model = tmp_path / "m.kern"
    cleaning = ["--drop", "who", "--impute", "median", "--scale"]
    tune = ["tune", str(people), "-t", "label", "-k", "rbf", "-g", "kernel__sigma=1,2", "-g", "gamma=1,10"]
    found = json.loads(ok(run(*tune, *cleaning, "-o", str(model), "--json")))
    loaded = kr.load(model)
    assert [name for name, _ in loaded.steps_] == ["table", "lssvm"]
    assert loaded.steps_[-1][1].loo_score_ == pytest.approx(found["score"])
    rows = ok(run("predict", str(model), str(people))).splitlines()
    assert len(rows) == 201


def test_warnings_are_one_line_without_places_in_the_code(tmp_path):
    rows = "\n".join(f"{i % 7},{i % 2}" for i in range(40))
    (tmp_path / "table.csv").write_text(f"x,y\n{rows}\n")
    command = [
        sys.executable,
        "-m",
        "kernreg.cli",
        "fit",
        "table.csv",
        "-t",
        "y",
        "-k",
        "rbf(sigma=1e9)",
        "-o",
        "m.kern",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "Warning: the kernel rbf(sigma=1000000000.0) is about 1 for every pair" in done.stderr
    assert ".py:" not in done.stderr
