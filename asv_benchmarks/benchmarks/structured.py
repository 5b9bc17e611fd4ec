"""Structured samples with the plugin kernreg-structured: gak against tslearn, gower against the package gower.

``python -m asv_benchmarks.benchmarks.structured`` prints the ratios. All are of CPU time, on one thread.
"""

from __future__ import annotations

import time

import numpy as np

import kernreg

from .peers import ROUNDS, TINY, size, threads


def times_the_cpu_time(peer, ours) -> float:
    """How many times as much CPU time the peer takes, each at its best."""
    best = [float("inf"), float("inf")]
    with threads(1):
        ours()  # compiles
        for _ in range(ROUNDS):
            for number, call in enumerate((peer, ours)):
                start = time.process_time()
                call()
                best[number] = min(best[number], time.process_time() - start)
    return best[0] / max(best[1], 1e-9)


def made(name: str, **parameters):
    """A kernel of the plugin, which asv skips where it is not installed."""
    try:
        return kernreg.make_kernel(name, **parameters)
    except kernreg.errors.UnknownPlugin as cause:
        raise NotImplementedError("kernreg-structured is not installed") from cause


class Alignment:
    """The kernel matrix of series of one length; sigma is that of the data, so that values are between 0 and 1."""

    params = ([500, 100], [1, 3])
    param_names = ("length", "features")
    unit = "times faster"

    def setup(self, length, features):
        length = min(length, 50) if TINY else length
        rng = np.random.default_rng(0)
        noise = 0.2 * rng.standard_normal((4 if TINY else 12, length, features))
        self.X = np.sin(np.arange(length) / 20.0)[:, None] + noise
        self.kernel = made("gak", sigma=5.0)
        self.kernel(self.X)

    def time_gak(self, length, features):
        self.kernel(self.X)

    def track_against_tslearn(self, length, features):
        return times_the_cpu_time(lambda: self.peer()(self.X, sigma=5.0), lambda: self.kernel(self.X))

    def track_difference_from_tslearn(self, length, features):
        return float(np.abs(self.peer()(self.X, sigma=5.0) - self.kernel(self.X)).max())

    def peer(self):
        try:
            from tslearn.metrics import cdist_gak
        except ImportError as cause:
            raise NotImplementedError("tslearn is not installed") from cause
        return cdist_gak


class Long:
    """Two series of 10⁴ steps."""

    def setup(self):
        self.X = np.sin(np.arange(size(10_000)) / 20.0)[None, :, None] * np.ones((2, 1, 1))
        self.kernel = made("gak", sigma=5.0, log=True)
        self.kernel(self.X[:, :50])

    def time_gak(self):
        self.kernel(self.X)


class Mixed:
    """The matrix of a table with six columns of numbers and four of categories, as an array and as a data frame."""

    params = (["frame", "array"], [2000, 500])
    param_names = ("table", "rows")
    unit = "times faster"

    def setup(self, table, rows):
        pandas = self.imported("pandas")
        n = 50 if TINY else rows
        rng = np.random.default_rng(0)
        self.X = np.hstack([rng.standard_normal((n, 6)), rng.integers(0, 4, (n, 4))])
        self.options = {"cat_features": np.arange(10) >= 6}
        self.kernel = made("gower", categorical=(6, 7, 8, 9))
        if table == "frame":
            words = np.array(["north", "east", "south", "west"], dtype=object)[self.X[:, 6:].astype(int)]
            frame = pandas.DataFrame(self.X[:, :6], columns=list("abcdef"))
            for column, name in enumerate("ghij"):
                frame[name] = pandas.Series(words[:, column], dtype=object)
            self.X, self.options, self.kernel = frame, {}, made("gower")
        self.kernel(self.X)

    def time_gower(self, table, rows):
        self.kernel(self.X)

    def track_against_gower(self, table, rows):
        package = self.imported("gower")
        return times_the_cpu_time(lambda: package.gower_matrix(self.X, **self.options), lambda: self.kernel(self.X))

    def imported(self, name):
        import importlib

        try:
            return importlib.import_module(name)
        except ImportError as cause:
            raise NotImplementedError(f"{name} is not installed") from cause


class Bags:
    """Mixtures of bags, and the divergences between them."""

    params = ([1, 4],)
    param_names = ("components",)

    def setup(self, components):
        rng = np.random.default_rng(0)
        self.X = [rng.standard_normal((50, 5)) for _ in range(size(200))]
        self.kernel = made("gmm-kl", a=0.1, components=components)
        self.kernel(self.X[:3])

    def time_gmm_kl(self, components):
        self.kernel(self.X)


if __name__ == "__main__":
    for benchmark, name in ((Alignment, "track_against_tslearn"), (Mixed, "track_against_gower")):
        for first in benchmark.params[0]:
            for second in benchmark.params[1]:
                case = benchmark()
                case.setup(first, second)
                print(f"{name} {first} {second}: {getattr(case, name)(first, second):.1f} times faster")
