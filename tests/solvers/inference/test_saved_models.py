"""Models read from files answer the same questions; what was computed for the answers is in no file."""

from __future__ import annotations

import numpy as np
import pytest

import kernreg as kr
from kernreg.solvers import LSSVC, LSSVR, AsKLSRegressor


@pytest.mark.parametrize(
    "model",
    [
        LSSVR(kernel="rbf(sigma=2.0)", robust="hampel"),
        AsKLSRegressor(kernel="sne(sigma=2.0)", gamma=0.3),
        LSSVC(kernel="rbf(sigma=2.0)"),
    ],
    ids=["ls-svr", "ask-lsr", "ls-svm"],
)
def test_a_model_from_a_file_answers_the_same(model, tmp_path):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(60, 2)), rng.normal(size=(5, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    model.fit(X, y > 0 if isinstance(model, LSSVC) else y)
    kr.save(model, tmp_path / "before.kern")
    question = "predict_set" if isinstance(model, LSSVC) else "predict_interval"
    expected = getattr(model, question)(new, 0.8)
    model.influence()
    kr.save(model, tmp_path / "after.kern")
    for name in ("before", "after"):
        again = kr.load(tmp_path / f"{name}.kern")
        np.testing.assert_allclose(getattr(again, question)(new, 0.8), expected, atol=1e-12)
    assert (tmp_path / "after.kern").stat().st_size < (tmp_path / "before.kern").stat().st_size + 60 * 60
