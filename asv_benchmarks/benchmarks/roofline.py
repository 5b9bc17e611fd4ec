"""How near the machine's limit each driver of the engine is.

Three rates are measured in the same run, on two threads: bytes written per second (memset), vector instructions per
second (the multiply-adds of BLAS' matrix product), exponentials per second (a vectorised loop within the first-level
cache). What a driver cannot avoid is the bytes of its result, one multiply-add per feature and pair, and an exponential
per pair, each pair of a symmetric matrix once. That makes three times. The longest is the limit, and the fraction is
that limit over the time taken: at 1 nothing could be faster.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numba import njit

import kernreg
import kernreg.jit

from .peers import (
    TINY,
    best_times,
    chebyshev,
    citation_graph,
    kernel_and_samples,
    samples,
    size,
    threads,
    write_all,
)

CACHED = 2048  # values that stay in the first-level cache
PASSES = 2 if TINY else 2000


@njit(nogil=True)
def _exponentials(x, out, passes):
    kernreg.jit.wide()
    for _ in range(passes):
        for i in range(out.shape[0]):
            out[i] = kernreg.jit.exp(x[i])


def _in_two_threads(call: Callable[[], Any]) -> None:
    other = threading.Thread(target=call)
    other.start()
    call()
    other.join()


@dataclass(frozen=True)
class Rates:
    """What the machine does per second, on two threads."""

    bytes: float
    instructions: float
    exponentials: float


def machine_rates() -> Rates:
    """Measure the three limits."""
    target = np.zeros(size(6000) ** 2)
    n = size(3000)
    A, B, C = samples(n, n), samples(n, n, seed=1), np.empty((n, n))
    x = np.random.default_rng(0).uniform(-20.0, 0.0, CACHED)

    def exponentials() -> None:
        _exponentials(x, np.empty_like(x), PASSES)

    exponentials()
    with threads(2):
        writing, product, raising = best_times(
            [lambda: write_all(target, 2), lambda: np.dot(A, B, out=C), lambda: _in_two_threads(exponentials)]
        )
    return Rates(target.nbytes / writing, n**3 / product, 2 * PASSES * CACHED / raising)


@dataclass(frozen=True)
class Work:
    """A call, and what no way of doing it avoids."""

    call: Callable[[], Any]
    bytes: float = 0.0
    instructions: float = 0.0
    exponentials: float = 0.0

    def limits(self, rates: Rates) -> tuple[float, float, float]:
        """Return the seconds each of the three takes at the least."""
        return (
            self.bytes / rates.bytes,
            self.instructions / rates.instructions,
            self.exponentials / rates.exponentials,
        )


def _square(name: str, d: int, per_feature: float = 1.0, exponentials: float = 1.0) -> Work:
    kernel, X = kernel_and_samples(name, size(6000), d)
    n = len(X)
    out = np.zeros((n, n))
    return Work(lambda: kernel(X, out=out), 8.0 * n * n, per_feature * d * n * n / 2, exponentials * n * n / 2)


def _rectangle() -> Work:
    kernel, X = kernel_and_samples("rbf", size(6000), 16)
    n = len(X)
    Z, out = samples(n, 16, seed=1), np.zeros((n, n))
    return Work(lambda: kernel(X, Z, out=out), 8.0 * n * n, 16.0 * n * n, 1.0 * n * n)


def _third_party() -> Work:
    X, kernel = samples(size(3000), 10), chebyshev(sigma=1.0)
    n = len(X)
    out = np.zeros((n, n))
    return Work(lambda: kernel(X, out=out), 8.0 * n * n, 2 * 10 * n * n / 2, n * n / 2)


def _product() -> Work:
    kernel, X = kernel_and_samples("rbf", size(20000), 16)
    operator, n = kernel.operator(X), len(X)
    v = np.random.default_rng(0).standard_normal(n)
    return Work(lambda: operator @ v, 8.0 * n, 16.0 * n * n / 2 + n * n, n * n / 2)


def _sparse_product() -> Work:
    graph = citation_graph()
    X, Z = graph, graph.T.tocsr()
    operator, v = kernreg.make_kernel("sne", sigma=2.0).operator(X, Z), np.ones(graph.shape[0])
    stored = (X @ Z.T).nnz  # a value and a column each; what is stored must be read
    return Work(lambda: operator @ v, 12.0 * stored, 1.0 * stored)


#: An absolute difference takes two instructions where a product takes one.
DRIVERS: dict[str, Callable[[], Work]] = {
    "rbf k(X), d = 4": partial(_square, "rbf", 4),
    "rbf k(X), d = 16": partial(_square, "rbf", 16),
    "rbf k(X), d = 64": partial(_square, "rbf", 64),
    "rbf k(X), d = 512": partial(_square, "rbf", 512),
    "rbf k(X, Z), d = 16": _rectangle,
    "laplacian k(X), d = 8": partial(_square, "laplacian", 8, 2.0),
    "laplacian k(X), d = 64": partial(_square, "laplacian", 64, 2.0),
    "tl1 k(X), d = 8": partial(_square, "tl1", 8, 2.0, 0.0),
    "poly k(X), d = 16": partial(_square, "poly", 16, 1.0, 0.0),
    "tanh k(X), d = 16": partial(_square, "tanh", 16),
    "sne k(X), d = 16": partial(_square, "sne", 16),
    "of='rows' kernel, n = 3000, d = 10": _third_party,
    "rbf operator @ v, n = 20000, d = 16": _product,
    "sne operator @ v, citation graph": _sparse_product,
}


class Roofline:
    """Every driver against the three limits; all are measured in one process, once."""

    params = (list(DRIVERS),)
    param_names = ("driver",)
    timeout = 300

    def setup_cache(self) -> dict[str, tuple[float, tuple[float, float, float]]]:
        """Return the seconds of each driver and its three limits."""
        found, rates = [], [machine_rates()]
        for name, make in DRIVERS.items():
            work = make()
            with threads(2):
                work.call()
                found.append((name, work, best_times([work.call])[0]))
        rates.append(machine_rates())  # a machine that was disturbed once would have lower limits
        best = Rates(*(max(getattr(each, field) for each in rates) for field in Rates.__dataclass_fields__))
        return {name: (seconds, work.limits(best)) for name, work, seconds in found}

    setup_cache.timeout = 300

    def track_fraction(self, measured, driver):
        """The longest of the limits as a fraction of the time taken."""
        seconds, limits = measured[driver]
        return max(limits) / seconds

    def track_milliseconds(self, measured, driver):
        return 1e3 * measured[driver][0]

    def track_write_limit(self, measured, driver):
        return 1e3 * measured[driver][1][0]

    def track_arithmetic_limit(self, measured, driver):
        return 1e3 * measured[driver][1][1]

    def track_exponential_limit(self, measured, driver):
        return 1e3 * measured[driver][1][2]

    track_fraction.unit = "fraction of the limit"
    track_milliseconds.unit = track_write_limit.unit = "ms"
    track_arithmetic_limit.unit = track_exponential_limit.unit = "ms"
