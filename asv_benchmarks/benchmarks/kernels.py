"""Kernel matrices: time and memory, and time per value in streamed blocks."""

from __future__ import annotations

import time

import numpy as np

import kernreg

from .peers import ROUNDS, extra_peak_bytes, kernel_and_samples, sizes, threads

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
