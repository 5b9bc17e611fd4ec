"""The page tells what the model says: numbers are found again in it, and nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("matplotlib", reason="pictures need matplotlib, the extra 'plot'")

from kernreg.errors import DataError, ParameterError
from kernreg.report import make_report
from kernreg.solvers import LSSVC, LSSVR, AsKLSClassifier


class Reader(HTMLParser):
    """Headings, paragraphs, tables as lists of rows, and images of a page; every tag must be closed."""

    def __init__(self, text):
        super().__init__()
        self.headings, self.paragraphs, self.tables, self.images, self.open = [], [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag in ("meta", "img"):
            if tag == "img":
                self.images.append(attributes)
            return
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        here = self.open[-1] if self.open else ""
        if here == "h2":
            self.headings.append(data)
        if here == "p":
            self.paragraphs.append(data)
        if here in ("td", "th"):
            self.tables[-1][-1].append(data)

    def table_with(self, name):
        return next(table for table in self.tables if table[0] and table[0][0] == name)


def regression(m=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (m, 3))
    return X, np.sin(X[:, 0]) + 0.2 * rng.standard_normal(m)


def test_a_page_about_numbers():
    X, y = regression(200)
    model = LSSVR(gamma="loo").fit(X[:100], y[:100])
    text = make_report(model, X[100:], y[100:], feature_names=["u", "v", "w"], title="<one> & two")
    page = Reader(text)
    assert page.headings == [
        "Summary",
        "Prediction intervals",
        "Residuals",
        "Explanations",
        "Influence of training samples",
        "Kernel",
    ]
    assert "&lt;one&gt; &amp; two" in text
    assert not re.search(r"(?:src|href)=[\"'](?!data:|#)", text)
    for image in page.images:
        assert base64.b64decode(image["src"].split(",", 1)[1]).startswith(b"\x89PNG")
        assert image["alt"]
    assert len(page.images) == 9
    scores = dict(page.table_with("measure")[1:])
    assert float(scores["R²"]) == pytest.approx(model.score(X[100:], y[100:]), abs=1e-4)
    found = {row[0]: row[1] for row in page.table_with("asked for")[1:]}
    low, high = model.predict_interval(X[100:], 0.9).T
    assert found["90%"] == f"{np.mean((low <= y[100:]) & (y[100:] <= high)):.1%}"
    influential = [int(row[0]) for row in page.table_with("sample")[1:]]
    assert influential == np.argsort(-model.influence().cook)[:10].tolist()
    assert any(f"{model.loo_score_:.4f}" in paragraph for paragraph in page.paragraphs)


def test_a_page_about_classes():
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"] * 50)
    X = rng.normal(size=(150, 3)) + 1.5 * (y[:, None] == np.array(["a", "b", "c"]))
    model = make_pipeline(StandardScaler(), LSSVC(gamma="loo")).fit(X[:90], y[:90])
    page = Reader(make_report(model, X[90:], y[90:], feature_names=["u", "v", "w"], coverage=0.85))
    assert page.headings[1:3] == ["Confusion matrix", "Calibration and prediction sets"]
    predicted = model.predict(X[90:])
    for row in page.table_with("true \\ predicted")[1:]:
        counts = [int(np.sum((y[90:] == row[0]) & (predicted == name))) for name in "abc"]
        assert [int(cell) for cell in row[1:]] == counts
    rows = {row[0]: row for row in page.table_with("asked for")[1:]}
    sets = model[-1].predict_set(model[:-1].transform(X[90:]), 0.85)
    assert rows["85%"][1] == f"{sets[np.arange(60), np.searchsorted(model.classes_, y[90:])].mean():.1%}"
    assert [row[0] for row in page.table_with("feature")[1:]] != ["feature 0", "feature 1", "feature 2"]


def test_an_asymmetric_kernel_has_poles_and_permutation_importance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X[:, 1] > 0
    model = AsKLSClassifier(kernel="sne(sigma=1.0)", gamma="loo").fit(X, y)
    page = Reader(make_report(model, X, y))
    told = " ".join(page.paragraphs)
    assert "poles, values of γ without a unique solution" in told
    assert "fitted to these samples, so scores on them are too optimistic" in told
    assert page.table_with("feature")[1][0] == "feature 1"


def test_what_cannot_be_told_has_its_reason():
    X, y = regression(200)
    lowrank = LSSVR(strategy="lowrank", n_landmarks=20).fit(X[:100], y[:100])
    told = " ".join(Reader(make_report(lowrank, X[100:], y[100:])).paragraphs)
    assert "CrossConformalRegressor" in told
    assert "without the kernel matrix" in told
    other = LogisticRegression().fit(X[:100], y[:100] > 0)
    page = Reader(make_report(other, X[100:], y[100:] > 0))
    assert "does not end in a dual machine" in " ".join(page.paragraphs)
    assert float(dict(page.table_with("measure")[1:])["accuracy"]) == pytest.approx(
        other.score(X[100:], y[100:] > 0), abs=1e-4
    )
    pairs = LSSVC(multi_class="one-vs-one").fit(X[:100], np.arange(100) % 3)
    assert "each pair of classes" in " ".join(Reader(make_report(pairs, X[100:], np.arange(100) % 3)).paragraphs)


def test_what_is_not_accepted_is_said():
    X, y = regression(40)
    model = LSSVR().fit(X, y)
    with pytest.raises(DataError, match="one output"):
        make_report(model, X, np.column_stack([y, y]))
    with pytest.raises(ParameterError, match="between 0 and 1"):
        make_report(model, X, y, coverage=90)
    with pytest.raises(DataError, match="makes no predictions"):
        make_report(StandardScaler().fit(X), X, y)
