"""Learning kernels with the plugin kernreg-metric: time against the number of constraints and of eigenvectors."""

from __future__ import annotations

import numpy as np

from kernreg.solvers import SCGLDK

from .peers import TINY, size, times_as_long


def labelled_samples(n: int, d: int = 10):
    """Three classes that overlap a little."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return rng.standard_normal((n, d)) + y[:, None], y


def learners():
    """The plugin, which asv skips where it is not installed."""
    try:
        import kernreg_metric
    except ImportError as cause:
        raise NotImplementedError("kernreg-metric is not installed") from cause
    return kernreg_metric


class Bregman:
    """LogDet projections, all else equal: the pairs are a random part of those of 400 labels."""

    params = [100, 1000, 10_000] if not TINY else [100]
    param_names = ("constraints",)

    def setup(self, constraints):
        self.X, self.y = labelled_samples(size(400))
        self.learner = learners().LDK(kernel="rbf(sigma=4.0)", n_constraints=constraints, tol=1e-3)
        self.learner.fit(self.X[:20], self.y[:20])  # compiles

    def time_ldk(self, constraints):
        self.learner.fit(self.X, self.y)

    def track_sweeps(self, constraints):
        return self.learner.fit(self.X, self.y).n_iter_


class ClosedForm:
    """SCG-LDK, in closed form, against LDK by Bregman projections over a part of the same pairs."""

    params = ([1000, 10_000],)
    param_names = ("constraints",)
    unit = "times faster"

    def setup(self, constraints):
        self.X, self.y = labelled_samples(size(400))
        self.bregman = learners().LDK(kernel="rbf(sigma=4.0)", n_constraints=100 if TINY else constraints, tol=1e-3)
        self.closed = SCGLDK("rbf(sigma=4.0)", 1.0)
        self.bregman.fit(self.X[:20], self.y[:20])
        self.closed.fit(self.X[:20], self.y[:20])

    def track_scg_ldk_against_bregman(self, constraints):
        return times_as_long(lambda: self.bregman.fit(self.X, self.y), lambda: self.closed.fit(self.X, self.y))


class Spectral:
    """Order-constrained spectral kernels: the program with r unknowns, by both methods."""

    params = (["qcqp", "nnls"], [10, 50, 200] if not TINY else [10])
    param_names = ("method", "components")

    def setup(self, method, components):
        self.X, self.y = labelled_samples(size(600))
        self.learner = learners().OSK(n_components=components, method=method)
        self.learner.fit(self.X, self.y)

    def time_osk(self, method, components):
        self.learner.fit(self.X, self.y)


class ClosedForms:
    """The learners that have one."""

    params = ("ideal-regularized", "simple-npk")
    param_names = ("learner",)

    def setup(self, learner):
        found = learners()
        self.X, self.y = labelled_samples(size(600))
        self.learner = found.SimpleNPK() if learner == "simple-npk" else found.IdealRegularized("rbf(sigma=4.0)")
        self.learner.fit(self.X, self.y)

    def time_fit(self, learner):
        self.learner.fit(self.X, self.y)
