"""What `make bench-compare` times: one short call for each thing that must not become slower.

A workload sets itself up and returns the call. One that the older commit cannot do is left out there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import kernreg as kr
from kernreg.jit import exp

Call = Callable[[], Any]
WORKLOADS: dict[str, Callable[[], Call]] = {}


def workload(name: str) -> Callable[[Callable[[], Call]], Callable[[], Call]]:
    """Register the setup of a workload under a name."""

    def add(setup: Callable[[], Call]) -> Callable[[], Call]:
        WORKLOADS[name] = setup
        return setup

    return add


def gaussian(n: int, d: int) -> np.ndarray:
    return np.random.default_rng([n, d]).standard_normal((n, d))


def _matrix(spec: str, n: int, d: int, *, positive: bool = False, dtype: str = "float64") -> Call:
    X = gaussian(n, d).astype(dtype)
    if positive:
        X = np.abs(X) + X.dtype.type(1e-3)
        X /= X.sum(axis=1, keepdims=True)
    k = kr.make_kernel(spec)
    return lambda: k(X)


for _name, _spec, _n, _d, _options in (
    ("rbf k(X), n = 3000, d = 16", "rbf(sigma=4.0)", 3000, 16, {}),
    ("rbf k(X), n = 3000, d = 128", "rbf(sigma=11.0)", 3000, 128, {}),
    ("rbf k(X), n = 3000, d = 512", "rbf(sigma=22.0)", 3000, 512, {}),
    ("rbf k(X), n = 300, d = 64", "rbf(sigma=8.0)", 300, 64, {}),
    ("rbf k(X), n = 3000, d = 16, float32", "rbf(sigma=4.0)", 3000, 16, {"dtype": "float32"}),
    ("rbf k(X), n = 3000, d = 512, float32", "rbf(sigma=22.0)", 3000, 512, {"dtype": "float32"}),
    ("poly k(X), n = 3000, d = 128", "poly(degree=3, c=1.0)", 3000, 128, {}),
    ("sne k(X), n = 3000, d = 128", "sne(sigma=11.0)", 3000, 128, {}),
    ("laplacian k(X), n = 3000, d = 16, float32", "laplacian(sigma=16.0)", 3000, 16, {"dtype": "float32"}),
    ("laplacian k(X), n = 3000, d = 16", "laplacian(sigma=16.0)", 3000, 16, {}),
    ("sne k(X), n = 3000, d = 16", "sne(sigma=4.0)", 3000, 16, {}),
    ("poly k(X), n = 3000, d = 16", "poly(degree=3, c=1.0)", 3000, 16, {}),
    ("chi2 k(X), n = 1500, d = 32", "chi2(sigma=1.0)", 1500, 32, {"positive": True}),
):
    workload(_name)(partial(_matrix, _spec, _n, _d, **_options))


@workload("rbf k(X, Z), n = 3000, d = 16")
def rectangle() -> Call:
    k, X, Z = kr.make_kernel("rbf(sigma=4.0)"), gaussian(3000, 16), gaussian(3000, 16) + 1.0
    return lambda: k(X, Z)


@workload("kernel of two rows, n = 1000, d = 10")
def rows() -> Call:
    def largest(x, z, sigma=1.0):
        value = 0.0
        for d in range(len(x)):
            value = max(value, abs(x[d] - z[d]))
        return exp(-value / sigma)

    k, X = kr.kernel(of="rows", symmetric=True, definite=None)(largest)(), gaussian(1000, 10)
    return lambda: k(X)


@workload("sparse rbf k(X, Z), 5000 against 500")
def sparse_rectangle() -> Call:
    rng = np.random.default_rng(0)
    X, Z = (sp.random_array((n, 20000), density=2e-3, format="csr", rng=rng) for n in (5000, 500))
    k = kr.make_kernel("rbf(sigma=3.0)")
    return lambda: k(X, Z)


@workload("sne operator.T @ V, n = 3000, 8 columns")
def adjoint() -> Call:
    op, V = kr.make_kernel("sne(sigma=4.0)").operator(gaussian(3000, 16)), np.ones((3000, 8))
    return lambda: op.T @ V


@workload("ls-svm predict, m = 1200, 5000 samples")
def predict() -> Call:
    X, y = gaussian(1200, 16), np.random.default_rng(0).integers(2, size=1200)
    model, new = kr.make_solver("ls-svm", kernel="rbf(sigma=4.0)").fit(X, y), gaussian(5000, 16)
    return lambda: model.predict(new)


@workload("rbf operator @ v, n = 6000, d = 16")
def operator() -> Call:
    op, v = kr.make_kernel("rbf(sigma=4.0)").operator(gaussian(6000, 16)), np.ones(6000)
    return lambda: op @ v


@workload("sne operator @ v, sparse, n = 20000")
def sparse_operator() -> Call:
    X = sp.random_array((20000, 20000), density=2e-4, format="csr", rng=np.random.default_rng(0))
    op, v = kr.make_kernel("sne(sigma=2.0)").operator(X), np.ones(20000)
    return lambda: op @ v


def _solver(spec: str, kernel: str | None, m: int = 1200, classes: int = 2) -> Call:
    X, y = gaussian(m, 16), np.random.default_rng(0).integers(classes, size=m)
    solver = kr.make_solver(spec, **({} if kernel is None else {"kernel": kernel}))
    return lambda: solver.fit(X, y)


workload("ls-svm fit, m = 1200")(partial(_solver, "ls-svm(gamma=0.5)", "rbf(sigma=4.0)"))
workload("ask-ls fit, m = 1200, 5 classes")(partial(_solver, "ask-ls(gamma=0.4)", "sne(sigma=4.0)", classes=5))
workload("ls-svm gamma='loo', m = 600")(partial(_solver, "ls-svm(gamma='loo')", "rbf(sigma=4.0)", m=600))
workload("ls-svm lowrank, m = 5000")(
    partial(_solver, "ls-svm(strategy='lowrank', n_landmarks=200)", "rbf(sigma=4.0)", m=5000)
)
workload("kpca(10), n = 1500")(partial(_solver, "kpca(n_components=10)", "rbf(sigma=4.0)", m=1500))
workload("ksvd(10), n = 1500")(partial(_solver, "ksvd(n_components=10)", "sne(sigma=4.0)", m=1500))
workload("nystrom(10), n = 5000")(partial(_solver, "nystrom(n_components=10)", "sne(sigma=4.0)", m=5000))
workload("scg-ldk, n = 1200")(partial(_solver, "scg-ldk(gamma=1.0)", "rbf(sigma=4.0)"))
workload("scg-osk, n = 1200")(partial(_solver, "scg-osk", None))


@workload("tune 5 sigma x 20 gamma, m = 400")
def tuning() -> Call:
    X, y = gaussian(400, 16), np.random.default_rng(0).integers(2, size=400)
    grid = {"kernel__sigma": [1.0, 2.0, 4.0, 8.0, 16.0], "gamma": np.logspace(-2, 2, 20)}
    return lambda: kr.tune("ls-svm", grid, X, y)


@workload("chain kpca, ls-svm branches, stack, m = 500")
def chain() -> Call:
    X, y = gaussian(500, 16), np.random.default_rng(0).integers(3, size=500)
    made = kr.make_chain(
        "kpca(n_components=10)",
        kr.parallel("ls-svm(gamma=1.0)", "ls-svm(gamma=10.0)"),
        "stack",
        kernel="rbf(sigma=4.0)",
    )
    return lambda: made.fit(X, y)


@workload("save and load a model of 2 MB")
def model_file() -> Call:
    X, y = gaussian(4000, 64), np.random.default_rng(0).integers(2, size=4000)
    model = kr.make_solver("ls-svm(strategy='lowrank', n_landmarks=1000)", kernel="rbf(sigma=8.0)").fit(X, y)
    path = Path(tempfile.mkdtemp(prefix="kernreg-bench-")) / "model.kern"

    def call() -> Any:
        kr.save(model, path)
        return kr.load(path)

    return call


@workload("kr.available() after a refresh")
def listing() -> Call:
    from kernreg.registry import refresh

    def call() -> Any:
        refresh()
        return kr.available()

    return call
