"""Kernel evaluation against what bounds it: the plain matrix product, float64, and PyTorch in float32.

A ratio is of best times of calls that take turns in one process, with the same number of threads on both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import kernreg

from .peers import TINY, best_times, samples, size, threads

Call = Callable[[], Any]
Sides = tuple[Call, list[Call]]

#: Rounds of each ratio: the sides are close to each other, and the machine is rarely quiet.
ROUNDS = 1 if TINY else 15


@dataclass(frozen=True)
class Ratio:
    """One line: our time as a share of the best time of the others, at most so much."""

    work: str
    peer: str
    at_most: float
    make: Callable[[], Sides]


def _data(d: int, dtype: str, square: bool) -> tuple[np.ndarray, np.ndarray | None]:
    n = size(6000)
    return samples(n, d, dtype=dtype), None if square else samples(n, d, seed=1, dtype=dtype)


def _kernel(name: str, d: int) -> Any:
    parameters = {"laplacian": {"sigma": float(d)}, "poly": {"degree": 3, "c": 1.0}, "linear": {}}
    return kernreg.make_kernel(name, **parameters.get(name, {"sigma": float(np.sqrt(d))}))


def product(d: int, dtype: str, square: bool) -> Sides:
    """K against the matrix product of the same size, both written to memory that exists."""
    X, Z = _data(d, dtype, square)
    k, n = _kernel("rbf", d), len(X)
    other, out, plain = X if Z is None else Z, np.zeros((n, n), dtype=dtype), np.zeros((n, n), dtype=dtype)
    if Z is None:  # BLAS sees a symmetric product where both sides are one array, and halves it
        other = X.copy()
    return lambda: k(X, Z, out=out), [lambda: np.dot(X, other.T, out=plain)]


def precision(name: str, d: int, square: bool) -> Sides:
    """float32 samples against the same in float64."""
    k = _kernel(name, d)
    (X, Z), (X64, Z64) = _data(d, "float32", square), _data(d, "float64", square)
    return lambda: k(X, Z), [lambda: k(X64, Z64)]


def torch_single(d: int, square: bool) -> Sides:
    """float32 samples against PyTorch, by distances and by products."""
    try:
        import torch
    except ImportError as missing:
        raise NotImplementedError("PyTorch is not installed") from missing
    X, Z = _data(d, "float32", square)
    k = _kernel("rbf", d)
    x = torch.from_numpy(X)
    z = x if Z is None else torch.from_numpy(Z)

    def by_distances() -> Any:
        return torch.cdist(x, z).square_().div_(-d).exp_()

    def by_products() -> Any:
        K = torch.addmm((z * z).sum(1)[None, :], x, z.T, alpha=-2.0)
        return K.add_((x * x).sum(1)[:, None]).clamp_(min=0.0).div_(-d).exp_()

    np.testing.assert_allclose(k(X, Z)[::13], by_products().numpy()[::13], rtol=1e-3, atol=1e-5)
    return lambda: k(X, Z), [by_distances, by_products]


RATIOS = (
    Ratio("rbf k(X, Z), d = 512", "X @ Z.T", 1.25, partial(product, 512, "float64", False)),
    Ratio("rbf k(X), d = 512", "X @ Z.T", 0.75, partial(product, 512, "float64", True)),
    Ratio("rbf k(X, Z), d = 512, float32", "X @ Z.T, float32", 1.4, partial(product, 512, "float32", False)),
    *(
        Ratio(
            f"{name} k({'X' if square else 'X, Z'}), d = {d}, float32",
            "the same in float64",
            round(1 / 1.6, 3),
            partial(precision, name, d, square),
        )
        for name, d in (("rbf", 64), ("rbf", 512))
        for square in (False, True)
    ),
    *(
        Ratio(
            f"rbf k({'X' if square else 'X, Z'}), d = {d}, float32",
            "PyTorch, float32",
            1.0,
            partial(torch_single, d, square),
        )
        for d in (16, 64, 512)
        for square in (False, True)
    ),
)


def measured(ratio: Ratio, count: int, rounds: int = ROUNDS) -> tuple[float, float]:
    """Return our best seconds and theirs, each with so many threads."""
    ours, theirs = ratio.make()
    try:
        import torch

        torch.set_num_threads(count)
    except ImportError:
        pass
    with threads(count):
        ours()
        for call in theirs:
            call()
        mine, *others = best_times([ours, *theirs], rounds)
    return mine, min(others)


class HotPath:
    """Our time as a share of theirs, on two threads."""

    params = tuple(f"{ratio.work} / {ratio.peer}" for ratio in RATIOS)
    param_names = ("work",)
    unit = "times the time"
    timeout = 60 if TINY else 600

    def track_ratio(self, work):
        (ratio,) = [ratio for ratio in RATIOS if f"{ratio.work} / {ratio.peer}" == work]
        ours, theirs = measured(ratio, 2)
        return ours / theirs
