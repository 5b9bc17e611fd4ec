"""Formulas of kernels in long double, one pair of samples at a time, beside those of tests/naive.py.

Nothing here uses kernreg. `ORACLES` says of each kernel what samples it takes, what parameters are tried, and its
values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import naive
import numpy as np
from naive import L, pairs


def relative_entropy(x: np.ndarray, z: np.ndarray) -> Any:
    there = x > 0
    return (x[there] * np.log(x[there] / z[there])).sum()


def smoothed(x: np.ndarray, smoothing: float) -> np.ndarray:
    share = x / x.sum() if x.sum() > 0 else np.full(len(x), 1 / L(len(x)))
    return (1 - L(smoothing)) * share + L(smoothing) / len(x)


def histogram_kl(X: Any, Z: Any = None, a: float = 1.0, smoothing: float = 0.01) -> np.ndarray:
    return pairs(lambda x, z: np.exp(-L(a) * relative_entropy(smoothed(x, smoothing), smoothed(z, smoothing))), X, Z)


def histogram_chi2(X: Any, Z: Any = None, a: float = 1.0) -> np.ndarray:
    return naive.chi2(X, Z, sigma=2 / L(a))


def hellinger(X: Any, Z: Any = None, a: float = 1.0) -> np.ndarray:
    return pairs(lambda x, z: np.exp(-L(a) * ((np.sqrt(x) - np.sqrt(z)) ** 2).sum() / 2), X, Z)


def jensen_shannon(X: Any, Z: Any = None, a: float = 1.0) -> np.ndarray:
    def value(x: np.ndarray, z: np.ndarray) -> Any:
        middle = (x + z) / 2
        return np.exp(-L(a) * (relative_entropy(x, middle) + relative_entropy(z, middle)) / 2)

    return pairs(value, X, Z)


def additive_chi2(X: Any, Z: Any = None) -> np.ndarray:
    def value(x: np.ndarray, z: np.ndarray) -> Any:
        there = x + z > 0
        return (2 * x[there] * z[there] / (x + z)[there]).sum()

    return pairs(value, X, Z)


def bhattacharyya(X: Any, Z: Any = None) -> np.ndarray:
    return pairs(lambda x, z: np.sqrt(x * z).sum(), X, Z)


def histogram_intersection(X: Any, Z: Any = None, b: float = 1.0) -> np.ndarray:
    return pairs(lambda x, z: np.minimum(x ** L(b), z ** L(b)).sum(), X, Z)


def containment(X: Any, Z: Any = None) -> np.ndarray:
    return pairs(lambda x, z: np.minimum(x, z).sum() / x.sum() if x.sum() > 0 else L(0), X, Z)


def shift_gauss(X: Any, Z: Any = None, sigma: float = 1.0, shift: float = 0.5) -> np.ndarray:
    return pairs(lambda x, z: np.exp(-((x - z - L(shift)) ** 2).sum() / L(sigma) ** 2), X, Z)


def sinh_gauss(X: Any, Z: Any = None, sigma: float = 1.0, beta: float = 0.5, tau: float = 1.0) -> np.ndarray:
    def value(x: np.ndarray, z: np.ndarray) -> Any:
        gap = (x - z) / L(sigma)
        u, square = L(tau) * gap.sum() / np.sqrt(L(len(x))), (gap**2).sum()
        if (
            abs(u) > 1000
        ):  # the hyperbolic sine is an exponential, and beyond the range of numbers where the other is zero
            return np.sign(u) * L(beta) * np.exp(abs(u) - square) / 2
        return np.exp(-square) * (1 + L(beta) * np.sinh(u))

    return pairs(value, X, Z)


def cosh_gauss(X: Any, Z: Any = None, sigma: float = 1.0, beta: float = 0.5, tau: float = 2.0) -> np.ndarray:
    def value(x: np.ndarray, z: np.ndarray) -> Any:
        gap = (x - z) / L(sigma)
        u = L(tau) * gap.sum() / np.sqrt(L(len(x)))
        square = (gap**2).sum() + L(tau) ** 2 / 4
        if abs(u) > 1000:
            return (1 + np.sign(u) * L(beta)) * np.exp(abs(u) - square) / 2
        return np.exp(-square) * (np.cosh(u) + L(beta) * np.sinh(u))

    return pairs(value, X, Z)


def skew_laplace(X: Any, Z: Any = None, above: float = 1.0, below: float = 0.5) -> np.ndarray:
    def value(x: np.ndarray, z: np.ndarray) -> Any:
        gap = x - z
        return np.exp(-gap[gap > 0].sum() / L(above) + gap[gap < 0].sum() / L(below))

    return pairs(value, X, Z)


def ask_rff(X: Any, Z: Any = None, *, frequencies: Any, phases: Any, weights: Any) -> np.ndarray:
    W, phi, w = (np.asarray(part, dtype=L) for part in (frequencies, phases[0], weights[0]))
    return pairs(lambda x, z: (w * np.cos(W @ (x - z) + phi)).sum(), X, Z)


def lab_rbf(X: Any, Z: Any = None, *, centres: Any, theta: Any) -> np.ndarray:
    C, T = np.asarray(centres, dtype=L), np.asarray(theta, dtype=L)
    return pairs(lambda x, z: np.exp(-((T[((C - z) ** 2).sum(axis=1).argmin()] * (x - z)) ** 2).sum()), X, Z)


def profile_product(X: Any, Z: Any = None, *, values: Any, radius: float) -> np.ndarray:
    table = np.asarray(values[0], dtype=L)

    def profile(gap: Any) -> Any:
        place = (gap + L(radius)) / (2 * L(radius)) * (len(table) - 1)
        if place < 0 or place > len(table) - 1:
            return L(0)
        left = min(int(place), len(table) - 2)
        return table[left] + (place - left) * (table[left + 1] - table[left])

    return pairs(lambda x, z: np.prod([profile(gap) for gap in x - z]), X, Z)


@dataclass(frozen=True)
class Oracle:
    """A kernel under attack: what samples it takes, its parameters by name with the values tried, its values."""

    values: Callable[..., np.ndarray]
    params: dict[str, list[Any]] = field(default_factory=dict)
    samples: str = "real"
    #: Parameters that have the unit of the samples, and are scaled with them.
    widths: tuple[str, ...] = ()


WIDTH = {"sigma": [0.5, 1.0, 3.0]}
EXTENT = {"a": [0.3, 1.0, 2.5]}

ORACLES: dict[str, Oracle] = {
    "linear": Oracle(naive.linear),
    "poly": Oracle(naive.poly, {"degree": [1, 2, 3, 5], "c": [0.0, 1.0, 2.5]}),
    "tanh": Oracle(naive.tanh, {"c": [0.1, 1.0, -2.0], "t": [0.0, -1.0]}),
    "rbf": Oracle(naive.rbf, WIDTH, widths=("sigma",)),
    "laplacian": Oracle(naive.laplacian, WIDTH, widths=("sigma",)),
    "tl1": Oracle(naive.tl1, {"rho": [0.5, 2.0, 8.0]}, widths=("rho",)),
    "sne": Oracle(naive.sne, WIDTH, widths=("sigma",)),
    "t": Oracle(naive.t, WIDTH, widths=("sigma",)),
    "cauchy": Oracle(naive.cauchy, WIDTH, widths=("sigma",)),
    "matern": Oracle(naive.matern, WIDTH | {"nu": [0.5, 1.5, 2.5]}, widths=("sigma",)),
    "rational-quadratic": Oracle(naive.rational_quadratic, WIDTH | {"alpha": [0.3, 1.0, 4.0]}, widths=("sigma",)),
    "chi2": Oracle(naive.chi2, WIDTH, "nonnegative", ("sigma",)),
    "intersection": Oracle(naive.intersection, {}, "nonnegative"),
    "kl": Oracle(naive.kl, EXTENT, "distribution"),
    "kl-gaussian": Oracle(naive.kl_gaussian, EXTENT, "gaussian"),
    "histogram-kl": Oracle(histogram_kl, EXTENT | {"smoothing": [0.01, 0.5, 1.0]}, "nonnegative"),
    "histogram-chi2": Oracle(histogram_chi2, EXTENT, "nonnegative"),
    "hellinger": Oracle(hellinger, EXTENT, "nonnegative"),
    "jensen-shannon": Oracle(jensen_shannon, EXTENT, "nonnegative"),
    "additive-chi2": Oracle(additive_chi2, {}, "nonnegative"),
    "bhattacharyya": Oracle(bhattacharyya, {}, "nonnegative"),
    "histogram-intersection": Oracle(histogram_intersection, {"b": [0.5, 1.0, 1.7]}, "nonnegative"),
    "containment": Oracle(containment, {}, "nonnegative"),
    "shift-gauss": Oracle(shift_gauss, WIDTH | {"shift": [-0.5, 0.5]}, widths=("sigma", "shift")),
    "sinh-gauss": Oracle(sinh_gauss, WIDTH | {"beta": [-0.5, 2.0], "tau": [1.0, 3.0]}, widths=("sigma",)),
    "cosh-gauss": Oracle(cosh_gauss, WIDTH | {"beta": [-0.5, 1.0], "tau": [0.5, 2.0]}, widths=("sigma",)),
    "skew-laplace": Oracle(skew_laplace, {"above": [0.5, 2.0], "below": [0.5, 1.0]}, widths=("above", "below")),
    "profile-product": Oracle(
        profile_product, {"values": [[[0.0, 0.5, 1.0, 0.3, 0.0]], [[0.2, 1.0, 0.9]]], "radius": [2.0, 9.0]}
    ),
    "ask-rff": Oracle(
        partial(ask_rff),
        {
            "frequencies": [[[1.0, -0.5, 0.2, 0.3], [0.1, 2.0, -1.0, 0.7]]],
            "phases": [[[0.5, -1.0]]],
            "weights": [[[1.0, 0.25]]],
        },
        "four",
    ),
    "lab-rbf": Oracle(
        lab_rbf,
        {
            "centres": [[[0.0, 0.1, 0.2, 0.3], [2.0, 1.9, -1.8, 0.5]]],
            "theta": [[[1.0, 0.5, 0.7, 0.2], [0.3, 0.1, 1.1, 0.9]]],
        },
        "four",
    ),
}


def draw(kind: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Samples that a kernel takes, with zeros and repeated rows among them."""
    if kind == "four":
        return rng.normal(size=(n, 4))
    if kind == "gaussian":
        return np.hstack([rng.normal(size=(n, d)), 0.5 + rng.random((n, d))])
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.8)
    if kind != "real":
        X = np.abs(X)
    if kind == "distribution":
        X += 1e-3
        X /= X.sum(axis=1, keepdims=True)
    if n > 2:
        X[n // 2] = X[0]
    return X
