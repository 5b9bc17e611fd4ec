"""Reports of all solvers print as a few lines."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

import kernreg as kr

SOLVERS = (
    "ls-svm", "ls-svr(strategy='iterative')", "ask-ls", "ask-lsr(strategy='lowrank')", "kpca", "ksvd", "nystrom",
    "ls-svr(strategy='sketched')",
    "scg-ldk", "scg-osk", "bicluster", "osk", "ldk", "simple-npk", "ideal-regularized", "fisher-score",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # about the fit, not about its report
@pytest.mark.parametrize("spec", SOLVERS)
def test_reports_print_as_one_to_four_short_lines(spec):
    X, y = load_iris(return_X_y=True)
    if "(" not in spec and spec in ("osk", "ldk", "simple-npk", "ideal-regularized", "fisher-score"):
        pytest.importorskip("kernreg_metric")
    report = kr.make_solver(spec).fit(X, y).solver_report_
    lines = str(report).splitlines()
    assert 1 <= len(lines) <= 4
    assert max(map(len, lines)) <= 110
    assert "array(" not in str(report)
    assert str(report) != repr(report)
    method = getattr(report, "method", "")
    assert f"method {method}" in str(report)
    assert np.all([line.strip() for line in lines])
