"""``kernreg report``: from a model file and a table to a page."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="pictures need matplotlib, the extra 'plot'")


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=150)
    for name, rows in (("train", slice(0, 100)), ("test", slice(100, 150))):
        lines = ["width,length,weight", *(f"{a},{b},{c}" for (a, b), c in zip(X[rows], y[rows], strict=True))]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_the_target_is_the_column_that_is_no_feature(run, table):
    model, page = str(table / "model.kern"), table / "page.html"
    assert run("fit", str(table / "train.csv"), "-t", "weight", "-o", model).exit_code == 0
    result = run("report", model, str(table / "test.csv"), "-o", str(page))
    assert result.exit_code == 0, result.output
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "model.kern on test.csv" in text
    assert "Prediction intervals" in text
    assert "width" in text
    again = run("report", model, str(table / "test.csv"), "-o", str(page))
    assert again.exit_code == 2
    assert "--force" in again.output


def test_several_columns_that_are_no_features_are_asked_about(run, table):
    model = str(table / "model.kern")
    run("fit", str(table / "train.csv"), "-t", "weight", "--features", "width", "-o", model)
    result = run("report", model, str(table / "test.csv"), "-o", str(table / "page.html"))
    assert result.exit_code == 2
    assert "length, weight" in result.output
    named = run("report", model, str(table / "test.csv"), "-t", "weight", "-o", str(table / "page.html"))
    assert named.exit_code == 0, named.output
