"""Reports as text, and as tables in notebooks."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_iris

import kernreg as kr

X, y = load_iris(return_X_y=True)
SOLVERS = [
    "ls-svm",
    "ls-svr",
    "ask-ls",
    "ask-lsr",
    "ls-svm(strategy='lowrank')",
    "ls-svm(strategy='iterative')",
    "kpca(n_components=2)",
    "ksvd(n_components=2)",
    "nystrom(n_components=2)",
    "bicluster",
    "scg-ldk",
    "scg-osk",
]


@pytest.mark.parametrize("spec", SOLVERS)
@pytest.mark.filterwarnings("ignore::kernreg.errors.KernregWarning")
def test_a_report_is_short_text_and_a_table(spec):
    model = kr.make_solver(spec).fit(X, y)
    report = getattr(model, "solver_report_", None)
    assert report is not None
    text = str(report)
    assert text.startswith(type(report).__name__ + ": ")
    assert len(text) < 500
    assert "array(" not in text
    html = report._repr_html_()
    assert html.startswith("<table>")
    assert "<th>method</th>" in html


def test_kernels_and_tuning_have_tables():
    html = kr.make_kernel("rbf(sigma=2.0)")._repr_html_()
    assert "<caption>rbf</caption>" in html
    assert "<th>sigma</th><td>2</td>" in html
    found = kr.tune("ls-svm", {"kernel__sigma": [1.0, 3.0], "gamma": [0.1, 1.0, 10.0, 1e4, 1e6]}, X, y)
    assert "kernel__sigma=" in found._repr_html_()
    assert len(str(found)) < 500
