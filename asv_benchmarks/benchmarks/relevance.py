"""Weights of features: the time of the descent, and what it gains in held-out error over equal weights."""

from __future__ import annotations

import numpy as np

from kernreg.solvers import FeatureRelevance

from .peers import TINY, size


class Relevance:
    """Two of many features matter."""

    params = (["laplacian", "rbf"], [10, 50])
    param_names = ("kernel", "features")
    timeout = 300

    def setup(self, kernel, features):
        rng = np.random.default_rng(0)
        self.X = rng.standard_normal((size(100_000), features))
        self.y = np.sin(2.0 * self.X[:, 0]) + self.X[:, 1] ** 2
        self.scaler = FeatureRelevance(kernel, max_iter=3 if TINY else 100)
        FeatureRelevance(kernel, batch_size=50, max_iter=2).fit(self.X[:200], self.y[:200])  # compiles

    def time_fit(self, kernel, features):
        self.scaler.fit(self.X, self.y)

    def track_error_over_equal_weights(self, kernel, features):
        report = self.scaler.fit(self.X, self.y).solver_report_
        return report.held_out_error / report.equal_error
