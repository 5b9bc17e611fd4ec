"""Kernel matrices: time and memory, how near the limits of the hardware, and growth with the number of samples."""

from __future__ import annotations

import time

import numpy as np

import kernreg

from .peers import ROUNDS, best_times, extra_peak_bytes, kernel_and_samples, samples, size, sizes, threads, write_all

KERNELS = ["rbf", "laplacian", "poly", "tanh", "tl1", "matern", "sne", "t", "chi2", "kl"]


class Matrix:
    """k(X), a new array each time."""

    params = (KERNELS, sizes(1000, 6000), [8, 64], ["float64", "float32"], [1, 2])
    param_names = ("kernel", "n", "d", "dtype", "threads")
    sample_time = 0.05

    def setup(self, name, n, d, dtype, count):
        self.kernel, self.X = kernel_and_samples(name, n, d, dtype)
        self.Z = self.X[::-1].copy()
        kernreg.set_config(threads=count)
        self.kernel(self.X[:20])

    def teardown(self, name, n, d, dtype, count):
        kernreg.set_config(threads=None)

    def time_square(self, name, n, d, dtype, count):
        self.kernel(self.X)

    def time_rectangular(self, name, n, d, dtype, count):
        self.kernel(self.X, self.Z)


class Memory:
    """The peak of the whole process, and what evaluation takes beyond its result."""

    params = (["rbf", "laplacian", "sne"], sizes(6000), [16, 512], ["float64", "float32"])
    param_names = ("kernel", "n", "d", "dtype")
    unit = "bytes"

    def setup(self, name, n, d, dtype):
        self.kernel, self.X = kernel_and_samples(name, n, d, dtype)
        self.out = np.zeros((n, n), dtype=dtype)
        self.kernel(self.X[:20])

    def peakmem_square(self, name, n, d, dtype):
        self.kernel(self.X)

    def track_extra_bytes_with_out(self, name, n, d, dtype):
        return extra_peak_bytes(lambda: self.kernel(self.X, out=self.out))


class WriteLimit:
    """The time that only writing K takes, as a fraction of the time of evaluating it: 1 is as fast as it gets."""

    params = (["rbf", "poly", "tanh", "laplacian", "tl1", "sne"], [4, 16], ["float64", "float32"])
    param_names = ("kernel", "d", "dtype")
    unit = "fraction of the limit"
    timeout = 300

    def setup(self, name, d, dtype):
        self.kernel, self.X = kernel_and_samples(name, size(6000), d, dtype)
        self.out = np.zeros((len(self.X), len(self.X)), dtype=dtype)
        with threads(2):
            self.kernel(self.X, out=self.out)

    def track_fraction(self, name, d, dtype):
        with threads(2):
            ours, limit = best_times([lambda: self.kernel(self.X, out=self.out), lambda: write_all(self.out, 2)])
        return limit / ours


class ProductLimit:
    """The time of the inner products alone, by BLAS, as a fraction of the time of k(X, Z) with many features."""

    params = (["rbf", "poly"], [64, 512])
    param_names = ("kernel", "d")
    unit = "fraction of the limit"
    timeout = 300

    def setup(self, name, d):
        self.kernel, self.X = kernel_and_samples(name, size(6000), d)
        self.Z = samples(len(self.X), d, seed=1)
        self.out = np.zeros((len(self.X), len(self.X)))
        with threads(2):
            self.kernel(self.X, self.Z, out=self.out)

    def track_fraction(self, name, d):
        with threads(2):
            ours, limit = best_times(
                [
                    lambda: self.kernel(self.X, self.Z, out=self.out),
                    lambda: np.dot(self.X, self.Z.T, out=self.out),
                ]
            )
        return limit / ours


class Growth:
    """Time per kernel value in streamed blocks: it should not depend on the number of samples."""

    params = (["rbf", "laplacian", "sne"], sizes(2000, 4000, 8000, 14000, 20000))
    param_names = ("kernel", "n")
    unit = "ns"
    timeout = 300

    def setup(self, name, n):
        self.kernel, self.X = kernel_and_samples(name, n, 16)
        self.kernel(self.X[:20])

    def track_nanoseconds_per_value(self, name, n):
        best = float("inf")
        with threads(2):
            for _ in range(ROUNDS):
                start = time.perf_counter()
                for _rows, _block in self.kernel.blocks(self.X):
                    pass
                best = min(best, time.perf_counter() - start)
        return 1e9 * best / n**2
