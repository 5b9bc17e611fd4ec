"""A chain of depth four: fitted, tuned, saved, and loaded in another process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

import kernreg as kr

LOAD = """
import sys, numpy as np, kernreg as kr
model = kr.load(sys.argv[1])
X = np.load(sys.argv[2])
np.savez(sys.argv[3], decision=model.decision_function(X), prediction=model.predict(X))
"""


def test_a_chain_of_depth_four_predicts_the_same_bits_in_another_process(tmp_path):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    train, new = np.arange(178) % 2 == 0, np.arange(178) % 2 == 1
    chain = kr.make_chain(
        "scg-ldk(gamma=1.0)",
        "kpca(n_components=6)",
        kr.parallel(soft="ls-svm(gamma=0.1)", hard="ls-svm(gamma=100.0)"),
        "stack",
        kernel="rbf(sigma=4.0)",
    )
    grid = {"kernel__sigma": [2.0, 5.0], "scgldk__gamma": [0.1, 10.0], "parallel__hard__gamma": [10.0, 1000.0]}
    search = GridSearchCV(chain, grid, cv=3).fit(X[train], y[train])
    best = search.best_estimator_
    assert best.score(X[new], y[new]) > 0.9
    assert best.kernel.startswith("rbf") if isinstance(best.kernel, str) else best.kernel.name == "rbf"
    kr.save(best, tmp_path / "chain.kern")
    np.save(tmp_path / "new.npy", X[new])
    subprocess.run(
        [sys.executable, "-c", LOAD, *(str(tmp_path / name) for name in ("chain.kern", "new.npy", "found.npz"))],
        check=True,
        timeout=120,
    )
    with np.load(tmp_path / "found.npz") as found:
        np.testing.assert_array_equal(found["decision"], best.decision_function(X[new]))
        np.testing.assert_array_equal(found["prediction"], best.predict(X[new]))
