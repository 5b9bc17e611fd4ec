"""One Python function as a kernel, in scikit-learn and in kernreg, timed on the spot."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

import kernreg as kr


def containment(x: Any, y: Any) -> Any:
    """How much of x is contained in y: Σ min(x, y) / Σ x, which is not Σ min(x, y) / Σ y."""
    return np.minimum(x, y).sum() / x.sum()


@dataclass(frozen=True)
class Timing:
    """Seconds for the kernel matrix of some digits, and the fraction of its entries that scikit-learn gets wrong."""

    n_samples: int
    sklearn: float
    kernreg: float
    kernreg_first: float
    threads: int
    wrong: float


def measure(n_samples: int = 500) -> Timing:
    """Time `containment` on images of digits: the same function, unchanged, in both libraries."""
    from sklearn.datasets import load_digits
    from sklearn.metrics import pairwise_kernels

    X = load_digits().data[:n_samples]
    started = time.perf_counter()
    mirrored = pairwise_kernels(X, metric=containment)
    sklearn_seconds = time.perf_counter() - started

    kernel = kr.kernel(of="rows")(containment)()
    started = time.perf_counter()
    K = kernel(X)  # compiled, or read from the cache on disk
    first = time.perf_counter() - started
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        kernel(X)
        seconds.append(time.perf_counter() - started)
    return Timing(
        n_samples=n_samples,
        sklearn=sklearn_seconds,
        kernreg=min(seconds),
        kernreg_first=first,
        threads=kr.get_config().thread_count(),
        wrong=float(np.mean(~np.isclose(mirrored, K))),
    )
