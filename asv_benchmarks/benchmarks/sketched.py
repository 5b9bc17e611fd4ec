"""Many landmarks: normal equations against a sketch and iterations, on covtype.

The bars: with 10 000 landmarks and 464 809 samples a residual of 1e-6 in at most 30 iterations, at least twice as fast
as normal equations on the same landmarks, in less than 4 GB. `python -m asv_benchmarks.sketched` prints them.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np

import kernreg
from kernreg.engine.normal_products import normal_product
from kernreg.engine.tiles.blocks import BlockFiller

from .peers import TINY, fresh_process, samples, size, threads, times_as_long

#: One fit in a process of its own: its peak of memory is that of the whole work, samples included.
FRESH = """
import json, os, resource, sys, time
from pathlib import Path
import numpy as np
import kernreg
strategy, rows, landmarks, kernel, gamma = json.loads(sys.argv[1])
path = Path(os.environ.get("KERNREG_DATA", "")) / "covtype.npz"
rng = np.random.default_rng(0)
if path.is_file() and rows > 1000:
    with np.load(path, allow_pickle=False) as file:
        X, y = file["X"], file["y"]
    order = rng.permutation(len(X))
    cut = min(rows, int(0.8 * len(X)))
    test = order[int(0.8 * len(X)):][:20_000]
    X_test, y_test = X[test].astype(np.float64), y[test]
    y = y[order[:cut]]
    X = X[order[:cut]].astype(np.float64)
else:
    X = rng.standard_normal((rows + 100, 54))
    y = rng.integers(0, 7, rows + 100)
    X_test, y_test, X, y = X[rows:], y[rows:], X[:rows].copy(), y[:rows]
mean, deviation = X.mean(axis=0), X.std(axis=0)
deviation[deviation == 0.0] = 1.0
for table in (X, X_test):
    table -= mean
    table /= deviation
few = kernreg.make_solver("ls-svm", kernel=kernel, gamma=gamma, strategy=strategy, n_landmarks=20)
few.fit(X[:200], y[:200])  # compiles
model = kernreg.make_solver("ls-svm", kernel=kernel, gamma=gamma, strategy=strategy, n_landmarks=landmarks)
before, start = os.times(), time.perf_counter()
model.fit(X, y)
seconds, after, report = time.perf_counter() - start, os.times(), model.solver_report_
peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({
    "seconds": seconds,
    "cpu_seconds": after.user + after.system - before.user - before.system,
    "peak": peak,
    "iterations": getattr(report, "iterations", 1),
    "residual": report.residual,
    "accuracy": float((model.predict(X_test) == y_test).mean()),
}))
"""


def fit(strategy: str, rows: int, landmarks: int, kernel: str = "laplacian", gamma: float = 1.0) -> dict[str, Any]:
    """Return what one fit took and gave."""
    return fresh_process(FRESH, json.dumps([strategy, rows, landmarks, kernel, gamma]))


@cache
def _fitted(strategy: str) -> dict[str, Any]:
    return fit(strategy, size(50_000), 20 if TINY else 3000)


class Sketched:
    """50 000 samples on 3000 landmarks."""

    timeout = 1200

    def track_iterations(self) -> float:
        return float(_fitted("sketched")["iterations"])

    def track_residual(self) -> float:
        return float(_fitted("sketched")["residual"])

    def track_peak_bytes(self) -> float:
        return float(_fitted("sketched")["peak"])

    def track_times_faster_than_normal_equations(self) -> float:
        return float(_fitted("lowrank")["seconds"] / _fitted("sketched")["seconds"])


class Pass:
    """What the costs in kernreg/solvers/dual/landmark_costs.py are measured by, on one core."""

    params = ("rbf", "laplacian")
    param_names = ("kernel",)

    def setup(self, kernel: str) -> None:
        X, Z = samples(size(1024), 54), samples(size(3000), 54, seed=1)
        program = kernreg.make_kernel(kernel).resolve_widths(Z).program
        self.filler, self.V = BlockFiller(program, X, Z), samples(len(Z), 7, seed=2)

    def track_operations_of_a_product_for_each_kernel_value(self, kernel: str) -> float:
        A = samples(size(1024), size(1024))
        with threads(1):
            ratio = times_as_long(lambda: normal_product(self.filler, self.V, np.zeros(7)), lambda: A @ A)
        return ratio * 2.0 * len(A) ** 3 / (self.filler.shape[0] * self.filler.shape[1])
