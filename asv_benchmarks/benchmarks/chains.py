"""Chains: what composing costs beside the same steps by hand, and the deep chain of the documentation."""

from __future__ import annotations

import numpy as np

import kernreg as kr

from .peers import InFolder, kernel_and_samples, samples, size, threads, times_as_long

KERNEL = "rbf(sigma=4.0)"


def _data(m: int, classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    X = samples(m, 16)
    return X, np.argmax(X[:, :classes] + 0.5 * samples(m, classes, seed=1), axis=1)


class ByHand:
    """kpca, then ls-svm on its scores: the chain against the two fits written out."""

    params = ([300, 2000],)
    param_names = ("m",)
    unit = "times the time"
    timeout = 300

    def setup(self, m):
        self.X, self.y = _data(size(m))
        self.made = kr.make_chain("kpca(n_components=10)", "ls-svm(gamma=1.0)", kernel=KERNEL)
        with threads(2):
            np.testing.assert_array_equal(self.chain(), self.by_hand())

    def chain(self):
        return self.made.fit(self.X, self.y).predict(self.X)

    def by_hand(self):
        pca = kr.make_solver("kpca(n_components=10)", kernel=KERNEL).fit(self.X)
        scores = pca.transform(self.X)
        return kr.make_solver("ls-svm(gamma=1.0)", kernel="linear").fit(scores, self.y).predict(scores)

    def time_fit_and_predict(self, m):
        self.chain()

    def track_time_over_steps_by_hand(self, m):
        return times_as_long(self.chain, self.by_hand)


class SharedMatrix:
    """Branches with one kernel and several solvers: each matrix is evaluated once."""

    params = ([2, 4],)
    param_names = ("branches",)
    unit = "times the time"
    timeout = 300

    def setup(self, branches):
        kernel, self.X = kernel_and_samples("chi2", size(2000), 128)  # evaluating it takes about as long as a fit
        self.y = np.random.default_rng(0).integers(2, size=len(self.X))
        solvers = [f"ls-svm(gamma={2.0**i})" for i in range(branches)]
        self.made = kr.make_chain(kr.parallel(*solvers), "average", kernel=kernel)
        self.each = [kr.make_solver(solver, kernel=kernel) for solver in solvers]
        with threads(2):
            np.testing.assert_allclose(self.chain(), self.one_by_one(), rtol=1e-8, atol=1e-10)

    def chain(self):
        return self.made.fit(self.X, self.y).decision_function(self.X[:10])

    def one_by_one(self):
        return np.mean([solver.fit(self.X, self.y).decision_function(self.X[:10]) for solver in self.each], axis=0)

    def time_fit(self, branches):
        self.made.fit(self.X, self.y)

    def track_chain_over_solvers_one_by_one(self, branches):
        return times_as_long(self.chain, self.one_by_one)


class Deep(InFolder):
    """scg-ldk, kpca, two ls-svm, stack: fitted, saved, loaded, asked."""

    timeout = 300

    def setup(self):
        super().setup()
        self.X, self.y = _data(size(600))
        self.made = kr.make_chain(
            "scg-ldk(gamma=1.0)",
            "kpca(n_components=10)",
            kr.parallel("ls-svm(gamma=1.0)", "ls-svm(gamma=10.0)"),
            "stack",
            kernel=KERNEL,
        )
        self.path = self.place / "chain.kern"
        self.made.fit(self.X, self.y)
        self.expected = self.made.predict(self.X)
        kr.save(self.made, self.path)

    def time_fit(self):
        self.made.fit(self.X, self.y)

    def peakmem_fit(self):
        self.made.fit(self.X, self.y)

    def time_save(self):
        kr.save(self.made, self.path)

    def time_load_and_predict(self):
        kr.load(self.path).predict(self.X)

    def track_predictions_changed_by_a_file(self):
        """Samples the loaded chain classifies otherwise; the bar is 0."""
        return int((kr.load(self.path).predict(self.X) != self.expected).sum())
