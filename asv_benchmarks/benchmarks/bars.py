"""How many times faster than the peer, for each line of the table of bars.

Both sides allocate their result, run on two threads, and take turns in one process; each ratio is of best times.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import chi2_kernel, pairwise_kernels, polynomial_kernel, rbf_kernel, sigmoid_kernel

import kernreg
from kernreg.config import memory_budget

from .peers import TINY, chebyshev, chebyshev_with_numpy, citation_graph, samples, size, threads, times_as_long

Pair = tuple[Callable[[], Any], Callable[[], Any]]

#: Of the two results every so many-th row is compared: more would take longer than computing them.
SPARSELY = 13


@dataclass(frozen=True)
class Bar:
    """One line: what is done, against what, how many times faster it must be, and how to set both sides up."""

    work: str
    peer: str
    at_least: float
    make: Callable[[], Pair]


def rbf(d: int, rectangular: bool = False) -> Pair:
    X = samples(size(6000), d)
    Z = samples(size(6000), d, seed=1) if rectangular else None
    k = kernreg.make_kernel("rbf", sigma=float(np.sqrt(d)))
    return lambda: k(X, Z), lambda: rbf_kernel(X, Z, gamma=1 / d)


def laplacian(d: int) -> Pair:
    X = samples(size(6000), d)
    k = kernreg.make_kernel("laplacian", sigma=float(d))
    return lambda: k(X), lambda: np.exp(-cdist(X, X, "cityblock") / d)


def tl1(d: int) -> Pair:
    X = samples(size(6000), d)
    rho = 0.7 * d
    k = kernreg.make_kernel("tl1", rho=rho)
    return lambda: k(X), lambda: np.maximum(rho - cdist(X, X, "cityblock"), 0)


def poly() -> Pair:
    X = samples(size(6000), 16) / 4
    k = kernreg.make_kernel("poly", degree=3, c=1.0)
    return lambda: k(X), lambda: polynomial_kernel(X, degree=3, gamma=1, coef0=1)


def tanh() -> Pair:
    X = samples(size(6000), 16) / 4
    k = kernreg.make_kernel("tanh", c=0.5, t=0.0)
    return lambda: k(X), lambda: sigmoid_kernel(X, gamma=0.5, coef0=0)


def chi2() -> Pair:
    X = np.random.default_rng(0).random((size(2000), 64))
    k = kernreg.make_kernel("chi2", sigma=10.0)
    return lambda: k(X), lambda: chi2_kernel(X, gamma=0.1)


def third_party() -> Pair:
    X = samples(size(1000), 10)
    k = chebyshev(sigma=1.0)
    return lambda: k(X), lambda: pairwise_kernels(X, metric=chebyshev_with_numpy)


def sne() -> Pair:
    X = samples(size(6000), 16)
    k = kernreg.make_kernel("sne", sigma=4.0)

    def peer() -> np.ndarray:
        K = rbf_kernel(X, gamma=1 / 16)
        K /= K.sum(axis=1, keepdims=True)
        return K

    return lambda: k(X), peer


def matvec_setup() -> tuple[Any, np.ndarray, np.ndarray]:
    """The operator of the bar on products, its samples and a vector."""
    X = samples(size(20000), 16)
    v = np.random.default_rng(0).standard_normal(len(X))
    return kernreg.make_kernel("rbf", sigma=4.0).operator(X), X, v


def matvec() -> Pair:
    operator, X, v = matvec_setup()

    def peer() -> np.ndarray:
        return np.concatenate([rbf_kernel(X[i : i + 1000], X, gamma=1 / 16) @ v for i in range(0, len(X), 1000)])

    return lambda: operator @ v, peer


def sparse_rbf() -> Pair:
    rng = np.random.default_rng(0)
    X = sp.random_array((size(20000), 50000), density=40 / 50000, format="csr", rng=rng)
    Z = sp.random_array((min(500, size(500)), 50000), density=40 / 50000, format="csr", rng=rng)
    k = kernreg.make_kernel("rbf", sigma=3.0)
    return lambda: k(X, Z), lambda: rbf_kernel(X, Z, gamma=1 / 9)


def sparse_operator() -> Pair:
    graph = citation_graph()
    X, Z = graph, graph.T.tocsr()  # whom each paper cites, and who cites it
    n = graph.shape[0]
    if 8 * n * n > memory_budget():
        raise NotImplementedError(f"the dense {n} × {n} matrix of the peer does not fit in the memory budget")
    k = kernreg.make_kernel("sne", sigma=2.0)
    K, operator, v = k(X, Z), k.operator(X, Z), np.random.default_rng(0).standard_normal(n)
    return lambda: operator @ v, lambda: K @ v


SKLEARN = "scikit-learn rbf_kernel"
CITYBLOCK = "scipy cdist cityblock and the same epilogue"

BARS = (
    Bar("rbf k(X), d = 4", SKLEARN, 6.0, partial(rbf, 4)),
    Bar("rbf k(X), d = 16", SKLEARN, 6.0, partial(rbf, 16)),
    Bar("rbf k(X), d = 64", SKLEARN, 3.5, partial(rbf, 64)),
    Bar("rbf k(X), d = 512", SKLEARN, 2.0, partial(rbf, 512)),
    Bar("rbf k(X, Z), d = 16", SKLEARN, 5.0, partial(rbf, 16, rectangular=True)),
    Bar("laplacian k(X), d = 8", CITYBLOCK, 8.0, partial(laplacian, 8)),
    Bar("laplacian k(X), d = 64", CITYBLOCK, 8.0, partial(laplacian, 64)),
    Bar("laplacian k(X), d = 512", CITYBLOCK, 8.0, partial(laplacian, 512)),
    Bar("tl1 k(X), d = 8", CITYBLOCK, 8.0, partial(tl1, 8)),
    Bar("tl1 k(X), d = 64", CITYBLOCK, 8.0, partial(tl1, 64)),
    Bar("tl1 k(X), d = 512", CITYBLOCK, 8.0, partial(tl1, 512)),
    Bar("poly k(X), d = 16", "scikit-learn polynomial_kernel", 5.0, poly),
    Bar("tanh k(X), d = 16", "scikit-learn sigmoid_kernel", 5.0, tanh),
    Bar("chi2 k(X), n = 2000, d = 64", "scikit-learn chi2_kernel", 4.0, chi2),
    Bar("of='rows' kernel, n = 1000, d = 10", "scikit-learn pairwise_kernels of a callable", 200.0, third_party),
    Bar("operator matvec rbf, n = 20000, d = 16", "blockwise rbf_kernel @ v", 5.0, matvec),
    Bar("sne k(X), d = 16", "rbf_kernel and row normalisation", 5.0, sne),
    Bar("sparse rbf, 20000 × 50000 against 500", "scikit-learn rbf_kernel on CSR", 2.0, sparse_rbf),
    Bar("operator matvec sne, citation graph", "K @ v with K in memory", 5.0, sparse_operator),
)


class Bars:
    """Ratio of the peer's time to ours."""

    params = tuple(bar.work for bar in BARS)
    param_names = ("work",)
    unit = "times faster"
    timeout = 60 if TINY else 900

    def setup(self, work):
        (bar,) = [bar for bar in BARS if bar.work == work]
        with threads(2):
            self.ours, self.peer = bar.make()
            # Compiles, and makes sure that both compute the same thing.
            np.testing.assert_allclose(self.ours()[::SPARSELY], self.peer()[::SPARSELY], rtol=1e-6, atol=1e-9)

    def track_ratio(self, work):
        return times_as_long(self.peer, self.ours)
