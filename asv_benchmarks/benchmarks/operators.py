"""Products with a kernel matrix that is never held."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import kernreg

from .bars import matvec_setup
from .peers import citation_graph, extra_peak_bytes, kernel_and_samples, size, sizes, threads, times_as_long


class Dense:
    """K @ V and Kᵀ @ V, dense samples."""

    params = (["rbf", "laplacian", "sne"], sizes(2000, 10000), [16, 128], ["float64", "float32"], [1, 2])
    param_names = ("kernel", "n", "d", "dtype", "threads")
    sample_time = 0.05

    def setup(self, name, n, d, dtype, count):
        kernel, X = kernel_and_samples(name, n, d, dtype)
        kernreg.set_config(threads=count)
        self.operator = kernel.operator(X)
        self.v, self.V = np.ones(n, dtype=dtype), np.ones((n, 16), dtype=dtype)
        small = kernel.operator(X[:20])
        small @ self.v[:20], small.T @ self.v[:20]

    def teardown(self, name, n, d, dtype, count):
        kernreg.set_config(threads=None)

    def time_matvec(self, name, n, d, dtype, count):
        self.operator @ self.v

    def time_adjoint_matvec(self, name, n, d, dtype, count):
        self.operator.T @ self.v

    def time_16_columns(self, name, n, d, dtype, count):
        self.operator @ self.V


class Memory:
    """What one product takes beyond samples and vectors; the bar is 200 MB."""

    unit = "bytes"
    timeout = 300

    def setup(self):
        with threads(2):
            self.operator, _, self.v = matvec_setup()
            kernreg.make_kernel("rbf").operator(np.ones((20, 16))) @ np.ones(20)

    def track_extra_bytes_of_a_product(self):
        with threads(2):
            return extra_peak_bytes(lambda: self.operator @ self.v)

    def peakmem_product(self):
        self.operator @ self.v


class Sparse:
    """Sparse samples: products in the separable form, which costs what XZᵀ stores."""

    params = (["rbf", "sne", "poly", "tanh", "linear"],)
    param_names = ("kernel",)

    def setup(self, name):
        self.kernel, _ = kernel_and_samples(name, 4, 4)
        graph = citation_graph()
        self.X, self.Z = graph, sp.csr_array(graph.T)
        self.operator = self.kernel.operator(self.X, self.Z)
        if self.operator.form != "separable":
            raise NotImplementedError("these samples are not sparse enough")
        self.v = np.ones(self.X.shape[0])
        self.operator @ self.v, self.operator.T @ self.v

    def time_making_the_operator(self, name):
        self.kernel.operator(self.X, self.Z)

    def time_matvec(self, name):
        self.operator @ self.v

    def time_adjoint_matvec(self, name):
        self.operator.T @ self.v


class Columns:
    """How much cheaper 16 products are together than one by one."""

    params = ("rbf", "laplacian", "sne")
    param_names = ("kernel",)
    unit = "times faster"
    timeout = 300

    def setup(self, name):
        kernel, X = kernel_and_samples(name, size(6000), 16)
        self.operator = kernel.operator(X)
        self.V = np.random.default_rng(0).standard_normal((len(X), 16))
        self.operator @ self.V[:, 0]

    def track_together_against_one_by_one(self, name):
        return 16 * times_as_long(lambda: self.operator @ self.V[:, 0], lambda: self.operator @ self.V)
