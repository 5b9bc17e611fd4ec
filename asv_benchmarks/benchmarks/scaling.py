"""How time and memory grow: with samples, features, classes, labels and landmarks.

The sizes of a series take turns. The exponent p of seconds ~ sizeᵖ is what should stay: one that grows from commit to
commit is a lost algorithm, whatever the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import kernreg
from kernreg.engine.memory import release

from .peers import ROUNDS, TINY, best_times, extra_peak_bytes, kernel_and_samples, samples, threads
from .peers import size as shrunk

#: Bytes; a peak below this says little about a call.
NOISE = 4e6


@dataclass(frozen=True)
class Series:
    """Work at several sizes of one thing; `make` sets a size up and returns the call."""

    work: str
    against: str
    sizes: tuple[int, ...]
    make: Callable[[int], Callable[[], Any]]

    @property
    def name(self) -> str:
        """What the page calls it."""
        return f"{self.work}, against {self.against}"


def matrix(name: str, size: int, *, n: int | None = None, d: int | None = None) -> Callable[[], Any]:
    """k(X), of as many samples or features as asked."""
    kernel, X = kernel_and_samples(name, shrunk(n) if n else size, d or size)
    return lambda: kernel(X)


def product(name: str, n: int) -> Callable[[], Any]:
    """K @ v without K."""
    kernel, X = kernel_and_samples(name, n, 16)
    operator, v = kernel.operator(X), np.ones(n)
    return lambda: operator @ v


def fit(
    spec: str, kernel: str | None, size: int, *, m: int | None = None, vary: str = "m", **fixed: Any
) -> Callable[[], Any]:
    """The fit of a solver; `vary` says what the size is: m, classes, labels (in percent) or a parameter's name."""
    count = shrunk(m) if m else size
    rng = np.random.default_rng(0)
    X, y = samples(count, 16), rng.integers(size if vary == "classes" else 2, size=count)
    if vary == "labels":
        y[rng.permutation(count)[: count - count * size // 100]] = -1
    parameters = {**fixed, vary: size} if vary not in ("m", "classes", "labels") else fixed
    if kernel is not None:
        parameters = {"kernel": kernel, **parameters}
    solver = kernreg.make_solver(spec, **parameters)
    return lambda: solver.fit(X, y)


RBF, SNE = "rbf(sigma=4.0)", "sne(sigma=4.0)"
_ALL = (
    Series("rbf k(X), d = 16", "n", (1000, 2000, 4000, 8000), partial(matrix, "rbf", d=16)),
    Series("sne k(X), d = 16", "n", (1000, 2000, 4000, 8000), partial(matrix, "sne", d=16)),
    Series("rbf k(X), n = 3000", "d", (4, 16, 64, 256), partial(matrix, "rbf", n=3000)),
    Series("laplacian k(X), n = 3000", "d", (4, 16, 64, 256), partial(matrix, "laplacian", n=3000)),
    Series("rbf operator @ v, d = 16", "n", (2000, 4000, 8000, 16000), partial(product, "rbf")),
    Series("ls-svm fit", "m", (400, 800, 1600, 3200), partial(fit, "ls-svm(gamma=0.3)", RBF)),
    Series("ask-ls fit", "m", (400, 800, 1600, 3200), partial(fit, "ask-ls(gamma=0.3)", SNE)),
    Series(
        "ask-ls fit, m = 1500",
        "classes",
        (2, 4, 8, 16, 32),
        partial(fit, "ask-ls(gamma=0.3)", SNE, m=1500, vary="classes"),
    ),
    Series(
        "ls-svm low-rank fit, 200 landmarks",
        "m",
        (5000, 10000, 20000, 40000),
        partial(fit, "ls-svm(strategy='lowrank')", RBF, n_landmarks=200),
    ),
    Series(
        "ls-svm low-rank fit, m = 20000",
        "landmarks",
        (50, 100, 200, 400),
        partial(fit, "ls-svm(strategy='lowrank')", RBF, m=20000, vary="n_landmarks"),
    ),
    Series("kpca fit, 10 components", "n", (500, 1000, 2000, 4000), partial(fit, "kpca(n_components=10)", RBF)),
    Series("ksvd fit, 10 components", "n", (500, 1000, 2000, 4000), partial(fit, "ksvd(n_components=10)", SNE)),
    Series(
        "nystrom fit, n = 10000, 10 components",
        "landmarks",
        (100, 200, 400),
        partial(fit, "nystrom(n_components=10)", SNE, m=10000, vary="n_landmarks"),
    ),
    Series("scg-ldk fit", "n", (500, 1000, 2000), partial(fit, "scg-ldk(gamma=1.0)", RBF)),
    Series(
        "scg-ldk fit, n = 1000",
        "labels",
        (10, 30, 50, 70, 90),
        partial(fit, "scg-ldk(gamma=1.0)", RBF, m=1000, vary="labels"),
    ),
    Series("scg-osk fit", "n", (250, 500, 1000), partial(fit, "scg-osk", None)),
    Series("scg-osk fit, n = 500", "labels", (10, 30, 50, 70, 90), partial(fit, "scg-osk", None, m=500, vary="labels")),
)


def _tiny(series: Series) -> Series:
    """The same series within a second: the smallest size, and about twice that."""
    kept = {"n": (100, 200), "m": (200, 300), "d": (4, 8), "classes": (2, 4), "labels": (40, 80), "landmarks": (20, 40)}
    return Series(series.work, series.against, kept[series.against], series.make)


SERIES = {series.name: series for series in (map(_tiny, _ALL) if TINY else _ALL)}


def measure(series: Series) -> tuple[list[float], list[float]]:
    """Return the best seconds of each size, and the peak of memory beyond what was there before the call."""
    with threads(2):
        calls = [series.make(size) for size in series.sizes]
        calls[0]()  # compiles
        peaks = []
        for call in calls:
            release()  # pages kept for the next result would not count
            peaks.append(float(extra_peak_bytes(call)))
        seconds = best_times(calls, min(3, ROUNDS))
    return seconds, peaks


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Return p of values ~ sizeᵖ, by least squares on logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(values, 1e-9)), 1)[0])


class Measured:
    """Every series is measured once; the benchmarks below share it."""

    timeout = 300

    def setup_cache(self) -> dict[str, tuple[list[float], list[float]]]:
        """Return seconds and bytes of each series."""
        return {name: measure(series) for name, series in SERIES.items()}

    setup_cache.timeout = 600


class Exponents(Measured):
    """The exponent of each series."""

    params = (list(SERIES),)
    param_names = ("series",)
    unit = "exponent"

    def track_time(self, measured, name):
        return max(0.0, exponent(SERIES[name].sizes, measured[name][0]))

    def track_memory(self, measured, name):
        """Of what a call takes at its peak, where that is more than the allocator's noise; else there is none."""
        pairs = [(size, peak) for size, peak in zip(SERIES[name].sizes, measured[name][1], strict=True) if peak > NOISE]
        if len(pairs) < 2:
            return float("nan")
        return max(0.0, exponent(*zip(*pairs, strict=True)))


class Points(Measured):
    """Seconds and bytes at each size of each series: what the page draws."""

    params = (list(SERIES), list(range(max(len(series.sizes) for series in SERIES.values()))))
    param_names = ("series", "point")

    def track_seconds(self, measured, name, point):
        return _point(measured[name][0], point)

    def track_bytes(self, measured, name, point):
        return _point(measured[name][1], point)

    track_seconds.unit = "seconds"
    track_bytes.unit = "bytes"


def _point(values: list[float], point: int) -> float:
    return values[point] if point < len(values) else float("nan")
