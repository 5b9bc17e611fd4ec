"""The same matrix or product by other frameworks that fuse, compile or vectorise, where they are installed.

    pip install "kernreg[peers]"      PyTorch, JAX, KeOps and numexpr

Each is written as its users would, in every form that is natural for it, and the fastest form counts. Frameworks
compile before they are timed, run on two threads as we do, and are checked to compute the same thing. KeOps never forms
the matrix, so it has the product alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

import kernreg

from .peers import TINY, best_times, samples, size, threads

Calls = list[Callable[[], Any]]

#: What is computed: kernel, features, samples, and whether as a matrix or as a product with a vector.
WORKS = {
    "rbf k(X), d = 4": ("rbf", 4, 6000, False),
    "rbf k(X), d = 16": ("rbf", 16, 6000, False),
    "rbf k(X), d = 64": ("rbf", 64, 6000, False),
    "rbf k(X), d = 512": ("rbf", 512, 6000, False),
    "laplacian k(X), d = 16": ("laplacian", 16, 6000, False),
    "sne k(X), d = 16": ("sne", 16, 6000, False),
    "rbf operator @ v, d = 16": ("rbf", 16, 20000, True),
}
BLOCK = 2000  # rows at once where a product goes block by block


def _torch(kernel: str, X: np.ndarray, v: np.ndarray | None) -> Calls:
    import torch

    torch.set_num_threads(2)
    Z, d = torch.from_numpy(X), X.shape[1]

    def by_distances(rows: Any) -> Any:
        if kernel == "laplacian":
            return torch.exp(torch.cdist(rows, Z, p=1.0).div_(-d))
        return torch.exp(torch.cdist(rows, Z).square_().div_(-d))

    def by_products(rows: Any) -> Any:
        K = torch.addmm((Z * Z).sum(1)[None, :], rows, Z.T, alpha=-2.0)
        return K.add_((rows * rows).sum(1)[:, None]).clamp_(min=0.0).div_(-d).exp_()

    forms = [by_distances] if kernel == "laplacian" else [by_distances, by_products]
    if v is not None:
        w = torch.from_numpy(v)
        return [lambda form=form: torch.cat([form(rows) @ w for rows in Z.split(BLOCK)]) for form in forms]
    if kernel == "sne":
        return [lambda form=form: (lambda K: K.div_(K.sum(1, keepdim=True)))(form(Z)) for form in forms]
    return [lambda form=form: form(Z) for form in forms]


def _jax(kernel: str, X: np.ndarray, v: np.ndarray | None) -> Calls:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    Z, d = jnp.asarray(X), X.shape[1]

    def block(rows: Any) -> Any:
        if kernel == "laplacian":
            return jnp.exp(-jnp.abs(rows[:, None, :] - Z[None, :, :]).sum(-1) / d)
        norms = (rows * rows).sum(1)[:, None] + (Z * Z).sum(1)[None, :]
        K = jnp.exp(-jnp.maximum(norms - 2.0 * rows @ Z.T, 0.0) / d)
        return K / K.sum(1, keepdims=True) if kernel == "sne" else K

    if v is None:
        whole = jax.jit(block)
        return [lambda: whole(Z).block_until_ready()]
    w = jnp.asarray(v)
    step = min(BLOCK, len(X))
    pieces = Z.reshape(-1, step, d)
    product = jax.jit(lambda pieces: jax.lax.map(lambda rows: block(rows) @ w, pieces).ravel())
    return [lambda: product(pieces).block_until_ready()]


def _keops(kernel: str, X: np.ndarray, v: np.ndarray | None) -> Calls:
    if v is None:
        raise NotImplementedError("KeOps does not form matrices")
    if TINY:
        raise NotImplementedError("KeOps would compile C++")
    import pykeops

    pykeops.set_verbose(False)
    from pykeops.numpy import LazyTensor

    left, right = LazyTensor(X[:, None, :]), LazyTensor(X[None, :, :])
    column = v[:, None].copy()
    return [lambda: ((-((left - right) ** 2).sum(-1) / X.shape[1]).exp() @ column)[:, 0]]


def _numexpr(kernel: str, X: np.ndarray, v: np.ndarray | None) -> Calls:
    import numexpr

    numexpr.set_num_threads(2)
    d, norms = X.shape[1], (X * X).sum(axis=1)

    def block(rows: slice) -> np.ndarray:
        if kernel == "laplacian":
            D = cdist(X[rows], X, "cityblock")
            return numexpr.evaluate("exp(-D / d)", {"D": D, "d": d}, out=D)
        G = X[rows] @ X.T
        names = {"G": G, "a": norms[rows, None], "b": norms, "d": d}
        return numexpr.evaluate("exp((2.0 * G - a - b) / d)", names, out=G)

    if v is not None:
        return [lambda: np.concatenate([block(slice(i, i + BLOCK)) @ v for i in range(0, len(X), BLOCK)])]
    if kernel == "sne":

        def normalised() -> np.ndarray:
            K = block(slice(None))
            return numexpr.evaluate("K / s", {"K": K, "s": K.sum(axis=1, keepdims=True)}, out=K)

        return [normalised]
    return [lambda: block(slice(None))]


FRAMEWORKS: dict[str, Callable[[str, np.ndarray, np.ndarray | None], Calls]] = {
    "torch": _torch,
    "jax": _jax,
    "keops": _keops,
    "numexpr": _numexpr,
}


def both_sides(work: str, frameworks: Iterable[str]) -> tuple[Callable[[], Any], Calls]:
    """Return our call and theirs, compiled and compared; frameworks that are not installed or cannot are left out."""
    kernel, d, n, product = WORKS[work]
    X = samples(size(n), d)
    v = np.random.default_rng(0).standard_normal(len(X)) if product else None
    k = kernreg.make_kernel(kernel, sigma=float(d if kernel == "laplacian" else np.sqrt(d)))
    operator = k.operator(X)
    ours = (lambda: k(X)) if v is None else (lambda: operator @ v)
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    peers: Calls = []
    for name in frameworks:
        try:
            peers += FRAMEWORKS[name](kernel, X, v)
        except (ImportError, NotImplementedError):
            continue
    if not peers:
        raise NotImplementedError(f"{' and '.join(frameworks)}: not installed, or without {work}")
    with threads(2):
        expected = ours()
        for peer in peers:
            np.testing.assert_allclose(np.asarray(peer()), expected, rtol=1e-6, atol=1e-8)
    return ours, peers


class Frameworks:
    """How many times faster than the fastest form of one framework, or of all that are installed."""

    params = (["fastest", *FRAMEWORKS], list(WORKS))
    param_names = ("framework", "work")
    unit = "times faster"
    timeout = 60 if TINY else 900

    def setup(self, framework, work):
        self.ours, self.peers = both_sides(work, FRAMEWORKS if framework == "fastest" else [framework])

    def track_ratio(self, framework, work):
        with threads(2):
            ours, *theirs = best_times([self.ours, *self.peers])
        return min(theirs) / ours
